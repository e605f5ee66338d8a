/* The options: a struct with a field for each line of options.def, and what parses, prints and
 * describes them. Nothing else in nsched reads the environment for its settings.
 *
 * The build has a config.h of autoconf's too: outside of this folder include "libnsched/config.h". */
#ifndef NSCHED_LIBNSCHED_CONFIG_H
#define NSCHED_LIBNSCHED_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nsched.h"

enum {
	CONFIG_TEXT_BYTES = 1024, /* room for a text option, a file name mostly, with its closing zero */
	CONFIG_VALUE_BYTES = CONFIG_TEXT_BYTES, /* room for any option's value as text */
};

/* One field per option: text as an array, so that a copy is an assignment; a choice as its place
 * among its choices; a number in the unit of the table; a switch as 0 or 1. */
struct nsched_config {
#define OPTION_TEXT(name, value, help) char name[CONFIG_TEXT_BYTES];
#define OPTION_ENUM(name, value, choices, help) int name;
#define OPTION_UINT(name, value, least, most, unit, help) uint64_t name;
#define OPTION_BOOL(name, value, help) int name;
#include "options.def"
#undef OPTION_TEXT
#undef OPTION_ENUM
#undef OPTION_UINT
#undef OPTION_BOOL
};

/* The number of each option, as OPTION_policy. */
enum config_option_number {
#define OPTION_TEXT(name, ...) OPTION_##name,
#define OPTION_ENUM(name, ...) OPTION_##name,
#define OPTION_UINT(name, ...) OPTION_##name,
#define OPTION_BOOL(name, ...) OPTION_##name,
#include "options.def"
#undef OPTION_TEXT
#undef OPTION_ENUM
#undef OPTION_UINT
#undef OPTION_BOOL
	OPTIONS
};

/* Choices that code asks for by name, in the order of options.def; a unit test holds them to it.
 * The policies are not here: the array of policies knows its own names (config_choice). */
enum { THREADS_REGISTERED, THREADS_ALL };
enum { BIND_NODE, BIND_NONE };
enum { COUNTERS_AUTO, COUNTERS_ON, COUNTERS_OFF };
enum { SHARES_DIVIDE, SHARES_KEEP };
enum { SAMPLER_AUTO, SAMPLER_HARDWARE, SAMPLER_PERF, SAMPLER_TIMER, SAMPLER_OFF };

enum config_kind { CONFIG_TEXT, CONFIG_ENUM, CONFIG_UINT, CONFIG_BOOL };

/* A line of the table, for help, manual and report. */
struct config_option {
	const char *name;
	const char *value;   /* the default, as text */
	const char *choices; /* CONFIG_ENUM: "joint|stay" */
	const char *unit;    /* CONFIG_UINT: "ms" */
	const char *help;
	uint64_t least, most; /* CONFIG_UINT: both allowed */
	size_t offset;        /* of the field in struct nsched_config */
	enum config_kind kind;
};

extern const struct config_option config_options[OPTIONS];

/* All options at their defaults. */
void config_defaults(struct nsched_config *config);

static inline void config_copy(struct nsched_config *to, const struct nsched_config *from)
{
	*to = *from;
}

/* The text of the choice that is in force for option `number`, which must be a CONFIG_ENUM, into
 * `text` of CONFIG_VALUE_BYTES bytes; returns text. */
const char *config_choice(const struct nsched_config *config, enum config_option_number number, char *text);

/* The value in force of option `number` as text into `value` of `bytes` bytes; its length or -ENOSPC. */
int config_value(const struct nsched_config *config, enum config_option_number number, char *value, size_t bytes);

/* The option's variable of the environment, "NSCHED_DRY_RUN"; returns `variable`. */
const char *config_variable(const struct config_option *option, char *variable, size_t bytes);

/* The values in force, a line "name=value" each. */
void config_print(const struct nsched_config *config, FILE *file);

#endif
