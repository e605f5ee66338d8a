#include "ranks_decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libnsched/sys/cpulist.h"

enum { WORDS = MACHINE_CPUS / 64 };

static void join_masks(uint64_t *to, const uint64_t *from)
{
	for (unsigned i = 0; i < WORDS; i++)
		to[i] |= from[i];
}

/* A rank with fewer CPUs than the threads it is to have; a program that has threads but was not told
 * how many makes one for each CPU, and one CPU is then surely not what was meant. */
static int is_jammed(const struct board_arrival *arrival)
{
	unsigned cpus = cpulist_count(&arrival->launch);

	return arrival->wants > cpus || (arrival->wants == 0 && cpus == 1 && (arrival->flags & BOARD_THREADED));
}

/* All that the ranks may come to use: what they have, and what the launcher may use of this machine, as the first of them sees it. */
static int wider(const struct board_arrival *first, const struct machine *machine, const struct cpu_mask *ceiling, struct cpu_mask *wide)
{
	struct cpu_mask all;

	if (cpulist_count(&first->launcher) == 0)
		return 0;
	mask_clear(&all);
	for (unsigned c = 0; c < machine->n_cpus; c++)
		mask_add(&all, machine->cpu[c].os);
	for (unsigned i = 0; i < WORDS; i++)
		wide->word[i] = first->launcher.word[i] & all.word[i];
	join_masks(wide->word, ceiling->word);
	return cpulist_count(wide) > cpulist_count(ceiling);
}

static void widen(const struct board_arrival *all, unsigned ranks, const struct machine *machine, uint64_t *masks, struct decision *d)
{
	struct cpu_mask wide;
	unsigned allowed = 0, asked = 0;

	for (unsigned r = 0; r < ranks; r++) {
		allowed += (all[r].flags & BOARD_WIDEN) != 0;
		asked += (all[r].flags & BOARD_ASKED) != 0;
		d->jammed += is_jammed(&all[r]) ? 1u : 0u;
	}
	if ((d->jammed == 0 && asked == 0) || !wider(&all[0], machine, &d->ceiling, &wide)) {
		d->jammed = 0;
		return;
	}
	if (allowed < ranks)
		return;
	d->widened = 1;
	d->ceiling = wide;
	for (unsigned r = 0; r < ranks; r++)
		memcpy(&masks[r * WORDS], wide.word, sizeof(wide.word));
}

static int is_kept(const struct board_arrival *all, unsigned ranks)
{
	for (unsigned r = 0; r < ranks; r++)
		if (all[r].flags & BOARD_KEEP)
			return 1;
	return 0;
}

int ranks_decide(const struct board_arrival *all, unsigned ranks, const struct machine *machine, struct decision *d)
{
	uint64_t *masks = malloc(ranks * WORDS * sizeof(*masks));

	memset(d, 0, sizeof(*d));
	d->owner = malloc((machine->n_cpus + 1) * sizeof(*d->owner));
	if (masks == NULL || d->owner == NULL) {
		free(masks);
		free(d->owner);
		d->owner = NULL;
		return -ENOMEM;
	}
	for (unsigned r = 0; r < ranks; r++) {
		memcpy(&masks[r * WORDS], all[r].launch.word, sizeof(all[r].launch.word));
		join_masks(d->ceiling.word, all[r].launch.word);
	}
	widen(all, ranks, machine, masks, d);
	for (unsigned c = 0; c < machine->n_cpus; c++)
		d->owner[c] = SHARE_NOBODY;
	d->verdict = share_masks(machine, masks, ranks, d->owner);
	free(masks);
	if (d->verdict == SHARE_GIVEN && is_kept(all, ranks) && !d->widened)
		d->verdict = SHARE_OVERLAP;
	/* a rank alone on its machine shares with nobody, but may have been widened */
	if (d->widened && ranks == 1) {
		for (unsigned c = 0; c < machine->n_cpus; c++)
			d->owner[c] = mask_has(&d->ceiling, machine->cpu[c].os) ? 0 : SHARE_NOBODY;
		d->verdict = SHARE_GIVEN;
	}
	return d->verdict < 0 ? d->verdict : 0;
}

void ranks_share(const struct decision *d, const struct machine *machine, unsigned rank, struct cpu_mask *share)
{
	mask_clear(share);
	for (unsigned c = 0; c < machine->n_cpus; c++) {
		if (d->owner[c] == rank)
			mask_add(share, machine->cpu[c].os);
	}
}
