#include "ranks_meet.h"

#include <errno.h>
#include <stdlib.h>

static enum meet_stage refuse(struct meet *m, int error)
{
	m->error = error;
	return MEET_ALONE;
}

static enum meet_stage come(struct meet *m)
{
	int result = board_meet(&m->key, m->ranks, &m->board);

	if (result < 0)
		return refuse(m, result);
	m->all = calloc(m->ranks, sizeof(*m->all));
	if (m->all == NULL)
		return refuse(m, -ENOMEM);
	return board_ranks(m->board) == m->ranks ? MEET_CLAIM : refuse(m, -EPROTO);
}

static enum meet_stage claim(struct meet *m)
{
	int result = board_claim(m->board, m->head.local_rank, &m->head);

	return result < 0 ? refuse(m, result) : MEET_TELL;
}

static enum meet_stage tell(struct meet *m)
{
	int result = board_arrive(m->board, &m->own);

	return result < 0 ? refuse(m, result) : MEET_WAIT;
}

static int read_all(struct meet *m)
{
	for (unsigned r = 0; r < m->ranks; r++) {
		if (board_read_arrival(m->board, r, &m->all[r]) < 0)
			return 0;
	}
	return 1;
}

static enum meet_stage look(struct meet *m, int late)
{
	m->all_there = read_all(m);
	return m->all_there || late || board_meeting(m->board) != BOARD_OPEN ? MEET_END : MEET_WAIT;
}

/* Who is first decides for all. */
static enum meet_stage end(struct meet *m)
{
	return board_end_meeting(m->board, m->all_there ? BOARD_COMPLETE : BOARD_INCOMPLETE) == BOARD_COMPLETE ? MEET_UNNAME : MEET_ALONE;
}

/* Who said that all were there had read them all, and what they said stands: now they can be read by everybody. (Unless the program of
 * one that is through has scribbled over the board.) */
static enum meet_stage read_once_more(struct meet *m)
{
	return m->all_there || read_all(m) ? MEET_MET : MEET_ALONE;
}

enum meet_stage meet_step(struct meet *m, int late)
{
	switch (m->stage) {
	case MEET_COME: m->stage = come(m); break;
	case MEET_CLAIM: m->stage = claim(m); break;
	case MEET_TELL: m->stage = tell(m); break;
	case MEET_WAIT: m->stage = look(m, late); break;
	case MEET_END: m->stage = end(m); break;
	case MEET_UNNAME:
		board_unlink(m->board);
		m->stage = MEET_READ;
		break;
	case MEET_READ: m->stage = read_once_more(m); break;
	case MEET_MET:
	case MEET_ALONE: break;
	}
	return m->stage;
}
