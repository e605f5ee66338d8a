#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MOST 1e18

static const struct unit {
	const char *name;
	enum number_kind kind;
	double value;
} units[] = {
	{ "ns", NUMBER_TIME, 1 }, { "us", NUMBER_TIME, 1e3 }, { "ms", NUMBER_TIME, 1e6 }, { "s", NUMBER_TIME, 1e9 },
	{ "B", NUMBER_BYTES, 1 }, { "KiB", NUMBER_BYTES, 1024 }, { "MiB", NUMBER_BYTES, 1048576 }, { "GiB", NUMBER_BYTES, 1073741824 },
	{ "MB/s", NUMBER_RATE, 1e-3 }, { "GB/s", NUMBER_RATE, 1 },
};

static const char *const wanted[] = {
	"a count is a number without a unit", "a time is a number of ns, us, ms or s", "a size is a number of B, KiB, MiB or GiB",
	"a rate is a number of MB/s or GB/s",
};

static bool digits(const char **at, const char *end, double *value)
{
	char text[32];
	size_t n = 0;
	while (*at + n < end && n < sizeof text - 1 && (isdigit((unsigned char)(*at)[n]) || (*at)[n] == '.')) {
		text[n] = (*at)[n];
		n++;
	}
	text[n] = 0;
	char *rest;
	*value = strtod(text, &rest);
	*at += n;
	return n && !*rest;
}

/* The unit at `at`, or NULL where there is none. "GB/s" is one word; "1s/2" is not. */
static const struct unit *take_unit(const char **at, const char *end)
{
	size_t n = 0;
	while (*at + n < end && isalpha((unsigned char)(*at)[n])) n++;
	if (n >= 2 && *at + n + 1 < end && (*at)[n] == '/' && (*at)[n + 1] == 's') n += 2;
	for (unsigned i = 0; n && i < sizeof units / sizeof *units; i++)
		if (strlen(units[i].name) == n && !memcmp(units[i].name, *at, n)) {
			*at += n;
			return &units[i];
		}
	return NULL;
}

static bool parameter(const struct workload *w, const char **at, const char *end, double *value)
{
	size_t n = 1;
	while (*at + n < end && (isalnum((unsigned char)(*at)[n]) || (*at)[n] == '_')) n++;
	for (unsigned i = 0; i < w->n_params; i++)
		if (strlen(w->param[i].name) == n - 1 && !memcmp(w->param[i].name, *at + 1, n - 1)) {
			*value = w->param[i].value;
			*at += n;
			return true;
		}
	return false;
}

static const char *factor(const struct workload *w, const char **at, const char *end, double *value, enum number_kind *kind)
{
	if (*at < end && **at == '$') return parameter(w, at, end, value) ? NULL : "there is no such parameter";
	if (!digits(at, end, value)) return "not a number";
	if (*at == end || !isalpha((unsigned char)**at)) return NULL;
	const struct unit *unit = take_unit(at, end);
	if (!unit) return "not a unit: ns us ms s, B KiB MiB GiB, MB/s GB/s";
	*value *= unit->value;
	*kind = unit->kind;
	return NULL;
}

int number_parse(const struct workload *w, const char *text, size_t length, enum number_kind kind, double *number, const char **why)
{
	const char *at = text, *end = text + length;
	enum number_kind seen = NUMBER_COUNT;
	*why = factor(w, &at, end, number, &seen);
	while (!*why && at < end) {
		double next;
		char sign = *at++;
		if (sign != '*' && sign != '/') *why = "not a number: factors are joined by * or /";
		else *why = factor(w, &at, end, &next, &seen);
		if (!*why) *number = sign == '*' ? *number * next : next > 0 ? *number / next : NUMBER_MOST + 1;
	}
	if (!*why && seen != kind && (*number > 0 || seen != NUMBER_COUNT)) *why = wanted[kind];
	if (!*why && !(*number <= NUMBER_MOST)) *why = "too much";
	return *why ? -EINVAL : 0;
}
