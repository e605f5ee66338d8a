/* How a process comes to a board: by a name that follows from the job, or by an inherited file. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/board_map.h"
#include "sys/files.h"
#include "sys/quiet.h"

#ifndef BOARD_FOLDER
#define BOARD_FOLDER "/dev/shm"
#endif
#define PREFIX "nsched-board-"

enum {
	TRIES = 4,           /* to open or make it, while others do the same */
	HIGH_FD = 500,       /* the file's number: out of the way of programs that count theirs */
	AUXV_BYTES = 1024,
	PATH_BYTES = 256,
	NAME_HASH_BITS = 48,
};

/* ---- the name ------------------------------------------------------------------------------------------ */

static uint64_t pid_space(void)
{
	struct stat info;
	return stat("/proc/self/ns/pid", &info) ? 0 : info.st_ino;
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *byte = data;
	for (size_t i = 0; i < bytes; i++) {
		hash = (hash ^ byte[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

/* Where the launcher was loaded is chosen at random, and only its own user may read it: so others can't
 * guess the name and put a file of theirs there first. Where we may not read it (Slurm's is root's), the
 * start time has to do; a file of somebody else's is refused, and each rank plans alone. */
static uint64_t secret_of(pid_t launcher)
{
	char path[PATH_BYTES], auxv[AUXV_BYTES];
	snprintf(path, sizeof path, "/proc/%ld/auxv", (long)launcher);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, auxv, sizeof auxv);
	if (fd >= 0) close(fd);
	return mix(1, auxv, got > 0 ? (size_t)got : 0);
}

/* nsched-board-LAYOUT-USER-SPACE-LAUNCHER-HASH; the launcher with its start time, for board_sweep */
static void make_name(const struct board_key *key, board_owner launcher, char name[BOARD_NAME])
{
	uint64_t hash = mix(secret_of(key->launcher), key->job, strlen(key->job));
	snprintf(name, BOARD_NAME, PREFIX "%d-%u-%llx-%llx-%012llx", BOARD_LAYOUT, (unsigned)geteuid(), (unsigned long long)pid_space(),
	         (unsigned long long)launcher, (unsigned long long)(hash >> (64 - NAME_HASH_BITS)));
}

static void path_of(const char *name, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s", BOARD_FOLDER, name);
}

/* ---- the file ------------------------------------------------------------------------------------------- */

/* Takes over `fd` and maps what is in it. -EPERM: not our user's alone; -EPROTO: not a board of this layout; -EXDEV. */
static int take(int fd, bool inherited, struct board **out)
{
	struct board_header header;
	struct stat info;
	if (fstat(fd, &info) || !S_ISREG(info.st_mode)) return -EPROTO;
	if (info.st_uid != geteuid()) return -EPERM;
	if (board_pread(fd, &header, sizeof header, 0) || header.magic != BOARD_MAGIC || header.layout != BOARD_LAYOUT) return -EPROTO;
	if (!header.slots || header.slots > BOARD_SLOTS + BOARD_SPARE_SLOTS || header.ranks > header.slots ||
	    info.st_size != board_file_bytes(header.slots)) return -EPROTO;
	if (header.name[0] && info.st_mode & (S_IRWXG | S_IRWXO)) return -EPERM;
	if (header.pid_space != pid_space()) return -EXDEV;
	struct board *board = calloc(1, sizeof *board);
	if (!board) return -ENOMEM;
	board->mapped_bytes = board_mapped_bytes(header.slots);
	char *memory = mmap(NULL, board->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		free(board);
		return -ENOMEM;
	}
	board->header = (struct board_header *)(void *)memory;
	board->cell = (struct board_cell *)(void *)(memory + 4096);
	board->slots = header.slots;
	board->fd = fd;
	board->inherited = inherited;
	board->own = -1;
	board->seen = calloc(header.slots, sizeof *board->seen);
	*out = board;
	return 0;
}

/* Gives an empty file the form of a board. */
static int shape(int fd, uint32_t slots, unsigned ranks, pid_t launcher, const char *name)
{
	struct board_header header = { .magic = BOARD_MAGIC, .layout = BOARD_LAYOUT, .slots = slots, .ranks = ranks, .launcher = launcher,
	                               .pid_space = pid_space() };
	if (getrandom(&header.nonce, sizeof header.nonce, GRND_NONBLOCK) != sizeof header.nonce)
		header.nonce = mix((uint64_t)getpid(), name, strlen(name));
	snprintf(header.name, sizeof header.name, "%s", name);
	struct quiet quiet;
	quiet_begin(&quiet);   /* a file that may not be so large (ulimit -f) */
	int ret = ftruncate(fd, board_file_bytes(slots)) ? -errno : -posix_fallocate(fd, 0, (off_t)board_mapped_bytes(slots));
	quiet_end(&quiet);
	return ret ? ret : board_pwrite(fd, &header, sizeof header, 0);
}

/* A high number for the file, where the process may have one. */
static int raise_fd(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	if (high < 0) return fd;
	close(fd);
	return high;
}

static int open_named(const char *path, struct board **board)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) return errno == EACCES ? -EPERM : -errno;
	fd = raise_fd(fd);
	int ret = take(fd, false, board);
	if (ret) close(fd);
	return ret;
}

/* The file gets its name when it is complete. -EEXIST: somebody was quicker. */
static int make_named(const char *path, const char *name, pid_t launcher, unsigned ranks, struct board **board)
{
	char self[64];
	int fd = open(BOARD_FOLDER, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd < 0) return -errno;
	fd = raise_fd(fd);
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	int ret = shape(fd, ranks + BOARD_SPARE_SLOTS, ranks, launcher, name);
	if (!ret) ret = take(fd, false, board);
	if (!ret && linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW)) {
		ret = -errno;
		board_leave(*board, false);
		return ret;
	}
	if (ret) close(fd);
	return ret;
}

