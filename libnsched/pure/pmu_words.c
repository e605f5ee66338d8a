#include "pure/pmu_words.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

enum {
	DIGITS_MOST = 18,        /* of a scale: more than a double tells apart, and they fit 64 bits */
	EXPONENT_MOST = 30,      /* a count stands for no more than that, and no less */
};

/* ---- events ---------------------------------------------------------------------------------------------- */

int pmu_word(const char **words, char name[PMU_WORD_BYTES], uint64_t *value)
{
	size_t length = strcspn(*words, ",="), n = length;
	const char *behind = *words + length;
	if (!**words) return 0;
	if (!n || n >= PMU_WORD_BYTES) return -EINVAL;
	memcpy(name, *words, n);
	name[n] = 0;
	*value = 1;
	if (*behind == '=') {
		char *end;
		if (behind[1] < '0' || behind[1] > '9') return -EINVAL;
		*value = strtoull(behind + 1, &end, 0);
		if (*end && *end != ',') return -EINVAL;
		behind = end;
	}
	*words = *behind == ',' ? behind + 1 : behind;
	return 1;
}

static const char *const configs[PMU_CONFIGS] = { "config", "config1", "config2" };

int pmu_config(const char *word)
{
	for (int i = 0; i < PMU_CONFIGS; i++)
		if (!strcmp(word, configs[i])) return i;
	return -1;
}

/* Which of the configs the format begins with, and where its bits are. */
static int config_of(const char *format, const char **bits)
{
	for (int i = 0; i < PMU_CONFIGS; i++) {
		size_t length = strlen(configs[i]);
		if (strncmp(format, configs[i], length) || format[length] != ':') continue;
		*bits = format + length + 1;
		return i;
	}
	return -1;
}

/* "8-15" or "46" at *at; false where it is no such thing. */
static bool next_bits(const char **at, unsigned long *first, unsigned long *last)
{
	char *end;
	if (**at < '0' || **at > '9') return false;
	*first = *last = strtoul(*at, &end, 10);
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9') return false;
		*last = strtoul(end + 1, &end, 10);
	}
	*at = *end == ',' ? end + 1 : end;
	return *last >= *first && *last <= 63 && (!*end || *end == ',');
}

int pmu_put(const char *format, uint64_t value, uint64_t config[PMU_CONFIGS])
{
	const char *at;
	int which = config_of(format, &at);
	if (which < 0 || !*at) return -EINVAL;
	while (*at) {
		unsigned long first, last;
		if (!next_bits(&at, &first, &last)) return -EINVAL;
		for (; first <= last; first++, value >>= 1) config[which] |= (value & 1) << first;
	}
	return value ? -EINVAL : 0;
}

/* ---- bytes ----------------------------------------------------------------------------------------------- */

/* Digits with a point or without; how many letters that were, 0: none. `power` is that of ten that they are to be taken times. */
static size_t read_digits(const char *text, double *value, int *power)
{
	uint64_t digits = 0;
	unsigned n = 0;
	bool point = false;
	const char *at = text;
	for (; (*at >= '0' && *at <= '9') || (*at == '.' && !point); at++) {
		if (*at == '.') {
			point = true;
			continue;
		}
		if (n++ >= DIGITS_MOST) return 0;
		digits = digits * 10 + (uint64_t)(*at - '0');
		*power -= point;
	}
	*value = (double)digits;
	return n ? (size_t)(at - text) : 0;
}

/* strtod takes the point from the program's locale. */
static int read_scale(const char *text, double *scale)
{
	int power = 0;
	size_t used = read_digits(text, scale, &power);
	if (!used) return -EINVAL;
	const char *at = text + used;
	if (*at == 'e' || *at == 'E') {
		char *end;
		long exponent = strtol(at + 1, &end, 10);
		if (end == at + 1 || at[1] == ' ' || exponent < -EXPONENT_MOST || exponent > EXPONENT_MOST) return -EINVAL;
		power += (int)exponent;
		at = end;
	}
	if (*at) return -EINVAL;
	double tens = 1;
	for (int i = power < 0 ? -power : power; i; i--) tens *= 10;
	*scale = power < 0 ? *scale / tens : *scale * tens;
	return *scale > 0 ? 0 : -EINVAL;
}

int pmu_bytes(const char *scale, const char *unit, double *bytes)
{
	static const struct { const char *unit; double bytes; } units[] = {
		{ "Bytes", 1 }, { "B", 1 }, { "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 }, { "KB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 },
	};
	if (read_scale(scale, bytes)) return -EINVAL;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcmp(unit, units[i].unit)) continue;
		*bytes *= units[i].bytes;
		return 0;
	}
	return -EINVAL;
}
