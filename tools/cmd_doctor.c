/* nsched doctor: what a user or an administrator runs first. Reads the machine, tries what nsched needs, and looks at
 * a program while it runs; then says what is wrong. Moves nothing and changes nothing. */
#define _GNU_SOURCE
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"
#include "libnsched/pure/nearest.h"

extern char **environ;

struct request {
	long pid;                  /* 0: none */
	char **program;            /* NULL: none */
	double after_s, window_s;
	bool json, measure, help;
};

static const double window_default_s = 1, after_default_s = 2, seconds_most = 3600;

/* ---- the command line --------------------------------------------------------------------------------------- */

static const struct flag {
	const char *name, *help;
	bool argument;
} flags[] = {
	{ "--pid", "--pid PID          look at this process and all below it (an mpirun: at its ranks)", true },
	{ "--after", "--after SECONDS    look at PROGRAM when it has run for so long (2)", true },
	{ "--for", "--for SECONDS      watch it for so long (1)", true },
	{ "--measure", "--measure          measure latency and bandwidth between the nodes, and keep them", false },
	{ "--json", "--json             the same for programs", false },
	{ "--help", "--help             this text", false },
};

enum { FLAGS = sizeof(flags) / sizeof(flags[0]) };

static void usage(FILE *file)
{
	fputs("usage: nsched doctor [OPTIONS] [-- PROGRAM [ARGUMENTS]]\n"
	      "       nsched doctor [OPTIONS] --pid PID\n"
	      "\n"
	      "Says what this machine is for nsched, which evidence can be had and how to get better one, who else\n"
	      "binds threads or moves pages; and of a program that runs, what is wrong with it now. Changes nothing.\n"
	      "\n", file);
	for (size_t i = 0; i < FLAGS; i++)
		fprintf(file, "  %s\n", flags[i].help);
	fputs("\nPROGRAM's standard output goes to standard error; it runs to its end.\n"
	      "exit code: 0 healthy, 1 findings, 2 wrong usage, or the program could not be looked at.\n", file);
}

static int wrong_number(const char *flag, const char *value, const char *want)
{
	complain("%s: \"%s\" is not %s", flag, value, want);
	return COMMAND_USAGE;
}

static int take_seconds(const char *flag, const char *value, double least, double *seconds)
{
	char *end;

	*seconds = strtod(value, &end);
	if (end == value || *end != '\0' || !(*seconds >= least && *seconds <= seconds_most))
		return wrong_number(flag, value, least > 0 ? "a number of seconds from 0.1 to 3600" : "a number of seconds up to 3600");
	return 0;
}

static int take_value(struct request *request, const char *flag, const char *value)
{
	char *end;

	if (strcmp(flag, "--after") == 0)
		return take_seconds(flag, value, 0, &request->after_s);
	if (strcmp(flag, "--for") == 0)
		return take_seconds(flag, value, 0.1, &request->window_s);
	errno = 0;
	request->pid = strtol(value, &end, 10);
	if (end == value || *end != '\0' || request->pid <= 0 || errno != 0)
		return wrong_number(flag, value, "a process number");
	return 0;
}

static int unknown_flag(const char *word)
{
	const char *names[FLAGS];

	for (size_t i = 0; i < FLAGS; i++)
		names[i] = flags[i].name;

	const char *nearest = nearest_name(word, names, FLAGS);

	if (nearest != NULL)
		complain("doctor has no option %s; did you mean %s?", word, nearest);
	else
		complain("doctor has no option %s; see nsched doctor --help (a program stands behind --)", word);
	return COMMAND_USAGE;
}

static int take_flag(struct request *request, int argc, char **argv, int *index)
{
	const char *word = strcmp(argv[*index], "-h") == 0 ? "--help" : argv[*index];
	size_t length = strcspn(word, "=");
	const char *value = word[length] == '=' ? word + length + 1 : NULL;
	const struct flag *flag = NULL;

	for (size_t i = 0; flag == NULL && i < FLAGS; i++) {
		if (strlen(flags[i].name) == length && strncmp(flags[i].name, word, length) == 0)
			flag = &flags[i];
	}
	if (flag == NULL)
		return unknown_flag(word);
	if (!flag->argument && value != NULL) {
		complain("%s takes no value", flag->name);
		return COMMAND_USAGE;
	}
	if (flag->argument && value == NULL)
		value = *index + 1 < argc ? argv[++*index] : NULL;
	if (flag->argument && value == NULL) {
		complain("%s: a value is missing", flag->name);
		return COMMAND_USAGE;
	}
	if (flag->argument)
		return take_value(request, flag->name, value);
	request->json |= strcmp(flag->name, "--json") == 0;
	request->measure |= strcmp(flag->name, "--measure") == 0;
	request->help |= strcmp(flag->name, "--help") == 0;
	return 0;
}

static int parse(struct request *request, int argc, char **argv)
{
	*request = (struct request){ .after_s = -1, .window_s = window_default_s };
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0 || argv[i][0] != '-') {
			request->program = argv + i + (argv[i][0] == '-');
			break;
		}

		int result = take_flag(request, argc, argv, &i);

		if (result != 0 || request->help)
			return result;
	}
	if (request->program != NULL && request->program[0] == NULL) {
		complain("which program? nsched doctor [OPTIONS] -- PROGRAM [ARGUMENTS]");
		return COMMAND_USAGE;
	}
	if (request->program != NULL && request->pid != 0) {
		complain("--pid or a program, not both");
		return COMMAND_USAGE;
	}
	if (request->program == NULL && request->pid == 0 && request->after_s >= 0) {
		complain("--after: there is no program to look at");
		return COMMAND_USAGE;
	}
	if (request->after_s < 0)
		request->after_s = request->program != NULL ? after_default_s : 0;
	return 0;
}

