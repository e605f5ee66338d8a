#include "sys/cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANGE_LETTERS = 24, MORE_LETTERS = 4 };   /* ",8191-8191"; ",..." */

static int parse_number(const char **p, unsigned long *number)
{
	char *end;
	if (!isdigit((unsigned char)**p)) return -EINVAL;
	errno = 0;
	*number = strtoul(*p, &end, 10);
	if (errno || *number >= MACHINE_CPUS) return -ERANGE;
	*p = end;
	return 0;
}

int cpulist_parse(const char *p, struct cpu_mask *mask)
{
	mask_clear(mask);
	for (;;) {
		unsigned long first, last;
		int ret = parse_number(&p, &first);
		if (ret) return ret;
		last = first;
		if (*p == '-') {
			p++;
			ret = parse_number(&p, &last);
			if (ret) return ret;
		}
		if (last < first) return -EINVAL;
		for (; first <= last; first++) mask_add(mask, (unsigned)first);
		if (*p == '\n' && !p[1]) return 0;
		if (!*p) return 0;
		if (*p++ != ',') return -EINVAL;
	}
}

char *cpulist_print(const struct cpu_mask *mask, char *text, size_t bytes)
{
	size_t length = 0;
	text[0] = 0;
	for (unsigned first = 0; first < MACHINE_CPUS; first++) {
		unsigned last = first;
		char range[RANGE_LETTERS];
		if (!mask_has(mask, first)) continue;
		while (mask_has(mask, last + 1)) last++;
		int n = snprintf(range, sizeof range, first == last ? "%s%u" : "%s%u-%u", length ? "," : "", first, last);
		if (length + (size_t)n + MORE_LETTERS >= bytes) {
			memcpy(text + length, ",...", MORE_LETTERS + 1);
			break;
		}
		memcpy(text + length, range, (size_t)n + 1);
		length += (size_t)n;
		first = last;
	}
	return text;
}

unsigned cpulist_count(const struct cpu_mask *mask)
{
	unsigned n = 0;
	for (unsigned i = 0; i < MACHINE_CPUS / 64; i++) n += (unsigned)__builtin_popcountll(mask->word[i]);
	return n;
}
