/* refuse CALL[,CALL...] COMMAND...: runs a command under a filter of system calls, as containers have them: the named
 * ones fail with EPERM, for it and all that it starts. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

enum { CALLS_MOST = 16, BEFORE = 4, NOT_HERE = 77 };

static const struct call {
	const char *name;
	unsigned number;
} calls[] = {
	{ "perf_event_open", SYS_perf_event_open }, { "move_pages", SYS_move_pages }, { "mbind", SYS_mbind },
	{ "get_mempolicy", SYS_get_mempolicy }, { "set_mempolicy", SYS_set_mempolicy }, { "userfaultfd", SYS_userfaultfd },
	{ "sched_setaffinity", SYS_sched_setaffinity }, { "timer_create", SYS_timer_create },
	{ "process_vm_readv", SYS_process_vm_readv },
};

static const struct call *find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strlen(calls[i].name) == length && strncmp(calls[i].name, name, length) == 0)
			return &calls[i];
	}
	return NULL;
}

/* The numbers of a list "move_pages,mbind"; 0 where one is not known. */
static int parse(const char *list, unsigned number[CALLS_MOST])
{
	int n = 0;

	for (;; list++) {
		size_t length = strcspn(list, ",");
		const struct call *call = find(list, length);

		if (call == NULL || n == CALLS_MOST) {
			fprintf(stderr, "refuse: \"%.*s\" is not known\n", (int)length, list);
			return 0;
		}
		number[n++] = call->number;
		list += length;
		if (*list == '\0')
			return n;
	}
}

static int filter(const unsigned *number, int n)
{
#ifdef ARCHITECTURE
	struct sock_filter code[BEFORE + CALLS_MOST + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = (unsigned short)(BEFORE + n + 2), .filter = code };

	for (int i = 0; i < n; i++) /* a match goes to the last line, over the rest and the line that allows */
		code[BEFORE + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number[i], (unsigned char)(n - i), 0);
	code[BEFORE + n] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[BEFORE + n + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		return 0;
	perror("refuse: no filter of system calls can be had");
#else
	(void)number;
	fprintf(stderr, "refuse: not written for this processor (%d calls)\n", n);
#endif
	return -1;
}

int main(int argc, char **argv)
{
	unsigned number[CALLS_MOST];
	int n = argc > 2 ? parse(argv[1], number) : 0;

	if (n == 0) {
		fprintf(stderr, "usage: refuse CALL[,CALL...] COMMAND...\n");
		return 99;
	}
	if (filter(number, n) != 0)
		return NOT_HERE;
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 99;
}
