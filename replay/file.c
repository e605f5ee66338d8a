#include "file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

__attribute__((format(printf, 3, 4)))
static int refuse(struct tape_reader *r, int error, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(r->error, sizeof r->error, format, args);
	va_end(args);
	return error;
}

#ifdef NSCHED_WITH_ZSTD

#include <zstd.h>

enum {
	IN_BYTES = 1 << 16, OUT_BYTES = 1 << 17,
	WINDOW_LOG_MOST = 23,       /* what writes them takes 18; more is somebody's joke */
	RATIO_MOST = 4096,          /* packed by more than this, it is no record: those of programs that sleep reach 100 */
	ALWAYS = 1 << 20,           /* bytes that may come out whatever went in */
};

struct replay_file {
	FILE *in;
	ZSTD_DCtx *unpacker;
	ZSTD_inBuffer input;
	uint64_t in_before, out_bytes;   /* bytes of the file before the input; bytes that came out */
	size_t wanted;                   /* by zstd: 0 between two frames */
	uint8_t in_buffer[IN_BYTES], out_buffer[OUT_BYTES];
};

static uint64_t file_at(const struct replay_file *f)
{
	return f->in_before + f->input.pos;
}

/* False: there is no more. */
static bool refill(struct replay_file *f)
{
	f->in_before += f->input.pos;
	f->input.pos = 0;
	f->input.size = fread(f->in_buffer, 1, IN_BYTES, f->in);
	return f->input.size > 0;
}

static int end_of_file(struct replay_file *f, struct tape_reader *r)
{
	if (ferror(f->in)) return refuse(r, -1, "byte %llu of the file: it can't be read", (unsigned long long)file_at(f));
	r->ended = true;
	return f->wanted ? refuse(r, -1, "byte %llu of the file: it is cut off here", (unsigned long long)file_at(f)) : 0;
}

static int more(struct tape_reader *r)
{
	struct replay_file *f = r->arg;
	ZSTD_outBuffer out = { f->out_buffer, OUT_BYTES, 0 };
	while (!out.pos) {
		bool has_input = f->input.pos < f->input.size || refill(f);
		uint64_t at = file_at(f);
		size_t ret = ZSTD_decompressStream(f->unpacker, &out, &f->input);
		if (ZSTD_isError(ret)) return refuse(r, -1, "byte %llu of the file: it is damaged (%s)", (unsigned long long)at, ZSTD_getErrorName(ret));
		if (has_input || out.pos) f->wanted = ret;
		if (!has_input && !out.pos) return end_of_file(f, r);
	}
	f->out_bytes += out.pos;
	if (f->out_bytes > ALWAYS + RATIO_MOST * file_at(f))
		return refuse(r, -1, "byte %llu of the file: it holds far more than any record would", (unsigned long long)file_at(f));
	r->data = f->out_buffer;
	r->n = out.pos;
	return 1;
}

static int read_magic(FILE *in, struct tape_reader *r)
{
	static const char magic[] = RECORD_MAGIC;
	char begin[RECORD_MAGIC_BYTES + 1] = "";
	size_t n = fread(begin, 1, RECORD_MAGIC_BYTES, in), name = strcspn(magic, "1");
	if (n < RECORD_MAGIC_BYTES || memcmp(begin, magic, name)) return refuse(r, -EINVAL, "byte 0 of the file: it is no record of nsched's");
	if (!memcmp(begin, magic, RECORD_MAGIC_BYTES)) return 0;
	begin[strcspn(begin, "\n")] = 0;
	for (char *c = begin; *c; c++)
		if (*c < ' ' || *c > '~') *c = '?';
	return refuse(r, -EINVAL, "byte %zu of the file: a record of version %s; this nsched reads version %d", name, begin + name, RECORD_VERSION);
}

int replay_file_open(FILE *in, struct tape_reader *r, struct replay_file **file)
{
	memset(r, 0, sizeof *r);
	*file = NULL;
	int ret = read_magic(in, r);
	if (ret) return ret;
	struct replay_file *f = calloc(1, sizeof *f);
	if (f) f->unpacker = ZSTD_createDCtx();
	if (!f || !f->unpacker || ZSTD_isError(ZSTD_DCtx_setParameter(f->unpacker, ZSTD_d_windowLogMax, WINDOW_LOG_MOST))) {
		replay_file_close(f);
		return refuse(r, -ENOMEM, "there is no memory");
	}
	f->in = in;
	f->in_before = RECORD_MAGIC_BYTES;
	f->input.src = f->in_buffer;
	r->more = more;
	r->arg = f;
	*file = f;
	return 0;
}

void replay_file_close(struct replay_file *f)
{
	if (f && f->unpacker) ZSTD_freeDCtx(f->unpacker);
	free(f);
}

#else

int replay_file_open(FILE *in, struct tape_reader *r, struct replay_file **file)
{
	(void)in;
	memset(r, 0, sizeof *r);
	*file = NULL;
	return refuse(r, -ENOSYS, "this build has no zstd, which unpacks records");
}

void replay_file_close(struct replay_file *f)
{
	(void)f;
}

#endif
