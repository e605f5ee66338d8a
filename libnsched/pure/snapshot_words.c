#include "pure/snapshot_words.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pure/pure.h"

enum {
	DIGITS_MOST = 19,       /* of a number that are kept: those that fit 64 bits */
	EXPONENT_MOST = 400,    /* beyond it all is 0 or too large */
	FLOAT_DIGITS = 9,       /* that tell any two floats apart */
	WORD_SHOWN = 40,        /* of a word, in an error */
};

void words_init(struct words *w, const char *text, size_t bytes, struct snapshot_error *error)
{
	*w = (struct words){ .next = text, .line_end = text, .rest = text, .end = text + bytes, .error = error };
	*error = (struct snapshot_error){ 0 };
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void skip_blanks(struct words *w)
{
	while (w->next < w->line_end && is_blank(*w->next)) w->next++;
}

bool words_next(struct words *w)
{
	skip_blanks(w);
	w->word = w->next < w->line_end ? w->next : NULL;
	while (w->next < w->line_end && !is_blank(*w->next)) w->next++;
	w->length = w->word ? (size_t)(w->next - w->word) : 0;
	return w->word != NULL;
}

bool words_line(struct words *w)
{
	while (w->rest < w->end) {
		const char *newline = memchr(w->rest, '\n', (size_t)(w->end - w->rest));
		w->line++;
		w->next = w->rest;
		w->line_end = newline ? newline : w->end;
		w->rest = newline ? newline + 1 : w->end;
		const char *remark = memchr(w->next, '#', (size_t)(w->line_end - w->next));
		if (remark) w->line_end = remark;
		if (words_next(w)) return true;
	}
	w->line++;
	w->word = NULL;
	w->length = 0;
	w->next = w->line_end = w->end;
	return false;
}

bool words_is(const struct words *w, const char *word)
{
	return w->word && strlen(word) == w->length && !memcmp(w->word, word, w->length);
}

static bool take_if(struct words *w, const char *word)
{
	struct words before = *w;
	if (words_next(w) && (word ? words_is(w, word) : is_digit(*w->word))) return true;
	*w = before;
	return false;
}

bool words_take(struct words *w, const char *word)
{
	return take_if(w, word);
}

bool words_digit(struct words *w)
{
	return take_if(w, NULL);
}

const char *words_rest(struct words *w, size_t *length)
{
	skip_blanks(w);
	const char *rest = w->next, *end = w->line_end;
	while (end > rest && is_blank(end[-1])) end--;
	w->next = w->line_end;
	*length = (size_t)(end - rest);
	return rest;
}

/* ---- errors -------------------------------------------------------------------------------------- */

int words_wrong(struct words *w, const char *why)
{
	char word[WORD_SHOWN + 1];
	size_t n = w->length < WORD_SHOWN ? w->length : WORD_SHOWN;
	for (size_t i = 0; i < n; i++) word[i] = w->word[i] > ' ' && w->word[i] <= '~' ? w->word[i] : '?';
	word[n] = 0;
	w->error->line = w->line;
	if (w->word) snprintf(w->error->text, sizeof w->error->text, "line %u, \"%s\": %s", w->line, word, why);
	else snprintf(w->error->text, sizeof w->error->text, "line %u, at its end: %s", w->line, why);
	return -EINVAL;
}

int words_want(struct words *w, const char *word)
{
	char why[64];
	if (words_next(w) && words_is(w, word)) return 0;
	snprintf(why, sizeof why, "%s should be here", word);
	return words_wrong(w, why);
}

int words_end(struct words *w)
{
	return words_next(w) ? words_wrong(w, "too much, or not in its place") : 0;
}

/* ---- numbers -------------------------------------------------------------------------------------- */

static int digit_of(char c, unsigned base)
{
	int d = is_digit(c) ? c - '0' : base == 16 && c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
	return d;
}

static bool read_whole(const char *p, size_t n, uint64_t most, uint64_t *number)
{
	unsigned base = n > 2 && p[0] == '0' && p[1] == 'x' ? 16 : 10;
	uint64_t sum = 0;
	if (base == 16) p += 2, n -= 2;
	if (!n) return false;
	for (size_t i = 0; i < n; i++) {
		int d = digit_of(p[i], base);
		if (d < 0 || __builtin_mul_overflow(sum, base, &sum) || __builtin_add_overflow(sum, (uint64_t)d, &sum)) return false;
	}
	*number = sum;
	return sum <= most;
}

/* Digits with at most one point: their value without the point, and the power of ten to be taken of it. */
static size_t read_digits(const char *p, size_t n, uint64_t *value, int *power)
{
	size_t i = 0;
	unsigned kept = 0, digits = 0;
	bool point = false;
	*value = 0;
	*power = 0;
	for (; i < n && (is_digit(p[i]) || (p[i] == '.' && !point)); i++) {
		if (p[i] == '.') {
			point = true;
			continue;
		}
		digits++;
		if (kept < DIGITS_MOST) {
			*value = *value * 10 + (uint64_t)(p[i] - '0');
			kept += *value > 0;
			if (point && *power > -EXPONENT_MOST) --*power;
		} else if (!point && *power < EXPONENT_MOST) {
			++*power;
		}
	}
	return digits ? i : 0;
}

static bool read_exponent(const char *p, size_t n, int *power)
{
	bool minus = n > 1 && p[1] == '-';
	size_t i = n > 1 && (p[1] == '-' || p[1] == '+') ? 2 : 1;
	int sum = 0;
	if (p[0] != 'e' || i == n) return false;
	for (; i < n; i++) {
		if (!is_digit(p[i])) return false;
		if (sum < 2 * EXPONENT_MOST) sum = sum * 10 + (p[i] - '0');
	}
	*power += minus ? -sum : sum;
	return true;
}

/* A float from at most nine digits comes out exact: the double in between is much finer. */
static bool read_real(const char *p, size_t n, float *number)
{
	bool minus = n && *p == '-';
	uint64_t value;
	int power;
	if (minus) p++, n--;
	size_t used = read_digits(p, n, &value, &power);
	if (!used || (used < n && !read_exponent(p + used, n - used, &power))) return false;
	double d = (double)value;
	if (power > EXPONENT_MOST) power = EXPONENT_MOST;
	if (power < -EXPONENT_MOST) power = -EXPONENT_MOST;
	/* in two steps, since 10 to the 320th is no double */
	for (int half = 0; half < 2; half++) {
		int part = half ? power - power / 2 : power / 2;
		d = part < 0 ? d / pow(10, -part) : d * pow(10, part);
	}
	if (!(d <= (double)FLT_MAX)) return false;
	*number = minus ? -(float)d : (float)d;
	return true;
}

int words_whole(struct words *w, uint64_t most, uint64_t *number)
{
	char why[64];
	if (words_next(w) && read_whole(w->word, w->length, most, number)) return 0;
	snprintf(why, sizeof why, "a number from 0 to %llu should be here", (unsigned long long)most);
	return words_wrong(w, why);
}

int words_real(struct words *w, float least, float *number)
{
	char why[64];
	if (words_next(w) && read_real(w->word, w->length, number) && *number >= least) return 0;
	const char *range = least > 0 ? " above 0" : least < 0 ? "" : ", 0 or more,";
	snprintf(why, sizeof why, "a number%s should be here", range);
	return words_wrong(w, why);
}

int words_pair(struct words *w, uint64_t most, uint64_t *number, float *real)
{
	const char *colon = w->word ? memchr(w->word, ':', w->length) : NULL;
	size_t n = colon ? (size_t)(colon - w->word) : 0;
	if (colon && read_whole(w->word, n, most, number) && read_real(colon + 1, w->length - n - 1, real) && *real >= 0) return 0;
	return words_wrong(w, "NUMBER:PART should be here");
}

int words_triple(struct words *w, uint64_t most, uint64_t number[3])
{
	const char *p = w->word, *end = p ? p + w->length : p;
	for (unsigned k = 0; k < 3; k++) {
		const char *colon = !p ? NULL : k < 2 ? memchr(p, ':', (size_t)(end - p)) : end;
		if (!colon || !read_whole(p, (size_t)(colon - p), most, &number[k])) return words_wrong(w, "OS:CORE:L3 should be here");
		p = colon + 1;
	}
	return 0;
}

/* A locale's decimal point, of one or more bytes, becomes a point. */
static void delocalize(char *text)
{
	char *to = text;
	for (const char *p = text; *p; p++) {
		if (is_digit(*p) || *p == '-' || *p == '+' || *p == 'e') *to++ = *p;
		else if (to == text || to[-1] != '.') *to++ = '.';
	}
	*to = 0;
}

void words_print_real(float number, char text[32])
{
	size_t shortest = 32;
	for (int digits = 1; digits <= FLOAT_DIGITS; digits++) {
		char one[32];
		float again = 0;
		snprintf(one, sizeof one, "%.*g", digits, (double)number);
		delocalize(one);
		size_t n = strlen(one);
		/* one digit more may need no exponent: 90, and not 9e+01 */
		if (n >= shortest || !read_real(one, n, &again) || memcmp(&again, &number, sizeof number)) continue;
		memcpy(text, one, n + 1);
		shortest = n;
	}
	if (shortest == 32) text[0] = 0;
}
