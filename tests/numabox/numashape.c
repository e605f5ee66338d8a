#include "numashape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB_SHIFT = 20, MIB_MOST = 1 << 20 };

static int set_cpus(struct shape *shape, const char *digits)
{
	int n = 0;

	for (; digits[n]; n++) {
		char digit[2] = { digits[n], 0 }, *end;
		long node = strtol(digit, &end, 16);

		if (*end || n == SHAPE_CPUS)
			return -1;
		shape->node_of_cpu[n] = (int)node;
	}
	shape->cpus = n;
	return n ? 1 : -1;
}

static int set_mibs(struct shape *shape, const char *list)
{
	int n = 0;

	for (;; list++) {
		char *end;
		long mib = strtol(list, &end, 10);

		if (end == list || mib < 0 || mib > MIB_MOST || n == SHAPE_NODES)
			return -1;
		shape->bytes[n++] = (uint64_t)mib << MIB_SHIFT;
		list = end;
		if (*list != '/')
			break;
	}
	shape->nodes = n;
	return *list ? -1 : 1;
}

static int set_group(struct shape *shape, const char *number)
{
	char *end;
	long group = strtol(number, &end, 10);

	if (end == number || *end || group < 1 || group > SHAPE_NODES)
		return -1;
	shape->group = (int)group;
	return 1;
}

int shape_set(struct shape *shape, const char *option)
{
	static const struct {
		const char *name;
		int (*set)(struct shape *shape, const char *value);
	} table[] = { { "cpus=", set_cpus }, { "mibs=", set_mibs }, { "group=", set_group } };

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		size_t length = strlen(table[i].name);

		if (strncmp(option, table[i].name, length))
			continue;
		if (table[i].set(shape, option + length) > 0)
			return 1;
		fprintf(stderr, "numamodel: '%s': wanted cpus=HEX_DIGITS, mibs=MIB/MIB/..., group=1 to %d\n", option, SHAPE_NODES);
		return -1;
	}
	return 0;
}

bool shape_wrong(const struct shape *shape)
{
	uint64_t bytes = 0;

	for (int i = 0; i < shape->cpus; i++)
		if (shape->node_of_cpu[i] >= shape->nodes)
			return true;
	for (int n = 0; n < shape->nodes; n++)
		bytes += shape->bytes[n];
	return !shape->cpus || !bytes;
}

/* QEMU numbers the nodes' memory blocks one after another, and adds the block's place in the machine once more. */
int shape_node_of(const struct shape *shape, uint64_t address)
{
	uint64_t first = 0;

	for (int n = 0; n < shape->nodes; n++) {
		if (address >= 2 * first && address - 2 * first < shape->bytes[n])
			return n;
		first += shape->bytes[n];
	}
	return -1;
}

int shape_memories(const struct shape *shape)
{
	int memories = 0;

	for (int n = 0; n < shape->nodes; n++)
		memories += shape->bytes[n] > 0;
	return memories ? memories : 1;
}

bool shape_near(const struct shape *shape, int a, int b)
{
	return !shape->group || a / shape->group == b / shape->group;
}
