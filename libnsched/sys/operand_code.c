#include "operand_code.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static unsigned read_pieces(pid_t pid, const struct operand_piece *pieces, unsigned count)
{
	struct iovec here[OPERAND_PIECES] = { 0 }, there[OPERAND_PIECES] = { 0 };
	ssize_t got;
	unsigned whole = 0;

	if (count > OPERAND_PIECES)
		count = OPERAND_PIECES;
	for (unsigned i = 0; i < count; i++) {
		here[i] = (struct iovec){ pieces[i].to, pieces[i].bytes };
		there[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].from, pieces[i].bytes };
	}
	got = process_vm_readv(pid, here, count, there, count, 0);
	while (whole < count && got >= (ssize_t)pieces[whole].bytes)
		got -= (ssize_t)pieces[whole++].bytes;
	return whole;
}

/* The same through /proc, for seccomp filters that know process_vm_readv only as a debugger's call. */
static unsigned read_proc(const struct operand_piece *pieces, unsigned count)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	unsigned whole = 0;

	if (fd < 0)
		return 0;
	while (whole < count &&
	       pread(fd, pieces[whole].to, pieces[whole].bytes, (off_t)pieces[whole].from) == (ssize_t)pieces[whole].bytes)
		whole++;
	close(fd);
	return whole;
}

static unsigned read_self(void *arg, const struct operand_piece *pieces, unsigned count)
{
	unsigned whole;

	(void)arg;
	errno = 0;
	whole = read_pieces(getpid(), pieces, count);
	return whole == 0 && (errno == EPERM || errno == ENOSYS) ? read_proc(pieces, count) : whole;
}

unsigned operand_code_read_other(void *arg, const struct operand_piece *pieces, unsigned count)
{
	const pid_t *pid = arg;

	return read_pieces(*pid, pieces, count);
}

/* ---- the bounds of a function ------------------------------------------------------------------------- */

/* Every program has this table, stripped ones too: C++ needs it. It is the linker's, sorted, and
 * always in this one encoding (gold, bfd, lld, mold): version 1, a table of signed 32-bit offsets
 * from the header. */
struct eh_header {
	uint8_t version;
	uint8_t frame_encoding;
	uint8_t count_encoding;
	uint8_t table_encoding;
	int32_t frame;
	uint32_t count;
};
struct eh_entry {
	int32_t start;
	int32_t description;
};
enum { EH_VERSION = 1, EH_PCREL_SDATA4 = 0x1b, EH_UDATA4 = 0x03, EH_DATAREL_SDATA4 = 0x3b };

static int read_one(const struct operand_code *code, uint64_t from, void *to, size_t bytes)
{
	struct operand_piece piece = { from, to, bytes };

	return code->read(code->arg, &piece, 1) == 1 ? 0 : -ENOENT;
}

/* The table, read in blocks: what a search looks at last lies in one. */
enum { EH_BLOCK = 64 };
struct eh_table {
	const struct operand_code *code;
	uint64_t header;
	uint32_t count;
	uint32_t first, entries; /* those in the block */
	struct eh_entry block[EH_BLOCK];
};

static int eh_start(struct eh_table *table, uint32_t i, uint64_t *start)
{
	if (i - table->first >= table->entries) {
		table->first = i < EH_BLOCK / 2 ? 0 : i - EH_BLOCK / 2;
		table->entries = table->count - table->first < EH_BLOCK ? table->count - table->first : EH_BLOCK;
		if (read_one(table->code, table->header + sizeof(struct eh_header) + table->first * sizeof(*table->block),
		             table->block, table->entries * sizeof(*table->block))) {
			table->entries = 0;
			return -ENOENT;
		}
	}
	*start = table->header + (uint64_t)(int64_t)table->block[i - table->first].start;
	return 0;
}

