#include "pure/tape.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

enum { ROOM_FIRST = 4096, BITS = 7, MORE = 0x80, NUMBER_BYTES = 10 };

/* ---- writing --------------------------------------------------------------------------------------------- */

void tape_free(struct tape *t)
{
	free(t->data);
	memset(t, 0, sizeof *t);
}

static bool make_room(struct tape *t, size_t more)
{
	if (t->failed) return false;
	if (t->room - t->n >= more) return true;
	size_t room = t->room ? 2 * t->room : ROOM_FIRST;
	while (room - t->n < more) room *= 2;
	uint8_t *grown = realloc(t->data, room);
	t->failed = !grown;
	if (!grown) return false;
	t->data = grown;
	t->room = room;
	return true;
}

void tape_put_byte(struct tape *t, unsigned byte)
{
	if (make_room(t, 1)) t->data[t->n++] = (uint8_t)byte;
}

void tape_put(struct tape *t, uint64_t number)
{
	if (!make_room(t, NUMBER_BYTES)) return;
	for (; number >= MORE; number >>= BITS) t->data[t->n++] = (uint8_t)(number | MORE);
	t->data[t->n++] = (uint8_t)number;
}

void tape_put_signed(struct tape *t, int64_t number)
{
	tape_put(t, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

void tape_put_float(struct tape *t, float number)
{
	uint32_t bits;
	memcpy(&bits, &number, sizeof bits);
	for (unsigned i = 0; i < sizeof bits; i++) tape_put_byte(t, bits >> 8 * i & 0xff);
}

void tape_put_text(struct tape *t, const char *text)
{
	size_t n = strnlen(text, TAPE_TEXT - 1);
	tape_put(t, n);
	if (!make_room(t, n)) return;
	memcpy(t->data + t->n, text, n);
	t->n += n;
}

void tape_put_all(struct tape *t, const struct tape *other)
{
	t->failed |= other->failed;
	if (!other->n || !make_room(t, other->n)) return;
	memcpy(t->data + t->n, other->data, other->n);
	t->n += other->n;
}

void tape_put_row(struct tape *t, const int *number, unsigned n)
{
	for (unsigned i = 0, same; i < n; i += same) {
		for (same = 1; i + same < n && number[i + same] == number[i]; same++) { }
		tape_put(t, same);
		tape_put_signed(t, number[i]);
	}
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

uint64_t tape_at(const struct tape_reader *r)
{
	return r->before + r->at;
}

void tape_fail(struct tape_reader *r, const char *format, ...)
{
	va_list args;
	if (r->error[0]) return;
	int n = snprintf(r->error, sizeof r->error, "byte %llu: ", (unsigned long long)tape_at(r));
	va_start(args, format);
	vsnprintf(r->error + n, sizeof r->error - (size_t)n, format, args);
	va_end(args);
}

/* Is there a byte? */
static bool has_byte(struct tape_reader *r)
{
	if (r->at < r->n) return true;
	if (!r->more || r->error[0]) return false;
	r->before += r->n;
	r->at = r->n = 0;
	return r->more(r) > 0 && r->n > 0;
}

int tape_peek(struct tape_reader *r)
{
	return !r->error[0] && has_byte(r) ? r->data[r->at] : -1;
}

unsigned tape_get_byte(struct tape_reader *r)
{
	if (r->error[0]) return 0;
	if (has_byte(r)) return r->data[r->at++];
	r->ended = !r->error[0];
	tape_fail(r, "it ends here, in the middle of something");
	return 0;
}

uint64_t tape_get(struct tape_reader *r)
{
	uint64_t number = 0;
	for (unsigned shift = 0; shift < 64; shift += BITS) {
		unsigned byte = tape_get_byte(r);
		number |= (uint64_t)(byte & (MORE - 1)) << shift;
		if (!(byte & MORE)) return r->error[0] ? 0 : number;
	}
	tape_fail(r, "a number that does not end");
	return 0;
}

uint64_t tape_get_below(struct tape_reader *r, uint64_t limit, const char *what)
{
	uint64_t number = tape_get(r);
	if (number < limit) return number;
	tape_fail(r, "%s %llu: it must be below %llu", what, (unsigned long long)number, (unsigned long long)limit);
	return 0;
}

int64_t tape_get_signed(struct tape_reader *r)
{
	uint64_t number = tape_get(r);
	return (int64_t)(number >> 1 ^ (number & 1 ? UINT64_MAX : 0));
}

float tape_get_float(struct tape_reader *r)
{
	uint32_t bits = 0;
	float number;
	for (unsigned i = 0; i < sizeof bits; i++) bits |= tape_get_byte(r) << 8 * i;
	if (r->error[0]) bits = 0;
	memcpy(&number, &bits, sizeof number);
	return number;
}

void tape_get_text(struct tape_reader *r, char *text, size_t bytes)
{
	uint64_t n = tape_get_below(r, TAPE_TEXT, "the length of a text");
	size_t kept = 0;
	for (uint64_t i = 0; i < n && !r->error[0]; i++) {
		unsigned c = tape_get_byte(r);
		if (kept + 1 < bytes && c >= ' ' && c != 0x7f) text[kept++] = (char)c;
	}
	if (bytes) text[r->error[0] ? 0 : kept] = 0;
}

void tape_get_row(struct tape_reader *r, int *number, unsigned n)
{
	for (unsigned i = 0; i < n;) {
		uint64_t same = tape_get_below(r, (uint64_t)n - i + 1, "a row of");
		int64_t value = tape_get_signed(r);
		if (!r->error[0] && (!same || value < INT_MIN || value > INT_MAX)) tape_fail(r, "a row of nothing");
		if (r->error[0]) same = n - i;
		for (; same; same--) number[i++] = r->error[0] ? 0 : (int)value;
	}
}
