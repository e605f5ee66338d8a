/* nsched report: the reports of a job's processes, read together; and where its ranks should be next time. */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libnsched/pure/nearest.h"
#include "partition.h"
#include "report_nodes.h"
#include "report_read.h"

enum { HOSTS_MOST = 4096 };

struct wish {
	const char *rankfile, *hostfile;
	int help;
};

/* The machines of a job, in the order of their first rank. */
struct hosts {
	const char **name;
	unsigned *slots, *cpus;   /* ranks that ran there; CPUs that it has, 0: not told */
	unsigned *nodes;
	unsigned n;
	unsigned *of_rank;        /* where each ran; n: not known */
	unsigned unknown;         /* ranks without a report */
};

static void usage(FILE *file)
{
	fputs("usage: nsched report [--rankfile FILE] [--hostfile FILE] FOLDER|REPORT.json ...\n"
	      "\n"
	      "Reads what the processes of one job have reported (nsched run --report=FOLDER/NAME.json), and says\n"
	      "what was done on each machine and what the ranks sent to each other. For the next run of the same\n"
	      "job it can place the ranks so that less goes between machines:\n"
	      "\n"
	      "  --rankfile FILE         for Open MPI: mpirun --rankfile FILE ...; binds ranks to CPUs, those that\n"
	      "                          talk to each other on one NUMA node\n"
	      "  --hostfile FILE         a machine a line, in the order of the ranks, for\n"
	      "                          Open MPI: mpirun --mca rmaps seq --hostfile FILE ...\n"
	      "                          MPICH:    mpiexec -f FILE ...\n"
	      "                          Slurm:    SLURM_HOSTFILE=FILE srun --distribution=arbitrary ...\n"
	      "  --help                  this text\n", file);
}

/* ---- machines --------------------------------------------------------------------------------------- */

static unsigned find_host(struct hosts *hosts, const char *name)
{
	unsigned h = 0;

	while (h < hosts->n && strcmp(hosts->name[h], name) != 0)
		h++;
	if (h == hosts->n && h < HOSTS_MOST)
		hosts->name[hosts->n++] = name;
	return h;
}

static int find_hosts(const struct read_job *job, struct hosts *hosts)
{
	hosts->name = calloc(HOSTS_MOST, sizeof(*hosts->name));
	hosts->slots = calloc(HOSTS_MOST + 1, sizeof(*hosts->slots));
	hosts->cpus = calloc(HOSTS_MOST + 1, sizeof(*hosts->cpus));
	hosts->nodes = calloc(HOSTS_MOST + 1, sizeof(*hosts->nodes));
	hosts->of_rank = calloc(job->ranks + 1, sizeof(*hosts->of_rank));
	if (hosts->name == NULL || hosts->slots == NULL || hosts->cpus == NULL || hosts->nodes == NULL ||
	    hosts->of_rank == NULL)
		return -ENOMEM;
	for (unsigned r = 0; r < job->ranks; r++)
		hosts->of_rank[r] = HOSTS_MOST;
	for (unsigned i = 0; i < job->n; i++) {
		const struct read_report *report = &job->report[i];
		unsigned h = find_host(hosts, report->host);

		if (h == HOSTS_MOST)
			return -E2BIG;
		if (report->cpus > hosts->cpus[h])
			hosts->cpus[h] = report->cpus;
		if (report->nodes > hosts->nodes[h])
			hosts->nodes[h] = report->nodes;
		if (report->rank >= 0 && report->ranks > 0 && hosts->of_rank[report->rank] == HOSTS_MOST) {
			hosts->of_rank[report->rank] = h;
			hosts->slots[h]++;
		}
	}
	for (unsigned r = 0; r < job->ranks; r++)
		hosts->unknown += hosts->of_rank[r] == HOSTS_MOST;
	return 0;
}

static void free_hosts(struct hosts *hosts)
{
	free(hosts->name);
	free(hosts->slots);
	free(hosts->cpus);
	free(hosts->nodes);
	free(hosts->of_rank);
}

/* ---- what was --------------------------------------------------------------------------------------- */

static void print_share(const char *what, long permille)
{
	if (permille < 0 || permille > 1000)
		printf(" %s -", what);
	else
		printf(" %s %ld.%ld %%", what, permille / 10, permille % 10);
}

