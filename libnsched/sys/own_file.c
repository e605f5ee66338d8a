#include "sys/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool may_write_over(int fd, bool over, bool (*is_ours)(const char *begin, size_t bytes))
{
	char begin[OWN_FILE_LOOK];
	struct stat st;

	if (over)
		return true;
	if (fstat(fd, &st))
		return false;
	if (!S_ISREG(st.st_mode))
		return S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode);
	if (st.st_size == 0)
		return true;
	ssize_t got = pread(fd, begin, sizeof(begin), 0);

	return got > 0 && is_ours(begin, (size_t)got);
}

/* Without waiting while it is opened: it may be a pipe that nobody reads. */
static int open_existing(const char *path, bool over)
{
	int fd = open(path, (over ? O_WRONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	/* what is only written to (a terminal's or a pipe's other end) can't be read, and need not */
	if (fd < 0 && !over && !stat(path, &st) && !S_ISREG(st.st_mode))
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* a pipe opened for both ends would be its own reader, and what is written be lost */
	if (fd >= 0 && !over && !fstat(fd, &st) && S_ISFIFO(st.st_mode)) {
		close(fd);
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	}
	return fd < 0 ? -errno : fd;
}

int own_file_open(const char *path, bool over, bool lock, bool (*is_ours)(const char *begin, size_t bytes))
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644), ret = 0;

	if (fd >= 0) {
		if (lock && flock(fd, LOCK_EX | LOCK_NB)) { } /* where there are no locks, there are none */
		return fd;
	}
	if (errno != EEXIST)
		return -errno;
	fd = open_existing(path, over);
	if (fd < 0)
		return fd;
	if (lock && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		ret = -EBUSY;
	else if (!may_write_over(fd, over, is_ours))
		ret = -EEXIST;
	if (!ret && ftruncate(fd, 0) && errno != EINVAL) /* EINVAL: no file but a device */
		ret = -errno;
	if (!ret)
		(void)!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK); /* a slow reader is waited for */
	if (ret)
		close(fd);
	return ret ? ret : fd;
}
