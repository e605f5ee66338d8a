#include "options_text.h"

#include <inttypes.h>
#include <string.h>

enum {
	INDENT = 6,        /* of the help below an option's name */
	LINE_LETTERS = 96, /* a help text is broken before this column */
	DOMAIN_LETTERS = 50, /* more of an option's values would not fit its line in the manual */
};

const char *options_domain(const struct config_option *option, char text[DOMAIN_BYTES])
{
	switch (option->kind) {
	case CONFIG_TEXT: snprintf(text, DOMAIN_BYTES, "text"); break;
	case CONFIG_ENUM: snprintf(text, DOMAIN_BYTES, "%s", option->choices); break;
	case CONFIG_BOOL: snprintf(text, DOMAIN_BYTES, "0|1"); break;
	case CONFIG_UINT:
		snprintf(text, DOMAIN_BYTES, "%" PRIu64 "..%" PRIu64 " %s", option->least, option->most, option->unit);
		break;
	}
	return text;
}

static void print_wrapped(FILE *file, const char *text)
{
	size_t column = INDENT;

	fprintf(file, "%*s", INDENT, "");
	while (*text != '\0') {
		size_t word = strcspn(text, " ");

		if (column > INDENT && column + 1 + word > LINE_LETTERS) {
			fprintf(file, "\n%*s", INDENT, "");
			column = INDENT;
		} else if (column > INDENT) {
			fputc(' ', file);
			column++;
		}
		fprintf(file, "%.*s", (int)word, text);
		column += word;
		text += word + (text[word] == ' ');
	}
	fputc('\n', file);
}

void options_help(FILE *file)
{
	char domain[DOMAIN_BYTES];

	for (int i = 0; i < OPTIONS; i++) {
		const struct config_option *option = &config_options[i];

		fprintf(file, "  %s=%s   [%s]\n", option->name, options_domain(option, domain), option->value);
		print_wrapped(file, option->help);
	}
}

/* A '|' would end the cell. */
static void print_cell(FILE *file, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '|')
			fputc('\\', file);
		fputc(*text, file);
	}
}

void options_markdown(FILE *file)
{
	char domain[DOMAIN_BYTES];

	fputs("| option | values | default | what for |\n|---|---|---|---|\n", file);
	for (int i = 0; i < OPTIONS; i++) {
		const struct config_option *option = &config_options[i];

		fprintf(file, "| `%s` | ", option->name);
		print_cell(file, options_domain(option, domain));
		fprintf(file, option->value[0] == '\0' ? " | | " : " | `%s` | ", option->value);
		print_cell(file, option->help);
		fputs(" |\n", file);
	}
}

/* "a|b|c" as a sentence, which the manual can break. */
static void print_choices(FILE *file, const char *choices)
{
	fputs("One of ", file);
	for (; *choices != '\0'; choices++) {
		if (*choices == '|')
			fputs(", ", file);
		else
			fputc(*choices, file);
	}
	fputs(".\n", file);
}

void options_mdoc(FILE *file)
{
	char domain[DOMAIN_BYTES];

	fputs(".Bl -tag -width Ds\n", file);
	for (int i = 0; i < OPTIONS; i++) {
		const struct config_option *option = &config_options[i];

		options_domain(option, domain);
		if (strlen(domain) <= DOMAIN_LETTERS) {
			fprintf(file, ".It Cm %s Ns = Ns Ar \"%s\"\n", option->name, domain);
		} else {
			fprintf(file, ".It Cm %s Ns = Ns Ar name\n", option->name);
			print_choices(file, domain);
		}
		fprintf(file, "%s.\n", option->help);
		if (option->value[0] != '\0')
			fprintf(file, "Default: %s.\n", option->value);
	}
	fputs(".El\n", file);
}
