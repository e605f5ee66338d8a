#include "pure/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

enum { WORDS = MACHINE_CPUS / 64 };

/* A coarser division (whole nodes rather than parts of them) is taken as long as it gives each rank this share of
 * the cores that the finest would: near memory is worth more than the last core, but not than a third of them. */
#define COARSE_LEAST 0.75f

/* ---- domains: neighbouring CPUs that go together ------------------------------------------------------- */

enum level { LEVEL_NODES, LEVEL_CACHES, LEVEL_CORES, LEVEL_CPUS, LEVELS };

struct domain {
	uint16_t first, n;    /* CPUs, in `order` */
	uint16_t node;
};

struct division {
	const struct machine *machine;
	uint16_t *order;      /* the machine's CPUs by node, cache, core */
	struct domain *domain;
	unsigned n_domains;
};

static bool same_domain(const struct machine *m, unsigned a, unsigned b, enum level level)
{
	const struct machine_cpu *x = &m->cpu[a], *y = &m->cpu[b];
	if (x->node != y->node || level == LEVEL_CPUS) return false;
	if (level == LEVEL_NODES) return true;
	return x->l3 == y->l3 && (level == LEVEL_CACHES || x->core == y->core);
}

static void find_domains(struct division *d, enum level level)
{
	d->n_domains = 0;
	for (unsigned i = 0; i < d->machine->n_cpus; i++) {
		if (i && same_domain(d->machine, d->order[i - 1], d->order[i], level)) {
			d->domain[d->n_domains - 1].n++;
			continue;
		}
		d->domain[d->n_domains++] = (struct domain){ .first = (uint16_t)i, .n = 1, .node = d->machine->cpu[d->order[i]].node };
	}
}

static bool goes_before(const struct machine_cpu *a, const struct machine_cpu *b)
{
	if (a->node != b->node) return a->node < b->node;
	if (a->l3 != b->l3) return a->l3 < b->l3;
	return a->core != b->core ? a->core < b->core : a->os < b->os;
}

static int order_of(const void *x, const void *y, void *arg)
{
	const struct machine_cpu *cpu = arg, *a = &cpu[*(const uint16_t *)x], *b = &cpu[*(const uint16_t *)y];
	return goes_before(a, b) ? -1 : goes_before(b, a);
}

/* ---- slots: so many neighbouring domains, one for each rank ------------------------------------------------ */

/* Of nodes, a slot may take several; below that it stays inside of one. How many slots of `size` domains there are. */
static unsigned count_slots(const struct division *d, enum level level, unsigned size)
{
	unsigned slots = 0, run = 0;
	if (level == LEVEL_NODES) return d->n_domains / size;
	for (unsigned i = 0; i < d->n_domains; i++) {
		run = i && d->domain[i - 1].node == d->domain[i].node ? run + 1 : 1;
		if (run % size == 0) slots++;
	}
	return slots;
}

/* The largest slots of which there are enough; 0: there are not. */
static unsigned slot_size(const struct division *d, enum level level, unsigned ranks)
{
	unsigned size = d->n_domains / ranks;
	while (size && count_slots(d, level, size) < ranks) size--;
	return size;
}

/* The first domain of slot `number`. */
static unsigned slot_begin(const struct division *d, enum level level, unsigned size, unsigned number)
{
	unsigned slots = 0, run = 0;
	if (level == LEVEL_NODES) return number * size;
	for (unsigned i = 0; i < d->n_domains; i++) {
		run = i && d->domain[i - 1].node == d->domain[i].node ? run + 1 : 1;
		if (run % size == 0 && slots++ == number) return i + 1 - size;
	}
	return d->n_domains;
}

static unsigned begin_of_rank(const struct division *d, enum level level, unsigned size, unsigned ranks, unsigned rank)
{
	unsigned slots = count_slots(d, level, size);
	/* nodes that are left over lie between the ranks, not behind the last */
	if (level == LEVEL_NODES) return rank * d->n_domains / ranks;
	return slot_begin(d, level, size, rank * slots / ranks);
}

/* Cores (below a core: CPUs) of the domains [begin, begin + size) */
static unsigned cores_in(const struct division *d, enum level level, unsigned begin, unsigned size)
{
	unsigned cores = 0, first = d->domain[begin].first;
	unsigned end = d->domain[begin + size - 1].first + d->domain[begin + size - 1].n;
	for (unsigned i = first; i < end; i++)
		cores += i == first || level == LEVEL_CPUS || !same_domain(d->machine, d->order[i - 1], d->order[i], LEVEL_CORES);
	return cores;
}

/* What each rank gets at this level: the least of all, since all get the same. 0: there is not enough for all. */
static unsigned width(const struct division *d, enum level level, unsigned ranks)
{
	unsigned size = slot_size(d, level, ranks), least = UINT16_MAX;
	for (unsigned r = 0; size && r < ranks; r++) {
		unsigned cores = cores_in(d, level, begin_of_rank(d, level, size, ranks, r), size);
		if (cores < least) least = cores;
	}
	return size ? least : 0;
}

