#include "nearest.h"

#include <string.h>

#include "pure.h"

enum {
	WORD_LETTERS = 63, /* longer than any name of ours; bounds the three rows on the stack */
	/* A word resembles a name if at most one letter in three is wrong, and two in a short one:
	 * "polcy" is policy, "foo" is nothing. */
	WRONG_LETTERS_IN = 3,
	WRONG_LETTERS_LEAST = 2,
};

static size_t letters(const char *word)
{
	return strnlen(word, WORD_LETTERS);
}

static unsigned least_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned nearest_distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_LETTERS + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];
	size_t a_letters = letters(a), b_letters = letters(b);

	memset(rows, 0, sizeof(rows));
	for (size_t j = 0; j <= b_letters; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= a_letters; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_letters; j++) {
			unsigned exchanged = above[j - 1] + (a[i - 1] != b[j - 1]);

			row[j] = least_of(exchanged, least_of(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least_of(row[j], before[j - 2] + 1);
		}
		unsigned *free_row = before;

		before = above;
		above = row;
		row = free_row;
	}
	return above[b_letters];
}

const char *nearest_name(const char *word, const char *const *names, size_t count)
{
	const char *nearest = NULL;
	unsigned least = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned distance = nearest_distance(word, names[i]);

		if (nearest == NULL || distance < least) {
			nearest = names[i];
			least = distance;
		}
	}
	if (nearest == NULL)
		return NULL;

	size_t allowed = letters(nearest) / WRONG_LETTERS_IN;

	if (allowed < WRONG_LETTERS_LEAST)
		allowed = WRONG_LETTERS_LEAST;
	if (allowed >= letters(nearest)) /* "up" is not a misspelt "on" */
		allowed = letters(nearest) - 1;
	return least <= allowed ? nearest : NULL;
}