int operand_code_search(const struct operand_code *code, uint64_t header, uint64_t ip, struct operand_function *function)
{
	struct eh_table table = { .code = code, .header = header };
	struct eh_header h;
	uint32_t low = 0, high;
	uint64_t at;

	if (read_one(code, header, &h, sizeof(h)) || h.version != EH_VERSION || h.frame_encoding != EH_PCREL_SDATA4 ||
	    h.count_encoding != EH_UDATA4 || h.table_encoding != EH_DATAREL_SDATA4 || h.count == 0)
		return -ENOENT;
	table.count = high = h.count;
	while (low < high) { /* the first entry that starts behind ip */
		uint32_t middle = low + (high - low) / 2;

		if (eh_start(&table, middle, &at))
			return -ENOENT;
		if (at <= ip)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || low == h.count) /* the last one's end is not in the table */
		return -ENOENT;
	return eh_start(&table, low - 1, &function->start) || eh_start(&table, low, &function->end) ? -ENOENT : 0;
}

/* ---- the program or library -------------------------------------------------------------------------- */

struct object {
	uint64_t ip;
	uint64_t header;      /* of .eh_frame_hdr; 0: none */
	uint64_t fixed_start; /* see operand_function */
	uint64_t fixed_end;
};

enum { SEGMENTS_MOST = 32 };

static void take_segments(struct object *object, uint64_t base, const ElfW(Phdr) *segments, unsigned count)
{
	uint64_t first_written = UINT64_MAX, relro_end = 0;

	object->fixed_start = base;
	for (unsigned i = 0; i < count; i++) {
		uint64_t start = base + segments[i].p_vaddr;

		if (segments[i].p_type == PT_GNU_EH_FRAME)
			object->header = start;
		else if (segments[i].p_type == PT_GNU_RELRO)
			relro_end = start + segments[i].p_memsz;
		else if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_W && start < first_written)
			first_written = start;
		else if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr != 0 && segments[i].p_offset == 0)
			object->fixed_start = start; /* an executable at a fixed place */
	}
	/* The linker puts what is read-only after relocation first in the written segment. */
	if (first_written != UINT64_MAX)
		object->fixed_end = relro_end > first_written ? relro_end : first_written;
}

/* dl_iterate_phdr holds the loader's lock, so the headers stay while we look. */
static int is_object_of(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object *object = arg;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && object->ip - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz) {
			take_segments(object, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
			return 1;
		}
	}
	return 0;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35 and later: a look-up without a lock */
#pragma weak _dl_find_object

/* Nothing keeps the object from being unloaded meanwhile: its headers are read as code is. */
static void read_segments(struct object *object, uint64_t start)
{
	ElfW(Phdr) segments[SEGMENTS_MOST];
	ElfW(Ehdr) file;
	uint64_t base = start;

	if (read_one(&operand_code_self, start, &file, sizeof(file)) || file.e_phentsize != sizeof(*segments) ||
	    file.e_phnum > SEGMENTS_MOST ||
	    read_one(&operand_code_self, start + file.e_phoff, segments, file.e_phnum * sizeof(*segments)))
		return;
	for (unsigned i = 0; i < file.e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
			base = start - segments[i].p_vaddr;
	take_segments(object, base, segments, file.e_phnum);
}

static void find_object(struct object *object)
{
	struct dl_find_object found;

	if (!_dl_find_object)
		dl_iterate_phdr(is_object_of, object);
	else if (_dl_find_object((void *)(uintptr_t)object->ip, &found) == 0)
		read_segments(object, (uint64_t)(uintptr_t)found.dlfo_map_start);
}
#else
static void find_object(struct object *object)
{
	dl_iterate_phdr(is_object_of, object);
}
#endif

static int function_self(void *arg, uint64_t ip, struct operand_function *function)
{
	struct object object = { .ip = ip };

	(void)arg;
	find_object(&object);
	function->fixed_start = object.fixed_start;
	function->fixed_end = object.fixed_end;
	return object.header ? operand_code_search(&operand_code_self, object.header, ip, function) : -ENOENT;
}

const struct operand_code operand_code_self = { read_self, function_self, NULL };
