#include "perf_ring.h"
#include "pick.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/files.h"

/* ---- records ---------------------------------------------------------------------------------------- */

static void copy_out(const struct perf_cursor *cursor, void *to, size_t bytes)
{
	size_t at = cursor->tail & (cursor->bytes - 1);
	size_t first = bytes < cursor->bytes - at ? bytes : cursor->bytes - at;

	memcpy(to, cursor->data + at, first);
	memcpy((uint8_t *)to + first, cursor->data, bytes - first);
}

bool perf_cursor_next(struct perf_cursor *cursor, union perf_record *record)
{
	while (cursor->head - cursor->tail >= sizeof(record->header)) {
		size_t bytes;

		copy_out(cursor, &record->header, sizeof(record->header));
		bytes = record->header.size;
		if (bytes < sizeof(record->header) || bytes > cursor->head - cursor->tail || bytes > cursor->bytes)
			break;
		if (bytes <= sizeof(*record)) {
			memset(record, 0, sizeof(*record));
			copy_out(cursor, record, bytes);
			cursor->tail += bytes;
			return true;
		}
		cursor->tail += bytes;
	}
	cursor->tail = cursor->head;
	return false;
}

unsigned perf_cursor_records(const struct perf_cursor *cursor)
{
	struct perf_event_header header = { 0 };
	uint64_t bytes = cursor->head - cursor->tail;

	if (bytes >= sizeof(header))
		copy_out(cursor, &header, sizeof(header));
	return header.size >= sizeof(header) ? (unsigned)(bytes / header.size) : 0;
}

uint64_t perf_record_lost(const union perf_record *record)
{
	if (record->header.type != PERF_RECORD_LOST || record->header.size < 3 * sizeof(uint64_t))
		return 0;
	return record->words[2]; /* header, id, lost */
}

void perf_record_aux(const union perf_record *record, struct perf_aux_told *told)
{
	uint64_t flags = record->words[3]; /* header, offset, size, flags */

	if (record->header.type != PERF_RECORD_AUX || record->header.size < 4 * sizeof(uint64_t))
		return;
	told->full |= (flags & PERF_AUX_FLAG_TRUNCATED) != 0;
	told->lost += (flags & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_COLLISION)) != 0;
}

/* ---- rings ------------------------------------------------------------------------------------------ */

static int map_ring(struct perf_ring *ring)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page;

	ring->mapped_bytes = (1 + PERF_RING_PAGES) * page_bytes;
	page = mmap(NULL, ring->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	/* The kernel keeps rings out of a fork's child by itself; perf_ring_forked relies on it. */
	(void)madvise(page, ring->mapped_bytes, MADV_DONTFORK);
	ring->page = page;
	return 0;
}

static int open_event(const struct perf_event_attr *attr, pid_t tid, int group)
{
	struct perf_event_attr copy = *attr;
	long fd = syscall(SYS_perf_event_open, &copy, tid, -1, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* The kernel wants to be told where the area is to lie, behind the ring, before it is mapped. */
static int map_aux(struct perf_ring *ring, size_t bytes)
{
	void *aux;

	ring->page->aux_offset = ring->mapped_bytes;
	ring->page->aux_size = bytes;
	aux = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, (off_t)ring->mapped_bytes);
	if (aux == MAP_FAILED)
		return -errno;
	(void)madvise(aux, bytes, MADV_DONTFORK);
	ring->aux = aux;
	ring->aux_bytes = bytes;
	return 0;
}

static void close_events(struct perf_ring *ring)
{
	files_close(ring->fd);
	if (ring->leader > 0)
		files_close(ring->leader);
	ring->leader = 0;
}

int perf_ring_open_more(struct perf_ring *ring, const struct perf_event_attr *attr, const struct perf_event_attr *leader,
                        size_t aux_bytes, pid_t tid)
{
	int err, group = leader ? open_event(leader, tid, -1) : 0;

	if (group < 0)
		return group;
	*ring = (struct perf_ring){ .leader = group, .fd = open_event(attr, tid, leader ? group : -1) };
	err = ring->fd < 0 ? ring->fd : map_ring(ring);
	if (!err && aux_bytes)
		err = map_aux(ring, aux_bytes);
	if (!err)
		return 0;
	if (ring->page)
		munmap(ring->page, ring->mapped_bytes);
	if (ring->fd >= 0)
		close(ring->fd);
	if (leader)
		close(group);
	*ring = (struct perf_ring){ .fd = -1 };
	return err;
}

int perf_ring_open(struct perf_ring *ring, const struct perf_event_attr *attr, pid_t tid)
{
	return perf_ring_open_more(ring, attr, NULL, 0, tid);
}

uint64_t perf_ring_aux_head(const struct perf_ring *ring, uint64_t *tail)
{
	*tail = ring->page->aux_tail;
	return __atomic_load_n(&ring->page->aux_head, __ATOMIC_ACQUIRE);
}

void perf_ring_aux_read(struct perf_ring *ring, uint64_t tail)
{
	__atomic_store_n(&ring->page->aux_tail, tail, __ATOMIC_RELEASE);
}

struct perf_aux_told perf_ring_aux_told(struct perf_ring *ring)
{
	struct perf_cursor cursor = perf_ring_begin(ring);
	struct perf_aux_told told = { false, 0 };
	union perf_record record;

	while (perf_cursor_next(&cursor, &record)) {
		perf_record_aux(&record, &told);
		told.lost += perf_record_lost(&record);
	}
	perf_ring_read(ring, &cursor);
	return told;
}

void perf_ring_close(struct perf_ring *ring)
{
	if (!ring->page)
		return;
	if (ring->aux)
		munmap(ring->aux, ring->aux_bytes);
	munmap(ring->page, ring->mapped_bytes);
	close_events(ring);
	ring->page = NULL;
	ring->aux = NULL;
}

void perf_ring_forked(struct perf_ring *ring)
{
	if (ring->page)
		close_events(ring);
	ring->page = NULL;
	ring->aux = NULL;
}

struct perf_cursor perf_ring_begin(const struct perf_ring *ring)
{
	size_t bytes = ring->mapped_bytes / (1 + PERF_RING_PAGES);

	return (struct perf_cursor){
		.data = (const uint8_t *)ring->page + bytes,
		.bytes = bytes * PERF_RING_PAGES,
		.tail = ring->page->data_tail,
		.head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE),
	};
}