/* ---- looking ------------------------------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Waits, but not longer than the child (0: none) lives. False where it has ended. */
static bool wait_for(double seconds, pid_t child)
{
	const struct timespec step = { 0, 10000000 };
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);

	while (now_ns() < end) {
		siginfo_t info = { 0 };

		if (child != 0 && waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child)
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

/* Two looks, `window_s` apart. 0, or -ESRCH. */
static int look_twice(struct doctor *doctor, const struct request *request, long pid, pid_t child)
{
	struct doctor_job then;
	struct doctor_files quiet = { .root = doctor->files.root };

	if (!wait_for(request->after_s, child))
		return -ESRCH;

	int error = job_look(&then, &quiet, &doctor->machine, pid);
	uint64_t begin = now_ns();

	if (error == 0 && !wait_for(request->window_s, child))
		error = -ESRCH;

	uint64_t window = now_ns() - begin;

	if (error == 0)
		error = job_look(&doctor->job, &doctor->files, &doctor->machine, pid);
	if (error == 0)
		job_compare(&doctor->job, &then, window, &doctor->machine);
	job_free(&then);
	return error;
}

/* 0 and *child; else the exit code after a complaint. */
static int start_program(char **argv, pid_t *child)
{
	int tell[2], error = 0;

	if (pipe2(tell, O_CLOEXEC) < 0 || (*child = fork()) < 0) {
		complain("no process could be made: %s", strerror(errno));
		return COMMAND_NOT_RUN;
	}
	if (*child == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(argv[0], argv);
		error = errno;
		if (write(tell[1], &error, sizeof(error)) < 0)
			_exit(COMMAND_NOT_RUN);
		_exit(COMMAND_NOT_RUN);
	}
	close(tell[1]);

	ssize_t got = read(tell[0], &error, sizeof(error));

	close(tell[0]);
	if (got <= 0)
		return 0;
	while (waitpid(*child, NULL, 0) < 0 && errno == EINTR)
		continue;
	complain("%s: %s", argv[0], strerror(error));
	return error == ENOENT ? COMMAND_NO_PROGRAM : COMMAND_NOT_RUN;
}

static int cannot_look(const struct request *request, int error)
{
	if (request->pid != 0)
		complain("there is no process %ld, or it ended: %s", request->pid, strerror(-error));
	else
		complain("%s ended before it could be looked at; --after and --for make the look earlier and shorter", request->program[0]);
	return COMMAND_USAGE;
}

/* The text or JSON of it all. */
static int tell(struct doctor *doctor, const struct request *request)
{
	for (unsigned i = 0; i < doctor->job.n; i++) {
		const struct doctor_process *process = &doctor->job.process[i];

		if (process->target)
			binders_of(&doctor->binders, process->pid, process->environment, process->environment_bytes);
	}
	doctor_judge(doctor);
	if (request->json && doctor_json(doctor, stdout) != 0)
		complain("the JSON could not be written");
	else if (!request->json)
		doctor_text(doctor, stdout);
	fflush(stdout);
	return doctor->n_found > 0;
}

/* This process's variables are those of the programs that it would start. */
static void look_at_own_variables(struct doctor *doctor)
{
	size_t bytes;
	char *own = files_text(&doctor->files, &bytes, "/proc/self/environ");

	binders_of(&doctor->binders, 0, own, bytes);
	free(own);
}

static void look_at_machine(struct doctor *doctor)
{
	machine_look(&doctor->machine, &doctor->files);
	limits_look(&doctor->own, &doctor->files, &doctor->machine, getpid());
	tools_look(&doctor->tools, &doctor->own, &doctor->machine);
	doctor->tools_tried = true;
	binders_look(&doctor->binders, &doctor->files, &doctor->machine);
}

static int examine(struct doctor *doctor, const struct request *request)
{
	pid_t child = 0;
	int result = 0, error = 0;

	look_at_machine(doctor);
	if (request->measure && doctor_measure(doctor) < 0)
		return COMMAND_USAGE;
	doctor->with_program = request->program != NULL || request->pid != 0;
	if (!doctor->with_program)
		look_at_own_variables(doctor);
	if (request->program != NULL)
		result = start_program(request->program, &child);
	if (result == 0 && doctor->with_program)
		error = look_twice(doctor, request, request->pid != 0 ? request->pid : child, child);
	if (error != 0)
		result = cannot_look(request, error);
	else if (result == 0)
		result = tell(doctor, request);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	return result;
}

static int run_doctor(int argc, char **argv)
{
	struct request request;
	struct doctor *doctor = calloc(1, sizeof(*doctor));
	int result = parse(&request, argc, argv);

	if (doctor == NULL) {
		complain("no memory");
		return COMMAND_BROKEN;
	}
	doctor->files.root = "";
	if (request.help)
		usage(stdout);
	else if (result == 0)
		result = examine(doctor, &request);
	job_free(&doctor->job);
	free(doctor);
	return result;
}

const struct command command_doctor = { "doctor", "says what is wrong on this machine, or with a program", run_doctor };
