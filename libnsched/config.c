#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "pure/nearest.h"
#include "pure/policies.h"

extern char **environ;

#define PREFIX "NSCHED_"

enum { NAME_BYTES = 64 }; /* room for an option's name, with its closing zero */

#define AS_TEXT(number) #number
#define FIELD(name) offsetof(struct nsched_config, name)
#define OPTION_TEXT(name_, value_, help_) \
	{ .name = #name_, .value = value_, .help = help_, .offset = FIELD(name_), .kind = CONFIG_TEXT },
#define OPTION_ENUM(name_, value_, choices_, help_) \
	{ .name = #name_, .value = value_, .choices = choices_, .help = help_, .offset = FIELD(name_), .kind = CONFIG_ENUM },
#define OPTION_UINT(name_, value_, least_, most_, unit_, help_) \
	{ .name = #name_, .value = AS_TEXT(value_), .unit = unit_, .help = help_, .least = least_, .most = most_, \
	  .offset = FIELD(name_), .kind = CONFIG_UINT },
#define OPTION_BOOL(name_, value_, help_) \
	{ .name = #name_, .value = AS_TEXT(value_), .help = help_, .offset = FIELD(name_), .kind = CONFIG_BOOL },

const struct config_option config_options[OPTIONS] = {
#include "options.def"
};

/* Variables that begin like ours and belong to other parts of nsched; a name that ends in _ stands
 * for all that begin so. */
static const char *const foreign[] = {
	"BOARD",          /* the launcher: what the processes of a job share */
	"EXPORTED",       /* the launcher: variables of others that it set itself */
	"TOOL_LIBRARIES", /* the OpenMP plugin: further OMPT tools that it chains */
	"NUMABOX",        /* the tests' virtual machine */
	"LAUNCH_",        /* what `nsched run` tells the process that it starts */
};

static const char *const switch_words[][2] = {
	{ "0", "1" }, { "no", "yes" }, { "off", "on" }, { "false", "true" },
};

/* ---- errors ------------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4)))
static int fail(nsched_error_t *error, int code, const char *format, ...)
{
	va_list args;

	if (error == NULL)
		return code;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return code;
}

/* "; did you mean X?" for whatever `nearest` is, or nothing. */
static const char *did_you_mean(const char *nearest, char *text, size_t bytes)
{
	if (nearest == NULL)
		text[0] = '\0';
	else
		snprintf(text, bytes, "; did you mean %s?", nearest);
	return text;
}

/* ---- the fields --------------------------------------------------------------------------------- */

static char *text_field(struct nsched_config *config, const struct config_option *option)
{
	return (char *)config + option->offset;
}

/* The next choice of "a|b|c" at *cursor, into `choice`; 0 when there is none. */
static int next_choice(const char **cursor, char choice[NAME_BYTES])
{
	size_t length = strcspn(*cursor, "|");

	if (length == 0 || length >= NAME_BYTES)
		return 0;
	memcpy(choice, *cursor, length);
	choice[length] = '\0';
	*cursor += length + ((*cursor)[length] == '|');
	return 1;
}

static int set_text(const struct config_option *option, const char *value, void *field, nsched_error_t *error)
{
	size_t length = strlen(value);

	if (length >= CONFIG_TEXT_BYTES)
		return fail(error, -ERANGE, "%s: a text of %zu bytes is too long; at most %d are taken", option->name, length,
		            CONFIG_TEXT_BYTES - 1);
	memcpy(field, value, length + 1);
	return 0;
}

static int set_enum(const struct config_option *option, const char *value, void *field, nsched_error_t *error)
{
	enum { CHOICES_MOST = 16 }; /* an option with more should not be a choice */
	char choices[CHOICES_MOST][NAME_BYTES], hint[NAME_BYTES * 2];
	const char *names[CHOICES_MOST], *cursor = option->choices;
	int count = 0, index = 0;

	for (; count < CHOICES_MOST && next_choice(&cursor, choices[count]); count++)
		names[count] = choices[count];
	while (index < count && strcmp(names[index], value) != 0)
		index++;
	if (index == count)
		return fail(error, -EINVAL, "%s: \"%.40s\" is not one of %s%s", option->name, value, option->choices,
		            did_you_mean(nearest_name(value, names, (size_t)count), hint, sizeof(hint)));
	memcpy(field, &index, sizeof(index));
	return 0;
}

/* Digits, then nothing or the option's own unit ("100", "100ms", "100 ms"). */
static int set_uint(const struct config_option *option, const char *value, void *field, nsched_error_t *error)
{
	const char *digits = value[0] == '-' ? value + 1 : value;
	char *end;

	if (!isdigit((unsigned char)digits[0]))
		return fail(error, -EINVAL, "%s: \"%.40s\" is not a number of %s", option->name, value, option->unit);
	errno = 0;
	uint64_t number = strtoull(digits, &end, 10);
	int out = errno == ERANGE || digits != value || number < option->least || number > option->most;

	while (*end == ' ')
		end++;
	if (*end != '\0' && strcmp(end, option->unit) != 0)
		return fail(error, -EINVAL, "%s: \"%.40s\" is not a number of %s", option->name, value, option->unit);
	if (out)
		return fail(error, -ERANGE, "%s: %.40s is outside of %" PRIu64 "..%" PRIu64 " %s", option->name, value,
		            option->least, option->most, option->unit);
	memcpy(field, &number, sizeof(number));
	return 0;
}

static int set_bool(const struct config_option *option, const char *value, void *field, nsched_error_t *error)
{
	for (size_t i = 0; i < sizeof(switch_words) / sizeof(switch_words[0]); i++) {
		for (int on = 0; on <= 1; on++) {
			if (strcmp(value, switch_words[i][on]) == 0) {
				memcpy(field, &on, sizeof(on));
				return 0;
			}
		}
	}
	return fail(error, -EINVAL, "%s: \"%.40s\" is neither 0 nor 1", option->name, value);
}

static int set_field(struct nsched_config *config, const struct config_option *option, const char *value,
                     nsched_error_t *error)
{
	void *field = text_field(config, option);

	switch (option->kind) {
	case CONFIG_TEXT: return set_text(option, value, field, error);
	case CONFIG_ENUM: return set_enum(option, value, field, error);
	case CONFIG_UINT: return set_uint(option, value, field, error);
	case CONFIG_BOOL: return set_bool(option, value, field, error);
	}
	return -EINVAL;
}

static const struct config_option *find(const char *name)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		if (strcmp(config_options[i].name, name) == 0)
			return &config_options[i];
	}
	return NULL;
}

static const struct config_option *nearest_option(const char *name)
{
	const char *names[OPTIONS];

	for (size_t i = 0; i < OPTIONS; i++)
		names[i] = config_options[i].name;

	const char *nearest = nearest_name(name, names, OPTIONS);

	return nearest == NULL ? NULL : find(nearest);
}

void config_defaults(struct nsched_config *config)
{
	memset(config, 0, sizeof(*config));
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct config_option *option = &config_options[i];

		set_field(config, option, option->value, NULL); /* a unit test holds each default to its own range */
	}
}

