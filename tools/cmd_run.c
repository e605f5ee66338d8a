/* nsched run: sets up the environment and becomes the program. Nothing of it stays behind, so that
 * signals, standard input, the exit code and the process number are the program's own. */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "libnsched/config.h"
#include "libnsched/launch.h"
#include "libnsched/pure/nearest.h"
#include "mpi_plugins.h"
#include "options_text.h"
#include "program.h"
#include "ranks.h"
#include "report_name.h"
#include "where.h"

#define PLUGIN "libnsched_ompt.so"
#define PRELOAD "libnsched_preload.so"

struct run {
	struct nsched_config config; /* defaults, then the environment, then the command line */
	char given[OPTIONS];         /* those of the command line */
	int help;
};

/* ---- the command line --------------------------------------------------------------------------- */

enum argument { NO_ARGUMENT, WITH_ARGUMENT, MAYBE_ARGUMENT /* only as --name=VALUE */ };

/* Options of `nsched run` itself. Most are another way to write one of the table. */
static const struct flag {
	const char *name;
	enum argument argument;
	const char *option; /* of options.def; NULL: it is in the argument, or is no option */
	const char *value;  /* where no argument is given */
	const char *help;
} flags[] = {
	{ "--policy", WITH_ARGUMENT, "policy", NULL, "--policy NAME           what decides: see the option policy" },
	{ "--report", MAYBE_ARGUMENT, "report", "-",
	  "--report[=FILE]         report at the program's end, to FILE or standard error;\n"
	  "                          %p in FILE stands for the process, %h the machine, %r the rank" },
	{ "--record", WITH_ARGUMENT, "record", NULL,
	  "--record FILE           all that decisions depend on goes to FILE, for nsched replay; %p, %h, %r as above" },
	{ "--anonymous", NO_ARGUMENT, "record_names", "0", "--anonymous             the record has no names that the program gave" },
	{ "--force", NO_ARGUMENT, "report_over", "1", "--force                 report and record are written even over files that are none" },
	{ "--dry-run", NO_ARGUMENT, "dry_run", "1", "--dry-run               decide and report, but move nothing" },
	{ "--option", WITH_ARGUMENT, NULL, NULL, "--option NAME=VALUE     any option of the table below; may be repeated" },
	{ "--widen", NO_ARGUMENT, "widen", "1",
	  "--widen                 ranks may leave the CPUs that mpirun bound them to, for all that it may use" },
	{ "--verbose", NO_ARGUMENT, "verbose", "1", "--verbose               say on standard error what is done" },
	{ "--help", NO_ARGUMENT, NULL, NULL, "--help                  this text" },
};

enum { FLAGS = sizeof(flags) / sizeof(flags[0]) };

static void usage(FILE *file)
{
	fputs("usage: nsched run [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
	      "       mpirun -np N nsched run [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
	      "\n"
	      "Runs PROGRAM with nsched in it. On a machine with one NUMA node nothing changes.\n"
	      "\n", file);
	for (size_t i = 0; i < FLAGS; i++)
		fprintf(file, "  %s\n", flags[i].help);
	fputs("\noptions for --option NAME=VALUE; also as variables of the environment, NSCHED_NAME=VALUE\n"
	      "(values, and the default in brackets):\n\n", file);
	options_help(file);
	fputs("\nexit code: the program's own; 127 it is not there, 126 it can't be run, 2 an option is wrong,\n"
	      "125 parts of nsched are missing.\n", file);
}

static int set_option(struct run *run, const char *name, const char *value)
{
	nsched_error_t error;

	if (nsched_config_set(&run->config, name, value, &error) < 0) {
		complain("%s", error.text);
		return COMMAND_USAGE;
	}
	for (size_t i = 0; i < OPTIONS; i++)
		run->given[i] |= strcmp(config_options[i].name, name) == 0;
	return 0;
}

static int set_pair(struct run *run, const char *pair)
{
	const char *sign = strchr(pair, '=');

	if (sign == NULL) {
		complain("--option %s: a value is missing; write --option %s=VALUE", pair, pair);
		return COMMAND_USAGE;
	}
	char *name = strndup(pair, (size_t)(sign - pair));
	int result = name == NULL ? COMMAND_BROKEN : set_option(run, name, sign + 1);

	free(name);
	return result;
}

/* "--interval-ms": an option of the table that was taken for one of ours. */
static const char *table_option(const char *word, size_t length)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const char *name = config_options[i].name;
		size_t same = 0;

		while (same < length && name[same] != '\0' && (word[same] == '-' ? '_' : word[same]) == name[same])
			same++;
		if (same == length && name[same] == '\0')
			return name;
	}
	return NULL;
}

