/* fail_calls --list FILE COMMAND...: runs a command and writes down each place of nsched from which a system call is made.
 * fail_calls --fail PLACE ERRNO [--always] --list FILE COMMAND...: the first call from that place (or all) fails with that error.
 *
 * By seccomp's notifications: this process decides over each call of the other one, also over those that the C library or hwloc make for nsched.
 * A place is a call's number and the two innermost return addresses on the stack that lie in nsched's libraries; a call without any is
 * the program's own, and goes through. Exit status: the command's (128 + signal), 99 where this does not work. The list's last line tells
 * whether something failed. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls that nsched, or what it uses, makes and that can fail; the errors are the test's matter. Not here: what the C
 * library takes for granted (futex, signal masks, brk), close (it always closes), and clocks. */
static const struct call {
	const char *name;
	int number;
} calls[] = {
#define CALL(name) { #name, SYS_##name },
	CALL(openat) CALL(read) CALL(pread64) CALL(write) CALL(pwrite64) CALL(mmap) CALL(mprotect) CALL(madvise) CALL(mremap)
	CALL(sched_setaffinity) CALL(sched_getaffinity) CALL(move_pages) CALL(get_mempolicy) CALL(mbind) CALL(perf_event_open) CALL(ioctl)
	CALL(timer_create) CALL(timer_settime) CALL(timer_delete) CALL(clone3) CALL(clone) CALL(close_range) CALL(memfd_create) CALL(ftruncate)
	CALL(fallocate) CALL(fcntl) CALL(flock) CALL(fstat) CALL(newfstatat) CALL(statx) CALL(getdents64) CALL(readlinkat)
	CALL(process_vm_readv) CALL(unlinkat) CALL(linkat) CALL(prctl) CALL(getrandom) CALL(lseek) CALL(uname) CALL(sysinfo) CALL(userfaultfd)
#ifdef SYS_stat
	CALL(stat) CALL(lstat) CALL(access) CALL(readlink) CALL(unlink) CALL(open)
#endif
};
enum { CALLS = sizeof calls / sizeof *calls, RANGES = 32, PLACES = 4096, STACK_WORDS = 1024, REFRESH = 64 };

static struct range {
	uint64_t from, to, base;
	char name[48];
} range[RANGES];
static unsigned ranges;

static struct place {
	char key[160];
	unsigned times;
} place[PLACES];
static unsigned places;

static struct {
	const char *fail, *list;
	int error;
	bool always, hit;
} wanted;

/* ---- whose call it is --------------------------------------------------------------------------------------------- */

static void read_ranges(pid_t pid)
{
	char path[64], line[512];
	uint64_t base = 0;
	ranges = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	while (maps && fgets(line, sizeof line, maps) && ranges < RANGES) {
		unsigned long from, to, offset;
		char rights[5], file[400] = "";
		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %399s", &from, &to, rights, &offset, file) < 4) continue;
		const char *name = strrchr(file, '/');
		if (!name || strncmp(name, "/libnsched", 10)) continue;
		if (!offset) base = from;
		if (rights[2] != 'x') continue;
		range[ranges] = (struct range){ .from = from, .to = to, .base = base };
		snprintf(range[ranges++].name, sizeof range->name, "%.40s", name + 1);
	}
	if (maps) fclose(maps);
}

static const struct range *range_of(uint64_t address)
{
	for (unsigned i = 0; i < ranges; i++)
		if (address >= range[i].from && address < range[i].to) return &range[i];
	return NULL;
}

static bool peek(pid_t pid, uint64_t address, void *to, size_t bytes)
{
	struct iovec own = { to, bytes }, other = { (void *)(uintptr_t)address, bytes };
	return process_vm_readv(pid, &own, 1, &other, 1, 0) == (ssize_t)bytes;
}

/* Is there a call before it? What lies on a stack from earlier may look like an address, too. */
static bool is_return(pid_t pid, uint64_t address)
{
	unsigned char before[7];
	if (!peek(pid, address - sizeof before, before, sizeof before)) return false;
	return before[2] == 0xe8 || (before[1] == 0xff && before[2] == 0x15) || (before[5] == 0xff && (before[6] & 0x38) == 0x10) ||
	       (before[4] == 0xff && (before[5] & 0x38) == 0x10);
}

