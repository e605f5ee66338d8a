/* Capstone's calls, looked up when the first decoder is made. libnsched is not linked with it: its tables are relocated
 * when it is loaded, which takes one to four milliseconds, and a program that is just starting MPI, or OpenMP,
 * need not wait for that. The decoders call it by its own names. */
#ifndef NSCHED_OPERAND_CAPSTONE_H
#define NSCHED_OPERAND_CAPSTONE_H

#include <capstone.h>
#include <stdbool.h>

#define CAPSTONE_CALLS(CALL) CALL(open) CALL(close) CALL(option) CALL(malloc) CALL(free) CALL(disasm_iter) CALL(regs_access)

struct capstone_calls {
#define CAPSTONE_CALL(name) __typeof__(&cs_##name) name;
	CAPSTONE_CALLS(CAPSTONE_CALL)
#undef CAPSTONE_CALL
};

extern struct capstone_calls capstone;

/* Loads the Capstone of the version that this was built with, which stays. False: it is not there, or not whole. */
bool capstone_load(void);

/* The state of an architecture that Capstone decodes. */
struct capstone_state {
	csh handle;
	cs_insn *insn; /* room for one instruction, used anew each time */
};

/* With details; `nop` is decoded once, for Capstone sorts its tables at the first instruction: not while a sample waits. NULL: no
 * Capstone, or no memory. capstone_close frees it. */
struct capstone_state *capstone_open(cs_arch arch, cs_mode mode, const uint8_t *nop, size_t bytes);
void capstone_close(void *state);

#define cs_open capstone.open
#define cs_close capstone.close
#define cs_option capstone.option
#define cs_malloc capstone.malloc
#define cs_free capstone.free
#define cs_disasm_iter capstone.disasm_iter
#define cs_regs_access capstone.regs_access

#endif