/* ---- values as text ----------------------------------------------------------------------------- */

const char *config_choice(const struct nsched_config *config, enum config_option_number number, char *text)
{
	const struct config_option *option = &config_options[number];
	const char *cursor = option->choices;
	char choice[NAME_BYTES] = "";
	int index;

	memcpy(&index, (const char *)config + option->offset, sizeof(index));
	for (int i = 0; i <= index && next_choice(&cursor, choice); i++)
		;
	memcpy(text, choice, sizeof(choice));
	return text;
}

int config_value(const struct nsched_config *config, enum config_option_number number, char *value, size_t bytes)
{
	const struct config_option *option = &config_options[number];
	const char *field = (const char *)config + option->offset;
	char choice[CONFIG_VALUE_BYTES];
	uint64_t large;
	int on, length = 0;

	switch (option->kind) {
	case CONFIG_TEXT:
		length = snprintf(value, bytes, "%s", field);
		break;
	case CONFIG_ENUM:
		length = snprintf(value, bytes, "%s", config_choice(config, number, choice));
		break;
	case CONFIG_UINT:
		memcpy(&large, field, sizeof(large));
		length = snprintf(value, bytes, "%" PRIu64, large);
		break;
	case CONFIG_BOOL:
		memcpy(&on, field, sizeof(on));
		length = snprintf(value, bytes, "%d", on);
		break;
	}
	return length < 0 || (size_t)length >= bytes ? -ENOSPC : length;
}

const char *config_variable(const struct config_option *option, char *variable, size_t bytes)
{
	snprintf(variable, bytes, PREFIX "%s", option->name);
	for (char *letter = variable; *letter != '\0'; letter++)
		*letter = (char)toupper((unsigned char)*letter);
	return variable;
}