static void print_reports(const struct read_job *job, const struct hosts *hosts)
{
	for (unsigned h = 0; h < hosts->n; h++) {
		printf("machine %s, %u ranks\n", hosts->name[h], hosts->slots[h]);
		for (unsigned i = 0; i < job->n; i++) {
			const struct read_report *r = &job->report[i];

			if (strcmp(r->host, hosts->name[h]) != 0)
				continue;
			if (r->rank >= 0)
				printf("  rank %d: ", r->rank);
			else
				printf("  %s: ", r->file);
			printf("ran %.1f s, %s, %u threads;", r->run_s, r->active ? "active" : "idle", r->threads);
			print_share("local first", r->local_first);
			print_share("last", r->local_last);
			printf("; moved %llu threads, %.1f MiB", r->thread_moves, (double)r->moved_bytes / (1024 * 1024));
			if (r->has_row)
				printf("; sent %llu messages, %.1f MiB", r->messages_sent, (double)r->bytes_sent / (1024 * 1024));
			printf("\n");
		}
	}
	if (hosts->unknown > 0)
		printf("no report of %u of %u ranks\n", hosts->unknown, job->ranks);
}

static void print_cut(const char *what, const struct read_job *job, const unsigned *of_rank)
{
	double all = (double)cut_all(&job->graph), cut = (double)cut_bytes(&job->graph, of_rank);

	printf("between machines, %s: %.1f MiB of %.1f, %.1f %%\n", what, cut / (1024 * 1024), all / (1024 * 1024),
	       all > 0 ? 100 * cut / all : 0.0);
}

/* ---- the next run ------------------------------------------------------------------------------------- */

static FILE *create(const char *name)
{
	FILE *file = fopen(name, "w");

	if (file == NULL)
		complain("%s: %s", name, strerror(errno));
	return file;
}

static int finish(FILE *file, const char *name)
{
	int failed = ferror(file) != 0;

	failed |= fclose(file) != 0;
	if (failed)
		complain("%s could not be written: %s", name, strerror(errno));
	return failed ? COMMAND_BROKEN : 0;
}

/* Each rank gets an equal part of its machine's CPUs, those that talk to each other on one node; where how many
 * there are was not told, or they do not do, one each. (CPUs are counted node by node, as Open MPI's are.) */
static int write_rankfile(const char *name, const struct read_job *job, const struct hosts *hosts, const unsigned *of_rank)
{
	unsigned *place = calloc(job->ranks + 1, sizeof(*place));
	struct nodes_cut cut;
	FILE *file;

	if (place == NULL || report_nodes(&job->graph, of_rank, hosts->slots, hosts->nodes, hosts->n, place, &cut) < 0) {
		free(place);
		complain("no memory to place %u ranks", job->ranks);
		return COMMAND_BROKEN;
	}
	if (cut.after < cut.before)
		printf("between nodes of a machine: %.1f MiB in the order of the ranks, %.1f as in the rankfile\n",
		       (double)cut.before / (1024 * 1024), (double)cut.after / (1024 * 1024));
	file = create(name);
	if (file == NULL) {
		free(place);
		return COMMAND_USAGE;
	}
	for (unsigned r = 0; r < job->ranks; r++) {
		unsigned h = of_rank[r], cpus = hosts->cpus[h], width = cpus / hosts->slots[h], first;

		width = width == 0 ? 1 : width;
		first = place[r] * width;
		if (cpus > 0)
			first %= cpus;
		if (width > 1)
			fprintf(file, "rank %u=%s slot=%u-%u\n", r, hosts->name[h], first, first + width - 1);
		else
			fprintf(file, "rank %u=%s slot=%u\n", r, hosts->name[h], first);
	}
	free(place);
	return finish(file, name);
}

static int write_hostfile(const char *name, const struct read_job *job, const struct hosts *hosts, const unsigned *of_rank)
{
	FILE *file = create(name);

	if (file == NULL)
		return COMMAND_USAGE;
	for (unsigned r = 0; r < job->ranks; r++)
		fprintf(file, "%s\n", hosts->name[of_rank[r]]);
	return finish(file, name);
}

/* The same number of ranks on each machine as before, so that the job's other needs are met as they were. */
static int place(const struct read_job *job, const struct hosts *hosts, unsigned *of_rank)
{
	int result;

	memcpy(of_rank, hosts->of_rank, job->ranks * sizeof(*of_rank));
	if (hosts->n == 1) {
		printf("all ranks ran on one machine: a rankfile places them on its nodes\n");
		return 0;
	}
	result = partition(&job->graph, hosts->slots, hosts->n, of_rank);
	if (result == -ENOSYS) {
		complain("this nsched was built without Scotch (Debian: libscotch-dev), which places ranks on machines");
		return COMMAND_BROKEN;
	}
	if (result == 0)
		result = cut_fit(&job->graph, hosts->slots, hosts->n, of_rank);
	if (result < 0) {
		complain("the ranks could not be placed: %s", strerror(-result));
		return COMMAND_BROKEN;
	}
	if (cut_bytes(&job->graph, of_rank) >= cut_bytes(&job->graph, hosts->of_rank)) {
		printf("no better place was found: the ranks stay where they were\n");
		memcpy(of_rank, hosts->of_rank, job->ranks * sizeof(*of_rank));
	}
	return 0;
}

