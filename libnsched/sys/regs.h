/* The registers of a thread at a sample. The order is that of perf_event's mask (ascending bits), so
 * that a sample's registers are nearly a copy; the decoder's tables use the same numbers. */
#ifndef NSCHED_REGS_H
#define NSCHED_REGS_H

#include <stdint.h>
#include <sys/ucontext.h>

/* Whose registers: the machine's own, unless a test asks for another architecture's. */
#if defined(NSCHED_REGS_ARM64) || (defined(__aarch64__) && !defined(NSCHED_REGS_X86))
#define REGS_ARM64 1
#define REGS_X86 0
#elif defined(NSCHED_REGS_X86) || defined(__x86_64__)
#define REGS_ARM64 0
#define REGS_X86 1
#else
#define REGS_ARM64 0
#define REGS_X86 0
#endif

#if REGS_X86

enum gpr {
	GPR_AX, GPR_BX, GPR_CX, GPR_DX, GPR_SI, GPR_DI, GPR_BP, GPR_SP,
	GPR_8, GPR_9, GPR_10, GPR_11, GPR_12, GPR_13, GPR_14, GPR_15,
	GPRS,
};
#define REGS_KNOWN 1

/* PERF_REG_X86_AX..IP are bits 0..8, R8..R15 bits 16..23 (asm/perf_regs.h); the segment registers
 * between them are refused by the kernel. */
#define REGS_PERF_MASK (UINT64_C(0x1ff) | UINT64_C(0xff) << 16)
enum { REGS_PERF_COUNT = 17, REGS_PERF_IP = 8 };
#define REGS_MOST_ADDRESS UINT64_C(0x7fffffffffff) /* no data lies beyond: it is the kernel's */

#elif REGS_ARM64

/* x0 to x30 and the stack pointer; register n is number n. */
enum gpr { GPR_X0 = 0, GPR_FP = 29, GPR_LR = 30, GPR_SP = 31, GPRS };
#define REGS_KNOWN 1

/* PERF_REG_ARM64_X0..X29, LR, SP and PC are bits 0..32 (asm/perf_regs.h). */
#define REGS_PERF_MASK ((UINT64_C(1) << 33) - 1)
enum { REGS_PERF_COUNT = 33, REGS_PERF_IP = 32 };
#define REGS_MOST_ADDRESS UINT64_C(0xffffffffffff)

#else /* an architecture that has no decoder yet: the sources say so and stay off */

enum gpr { GPR_SP, GPRS };
#define REGS_KNOWN 0
#define REGS_PERF_MASK UINT64_C(0)
enum { REGS_PERF_COUNT = 1, REGS_PERF_IP = 0 };
#define REGS_MOST_ADDRESS UINT64_MAX

#endif

struct regs {
	uint64_t gpr[GPRS]; /* by enum gpr */
	uint64_t ip;        /* the next instruction to execute */
};

/* From the registers of a perf sample: REGS_PERF_COUNT values, in the order of the mask's bits. */
static inline void regs_from_perf(struct regs *regs, const uint64_t values[REGS_PERF_COUNT])
{
	unsigned to = 0;

	for (unsigned i = 0; i < REGS_PERF_COUNT; i++)
		if (i != REGS_PERF_IP)
			regs->gpr[to++] = values[i];
	regs->ip = values[REGS_PERF_IP];
}

/* From the context of a signal. Async-signal-safe: plain loads and stores only. */
static inline void regs_from_signal(struct regs *regs, const ucontext_t *context)
{
#if REGS_X86 && defined(__x86_64__)
	const greg_t *from = context->uc_mcontext.gregs;

	regs->gpr[GPR_AX] = (uint64_t)from[REG_RAX];
	regs->gpr[GPR_BX] = (uint64_t)from[REG_RBX];
	regs->gpr[GPR_CX] = (uint64_t)from[REG_RCX];
	regs->gpr[GPR_DX] = (uint64_t)from[REG_RDX];
	regs->gpr[GPR_SI] = (uint64_t)from[REG_RSI];
	regs->gpr[GPR_DI] = (uint64_t)from[REG_RDI];
	regs->gpr[GPR_BP] = (uint64_t)from[REG_RBP];
	regs->gpr[GPR_SP] = (uint64_t)from[REG_RSP];
	regs->gpr[GPR_8] = (uint64_t)from[REG_R8];
	regs->gpr[GPR_9] = (uint64_t)from[REG_R9];
	regs->gpr[GPR_10] = (uint64_t)from[REG_R10];
	regs->gpr[GPR_11] = (uint64_t)from[REG_R11];
	regs->gpr[GPR_12] = (uint64_t)from[REG_R12];
	regs->gpr[GPR_13] = (uint64_t)from[REG_R13];
	regs->gpr[GPR_14] = (uint64_t)from[REG_R14];
	regs->gpr[GPR_15] = (uint64_t)from[REG_R15];
	regs->ip = (uint64_t)from[REG_RIP];
#elif REGS_ARM64 && defined(__aarch64__)
	for (unsigned r = 0; r < GPR_SP; r++)
		regs->gpr[r] = context->uc_mcontext.regs[r];
	regs->gpr[GPR_SP] = context->uc_mcontext.sp;
	regs->ip = context->uc_mcontext.pc;
#else
	(void)context; /* of another architecture */
	regs->gpr[GPR_SP] = 0;
	regs->ip = 0;
#endif
}

#endif