void perf_ring_read(struct perf_ring *ring, const struct perf_cursor *cursor)
{
	__atomic_store_n(&ring->page->data_tail, cursor->tail, __ATOMIC_RELEASE);
}

uint64_t perf_ring_count(const struct perf_ring *ring)
{
	uint64_t count = 0;

	return read(ring->fd, &count, sizeof(count)) == (ssize_t)sizeof(count) ? count : 0;
}

int perf_ring_enable(struct perf_ring *ring, bool on)
{
	return ioctl(ring->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

int perf_ring_set_period(struct perf_ring *ring, uint64_t period)
{
	return ioctl(ring->fd, PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0;
}

/* ---- a ring for each thread --------------------------------------------------------------------------- */

int perf_rings_create(struct perf_rings *rings, unsigned most)
{
	*rings = (struct perf_rings){ .ring = calloc(most ? most : 1, sizeof(*rings->ring)), .most = most };
	return rings->ring ? 0 : -ENOMEM;
}

void perf_rings_destroy(struct perf_rings *rings)
{
	for (unsigned i = 0; i < rings->end; i++)
		perf_ring_close(&rings->ring[i]);
	free(rings->ring);
	rings->ring = NULL;
}

void perf_rings_forked(struct perf_rings *rings)
{
	for (unsigned i = 0; i < rings->end; i++)
		perf_ring_forked(&rings->ring[i]);
	free(rings->ring);
	rings->ring = NULL;
}

int perf_rings_add(struct perf_rings *rings, const struct perf_event_attr *attr, unsigned thread, pid_t tid)
{
	if (thread >= rings->most)
		return -EINVAL;
	perf_ring_close(&rings->ring[thread]);
	if (thread >= rings->end)
		rings->end = thread + 1;
	return perf_ring_open(&rings->ring[thread], attr, tid);
}

void perf_rings_remove(struct perf_rings *rings, unsigned thread)
{
	if (thread < rings->end)
		perf_ring_close(&rings->ring[thread]);
}

struct polled {
	const struct perf_rings *rings;
	unsigned (*poll)(void *arg, unsigned thread, unsigned most);
	void *arg;
};

static bool is_open(const void *arg, unsigned thread)
{
	return ((const struct polled *)arg)->rings->ring[thread].page != NULL;
}

static unsigned poll_one(void *arg, unsigned thread, unsigned most)
{
	const struct polled *polled = arg;

	return polled->poll(polled->arg, thread, most);
}

unsigned perf_rings_poll(struct perf_rings *rings, unsigned most, unsigned least,
                         unsigned (*poll)(void *arg, unsigned thread, unsigned most), void *arg)
{
	struct polled polled = { rings, poll, arg };
	struct pick_rings each = { is_open, poll_one, &polled, least };

	return pick_from_each(&each, rings->end, &rings->turn, most);
}

void perf_rings_set_period(struct perf_rings *rings, unsigned thread, uint64_t period)
{
	if (thread < rings->end && rings->ring[thread].page)
		(void)perf_ring_set_period(&rings->ring[thread], period); /* a thread that has ended can't be set */
}

const char *perf_refusal(int err)
{
	switch (err) {
	case -EACCES:
		return "perf_event_open refused: kernel.perf_event_paranoid is above 2";
	case -EPERM:
		return "perf_event_open refused: perf_event_paranoid above 2, a container's filter, or "
		       "kernel.perf_event_mlock_kb used up";
	case -ENOSYS:
		return "perf_event_open is not in this kernel or not allowed here";
	case -EMFILE:
		return "no file descriptor left for perf_event_open";
	default:
		return strerror(-err);
	}
}
