#include "sys/record_file.h"

#include <errno.h>
#include <stdio.h>

#include "record.h"

#ifdef NSCHED_WITH_ZSTD

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "sys/files.h"
#include "sys/own_file.h"
#include "sys/quiet.h"

#define LIBRARY "libzstd.so.1"

enum {
	LEVEL = 3,
	WINDOW_LOG = 18,             /* 256 KiB: a second or two of a busy program, and less than a MiB of memory for the packer */
	FRAME_BYTES = 1 << 20,       /* of what was given, then a new frame: the reader sees damage at a frame's end at the latest */
	OUT_BYTES = 1 << 16,
};

#define FUNCTIONS(F) \
	F(ZSTD_createCCtx) F(ZSTD_freeCCtx) F(ZSTD_CCtx_setParameter) F(ZSTD_compressStream2) F(ZSTD_isError)

/* By pointers, so that a program's own zstd, of whatever version, stays its own. */
struct zstd {
#define POINTER(name) __typeof__(&name) name;
	FUNCTIONS(POINTER)
#undef POINTER
};

struct record_file {
	struct zstd z;
	ZSTD_CCtx *packer;
	int fd;
	size_t in_frame;             /* bytes given to the frame that is open */
	uint64_t bytes;
	uint8_t out[OUT_BYTES];
};

/* ---- life -------------------------------------------------------------------------------------------------- */

/* Never unloaded: what it may have put into the process (none is known to) would not survive that. */
static int load(struct zstd *z)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool all = library != NULL;
#define FIND(name) if (all) { void *found = dlsym(library, #name); memcpy(&z->name, &found, sizeof found); all = found != NULL; }
	FUNCTIONS(FIND)
#undef FIND
	return all ? 0 : -ENOSYS;
}

static int give_up(struct record_file *f, int error, char why[RECORD_FILE_WHY], const char *what)
{
	snprintf(why, RECORD_FILE_WHY, "%s", what);
	if (f->fd >= 0) files_close(f->fd);
	if (f->packer) f->z.ZSTD_freeCCtx(f->packer);
	free(f);
	return error;
}

/* A record of any version: all but the number. */
static bool is_ours(const char *begin, size_t bytes)
{
	static const char magic[] = RECORD_MAGIC;
	return bytes >= RECORD_MAGIC_BYTES && !memcmp(begin, magic, strcspn(magic, "1"));
}

static ssize_t write_quietly(int fd, const void *data, size_t bytes)
{
	struct quiet quiet;
	quiet_begin(&quiet);
	ssize_t n = write(fd, data, bytes);
	quiet_end(&quiet);
	return n;
}

static int write_all(struct record_file *f, const void *data, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		ssize_t n = write_quietly(f->fd, (const char *)data + at, bytes - at);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) return n < 0 ? -errno : -EIO;
		at += (size_t)n;
		f->bytes += (uint64_t)n;
	}
	return 0;
}

static bool set_up(struct record_file *f)
{
	struct zstd *z = &f->z;
	f->packer = z->ZSTD_createCCtx();
	return f->packer && !z->ZSTD_isError(z->ZSTD_CCtx_setParameter(f->packer, ZSTD_c_compressionLevel, LEVEL)) &&
	       !z->ZSTD_isError(z->ZSTD_CCtx_setParameter(f->packer, ZSTD_c_windowLog, WINDOW_LOG)) &&
	       !z->ZSTD_isError(z->ZSTD_CCtx_setParameter(f->packer, ZSTD_c_checksumFlag, 1));
}

int record_file_open(const char *path, bool over, struct record_file **file, char why[RECORD_FILE_WHY])
{
	struct record_file *f = calloc(1, sizeof *f);
	*file = NULL;
	if (!f) {
		snprintf(why, RECORD_FILE_WHY, "no memory");
		return -ENOMEM;
	}
	f->fd = -1;
	if (load(&f->z)) return give_up(f, -ENOSYS, why, LIBRARY ", which packs it, is not there (Debian: libzstd1)");
	if (!set_up(f)) return give_up(f, -ENOMEM, why, "no memory for the packer");
	int fd = own_file_open(path, over, true, is_ours);
	if (fd == -EEXIST) return give_up(f, fd, why, "it is there, and no record of nsched's; record_over=1 overwrites it");
	if (fd == -EBUSY) return give_up(f, fd, why, "another process is recording into it");
	if (fd < 0) return give_up(f, fd, why, strerror(-fd));
	f->fd = fd;
	int ret = write_all(f, RECORD_MAGIC, RECORD_MAGIC_BYTES);
	if (ret) return give_up(f, ret, why, strerror(-ret));
	*file = f;
	return 0;
}

/* ---- bytes --------------------------------------------------------------------------------------------------- */

static int pack(struct record_file *f, const void *data, size_t bytes, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { data, bytes, 0 };
	size_t left = 1;
	while (in.pos < in.size || (end != ZSTD_e_continue && left)) {
		ZSTD_outBuffer out = { f->out, sizeof f->out, 0 };
		left = f->z.ZSTD_compressStream2(f->packer, &out, &in, end);
		if (f->z.ZSTD_isError(left)) return -EIO;
		int ret = out.pos ? write_all(f, f->out, out.pos) : 0;
		if (ret) return ret;
	}
	f->in_frame = end == ZSTD_e_end ? 0 : f->in_frame + bytes;
	return 0;
}

int record_file_write(struct record_file *f, const void *data, size_t bytes)
{
	return pack(f, data, bytes, f->in_frame + bytes >= FRAME_BYTES ? ZSTD_e_end : ZSTD_e_continue);
}

int record_file_flush(struct record_file *f)
{
	return f->in_frame ? pack(f, NULL, 0, ZSTD_e_flush) : 0;
}

uint64_t record_file_bytes(const struct record_file *f)
{
	return f->bytes;
}

int record_file_end(struct record_file *f)
{
	return f->in_frame ? pack(f, NULL, 0, ZSTD_e_end) : 0;
}

void record_file_close(struct record_file *f)
{
	files_close(f->fd);
	f->z.ZSTD_freeCCtx(f->packer);
	free(f);
}

#else

int record_file_open(const char *path, bool over, struct record_file **file, char why[RECORD_FILE_WHY])
{
	(void)path, (void)over;
	*file = NULL;
	snprintf(why, RECORD_FILE_WHY, "this build has no zstd");
	return -ENOSYS;
}

int record_file_write(struct record_file *file, const void *data, size_t bytes)
{
	(void)file, (void)data, (void)bytes;
	return -ENOSYS;
}

int record_file_flush(struct record_file *file)
{
	(void)file;
	return -ENOSYS;
}

uint64_t record_file_bytes(const struct record_file *file)
{
	(void)file;
	return 0;
}

int record_file_end(struct record_file *file)
{
	(void)file;
	return -ENOSYS;
}

void record_file_close(struct record_file *file)
{
	(void)file;
}

#endif
