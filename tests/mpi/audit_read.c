/* Prints the counts that audit.c left in a file, as lines "name count". */
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct {
		char name[56];
		uint64_t calls;
	} line;
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;

	if (file == NULL)
		return 2;
	while (fread(&line, sizeof(line), 1, file) == 1 && line.name[0] != '\0')
		if (line.calls > 0)
			printf("%s %llu\n", line.name, (unsigned long long)line.calls);
	return fclose(file) != 0;
}
