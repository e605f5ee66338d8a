#include "ranges.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ranges_init(struct ranges *r, unsigned most_ranges, unsigned most_hints)
{
	memset(r, 0, sizeof *r);
	pthread_mutex_init(&r->lock, NULL);
	r->most_ranges = most_ranges;
	r->most_hints = most_hints;
}

void ranges_free(struct ranges *r)
{
	free(r->range);
	free(r->hint);
	pthread_mutex_destroy(&r->lock);
}

void ranges_reset(struct ranges *r, unsigned most_ranges, unsigned most_hints)
{
	pthread_mutex_lock(&r->lock);
	free(r->range);
	free(r->hint);
	r->range = NULL;
	r->hint = NULL;
	r->n_ranges = r->n_hints = r->room_ranges = r->room_hints = 0;
	r->most_ranges = most_ranges;
	r->most_hints = most_hints;
	pthread_mutex_unlock(&r->lock);
}

void ranges_forked(struct ranges *r, bool whole)
{
	if (whole) {
		pthread_mutex_unlock(&r->lock);
		ranges_reset(r, 0, 0);
	} else {
		ranges_init(r, 0, 0);
	}
}

/* The first range that ends behind `addr`. */
static unsigned find(const struct ranges *r, uint64_t addr)
{
	unsigned low = 0, high = r->n_ranges;
	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (r->range[middle].addr + r->range[middle].bytes <= addr) low = middle + 1;
		else high = middle;
	}
	return low;
}

static int make_room(void **array, unsigned n, unsigned *room, unsigned most, size_t bytes)
{
	if (n < *room) return 0;
	if (n >= most) return -ENOSPC;
	unsigned more = *room ? *room * 2 : 16;
	if (more > most) more = most;
	void *grown = realloc(*array, more * bytes);
	if (!grown) return -ENOSPC;
	*array = grown;
	*room = more;
	return 0;
}

int ranges_put(struct ranges *r, const char *name, uint64_t addr, uint64_t bytes)
{
	unsigned at = find(r, addr);
	if (addr + bytes < addr) return -EINVAL;
	if (at < r->n_ranges && r->range[at].addr < addr + bytes) return -EEXIST;
	int ret = make_room((void **)&r->range, r->n_ranges, &r->room_ranges, r->most_ranges, sizeof *r->range);
	if (ret) return ret;
	memmove(&r->range[at + 1], &r->range[at], (r->n_ranges - at) * sizeof *r->range);
	r->range[at] = (struct range){ .addr = addr, .bytes = bytes };
	snprintf(r->range[at].name, sizeof r->range[at].name, "%s", name);
	r->n_ranges++;
	return 0;
}

int ranges_attach(struct ranges *r, const char *name, uint64_t addr, uint64_t bytes)
{
	pthread_mutex_lock(&r->lock);
	int ret = ranges_put(r, name, addr, bytes);
	pthread_mutex_unlock(&r->lock);
	return ret;
}

static void drop_hints(struct ranges *r, const struct range *range, int thread)
{
	for (unsigned h = r->n_hints; h-- > 0;) {
		const struct hint *hint = &r->hint[h];
		bool inside = range && hint->addr >= range->addr && hint->addr < range->addr + range->bytes;
		if (inside || (thread >= 0 && hint->thread == (uint32_t)thread)) r->hint[h] = r->hint[--r->n_hints];
	}
}

int ranges_detach(struct ranges *r, uint64_t addr)
{
	int ret = -ENOENT;
	pthread_mutex_lock(&r->lock);
	unsigned at = find(r, addr);
	if (at < r->n_ranges && r->range[at].addr == addr) {
		drop_hints(r, &r->range[at], -1);
		memmove(&r->range[at], &r->range[at + 1], (--r->n_ranges - at) * sizeof *r->range);
		ret = 0;
	}
	pthread_mutex_unlock(&r->lock);
	return ret;
}

int ranges_put_hint(struct ranges *r, const struct hint *h)
{
	int ret = make_room((void **)&r->hint, r->n_hints, &r->room_hints, r->most_hints, sizeof *r->hint);
	if (!ret) r->hint[r->n_hints++] = *h;
	return ret;
}

static int hint(struct ranges *r, const struct hint *h)
{
	unsigned at = find(r, h->addr), i = 0;
	if (at == r->n_ranges || r->range[at].addr > h->addr || h->bytes > r->range[at].addr + r->range[at].bytes - h->addr) return -ENOENT;
	while (i < r->n_hints && !(r->hint[i].thread == h->thread && r->hint[i].addr == h->addr && r->hint[i].bytes == h->bytes)) i++;
	if (!h->bytes_per_s) {
		if (i < r->n_hints) r->hint[i] = r->hint[--r->n_hints];
		return 0;
	}
	if (i == r->n_hints) {
		return ranges_put_hint(r, h);
	}
	r->hint[i] = *h;
	return 0;
}

int ranges_hint(struct ranges *r, uint32_t thread, uint64_t addr, uint64_t bytes, uint64_t bytes_per_s)
{
	struct hint h = { .addr = addr, .bytes = bytes, .bytes_per_s = bytes_per_s, .thread = thread };
	pthread_mutex_lock(&r->lock);
	int ret = hint(r, &h);
	pthread_mutex_unlock(&r->lock);
	return ret;
}

void ranges_forget_thread(struct ranges *r, uint32_t thread)
{
	pthread_mutex_lock(&r->lock);
	drop_hints(r, NULL, (int)thread);
	pthread_mutex_unlock(&r->lock);
}

void ranges_name(struct ranges *r, uint64_t addr, char name[32])
{
	pthread_mutex_lock(&r->lock);
	unsigned at = find(r, addr);
	bool in = at < r->n_ranges && r->range[at].addr <= addr;
	snprintf(name, 32, "%s", in ? r->range[at].name : "");
	pthread_mutex_unlock(&r->lock);
}
