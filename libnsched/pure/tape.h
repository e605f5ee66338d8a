/* Numbers and texts as a compact row of bytes, written in memory and read from wherever they come: what records
 * (record.h) are made of. A number takes seven bits a byte, lowest first; one with a sign has that in its lowest bit. */
#ifndef NSCHED_TAPE_H
#define NSCHED_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- writing --------------------------------------------------------------------------------------------- */

struct tape {
	uint8_t *data;
	size_t n, room;
	bool failed;           /* there was no memory: what is there is not all */
};

void tape_free(struct tape *tape);

void tape_put_byte(struct tape *tape, unsigned byte);
void tape_put(struct tape *tape, uint64_t number);
void tape_put_signed(struct tape *tape, int64_t number);
void tape_put_float(struct tape *tape, float number);     /* its bits */
void tape_put_text(struct tape *tape, const char *text);
void tape_put_all(struct tape *tape, const struct tape *other);

/* Numbers, mostly in long rows of the same. */
void tape_put_row(struct tape *tape, const int *number, unsigned n);

/* ---- reading ----------------------------------------------------------------------------------------------- */

enum { TAPE_ERROR = 160, TAPE_TEXT = 1024 };   /* a longer text is an error */

struct tape_reader {
	/* Gives the next bytes (n: at least 1): 1; 0: there are no more; -1: that can't be said, and error is set. NULL: data is all */
	int (*more)(struct tape_reader *reader);
	void *arg;
	const uint8_t *data;
	size_t n, at;
	uint64_t before;           /* bytes read before data */
	char error[TAPE_ERROR];    /* the first thing that was wrong; "" */
	bool ended;                /* it was that there was no more */
};

/* Where the next byte is: bytes from the start. */
uint64_t tape_at(const struct tape_reader *reader);

/* Says what is wrong, "byte 17: ..."; the first one counts. */
__attribute__((format(printf, 2, 3))) void tape_fail(struct tape_reader *reader, const char *format, ...);
static inline bool tape_is_bad(const struct tape_reader *reader) { return reader->error[0]; }

/* The next byte, without taking it; -1: there is none (which is no error). */
int tape_peek(struct tape_reader *reader);

/* All of these are 0, or empty, once something is wrong. tape_get_below: less than `limit`, or it is wrong; `what` names it. */
unsigned tape_get_byte(struct tape_reader *reader);
uint64_t tape_get(struct tape_reader *reader);
uint64_t tape_get_below(struct tape_reader *reader, uint64_t limit, const char *what);
int64_t tape_get_signed(struct tape_reader *reader);
float tape_get_float(struct tape_reader *reader);
void tape_get_text(struct tape_reader *reader, char *text, size_t bytes);

/* Exactly `n` numbers. */
void tape_get_row(struct tape_reader *reader, int *number, unsigned n);

#endif
