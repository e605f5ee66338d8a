#include "sys/cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

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

unsigned cpulist_count(const struct cpu_mask *mask)
{
	unsigned n = 0;
	for (unsigned i = 0; i < MACHINE_CPUS / 64; i++) n += (unsigned)__builtin_popcountll(mask->word[i]);
	return n;
}
