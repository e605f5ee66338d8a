/* A range of code: read once, put in step, cut into instructions; what these do is decoded as far as it
 * is asked for. All samples in it share that, so that only the first pays for it. */
#ifndef NSCHED_OPERAND_RANGE_H
#define NSCHED_OPERAND_RANGE_H

#include "operand_code.h"
#include "operand_insn.h"

enum {
	RANGE_BACK = 640,   /* bytes of code that a sample wants to see before itself... */
	RANGE_AHEAD = 768,  /* ...and behind: most loops... */
	RANGE_SLACK = 384,  /* ...and read beyond both, so that its neighbours see as much */
	RANGE_PLACES = 512, /* instructions in a range at the most */
};

struct entry;

/* Where an instruction lies. */
struct place {
	uint16_t at;     /* bytes from the range's start */
	uint16_t insn;   /* 1 + index of what it does, 0: not decoded yet */
	int16_t target;  /* the place that it may jump to, or -1 */
	uint8_t flow;    /* enum flow */
	bool dead;       /* comes after a return or jump, and nothing seen jumps there: padding */
};

struct range {
	uint64_t start;
	uint32_t bytes;                 /* of code; 0: it could not be read */
	uint16_t places;                /* 0: it is no code */
	uint16_t jumps;
	bool begins;                    /* place 0 is where the function begins */
	bool whole_before, whole_after; /* there is nothing more to be had on that side */
	uint64_t fixed_start, fixed_end; /* see operand_function */
	const struct operand_arch *arch;
	void *arch_state;
	uint8_t *code;
	struct place *place;            /* one more than `places`: where the last one ends */
	uint16_t *jump;                 /* the places whose target is one */
	struct insn *insn;              /* `insns` of them so far, with room for insn_room */
	uint16_t insns, insn_room;
	size_t memory;                  /* bytes that all this takes */

	/* What belongs to it in a cache; nobody else's. */
	struct {
		struct entry *entries;
		size_t counted;         /* of `memory`, in the cache's sum */
		uint32_t used, checked; /* when */
	} cached;
};

/* Room to cut code in. */
struct range_scratch;
struct range_scratch *range_scratch_create(void);
void range_scratch_destroy(struct range_scratch *scratch);

/* The range around ip; if that can't be read or is no code, one without places, at ip. NULL: no memory. */
struct range *range_create(struct range_scratch *scratch, const struct operand_code *code,
                           const struct operand_arch *arch, void *arch_state, uint64_t ip);
void range_destroy(struct range *range);

/* The place at ip, or -1; the same only if there is enough around it for the samples there. */
int range_find(const struct range *range, uint64_t ip);
int range_place(const struct range *range, uint64_t ip);

/* What the instruction does. Holds until the next call. */
const struct insn *range_insn(struct range *range, unsigned place);

/* Reads the same stretch anew; false if it can't be read or differs. */
bool range_same(const struct range *range, struct range_scratch *scratch, const struct operand_code *code);

#endif
