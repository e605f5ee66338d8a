#include "operand_path.h"

#include <stdlib.h>

/* ---- from place to place ------------------------------------------------------------------------------ */

static bool falls_through(const struct place *place)
{
	return place->flow == FLOW_NEXT || place->flow == FLOW_BRANCH || place->flow == FLOW_CALL;
}

/* A sample at what looked like padding: it is reached by a jump table, and so is what it falls through to. */
static int alive_to(const struct range *range, int at)
{
	while (at < range->places && range->place[at].dead)
		if (!falls_through(&range->place[at++]))
			break;
	return at;
}

static bool dead(const struct path *p, int i)
{
	return p->range->place[i].dead && (i < p->at || i >= p->alive);
}

/* The nearest jump to i that lies in the loop, if there is a loop; or -1. */
static int jump_to(const struct path *p, int i, const struct loop *loop)
{
	const struct range *range = p->range;
	int nearest = -1;

	for (unsigned k = 0; k < range->jumps && range->jump[k] < p->limit; k++) {
		int j = range->jump[k];
		bool inside = loop->edge < 0 || (j >= loop->head && j <= loop->edge);

		if (range->place[j].target == i && inside && (nearest < 0 || abs(j - i) < abs(nearest - i)))
			nearest = j;
	}
	return nearest;
}

int path_back(const struct path *p, int i, const struct loop *loop)
{
	const struct range *range = p->range;
	bool above = i > 0 && falls_through(&range->place[i - 1]) && !dead(p, i - 1);
	int jump;

	if (loop->edge >= 0 && i == loop->head)
		return loop->edge;
	if (loop->edge < 0 && i == 0 && range->begins)
		return -1;
	if (above && !loop->jumps_first)
		return i - 1;
	jump = jump_to(p, i, loop);
	return jump < 0 && above ? i - 1 : jump;
}

int path_ahead(const struct path *p, int i, const struct loop *loop)
{
	const struct place *place = &p->range->place[i];

	if (i == loop->edge)
		return loop->head;
	if (place->flow == FLOW_JUMP)
		return place->target < p->limit ? place->target : -1;
	if (place->flow == FLOW_END || i + 1 == p->limit)
		return -1;
	return i + 1;
}

/* ---- loops -------------------------------------------------------------------------------------------- */

static bool touches_memory(struct range *range, int from, int to)
{
	for (int i = to; i >= from; i--) {
		const struct insn *insn = range_insn(range, (unsigned)i);

		if (insn->mems || insn->gather)
			return true;
	}
	return false;
}

/* Behind the first jump that closes a loop round `at` which touches memory: what lies behind belongs to
 * something else, or to a rare branch of this. */
static int limit_of(struct range *range, int at)
{
	for (unsigned k = 0; k < range->jumps; k++) {
		int edge = range->jump[k], head = range->place[edge].target;

		if (edge >= at && head <= at && touches_memory(range, head, edge))
			return edge + 1;
	}
	return range->places;
}

struct loop path_loop(const struct path *p, int at, const struct loop *inner)
{
	const struct range *range = p->range;
	int more_than = inner->edge < 0 ? -1 : inner->edge - inner->head;
	struct loop best = { -1, -1, false };

	for (unsigned k = 0; k < range->jumps && range->jump[k] < p->limit; k++) {
		int edge = range->jump[k], head = range->place[edge].target;

		if (edge >= at && head <= at && edge - head > more_than && (best.edge < 0 || edge - head < best.edge - best.head))
			best = (struct loop){ head, edge, false };
	}
	return best;
}

struct path path_begin(struct range *range, int at)
{
	return (struct path){ .range = range, .at = at, .limit = limit_of(range, at), .alive = alive_to(range, at) };
}