static uint64_t stack_of(pid_t tid)
{
	char path[64], text[256] = "";
	snprintf(path, sizeof path, "/proc/%d/syscall", (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0) close(fd);
	const char *at = got > 0 ? strrchr(text, ' ') : NULL;   /* "nr a b c d e f sp pc" */
	while (at && at > text && at[-1] != ' ') at--;
	return at ? strtoull(at, NULL, 16) : 0;
}

static const char *name_of(int number)
{
	for (unsigned i = 0; i < CALLS; i++)
		if (calls[i].number == number) return calls[i].name;
	return "?";
}

/* False: the program's own. */
static bool find_place(pid_t tid, int number, char key[160])
{
	uint64_t stack[STACK_WORDS], sp = stack_of(tid);
	unsigned found = 0, n = STACK_WORDS;
	int length = snprintf(key, 160, "%s", name_of(number));
	while (n > 64 && !peek(tid, sp, stack, n * sizeof *stack)) n /= 2;   /* the stack's end */
	for (unsigned i = 0; sp && i < n && found < 2; i++) {
		const struct range *r = range_of(stack[i]);
		if (!r || !is_return(tid, stack[i])) continue;
		length += snprintf(key + length, 160 - (size_t)length, ":%s+%llx", r->name, (unsigned long long)(stack[i] - r->base));
		found++;
	}
	return found > 0;
}

static struct place *note(const char *key)
{
	for (unsigned i = 0; i < places; i++)
		if (!strcmp(place[i].key, key)) return &place[i];
	if (places == PLACES) return &place[0];
	snprintf(place[places].key, sizeof place->key, "%s", key);
	return &place[places++];
}

/* ---- the notifications ------------------------------------------------------------------------------------------------ */

static int send_fd(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof fd)] = { 0 };
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(header), &fd, sizeof fd);
	return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

static int receive_fd(int socket)
{
	int fd = -1;
	char byte, control[CMSG_SPACE(sizeof fd)];
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (header) memcpy(&fd, CMSG_DATA(header), sizeof fd);
	return fd;
}

static int install(void)
{
	struct sock_filter code[CALLS + 3] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { .len = CALLS + 3, .filter = code };
	for (unsigned i = 0; i < CALLS; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, (unsigned char)(CALLS - i), 0);
	code[CALLS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[CALLS + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void answer(int listener, struct seccomp_notif *asked, struct seccomp_notif_resp *reply)
{
	static unsigned seen;
	char key[160];
	memset(asked, 0, sizeof *asked);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, asked)) return;
	pid_t tid = (pid_t)asked->pid;
	if (!ranges || seen++ % REFRESH == 0) read_ranges(tid);
	*reply = (struct seccomp_notif_resp){ .id = asked->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	if (ranges && find_place(tid, asked->data.nr, key)) {
		note(key)->times++;
		if (wanted.fail && !strcmp(key, wanted.fail) && (wanted.always || !wanted.hit)) {
			wanted.hit = true;
			reply->flags = 0;
			reply->error = -wanted.error;
		}
	}
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, reply);   /* it may have been killed meanwhile */
}

static void serve(int listener)
{
	struct pollfd wait = { listener, POLLIN, 0 };
	struct seccomp_notif *asked = calloc(1, sizeof *asked + 256);
	struct seccomp_notif_resp *reply = calloc(1, sizeof *reply + 256);
	while (poll(&wait, 1, -1) >= 0 || errno == EINTR) {
		if (wait.revents & POLLIN) answer(listener, asked, reply);
		else if (wait.revents & (POLLHUP | POLLERR)) break;   /* nobody is left whom it watches */
	}
	free(asked);
	free(reply);
}

static int write_list(void)
{
	FILE *out = fopen(wanted.list, "we");
	if (!out) return -1;
	for (unsigned i = 0; i < places; i++) fprintf(out, "%u %s\n", place[i].times, place[i].key);
	fprintf(out, "%s\n", wanted.hit ? "hit" : "none");
	return fclose(out);
}

int main(int argc, char **argv)
{
	int ends[2], i = 1, status = 0;
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--list") && i + 1 < argc) wanted.list = argv[++i];
		else if (!strcmp(argv[i], "--fail") && i + 2 < argc) wanted.fail = argv[i + 1], wanted.error = atoi(argv[i + 2]), i += 2;
		else if (!strcmp(argv[i], "--always")) wanted.always = true;
		else return fprintf(stderr, "fail_calls: %s?\n", argv[i]), 99;
	}
	if (!wanted.list || i >= argc || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends)) return 99;
	pid_t child = fork();
	if (!child) {
		int fd = install();
		if (fd < 0 || send_fd(ends[1], fd)) _exit(77);
		close(fd);
		execvp(argv[i], argv + i);
		_exit(127);
	}
	close(ends[1]);
	int listener = receive_fd(ends[0]);
	if (listener >= 0) serve(listener);
	if (child < 0 || waitpid(child, &status, 0) != child || write_list()) return 99;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
