/* What one set of options costs a program more than another, so that noise cancels: two processes, forked from one, do the same
 * work on the same pages of memory in short turns (A B B A, then B A A B), each stopped while it is the other's turn. What is
 * slow at a time, the clock of the CPU, a neighbour of the virtual machine, meets both; where memory lies in the caches is the same for
 * both.
 *
 * The program's own threads: the median of the ratios of all fours of turns, and the interval that holds the true median in 95 of 100
 * cases. All else in the process is nsched's: its CPU time is known, and is put to that of the program's threads, with nothing taken off for
 * side B's. (While a side is stopped time goes on, so that a step comes twice as often for each second of work: it is overstated.)
 *
 * usage: pairs [-t THREADS] [-n FOURS] [-m MILLISECONDS] [-k KIB] [-c] [-r REPORT] [-o NAME=VALUE] [-a NAME=VALUE] [-b NAME=VALUE]
 *   -m  of a turn        -k  of one array of three, for each thread       -c  a thread comes and goes all the time
 *   -o  an option of both sides; -a of side A, -b of side B, which A is compared to
 *   -r  where side A writes its report */
#include "pairs.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	A, B,
	WARM_MS = 3000,         /* of each side, before what is counted: nsched's start, and until it looks more seldom */
	TURN_MOST_S = 120,      /* then the side is taken to hang */
	FOURS_LEAST = 6, FOURS_MOST = 4096,
};
#define INTERVAL_95 1.96

struct options {
	unsigned threads, fours, turn_ms, kib;
	struct pairs_side side[SIDES];
};

struct turn { double work_s, nsched_s, wall_s; };   /* see pairs_board */
struct figures {
	double ratio[FOURS_MOST];
	unsigned n;
	struct turn sum[SIDES];
};

static struct pairs_board *board;
static pid_t process[SIDES];

static void end_all(void)
{
	for (unsigned i = 0; i < SIDES; i++)
		if (process[i] > 0) kill(process[i], SIGKILL);
}

static void die(const char *why)
{
	fprintf(stderr, "pairs: %s\n", why);
	end_all();
	exit(1);
}

/* ---- turns ----------------------------------------------------------------------------------------------- */

static struct turn turn(unsigned side, long passes)
{
	struct timespec most;
	clock_gettime(CLOCK_REALTIME, &most);
	most.tv_sec += TURN_MOST_S;
	atomic_store(&board->left, passes);
	if (kill(process[side], SIGCONT)) die("a side has ended");
	sem_post(&board->go[side]);
	while (sem_timedwait(&board->done[side], &most))
		if (waitpid(process[side], NULL, WNOHANG) || time(NULL) > most.tv_sec) die("a side ended, or took too long for its turn");
	kill(process[side], SIGSTOP);
	return (struct turn){ board->work_s[side], board->nsched_s[side], board->wall_s[side] };
}

static void add(struct turn *sum, const struct turn *t)
{
	sum->work_s += t->work_s;
	sum->nsched_s += t->nsched_s;
	sum->wall_s += t->wall_s;
}

/* Passes that take side B about as long as wanted; what that took. */
static long calibrate(unsigned turn_ms, struct turn *sum)
{
	double wanted = turn_ms / 1000.0;
	long passes = 16;
	struct turn took = turn(B, passes);        /* its start */
	add(sum, &took);
	while ((took = turn(B, passes)).wall_s < wanted / 4) {
		add(sum, &took);
		passes *= 2;
	}
	return (long)((double)passes * wanted / took.wall_s) + 1;
}

static void four(struct figures *f, long passes)
{
	static const unsigned order[2][4] = { { A, B, B, A }, { B, A, A, B } };
	double work_s[SIDES] = { 0 };
	for (unsigned i = 0; i < 4; i++) {
		unsigned side = order[f->n % 2][i];
		struct turn took = turn(side, passes);
		work_s[side] += took.work_s;
		add(&f->sum[side], &took);
	}
	f->ratio[f->n++] = work_s[A] / work_s[B];
}

