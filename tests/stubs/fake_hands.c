#include "fake_hands.h"

#include <errno.h>
#include <stddef.h>

enum { PAGE_SHIFT = 12 };

/* Counts the call: what it has to fail with, or 0. */
static int count(struct fake_hands *h, enum fake_hands_call call)
{
	uint64_t i = h->calls[call]++;
	return i >= h->fail[call].at && i - h->fail[call].at < h->fail[call].times ? h->fail[call].error : 0;
}

static int find(const struct fake_hands *h, pid_t tid)
{
	for (unsigned i = 0; i < h->n_threads; i++)
		if (h->thread[i].tid == tid) return (int)i;
	return -1;
}

static int get_mask(void *state, pid_t tid, struct cpu_mask *mask)
{
	struct fake_hands *h = state;
	int ret = count(h, FAKE_GET_MASK), i = find(h, tid);
	if (ret) return ret;
	if (i < 0) return -ESRCH;
	*mask = h->thread[i].mask;
	return 0;
}

static int set_mask(void *state, pid_t tid, const struct cpu_mask *mask)
{
	struct fake_hands *h = state;
	int ret = count(h, FAKE_SET_MASK), i = find(h, tid);
	if (ret) return ret;
	if (i < 0) return -ESRCH;
	h->thread[i].mask = *mask;
	return 0;
}

static int page_of(const struct fake_hands *h, uint64_t addr)
{
	uint64_t page = addr >> PAGE_SHIFT;
	return page >= h->first_page && page < h->first_page + h->n_pages ? (int)(page - h->first_page) : -1;
}

static int locate(void *state, const uint64_t *addr, unsigned n, int *node_os)
{
	struct fake_hands *h = state;
	int ret = count(h, FAKE_LOCATE);
	for (unsigned i = 0; !ret && i < n; i++) {
		int page = page_of(h, addr[i]);
		node_os[i] = page < 0 ? -EFAULT : h->node_os[page];
	}
	return ret;
}

static int move(void *state, const uint64_t *addr, unsigned n, const int *to_os, int *status)
{
	struct fake_hands *h = state;
	int ret = count(h, FAKE_MOVE);
	for (unsigned i = 0; !ret && i < n; i++) {
		int page = page_of(h, addr[i]);
		if (h->forbidden >> to_os[i] & 1) return -EACCES;
		h->asked++;
		status[i] = page < 0 ? -EFAULT : h->refuses[page] ? h->refuses[page] : h->node_os[page] < 0 ? -ENOENT : to_os[i];
		if (status[i] != to_os[i]) continue;
		h->moved += h->node_os[page] != to_os[i];
		h->node_os[page] = (int16_t)to_os[i];
		if (h->clock) h->clock->own_ns += FAKE_HANDS_NS_A_PAGE;
	}
	return ret;
}

static int has_policy(void *state, uint64_t addr)
{
	struct fake_hands *h = state;
	int ret = count(h, FAKE_HAS_POLICY), page = page_of(h, addr);
	return ret ? ret : page >= 0 && h->policy[page];
}

void fake_hands_thread(struct fake_hands *h, pid_t tid, const struct cpu_mask *mask)
{
	h->thread[h->n_threads].tid = tid;
	h->thread[h->n_threads++].mask = *mask;
}

void fake_hands_gone(struct fake_hands *h, pid_t tid)
{
	int i = find(h, tid);
	if (i >= 0) h->thread[i] = h->thread[--h->n_threads];
}

const struct cpu_mask *fake_hands_mask(const struct fake_hands *h, pid_t tid)
{
	int i = find(h, tid);
	return i < 0 ? NULL : &h->thread[i].mask;
}

void fake_hands_pages(struct fake_hands *h, unsigned i, unsigned n, int node_os)
{
	if (i + n > h->n_pages) h->n_pages = i + n;
	for (; n; n--, i++) h->node_os[i] = (int16_t)node_os;
}

unsigned fake_hands_count(const struct fake_hands *h, unsigned i, unsigned n, int node_os)
{
	unsigned sum = 0;
	for (; n; n--, i++) sum += h->node_os[i] == node_os;
	return sum;
}

const struct actuator_ops fake_hands_ops = { "fake", get_mask, set_mask, locate, move, has_policy, NULL };
