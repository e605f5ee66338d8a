/* The words of a snapshot's lines, and numbers that don't depend on the locale. */
#ifndef NSCHED_SNAPSHOT_WORDS_H
#define NSCHED_SNAPSHOT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pure/snapshot.h"

struct words {
	const char *next, *line_end; /* what is left of the line */
	const char *rest, *end;      /* and of the text behind it */
	const char *word;            /* the one taken last; NULL at the line's end */
	size_t length;
	unsigned line;
	struct snapshot_error *error;
};

void words_init(struct words *words, const char *text, size_t bytes, struct snapshot_error *error);

/* The next line with a word in it; takes that word. False at the text's end. */
bool words_line(struct words *words);

/* The next word of the line; false at its end. */
bool words_next(struct words *words);

/* Takes the next word if it is this one, or if it begins with a digit. */
bool words_take(struct words *words, const char *word);
bool words_digit(struct words *words);

/* Is the word that was taken last this one? */
bool words_is(const struct words *words, const char *word);

/* What follows up to the line's end, without blanks around it; it is taken. */
const char *words_rest(struct words *words, size_t *length);

/* Each takes a word or says in the error what was wanted: 0 or -EINVAL. The real ones are finite and
 * not less than `least`. */
int words_want(struct words *words, const char *word);
int words_whole(struct words *words, uint64_t most, uint64_t *number);
int words_real(struct words *words, float least, float *number);
int words_end(struct words *words);

/* The word that was taken last as two numbers around a colon. */
int words_pair(struct words *words, uint64_t most, uint64_t *number, float *real);
/* As three. */
int words_triple(struct words *words, uint64_t most, uint64_t number[3]);

/* Complains of the word that was taken last: -EINVAL. */
int words_wrong(struct words *words, const char *why);

/* The shortest text that words_real reads as this very number. */
void words_print_real(float number, char text[32]);

#endif