static int unknown_flag(const char *word, size_t length)
{
	const char *names[FLAGS], *option = length > 2 ? table_option(word + 2, length - 2) : NULL;
	char name[64];

	for (size_t i = 0; i < FLAGS; i++)
		names[i] = flags[i].name;
	snprintf(name, sizeof(name), "%.*s", (int)length, word);

	const char *nearest = nearest_name(name, names, FLAGS);

	if (option != NULL)
		complain("run has no option %s; write --option %s=VALUE", name, option);
	else if (nearest != NULL)
		complain("run has no option %s; did you mean %s?", name, nearest);
	else
		complain("run has no option %s; see nsched run --help (options of the program stand behind its name)", name);
	return COMMAND_USAGE;
}

/* Takes the flag at argv[*index], and its argument if that is the next word. */
static int take_flag(struct run *run, int argc, char **argv, int *index)
{
	const char *word = argv[*index];
	size_t length = strcspn(word, "=");
	const char *value = word[length] == '=' ? word + length + 1 : NULL;
	const struct flag *flag = NULL;

	if (strcmp(word, "-h") == 0) {
		run->help = 1;
		return 0;
	}
	for (size_t i = 0; flag == NULL && i < FLAGS; i++) {
		if (strlen(flags[i].name) == length && strncmp(flags[i].name, word, length) == 0)
			flag = &flags[i];
	}
	if (flag == NULL)
		return unknown_flag(word, length);
	if (flag->argument == NO_ARGUMENT && value != NULL) {
		complain("%s takes no value", flag->name);
		return COMMAND_USAGE;
	}
	if (flag->argument == WITH_ARGUMENT && value == NULL) {
		value = *index + 1 < argc ? argv[++*index] : NULL;
		if (value == NULL) {
			complain("%s: a value is missing", flag->name);
			return COMMAND_USAGE;
		}
	}
	if (strcmp(flag->name, "--force") == 0 && set_option(run, "record_over", "1") != 0)
		return COMMAND_BROKEN;
	if (flag->option != NULL)
		return set_option(run, flag->option, value == NULL ? flag->value : value);
	if (flag->argument == WITH_ARGUMENT)
		return set_pair(run, value);
	run->help = 1;
	return 0;
}

/* Reads the flags; the program's name is then argv[*program]. */
static int parse(struct run *run, int argc, char **argv, int *program)
{
	int result = 0, i = 1;

	for (; result == 0 && !run->help && i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		result = take_flag(run, argc, argv, &i);
	}
	*program = i;
	return result;
}

/* ---- the environment ---------------------------------------------------------------------------- */

/* The name of this process's report, or record, into the configuration. */
static int name_file(struct run *run, enum config_option_number option, char *name)
{
	const char *what = config_options[option].name;
	char file[CONFIG_TEXT_BYTES];
	int inherited = launch_role() != LAUNCH_NONE && !run->given[option];

	/* From an `nsched run` further up: its name is complete, but it is that process's. */
	if (inherited && launch_report_file(name, file, sizeof(file)) < 0) {
		complain("the %s's name is too long: %s", what, name);
		return COMMAND_USAGE;
	}
	if (!inherited && report_name(what, name, file, sizeof(file)) < 0)
		return COMMAND_USAGE;
	run->given[option] |= file[0] != '\0';
	strcpy(name, file);
	return 0;
}

static int export_options(struct run *run)
{
	char variable[64], value[CONFIG_VALUE_BYTES];

	/* Nobody registers threads in a program that knows nothing of nsched. */
	if (!run->given[OPTION_threads] && getenv("NSCHED_THREADS") == NULL) {
		run->config.threads = THREADS_ALL;
		run->given[OPTION_threads] = 1;
	}
	for (int i = 0; i < OPTIONS; i++) {
		if (!run->given[i])
			continue;
		config_variable(&config_options[i], variable, sizeof(variable));
		if (config_value(&run->config, (enum config_option_number)i, value, sizeof(value)) < 0 ||
		    setenv(variable, value, 1) < 0)
			return -ENOMEM;
		if (run->config.verbose)
			complain("%s=%s", variable, value);
	}
	return 0;
}

