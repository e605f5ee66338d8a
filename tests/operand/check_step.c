/* A kernel, instruction by instruction: what would samples give that land at the heads of blocks, as
 * those of an emulated machine (QEMU's TCG) do? Exact and repeatable, where a clock's samples are not. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sys/operand_insn.h"

enum {
	STEPS_BEFORE = 300,  /* into the kernel's loop */
	STEPS = 2000,
};

static pid_t child;

static int function_of_ours(void *arg, uint64_t ip, struct operand_function *function)
{
	(void)arg; /* the child is a fork: the same code at the same place */
	return operand_code_self.function(operand_code_self.arg, ip, function);
}

static int step(void)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return -ECHILD;
	return 0;
}

static int get_regs(struct regs *regs)
{
	struct user_regs_struct u;

	if (ptrace(PTRACE_GETREGS, child, 0, &u))
		return -errno;
	*regs = (struct regs){
		{ u.rax, u.rbx, u.rcx, u.rdx, u.rsi, u.rdi, u.rbp, u.rsp, u.r8, u.r9, u.r10, u.r11, u.r12, u.r13, u.r14, u.r15 },
		u.rip,
	};
	return 0;
}

/* True if a block ends with the instruction at ip. */
static bool ends_block(void *arch, uint64_t ip)
{
	uint8_t bytes[16];
	struct operand_piece piece = { ip, bytes, sizeof(bytes) };
	struct outline outline;

	return operand_code_read_other(&child, &piece, 1) == 1 &&
	       operand_arch_native.outline(arch, bytes, sizeof(bytes), &outline) && outline.flow != FLOW_NEXT;
}

static void ask(struct operand_decoder *decoder, const struct regs *regs, struct tally *tally)
{
	struct operand_counts before, after;
	uint64_t addrs[OPERAND_MOST];
	unsigned count;

	operand_counts(decoder, &before);
	count = operand_resolve(decoder, regs, addrs, OPERAND_MOST);
	operand_counts(decoder, &after);
	tally_add(tally, addrs, count, after.gather > before.gather);
	if (getenv("CHECK_SHOW"))
		printf("# ip %llx: %u\n", (unsigned long long)regs->ip, count);
}

static void follow(struct operand_decoder *decoder, void *arch, struct tally *heads, struct tally *all)
{
	struct regs regs = { 0 };

	for (unsigned i = 0; i < STEPS_BEFORE + STEPS; i++) {
		bool head = ends_block(arch, regs.ip);

		if (step() || get_regs(&regs))
			return;
		if (i >= STEPS_BEFORE) {
			ask(decoder, &regs, all);
			if (head)
				ask(decoder, &regs, heads);
		}
	}
}

int step_kernel(const struct kernel *kernel, struct data *data, struct tally *heads, struct tally *all)
{
	struct operand_code code = { operand_code_read_other, function_of_ours, &child };
	struct operand_decoder *decoder = NULL;
	void *arch = operand_arch_native.open();
	int status;

	if (!arch || operand_open(&code, &decoder))
		return -ENOTSUP;
	child = fork();
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(1);
		raise(SIGSTOP);
		kernel->run(data);
		_exit(0);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status))
		follow(decoder, arch, heads, all);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	operand_close(decoder);
	operand_arch_native.close(arch);
	return child > 0 ? 0 : -EAGAIN;
}
