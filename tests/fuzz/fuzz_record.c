/* What the player does with any bytes for a record: it plays what can be, and says in one line, with the byte, what can't. Bytes that begin
 * as a record's file do are one; others are taken for the unpacked inside of one. Another policy plays beside it. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "whatif.h"

enum { STEPS_MOST = 300 };

static struct player player;
static struct whatif whatif;

static void told_access(void *arg, const struct access *a) { whatif_access(arg, a); }
static void told_located(void *arg, const uint64_t *addr, unsigned n, const int *node) { whatif_located(arg, addr, n, node); }
static void told_moved(void *arg, const uint64_t *addr, unsigned n, const int *status) { whatif_moved(arg, addr, n, status); }
static void told_touch(void *arg, uint32_t thread, uint64_t addr) { whatif_touch(arg, thread, addr); }

static void play(struct tape_reader *reader)
{
	static const struct player_listener listener = { told_access, told_located, told_moved, told_touch, &whatif };
	int ret = player_open(&player, reader), beside = ret ? -1 : whatif_open(&whatif, &player, "adaptive");
	bool open = !ret;
	if (!beside) player.listener = &listener;
	for (unsigned i = 0; !ret && i < STEPS_MOST && (ret = player_step(&player)) > 0; i++) {
		ret = 0;
		if (!beside) beside = whatif_step(&whatif);
		if (!whatif_cost(&player.session.situation)) ret = 0;
	}
	if (open) whatif_close(&whatif);
	if (open) player_close(&player);
	if (ret < 0 && (!strstr(reader->error, "byte ") || strchr(reader->error, '\n'))) abort();
}

static void play_file(const uint8_t *data, size_t size)
{
	struct tape_reader reader;
	struct replay_file *file;
	FILE *in = fmemopen((void *)(uintptr_t)data, size, "rb");
	if (!in) return;
	if (!replay_file_open(in, &reader, &file)) play(&reader);
	else if (!reader.error[0]) abort();
	replay_file_close(file);
	fclose(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char magic[] = "nsched record";
	if (size >= sizeof magic && !memcmp(data, magic, sizeof magic - 1)) {
		play_file(data, size);
	} else {
		struct tape_reader reader = { .data = data, .n = size };
		play(&reader);
	}
	return 0;
}
