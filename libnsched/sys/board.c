/* Slots: whose they are, what is in them. */
#include "sys/board.h"

#include <errno.h>
#include <unistd.h>

#include "sys/board_map.h"
#include "sys/quiet.h"

enum {
	READ_TRIES = 16,        /* of a part that is being written each time: then it is left for the next step */
	ASK_AGAIN_MS = 30000,   /* signs of life are what stands on the board: now and then the system has to say so, too */
};
#define MS 1000000ull

/* ---- where things lie ---------------------------------------------------------------------------------- */

size_t board_part_room(enum board_part part)
{
	static const size_t bytes[BOARD_PARTS] = {
		[BOARD_VIEW] = sizeof(struct slot_view), [BOARD_ROW] = sizeof(struct slot_row), [BOARD_PLAN] = sizeof(struct slot_plan),
	};
	return board_round(bytes[part]);
}

off_t board_machine_offset(uint32_t slots)
{
	return (off_t)board_mapped_bytes(slots);
}

static size_t slot_room(void)
{
	size_t bytes = 0;
	for (unsigned p = 0; p < BOARD_PARTS; p++) bytes += board_part_room((enum board_part)p);
	return bytes;
}

off_t board_part_offset(uint32_t slots, unsigned slot, enum board_part part)
{
	size_t at = board_machine_room() + slot * slot_room();
	for (unsigned p = 0; p < (unsigned)part; p++) at += board_part_room((enum board_part)p);
	return board_machine_offset(slots) + (off_t)at;
}

off_t board_file_bytes(uint32_t slots)
{
	return board_part_offset(slots, slots, BOARD_VIEW);
}

int board_pread(int fd, void *data, size_t bytes, off_t at)
{
	for (char *to = data; bytes;) {
		ssize_t got = pread(fd, to, bytes, at);
		if (got < 0 && errno == EINTR) continue;
		if (got <= 0) return got ? -errno : -EIO;
		to += got;
		at += got;
		bytes -= (size_t)got;
	}
	return 0;
}

int board_pwrite_blocked(int fd, const void *data, size_t bytes, off_t at)
{
	for (const char *from = data; bytes;) {
		ssize_t put = pwrite(fd, from, bytes, at);
		if (put < 0 && errno == EINTR) continue;
		if (put <= 0) return put ? -errno : -EIO;
		from += put;
		at += put;
		bytes -= (size_t)put;
	}
	return 0;
}

int board_pwrite(int fd, const void *data, size_t bytes, off_t at)
{
	struct quiet quiet;
	quiet_begin(&quiet);
	int ret = board_pwrite_blocked(fd, data, bytes, at);
	quiet_end(&quiet);
	return ret;
}

/* ---- of all ------------------------------------------------------------------------------------------------ */

unsigned board_slots(const struct board *board)
{
	return board->slots;
}

unsigned board_ranks(const struct board *board)
{
	unsigned ranks = board->header->ranks;
	return ranks < board->slots ? ranks : 0;
}

pid_t board_launcher(const struct board *board)
{
	return board->header->launcher;
}

enum board_meeting board_meeting(const struct board *board)
{
	unsigned how = atomic_load(&board->header->meeting);
	return how > BOARD_INCOMPLETE ? BOARD_INCOMPLETE : (enum board_meeting)how;
}

enum board_meeting board_end_meeting(struct board *board, enum board_meeting how)
{
	uint32_t open = BOARD_OPEN;
	atomic_compare_exchange_strong(&board->header->meeting, &open, how);
	return board_meeting(board);
}

/* ---- whose a slot is -------------------------------------------------------------------------------------- */

/* A full barrier; GCC's thread sanitizer refuses C11's by name, and no thread of this process reads what it writes. */
static void fence(void)
{
	__sync_synchronize();
}

/* A writer that died in the middle has left it odd. */
static void make_even(_Atomic uint32_t *seq)
{
	atomic_store(seq, (atomic_load(seq) + 1) & ~1u);
}

static void begin_writing(_Atomic uint32_t *seq)
{
	atomic_fetch_add(seq, 1);
	fence();
}

static void end_writing(_Atomic uint32_t *seq)
{
	fence();
	atomic_fetch_add(seq, 1);
}

