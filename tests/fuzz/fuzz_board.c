/* What is done with a board over which others have scribbled: every reader copies, checks, and takes it or leaves it. The input is a
 * series of writings, each an offset of 3 bytes, a length and the bytes, into header, cells, machine and parts; between them
 * this process reads, writes, claims and leaves. */
#include "fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/board_map.h"

enum { HEAD = 4 };

static union {
	struct slot_view view;
	struct slot_row row;
	struct slot_plan plan;
} room;

static void read_all(struct board *board)
{
	struct board_head head;
	struct board_arrival arrival;
	struct machine machine;
	board_owner owner;
	uint32_t number;
	for (unsigned slot = 0; slot < board_slots(board) + 1; slot++) {
		(void)board_read_head(board, slot, &head, &owner);
		(void)board_read_arrival(board, slot, &arrival);
		(void)board_last_beat(board, slot);
		for (unsigned p = 0; p < BOARD_PARTS; p++) {
			static const uint32_t rooms[] = { sizeof room.view, sizeof room.row, sizeof room.plan };
			int bytes = board_read(board, slot, (enum board_part)p, &room, rooms[p], &number);
			if (bytes > (int)rooms[p]) abort();
			/* what was taken can be used as it is */
			if (bytes > 0 && p == BOARD_VIEW && (room.view.n_threads > SLOT_THREADS || room.view.n_chunks > SLOT_CHUNKS)) abort();
			if (bytes > 0 && p == BOARD_PLAN && room.plan.n_orders > SLOT_ORDERS) abort();
		}
	}
	if (!board_read_machine(board, &machine)) {
		if (machine.n_nodes > MACHINE_NODES) abort();
		machine_free(&machine);
	}
	if (board_ranks(board) > board_slots(board)) abort();
	(void)board_meeting(board);
}

/* The header is read once more by those who come later. */
static void come_later(const struct board *board, const char *word)
{
	struct board *other;
	(void)board;
	if (board_attach(word, &other)) return;
	read_all(other);
	board_leave(other, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct board *board;
	struct board_head head = { .local_rank = BOARD_NO_RANK, .rank = BOARD_NO_RANK };
	char word[BOARD_WORD];
	if (board_make_tree(&board)) return 0;
	board_word(board, word);
	(void)board_claim(board, BOARD_NO_RANK, &head);
	while (size > HEAD) {
		size_t offset = (size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2], n = data[3];
		size_t end = (size_t)board_file_bytes(board->slots);
		data += HEAD;
		size -= HEAD;
		if (n > size) n = size;
		/* mostly the header and the first cells */
		offset = offset & 0x800000 ? offset % end : offset % (4096 + 4 * sizeof(struct board_cell));
		if (pwrite(board->fd, data, n, (off_t)offset) < 0) abort();
		data += n;
		size -= n;
		read_all(board);
		(void)board_write(board, BOARD_ROW, &room.row, 64);
		board_beat(board, size);
	}
	come_later(board, word);
	(void)board_take_machine(board);
	(void)board_write_machine(board, NULL);
	board_unlink(board);
	board_release(board);
	board_leave(board, false);
	return 0;
}