void config_print(const struct nsched_config *config, FILE *file)
{
	char value[CONFIG_VALUE_BYTES];

	for (unsigned i = 0; i < OPTIONS; i++) {
		if (config_value(config, (enum config_option_number)i, value, sizeof(value)) >= 0)
			fprintf(file, "%s=%s\n", config_options[i].name, value);
	}
}

/* ---- the public calls --------------------------------------------------------------------------- */

int nsched_config_create(nsched_config_t **config)
{
	int saved = errno;

	if (config == NULL)
		return -EINVAL;
	*config = malloc(sizeof(**config));
	if (*config != NULL)
		config_defaults(*config);
	errno = saved;
	return *config == NULL ? -ENOMEM : 0;
}

void nsched_config_destroy(nsched_config_t *config)
{
	int saved = errno;

	free(config);
	errno = saved;
}

int nsched_config_set(nsched_config_t *config, const char *name, const char *value, nsched_error_t *error)
{
	int saved = errno, result;
	char hint[NAME_BYTES * 2];

	if (config == NULL || name == NULL || value == NULL)
		return fail(error, -EINVAL, "an option needs a name and a value");

	const struct config_option *option = find(name);

	const struct config_option *nearest = option == NULL ? nearest_option(name) : NULL;

	if (option == NULL)
		result = fail(error, -ENOENT, "there is no option \"%.40s\"%s", name,
		              did_you_mean(nearest == NULL ? NULL : nearest->name, hint, sizeof(hint)));
	else
		result = set_field(config, option, value, error);
	errno = saved;
	return result;
}

int nsched_config_get(const nsched_config_t *config, const char *name, char *value, size_t bytes)
{
	int saved = errno, result;

	if (config == NULL || name == NULL || value == NULL)
		return -EINVAL;

	const struct config_option *option = find(name);

	if (option == NULL)
		return -ENOENT;
	result = config_value(config, (enum config_option_number)(option - config_options), value, bytes);
	errno = saved;
	return result;
}

/* ---- the environment ---------------------------------------------------------------------------- */

static int is_foreign(const char *name)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		size_t length = strlen(foreign[i]);
		int family = foreign[i][length - 1] == '_';

		if (strncmp(name, foreign[i], length) == 0 && (family || name[length] == '\0'))
			return 1;
	}
	return 0;
}

static int no_variable(const char *upper, const char *lower, nsched_error_t *error)
{
	char hint[NAME_BYTES * 2], variable[NAME_BYTES];
	const struct config_option *nearest = nearest_option(lower);
	const char *meant = nearest == NULL ? NULL : config_variable(nearest, variable, sizeof(variable));

	return fail(error, -ENOENT, "there is no variable " PREFIX "%.40s%s", upper, did_you_mean(meant, hint, sizeof(hint)));
}

/* One "NAME=VALUE" behind NSCHED_. An empty variable counts as unset. */
static int take_variable(struct nsched_config *config, const char *entry, nsched_error_t *error)
{
	char upper[NAME_BYTES], lower[NAME_BYTES];
	size_t length = strcspn(entry, "="), kept = length < NAME_BYTES ? length : NAME_BYTES - 1;
	nsched_error_t inner;
	int result;

	if (entry[length] == '\0' || entry[length + 1] == '\0')
		return 0;
	memcpy(upper, entry, kept);
	upper[kept] = '\0';
	if (is_foreign(upper))
		return 0;
	for (size_t i = 0; i <= kept; i++) /* nsched_policy must not pass as NSCHED_POLICY: names have one form */
		lower[i] = islower((unsigned char)upper[i]) ? '?' : (char)tolower((unsigned char)upper[i]);

	const struct config_option *option = find(lower);

	if (option == NULL)
		return no_variable(upper, lower, error);
	result = set_field(config, option, entry + length + 1, &inner);
	if (result < 0)
		fail(error, result, "variable " PREFIX "%s: %.180s", upper, inner.text);
	return result;
}

int nsched_config_environment(nsched_config_t *config, nsched_error_t *error)
{
	int saved = errno, first = 0;

	if (config == NULL)
		return fail(error, -EINVAL, "there are no options to set");
	/* A program with more rights than its user takes no orders from the user's environment. */
	for (char **entry = environ; entry != NULL && *entry != NULL && getauxval(AT_SECURE) == 0; entry++) {
		if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0)
			continue;
		int result = take_variable(config, *entry + strlen(PREFIX), first == 0 ? error : NULL);

		first = first == 0 ? result : first;
	}
	errno = saved;
	return first;
}