static int take_cell(struct board *board, unsigned slot, board_owner self)
{
	struct board_cell *cell = &board->cell[slot];
	board_owner owner = atomic_load(&cell->owner);
	if (owner == self) return 0;
	if (owner && board_owner_alive(owner)) return -EBUSY;
	if (!atomic_compare_exchange_strong(&cell->owner, &owner, self)) return -EBUSY;
	atomic_store(&cell->beat_ns, 0);
	make_even(&cell->head_seq);
	for (unsigned p = 0; p < BOARD_PARTS; p++) {
		make_even(&cell->part[p].seq);
		atomic_store(&cell->part[p].bytes, 0);
	}
	return 0;
}

static int find_cell(struct board *board, board_owner self)
{
	for (unsigned slot = 0; slot < board->slots; slot++)
		if (atomic_load(&board->cell[slot].owner) == self) return (int)slot;
	for (unsigned slot = board_ranks(board); slot < board->slots; slot++)
		if (!take_cell(board, slot, self)) return (int)slot;
	return -ENOSPC;
}

int board_claim(struct board *board, int slot, const struct board_head *head)
{
	board_owner self = board_owner_of(getpid());
	if (!self) return -ESRCH;
	if (slot == BOARD_NO_RANK) {
		slot = find_cell(board, self);
	} else {
		int ret = slot < 0 || (unsigned)slot >= board->slots ? -EINVAL : take_cell(board, (unsigned)slot, self);
		if (ret) return ret;
	}
	if (slot < 0) return slot;
	board->own = slot;
	board->self = self;
	if (head) board_set_head(board, head);
	return slot;
}

int board_own(const struct board *board)
{
	if (board->own < 0 || board_owner_pid(board->self) != getpid()) return -1;
	return atomic_load(&board->cell[board->own].owner) == board->self ? board->own : -1;
}

void board_release(struct board *board)
{
	int own = board_own(board);
	if (own >= 0) atomic_store(&board->cell[own].owner, 0);
	board->own = -1;
}

/* ---- the head ----------------------------------------------------------------------------------------------- */

int board_set_head(struct board *board, const struct board_head *head)
{
	int own = board_own(board);
	if (own < 0) return -EINVAL;
	begin_writing(&board->cell[own].head_seq);
	board->cell[own].head = *head;
	end_writing(&board->cell[own].head_seq);
	return 0;
}

static int read_head(const struct board_cell *cell, board_owner now, struct board_head *head)
{
	for (int i = 0; i < READ_TRIES; i++) {
		uint32_t before = atomic_load(&cell->head_seq);
		fence();
		*head = cell->head;
		fence();
		if (before & 1 || before != atomic_load(&cell->head_seq)) continue;
		return !before || atomic_load(&cell->owner) != now ? -EAGAIN : 0;   /* claimed, and nothing written yet */
	}
	return -EAGAIN;
}

/* Has it lived lately, by what was seen of it? Its signs of life count up to our own time: no later one can be true. */
static bool lived_lately(const struct board *board, unsigned slot, board_owner owner)
{
	struct board_seen *seen = board->seen ? &board->seen[slot] : NULL;
	if (!seen || !board->now_ns || seen->owner != owner || board->now_ns - seen->asked_ns > ASK_AGAIN_MS * MS) return false;
	uint64_t beat = atomic_load(&board->cell[slot].beat_ns);
	if (beat > seen->at_ns && beat <= board->now_ns) seen->at_ns = beat;
	return board->now_ns - seen->at_ns < BOARD_SEEN_MS * MS;
}

static bool is_alive(const struct board *board, unsigned slot, board_owner owner)
{
	if (owner == board->self || lived_lately(board, slot, owner)) return true;
	bool alive = board_owner_alive(owner);
	if (board->seen) board->seen[slot] = (struct board_seen){ alive ? owner : 0, board->now_ns, board->now_ns };
	return alive;
}

bool board_is_taken(const struct board *board, unsigned slot)
{
	board_owner owner = slot < board->slots ? atomic_load(&board->cell[slot].owner) : 0;
	return owner && board_owner_alive(owner);
}

