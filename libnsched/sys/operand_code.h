/* Where the operand decoder gets code from. The program's own code is read with process_vm_readv,
 * never dereferenced: it may have been unloaded since the sample. */
#ifndef NSCHED_OPERAND_CODE_H
#define NSCHED_OPERAND_CODE_H

#include <stddef.h>
#include <stdint.h>

/* A piece of memory to read. */
struct operand_piece {
	uint64_t from;
	void *to;
	size_t bytes;
};

/* A function: from start to behind its last byte (padding included); and what of its program or
 * library is never written (code, literals, tables), or an empty stretch if that is not known. */
struct operand_function {
	uint64_t start, end;
	uint64_t fixed_start, fixed_end;
};

struct operand_code {
	/* Reads up to 8 pieces; returns how many of them were read in full, in order, up to the first
	 * that was not. Tests and fuzzers feed their own bytes here. */
	unsigned (*read)(void *arg, const struct operand_piece *pieces, unsigned count);

	/* The function that `ip` lies in. 0, or -ENOENT if nothing is known. */
	int (*function)(void *arg, uint64_t ip, struct operand_function *function);
	void *arg;
};

enum { OPERAND_PIECES = 8 };

/* This process. Takes the dynamic loader's lock where glibc has no lock-free look-up (before 2.35),
 * so: never from a signal handler. */
extern const struct operand_code operand_code_self;

/* Another process, whose id `arg` points to (a pid_t); function boundaries are not known. Tests. */
unsigned operand_code_read_other(void *arg, const struct operand_piece *pieces, unsigned count);

/* Finds `ip` in the binary search table of an .eh_frame_hdr section at `header`, reading with `code`;
 * fills start and end. 0, or -ENOENT. */
int operand_code_search(const struct operand_code *code, uint64_t header, uint64_t ip, struct operand_function *function);

#endif