static int look_ahead(const struct wish *wish, const struct read_job *job, const struct hosts *hosts)
{
	unsigned *of_rank;
	int result;

	if (job->ranks == 0 || hosts->unknown > 0) {
		complain(job->ranks == 0 ? "these are no reports of an MPI job's ranks" :
		         "ranks without a report can't be placed; give the reports of all machines");
		return COMMAND_USAGE;
	}
	if (job->graph.n_edges == 0) {
		complain("no report says what its rank has sent: nothing to place ranks by");
		return COMMAND_USAGE;
	}
	of_rank = malloc(job->ranks * sizeof(*of_rank));
	if (of_rank == NULL)
		return COMMAND_BROKEN;
	result = place(job, hosts, of_rank);
	if (result == 0)
		print_cut("as placed for the next run", job, of_rank);
	if (result == 0 && wish->rankfile != NULL)
		result = write_rankfile(wish->rankfile, job, hosts, of_rank);
	if (result == 0 && wish->hostfile != NULL)
		result = write_hostfile(wish->hostfile, job, hosts, of_rank);
	free(of_rank);
	return result;
}

/* ---- the command ---------------------------------------------------------------------------------------- */

static int take_flag(struct wish *wish, int argc, char **argv, int *index)
{
	static const char *const names[] = { "--rankfile", "--hostfile", "--help" };
	const char *word = argv[*index];
	size_t length = strcspn(word, "=");
	const char *value = word[length] == '=' ? word + length + 1 : NULL;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
		wish->help = 1;
		return 0;
	}
	if (strcmp(name, "--rankfile") != 0 && strcmp(name, "--hostfile") != 0) {
		const char *nearest = nearest_name(name, names, sizeof(names) / sizeof(names[0]));

		if (nearest != NULL)
			complain("report has no option %s; did you mean %s?", name, nearest);
		else
			complain("report has no option %s; see nsched report --help", name);
		return COMMAND_USAGE;
	}
	if (value == NULL)
		value = *index + 1 < argc ? argv[++*index] : NULL;
	if (value == NULL || value[0] == '\0') {
		complain("%s: a file's name is missing", name);
		return COMMAND_USAGE;
	}
	*(strcmp(name, "--rankfile") == 0 ? &wish->rankfile : &wish->hostfile) = value;
	return 0;
}

static int report(const struct wish *wish, struct read_job *job)
{
	struct hosts hosts = { 0 };
	int result = find_hosts(job, &hosts);

	if (result < 0) {
		complain("the machines can't be told apart: %s", strerror(-result));
		result = COMMAND_BROKEN;
	} else {
		print_reports(job, &hosts);
		if (hosts.n > 1 && hosts.unknown == 0 && job->graph.n_edges > 0)
			print_cut("as it ran", job, hosts.of_rank);
		if (wish->rankfile != NULL || wish->hostfile != NULL)
			result = look_ahead(wish, job, &hosts);
	}
	free_hosts(&hosts);
	return result;
}

static int report_main(int argc, char **argv)
{
	struct wish wish = { 0 };
	struct read_job job = { 0 };
	int result = 0, files = 0;

	for (int i = 1; result == 0 && !wish.help && i < argc; i++) {
		if (argv[i][0] == '-' && argv[i][1] != '\0') {
			result = take_flag(&wish, argc, argv, &i);
		} else {
			files++;
			result = report_read(&job, argv[i]);
		}
	}
	if (wish.help) {
		usage(stdout);
	} else if (result == 0 && files == 0) {
		complain("which reports? nsched report FOLDER, or the files; --help says more");
		result = COMMAND_USAGE;
	} else {
		if (result == 0)
			result = report_read_end(&job);
		if (result == 0)
			result = report(&wish, &job);
	}
	report_read_free(&job);
	return result;
}

const struct command command_report = {
	.name = "report",
	.summary = "read the reports of a job's processes together, and place its ranks",
	.run = report_main,
};