static void give(const struct division *d, enum level level, unsigned ranks, unsigned cores, uint16_t *owner)
{
	unsigned size = slot_size(d, level, ranks);
	for (unsigned r = 0; r < ranks; r++) {
		unsigned begin = begin_of_rank(d, level, size, ranks, r), i = d->domain[begin].first, given = 0;
		unsigned end = d->domain[begin + size - 1].first + d->domain[begin + size - 1].n;
		for (unsigned first = i; i < end; i++) {
			bool sibling = i > first && level != LEVEL_CPUS && same_domain(d->machine, d->order[i - 1], d->order[i], LEVEL_CORES);
			if (!sibling && given++ == cores) break;
			owner[d->order[i]] = (uint16_t)r;
		}
	}
}

static void divide(struct division *d, unsigned ranks, uint16_t *owner)
{
	unsigned widths[LEVELS] = { 0 }, most = 0;
	for (unsigned level = 0; level < LEVEL_CPUS; level++) {
		find_domains(d, (enum level)level);
		widths[level] = width(d, (enum level)level, ranks);
		if (widths[level] > most) most = widths[level];
	}
	/* more ranks than cores: CPUs of one core go to different ranks */
	if (!most) most = widths[LEVEL_CPUS] = 1;
	unsigned level = 0;
	while ((float)widths[level] < COARSE_LEAST * (float)most || !widths[level]) level++;
	find_domains(d, (enum level)level);
	if (level == LEVEL_CPUS) widths[level] = width(d, LEVEL_CPUS, ranks);
	give(d, (enum level)level, ranks, widths[level], owner);
}

int share_divide(const struct machine *m, unsigned ranks, uint16_t *owner)
{
	struct division d = { .machine = m };
	if (!ranks || ranks > m->n_cpus || ranks >= SHARE_NOBODY) return -E2BIG;
	d.order = calloc(m->n_cpus, sizeof *d.order);
	d.domain = calloc(m->n_cpus, sizeof *d.domain);
	int ret = d.order && d.domain ? 0 : -ENOMEM;
	for (unsigned c = 0; c < m->n_cpus; c++) owner[c] = SHARE_NOBODY;
	if (!ret) {
		for (unsigned c = 0; c < m->n_cpus; c++) d.order[c] = (uint16_t)c;
		qsort_r(d.order, m->n_cpus, sizeof *d.order, order_of, m->cpu);
		divide(&d, ranks, owner);
	}
	free(d.order);
	free(d.domain);
	return ret;
}

/* ---- ranks that have masks ----------------------------------------------------------------------------------- */

static bool equal(const uint64_t *a, const uint64_t *b)
{
	return !memcmp(a, b, WORDS * sizeof *a);
}

static bool meet(const uint64_t *a, const uint64_t *b)
{
	for (unsigned i = 0; i < WORDS; i++)
		if (a[i] & b[i]) return true;
	return false;
}

/* The ranks with `first`'s mask, of which it is the first, divide it. -E2BIG: it is too small. */
static int divide_mask(const struct machine *m, const uint64_t *masks, unsigned first, unsigned ranks, uint16_t *owner)
{
	struct machine part;
	unsigned n = 0, at = 0;
	for (unsigned r = first; r < ranks; r++) n += equal(&masks[first * WORDS], &masks[r * WORDS]);
	int ret = machine_restrict(&part, m, &masks[first * WORDS], true);
	uint16_t *who = ret ? NULL : calloc(part.n_cpus + 1, sizeof *who);
	if (!ret) ret = who ? share_divide(&part, n, who) : -ENOMEM;
	for (unsigned r = first, k = 0; !ret && r < ranks; r++) {
		if (!equal(&masks[first * WORDS], &masks[r * WORDS])) continue;
		/* both lists of CPUs are in the same order */
		at = 0;
		for (unsigned c = 0; c < part.n_cpus; c++) {
			while (m->cpu[at].os != part.cpu[c].os) at++;
			if (who[c] == k) owner[at] = (uint16_t)r;
		}
		k++;
	}
	free(who);
	machine_free(&part);
	return ret;
}

int share_masks(const struct machine *m, const uint64_t *masks, unsigned ranks, uint16_t *owner)
{
	bool together = false, given = false;
	for (unsigned c = 0; c < m->n_cpus; c++) owner[c] = SHARE_NOBODY;
	for (unsigned a = 0; a < ranks; a++)
		for (unsigned b = 0; b < a; b++) {
			if (!meet(&masks[a * WORDS], &masks[b * WORDS])) continue;
			if (!equal(&masks[a * WORDS], &masks[b * WORDS])) return SHARE_OVERLAP;
			together = true;
		}
	if (!together) return SHARE_ALONE;
	for (unsigned a = 0; a < ranks; a++) {
		bool first = true;
		for (unsigned b = 0; first && b < a; b++) first = !equal(&masks[a * WORDS], &masks[b * WORDS]);
		int ret = first ? divide_mask(m, masks, a, ranks, owner) : 0;
		if (ret && ret != -E2BIG) return ret;
		given |= first && !ret;
	}
	return given ? SHARE_GIVEN : SHARE_CROWDED;
}
