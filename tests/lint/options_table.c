/* Prints the option table as README.md and the man page must have it. */
#include <stdio.h>
#include <string.h>

#include "tools/options_text.h"

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "markdown") == 0)
		options_markdown(stdout);
	else if (argc == 2 && strcmp(argv[1], "mdoc") == 0)
		options_mdoc(stdout);
	else
		return fprintf(stderr, "usage: options_table markdown|mdoc\n"), 2;
	return 0;
}