int board_meet(const struct board_key *key, unsigned ranks, struct board **board)
{
	char name[BOARD_NAME], path[PATH_BYTES];
	board_owner launcher = board_owner_of(key->launcher);
	if (!launcher || !ranks || ranks > BOARD_SLOTS) return -EINVAL;
	make_name(key, launcher, name);
	path_of(name, path);
	int ret = -ENOENT;
	for (int i = 0; i < TRIES; i++) {
		ret = open_named(path, board);
		if (ret != -ENOENT) return ret;
		ret = make_named(path, name, key->launcher, ranks, board);
		if (ret != -EEXIST) return ret ? ret : 1;
	}
	return ret;
}

int board_make_tree(struct board **board)
{
	int fd = memfd_create("nsched-board", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0) return -errno;
	fd = raise_fd(fd);
	int ret = shape(fd, BOARD_TREE_SLOTS, 0, getpid(), "");
	/* what is mapped can't be taken away: no SIGBUS */
	if (!ret && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) ret = -errno;
	if (!ret) ret = take(fd, false, board);
	if (ret) close(fd);
	return ret;
}

/* ---- by inheritance --------------------------------------------------------------------------------------- */

const char *board_word(const struct board *board, char word[BOARD_WORD])
{
	snprintf(word, BOARD_WORD, "%d:%ld:%llx", board->fd, (long)getpid(), (unsigned long long)board->header->nonce);
	return word;
}

/* Is it the board that the word means, and not a file that has got its number since? */
static int take_if_meant(int fd, bool inherited, uint64_t nonce, struct board **board)
{
	int ret = take(fd, inherited, board);
	if (ret || (*board)->header->nonce == nonce) return ret;
	(*board)->inherited = true;   /* not ours to close */
	board_leave(*board, false);
	return -ENOENT;
}

static int open_meant(const char *path, uint64_t nonce, struct board **board)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) return -ENOENT;
	fd = raise_fd(fd);
	int ret = take_if_meant(fd, false, nonce, board);
	if (ret) close(fd);
	return ret;
}

int board_attach(const char *word, struct board **board)
{
	int fd, end = 0;
	long pid;
	unsigned long long nonce;
	char path[PATH_BYTES];
	if (sscanf(word, "%9d:%9ld:%16llx%n", &fd, &pid, &nonce, &end) != 3 || word[end] || fd < 0) return -ENOENT;
	int ret = files_are_own() ? -ENOENT : take_if_meant(fd, true, nonce, board);
	if (!ret || ret == -ENOMEM) return ret;
	/* the program has it, where this thread's files are its own; launchers close what they do not know, but may still have it themselves */
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (files_are_own()) ret = open_meant(path, nonce, board);
	if (!ret) return 0;
	snprintf(path, sizeof path, "/proc/%ld/fd/%d", pid, fd);
	ret = open_meant(path, nonce, board);
	return ret == -ENOMEM || ret == -EXDEV ? ret : ret ? -ENOENT : 0;
}

void board_leave(struct board *board, bool keep_open)
{
	if (!board) return;
	munmap(board->header, board->mapped_bytes);
	if (keep_open) fcntl(board->fd, F_SETFD, 0);
	else if (!board->inherited) files_close(board->fd);
	free(board->seen);
	free(board);
}

/* ---- names that go --------------------------------------------------------------------------------------- */

void board_unlink(struct board *board)
{
	char name[BOARD_NAME], path[PATH_BYTES];
	struct stat named, ours;
	memcpy(name, board->header->name, sizeof name);
	name[sizeof name - 1] = 0;
	if (strncmp(name, PREFIX, strlen(PREFIX)) || strchr(name, '/')) return;
	path_of(name, path);
	if (lstat(path, &named) || fstat(board->fd, &ours) || named.st_dev != ours.st_dev || named.st_ino != ours.st_ino) return;
	unlink(path);
}

static bool is_left_behind(int folder, const char *name)
{
	unsigned layout, user;
	unsigned long long space, launcher;
	struct stat info;
	if (sscanf(name, PREFIX "%9u-%10u-%16llx-%16llx-", &layout, &user, &space, &launcher) != 4) return false;
	if (user != geteuid() || space != pid_space() || board_owner_alive(launcher)) return false;
	return !fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) && S_ISREG(info.st_mode) && info.st_uid == geteuid();
}

int board_sweep(void)
{
	int removed = 0;
	DIR *folder = opendir(BOARD_FOLDER);
	if (!folder) return 0;
	for (struct dirent *entry; (entry = readdir(folder));)
		if (is_left_behind(dirfd(folder), entry->d_name)) removed += !unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
	return removed;
}
