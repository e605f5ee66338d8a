#include "operand_code.h"

#include <dlfcn.h>
#include <errno.h>
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

static unsigned read_self(void *arg, const struct operand_piece *pieces, unsigned count)
{
	(void)arg;
	return read_pieces(getpid(), pieces, count);
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

static int eh_start(const struct operand_code *code, uint64_t header, uint32_t i, uint64_t *start)
{
	struct eh_entry entry;
	int err = read_one(code, header + sizeof(struct eh_header) + (uint64_t)i * sizeof(entry), &entry, sizeof(entry));

	if (!err)
		*start = header + (uint64_t)(int64_t)entry.start;
	return err;
}

int operand_code_search(const struct operand_code *code, uint64_t header, uint64_t ip, uint64_t *start, uint64_t *end)
{
	struct eh_header h;
	uint32_t low = 0, high;
	uint64_t at;

	if (read_one(code, header, &h, sizeof(h)) || h.version != EH_VERSION || h.frame_encoding != EH_PCREL_SDATA4 ||
	    h.count_encoding != EH_UDATA4 || h.table_encoding != EH_DATAREL_SDATA4 || h.count == 0)
		return -ENOENT;
	high = h.count;
	while (low < high) { /* the first entry that starts behind ip */
		uint32_t middle = low + (high - low) / 2;

		if (eh_start(code, header, middle, &at))
			return -ENOENT;
		if (at <= ip)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || low == h.count) /* the last one's end is not in the table */
		return -ENOENT;
	return eh_start(code, header, low - 1, start) || eh_start(code, header, low, end) ? -ENOENT : 0;
}

struct eh_search {
	uint64_t ip;
	uint64_t header;
};

static int eh_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct eh_search *search = arg;
	uint64_t header = 0;
	int inside = 0;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && search->ip - start < segment->p_memsz)
			inside = 1;
		else if (segment->p_type == PT_GNU_EH_FRAME)
			header = start;
	}
	if (inside)
		search->header = header;
	return inside;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35 and later */
#pragma weak _dl_find_object

static uint64_t eh_header_of(uint64_t ip)
{
	struct eh_search search = { ip, 0 };
	struct dl_find_object object;

	if (_dl_find_object) /* takes no lock */
		return _dl_find_object((void *)(uintptr_t)ip, &object) == 0 ? (uint64_t)(uintptr_t)object.dlfo_eh_frame : 0;
	dl_iterate_phdr(eh_object, &search);
	return search.header;
}
#else
static uint64_t eh_header_of(uint64_t ip)
{
	struct eh_search search = { ip, 0 };

	dl_iterate_phdr(eh_object, &search);
	return search.header;
}
#endif

static int function_self(void *arg, uint64_t ip, uint64_t *start, uint64_t *end)
{
	uint64_t header = eh_header_of(ip);

	(void)arg;
	return header ? operand_code_search(&operand_code_self, header, ip, start, end) : -ENOENT;
}

const struct operand_code operand_code_self = { read_self, function_self, NULL };
