#include "sys/numa_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/clock.h"

enum {
	NEARLY_ALL_PERMILLE = 900, /* of a range's pages on one node: the rest will hardly be what is asked for */
	RANGES_MOST = 65536,       /* the kernel's own limit of ranges in a process (vm.max_map_count) */
	TEXT_FIRST = 65536,        /* bytes; a process has some hundred ranges of some 100 bytes */
	TEXT_MOST = 32 << 20,
	AGAIN_MS = 500,            /* no sooner is it read again, */
	AGAIN_TIMES = 500,         /* nor before so many times what reading took: 2 permille of the time */
};

/* "N0=512 N3=4": the node with nearly all of them, or -ENOENT. */
static int main_node(const char *line, size_t length)
{
	unsigned long long sum = 0, most = 0;
	int node = -ENOENT;
	for (const char *word = line; (word = memchr(word, ' ', length - (size_t)(word - line))); ) {
		char *end;
		if (*++word != 'N') continue;
		unsigned long os = strtoul(word + 1, &end, 10);
		if (end == word + 1 || *end != '=' || os > INT16_MAX) continue;
		unsigned long long pages = strtoull(end + 1, NULL, 10);
		sum += pages;
		if (pages <= most) continue;
		most = pages;
		node = (int)os;
	}
	return sum && most * 1000 >= sum * NEARLY_ALL_PERMILLE ? node : -ENOENT;
}

unsigned numa_maps_parse(const char *text, struct numa_range *range, unsigned most)
{
	unsigned n = 0;
	while (*text && n < most) {
		size_t length = strcspn(text, "\n");
		char *end;
		uint64_t start = strtoull(text, &end, 16);
		if (end != text && *end == ' ' && (!n || start > range[n - 1].start))
			range[n++] = (struct numa_range){ start, main_node(text, length) };
		text += length + (text[length] == '\n');
	}
	return n;
}

int numa_maps_find(const struct numa_range *range, unsigned n, uint64_t addr)
{
	unsigned low = 0, high = n;
	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (range[middle].start <= addr) low = middle + 1;
		else high = middle;
	}
	return low ? range[low - 1].node_os : -ENOENT;
}

/* What was read last. Only the thread that steps the session asks, so nothing protects it; the child of a fork inherits
 * it with the memory that it is of. */
static struct {
	struct numa_range *range;
	unsigned n;
	uint64_t read_ns, took_ns;
} last;

static char *slurp(int fd)
{
	size_t room = TEXT_FIRST, length = 0;
	char *text = malloc(room);
	ssize_t got;
	while (text && (got = read(fd, text + length, room - length - 1)) > 0) {
		length += (size_t)got;
		if (room - length > room / 4) continue;
		char *larger = room < TEXT_MOST ? realloc(text, room *= 2) : NULL;
		if (!larger) free(text);
		text = larger;
	}
	if (text) text[length] = 0;
	return text;
}

static int read_again(uint64_t begin_ns)
{
	int fd = open("/proc/self/numa_maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0) return -errno;
	char *text = slurp(fd);
	close(fd);
	if (!last.range) last.range = malloc(RANGES_MOST * sizeof *last.range);
	last.n = text && last.range ? numa_maps_parse(text, last.range, RANGES_MOST) : 0;
	free(text);
	last.read_ns = clock_linux.now_ns(NULL);
	last.took_ns = last.read_ns - begin_ns;
	return last.n ? 0 : -ENOMEM;
}

int numa_maps_locate(const uint64_t *addr, unsigned n, int *node_os)
{
	uint64_t now = clock_linux.now_ns(NULL), age = now - last.read_ns;
	if (!last.n || (age > AGAIN_MS * 1000000ull && age > AGAIN_TIMES * last.took_ns)) {
		int ret = read_again(now);
		if (ret) return ret;
	}
	for (unsigned i = 0; i < n; i++) node_os[i] = numa_maps_find(last.range, last.n, addr[i]);
	return 0;
}
