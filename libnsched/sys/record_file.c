#include "sys/record_file.h"

#include <errno.h>
#include <stdio.h>

#include "record.h"

#ifdef NSCHED_WITH_ZSTD

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

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
	if (f->fd >= 0) close(f->fd);
	if (f->packer) f->z.ZSTD_freeCCtx(f->packer);
	free(f);
	return error;
}

/* Is what is there ours to overwrite? */
static bool is_ours(int fd)
{
	static const char magic[] = RECORD_MAGIC;
	char begin[RECORD_MAGIC_BYTES];
	struct stat st;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) return false;
	if (!st.st_size) return true;
	/* of any version: all but the number */
	return pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin && !memcmp(begin, magic, strcspn(magic, "1"));
}

/* Without waiting: it may be a pipe that nobody reads. */
static int open_file(const char *path, bool over)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) { }   /* where there are no locks, there are none */
	if (fd >= 0 || errno != EEXIST) return fd < 0 ? -errno : fd;
	fd = open(path, (over ? O_WRONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) return -errno;
	int ret = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK ? -EBUSY : !over && !is_ours(fd) ? -EEXIST : 0;
	if (!ret && ftruncate(fd, 0) && errno != EINVAL) ret = -errno;   /* EINVAL: no file but a device */
	if (ret) close(fd);
	return ret ? ret : fd;
}

/* A file that may not grow (ulimit -f), or a pipe without a reader, is an error, and no signal for the program. */
static ssize_t write_quietly(int fd, const void *data, size_t bytes)
{
	static const struct timespec now = { 0, 0 };
	sigset_t ours, before;
	sigemptyset(&ours);
	sigaddset(&ours, SIGXFSZ);
	sigaddset(&ours, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	ssize_t n = write(fd, data, bytes);
	int error = errno;
	if (n < 0 && (error == EFBIG || error == EPIPE)) (void)sigtimedwait(&ours, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
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
	int fd = open_file(path, over);
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
	close(f->fd);
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