static void say_libraries(void)
{
	static const char *const names[] = { "OMP_TOOL_LIBRARIES", "NSCHED_TOOL_LIBRARIES", "LD_PRELOAD", "NSCHED_LAUNCH_CPUS", "NSCHED_BOARD",
	                                    "NSCHED_EXPORTED", "OMP_NUM_THREADS" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value != NULL)
			complain("%s=%s", names[i], value);
	}
}

static int export_libraries(const struct run *run, enum program_kind kind, const char *path, const char *plugin, const char *preload)
{
	int result = environment_add_tool(plugin);

	/* ld.so ends a name in this list at a colon or a space and knows no way to write one. */
	if (strpbrk(preload, ": ") != NULL)
		complain("%s can't be preloaded: its path has a space or a colon; only OpenMP programs are served", preload);
	else if (result == 0 && kind != PROGRAM_ASAN) {
		if (run->config.mpi)
			result = mpi_plugins_export(preload, path);
		if (result == 0)
			result = environment_prepend("LD_PRELOAD", preload, ": ");
	}
	if (result == 0)
		result = environment_mark_launch();
	return result;
}

/* What can't be served is run all the same. Its children may be others, and get the environment. */
static void say_kind(enum program_kind kind, const char *path)
{
	switch (kind) {
	case PROGRAM_SERVED:
	case PROGRAM_SCRIPT: break;
	case PROGRAM_STATIC: complain("%s is statically linked: nsched can't serve it; it runs without", path); break;
	case PROGRAM_SECURE:
		complain("%s runs with other rights than yours (setuid or the like): nsched can't serve it; it runs without", path);
		break;
	case PROGRAM_FOREIGN: complain("%s is for another kind of processor than nsched, which can't serve it; it runs without", path); break;
	case PROGRAM_ASAN:
		complain("%s has AddressSanitizer, before which nothing may be preloaded: only its OpenMP threads are served", path);
		break;
	}
}

/* ---- the program -------------------------------------------------------------------------------- */

static int not_found(const char *name, int code)
{
	if (code == -ENOENT && strchr(name, '/') == NULL)
		complain("there is no program \"%s\" in PATH", name);
	else
		complain("%s: %s", name, strerror(-code));
	return code == -ENOENT ? COMMAND_NO_PROGRAM : COMMAND_NOT_RUN;
}

static int become(const char *path, enum program_kind kind, char **argv)
{
	fflush(NULL);
	if (kind == PROGRAM_SCRIPT)
		execvp(path, argv); /* gives a script without a first line to the shell; a damaged program must not go there */
	else
		execv(path, argv);

	int code = errno;

	/* It was there: then its interpreter is not ("#!/usr/bin/nothing"). */
	complain("%s can't be run: %s", path, code == ENOENT ? "its interpreter is missing" : strerror(code));
	return COMMAND_NOT_RUN;
}

static int launch(struct run *run, char **argv)
{
	char path[PATH_MAX], plugin[PATH_MAX], preload[PATH_MAX];
	int found = program_find(argv[0], path);

	if (found < 0)
		return not_found(argv[0], found);
	if (where_library(PLUGIN, plugin) < 0 || where_library(PRELOAD, preload) < 0)
		return COMMAND_BROKEN;

	int threaded;
	enum program_kind kind = program_look(path, &threaded);
	int result = name_file(run, OPTION_report, run->config.report);

	if (result == 0)
		result = name_file(run, OPTION_record, run->config.record);

	if (result != 0)
		return result;
	say_kind(kind, path);
	ranks_prepare(&run->config, threaded);
	if (export_options(run) < 0 || export_libraries(run, kind, path, plugin, preload) < 0) {
		complain("there is no memory for the environment");
		return COMMAND_BROKEN;
	}
	if (run->config.verbose)
		say_libraries();
	return become(path, kind, argv);
}

static int run_main(int argc, char **argv)
{
	static struct run run;
	nsched_error_t error;
	int program, result;

	config_defaults(&run.config);
	int wrong = nsched_config_environment(&run.config, &error) < 0;

	result = parse(&run, argc, argv, &program);
	if (result != 0)
		return result;
	if (run.help) {
		usage(stdout);
		return 0;
	}
	/* The program would run with other settings than its user thinks: better now than after a day. */
	if (wrong) {
		complain("%s", error.text);
		return COMMAND_USAGE;
	}
	if (program >= argc) {
		complain("which program? nsched run [OPTIONS] [--] PROGRAM [ARGUMENTS]; --help says more");
		return COMMAND_USAGE;
	}
	return launch(&run, argv + program);
}

const struct command command_run = {
	.name = "run",
	.summary = "run a program with nsched in it",
	.run = run_main,
};