/* ---- figures --------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double percent(double ratio)
{
	return 100 * (ratio - 1);
}

/* The median, and the values that hold the true one between them: by their places, whatever noise is distributed like. */
static double print_median(double *ratio, unsigned n)
{
	qsort(ratio, n, sizeof *ratio, by_value);
	unsigned low = (unsigned)(fmax(0, ((double)n - INTERVAL_95 * sqrt(n)) / 2));
	double median = n % 2 ? ratio[n / 2] : (ratio[n / 2 - 1] + ratio[n / 2]) / 2;
	printf("  %.2f [%.2f..%.2f]", percent(median), percent(ratio[low]), percent(ratio[n - 1 - low]));
	return percent(median);
}

/* threads; fours; cost of the program's threads, in %; of nsched's own; the sum; most that a team loses whose threads all wait while one
 * gives its CPU to nsched; and nsched's part of the start, in ms of CPU time. */
static void measure(const struct options *o)
{
	static struct figures f;
	struct turn first[SIDES] = { { 0 } };
	long passes = calibrate(o->turn_ms, &first[B]);
	for (unsigned ms = 0; ms < WARM_MS; ms += o->turn_ms)
		for (unsigned side = 0; side < SIDES; side++) {
			struct turn took = turn(side, passes);
			add(&first[side], &took);
		}
	while (f.n < o->fours) four(&f, passes);
	double own = 100 * f.sum[A].nsched_s / f.sum[A].work_s, team = 100 * f.sum[A].nsched_s / f.sum[A].wall_s;
	printf("%u  %u", o->threads, f.n);
	double threads = print_median(f.ratio, f.n);
	printf("  %.2f  %.2f  %.2f  %.1f\n", own, threads + own, threads + team, 1000 * first[A].nsched_s);
}

/* ---- start ----------------------------------------------------------------------------------------------- */

static void begin(const struct options *o)
{
	unsigned doubles = o->kib * 1024 / sizeof(double);
	size_t numbers = 3 * (size_t)doubles * o->threads;
	board = mmap(NULL, sizeof *board + numbers * sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED) die("no memory");
	for (size_t i = 0; i < numbers; i++) board->arrays[i] = (double)i;
	for (unsigned i = 0; i < SIDES; i++)
		if (sem_init(&board->go[i], 1, 0) || sem_init(&board->done[i], 1, 0)) die("no semaphores");
	for (unsigned i = 0; i < SIDES; i++) {
		struct pairs_side side = o->side[i];
		side.board = board;
		side.side = i;
		side.threads = o->threads;
		side.doubles = doubles;
		process[i] = fork();
		if (process[i] < 0) die("no process");
		if (process[i]) continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(pairs_side(&side));
	}
}

static int finish(void)
{
	int failed = 0;
	atomic_store(&board->end, true);
	for (unsigned i = 0; i < SIDES; i++) {
		int status = 0;
		kill(process[i], SIGCONT);
		sem_post(&board->go[i]);
		failed |= waitpid(process[i], &status, 0) != process[i] || status != 0;
	}
	return failed;
}

static void add_option(struct pairs_side *side, const char *option)
{
	if (side->n_options == OPTIONS_MOST) die("too many options");
	side->option[side->n_options++] = option;
}

static unsigned number(const char *text, unsigned least, unsigned most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (*end || end == text || n < least || n > most) {
		fprintf(stderr, "pairs: \"%s\" is not a number from %u to %u\n", text, least, most);
		exit(2);
	}
	return (unsigned)n;
}

int main(int argc, char **argv)
{
	struct options o = { .threads = 2, .fours = 400, .turn_ms = 25, .kib = 64 };
	for (int c; (c = getopt(argc, argv, "t:n:m:k:cr:o:a:b:")) != -1;) {
		switch (c) {
		case 't': o.threads = number(optarg, 1, 4096); break;
		case 'n': o.fours = number(optarg, FOURS_LEAST, FOURS_MOST); break;
		case 'm': o.turn_ms = number(optarg, 1, 60000); break;
		case 'k': o.kib = number(optarg, 1, 1 << 20); break;
		case 'c': o.side[A].changing = o.side[B].changing = true; break;
		case 'r': o.side[A].report = optarg; break;
		case 'o': add_option(&o.side[A], optarg); add_option(&o.side[B], optarg); break;
		case 'a': add_option(&o.side[A], optarg); break;
		case 'b': add_option(&o.side[B], optarg); break;
		default: return 2;
		}
	}
	begin(&o);
	measure(&o);
	return finish();
}