int board_read_head(const struct board *board, unsigned slot, struct board_head *head, board_owner *owner)
{
	if (slot >= board->slots) return -ENOENT;
	board_owner now = atomic_load(&board->cell[slot].owner);
	if (!now || !is_alive(board, slot, now)) return -ENOENT;
	int ret = read_head(&board->cell[slot], now, head);
	if (!ret && owner) *owner = now;
	return ret;
}

/* Only its owner gets here, and the next one after his death: what he left half written is written anew. */
int board_arrive(struct board *board, const struct board_arrival *arrival)
{
	int own = board_own(board);
	if (own < 0) return -EINVAL;
	struct board_cell *cell = &board->cell[own];
	if (atomic_load(&cell->came)) return 0;
	cell->arrival = *arrival;
	atomic_store(&cell->came, board->self);
	return 0;
}

int board_read_arrival(const struct board *board, unsigned slot, struct board_arrival *arrival)
{
	if (slot >= board->slots || !atomic_load(&board->cell[slot].came)) return -ENOENT;
	*arrival = board->cell[slot].arrival;
	return 0;
}

bool board_read_ask(const struct board *board, unsigned slot, struct board_ask *ask)
{
	if (slot >= board->slots || !atomic_load(&board->cell[slot].owner)) return false;
	const struct board_cell *cell = &board->cell[slot];
	uint32_t before = atomic_load(&cell->head_seq);
	fence();
	*ask = cell->head.ask;
	fence();
	return before && !(before & 1) && before == atomic_load(&cell->head_seq);
}

void board_beat(struct board *board, uint64_t now_ns)
{
	int own = board_own(board);
	board->now_ns = now_ns;
	if (own >= 0) atomic_store(&board->cell[own].beat_ns, now_ns);
}

uint64_t board_last_beat(const struct board *board, unsigned slot)
{
	return slot < board->slots ? atomic_load(&board->cell[slot].beat_ns) : 0;
}

void board_write_blocked(struct board *board)
{
	board->quiet = true;
}

/* ---- the parts ----------------------------------------------------------------------------------------------- */

int board_write(struct board *board, enum board_part part, const void *data, uint32_t bytes)
{
	int own = board_own(board);
	if (own < 0 || bytes > board_part_room(part)) return -EINVAL;
	struct board_part_state *state = &board->cell[own].part[part];
	begin_writing(&state->seq);
	off_t at = board_part_offset(board->slots, (unsigned)own, part);
	int ret = board->quiet ? board_pwrite_blocked(board->fd, data, bytes, at) : board_pwrite(board->fd, data, bytes, at);
	atomic_store(&state->bytes, ret ? 0 : bytes);
	atomic_store(&state->owner, board->self);
	end_writing(&state->seq);
	return ret;
}

/* The bytes of what was copied, as it can be used; -EPROTO: it can't be true. */
static int check(enum board_part part, void *data, uint32_t bytes, uint32_t room)
{
	bool sound = false;
	switch (part) {
	case BOARD_VIEW:
		sound = room >= sizeof(struct slot_view) && slot_view_unpack(data, bytes);
		if (sound) bytes = slot_view_bytes(data);
		sound = sound && slot_view_valid(data, bytes);
		break;
	case BOARD_ROW: sound = slot_row_valid(data, bytes); break;
	case BOARD_PLAN: sound = slot_plan_valid(data, bytes); break;
	case BOARD_PARTS: break;
	}
	return sound ? (int)bytes : -EPROTO;
}

int board_read(const struct board *board, unsigned slot, enum board_part part, void *copy, uint32_t room, uint32_t *number)
{
	if (slot >= board->slots) return 0;
	struct board_part_state *state = &board->cell[slot].part[part];
	board_owner owner = atomic_load(&board->cell[slot].owner);
	if (!owner) return 0;
	for (int i = 0; i < READ_TRIES; i++) {
		uint32_t before = atomic_load(&state->seq), bytes = atomic_load(&state->bytes);
		if (before & 1) continue;
		if (!bytes || atomic_load(&state->owner) != owner) return 0;
		if (bytes > room) return -EPROTO;
		fence();
		int ret = board_pread(board->fd, copy, bytes, board_part_offset(board->slots, slot, part));
		fence();
		if (before != atomic_load(&state->seq)) continue;
		if (number) *number = before / 2;
		return ret ? -EPROTO : check(part, copy, bytes, room);
	}
	return -EAGAIN;
}
