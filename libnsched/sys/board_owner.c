/* Processes by number and start time. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/board.h"

enum {
	PID_BITS = 22,         /* the kernel's numbers are below 2^22 */
	STAT_BYTES = 1024,
	START_FIELD = 22,      /* of /proc/PID/stat; the state is the third */
	STATE_FIELD = 3,
};

/* Field `number` of the text of /proc/PID/stat, from the third on: the name before it may hold anything. */
static const char *field(const char *stat, unsigned number)
{
	const char *at = strrchr(stat, ')');
	for (unsigned i = STATE_FIELD; at && i <= number; i++) {
		at = strchr(at, ' ');
		if (at) at++;
	}
	return at;
}

board_owner board_owner_of(pid_t pid)
{
	char path[64], stat[STAT_BYTES];
	snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
	int fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t got = fd < 0 ? -1 : read(fd, stat, sizeof stat - 1);
	if (fd >= 0) close(fd);
	if (got <= 0) return 0;
	stat[got] = 0;
	const char *state = field(stat, STATE_FIELD), *start = field(stat, START_FIELD);
	if (!state || !start || *state == 'Z' || *state == 'X') return 0;   /* dead, and not fetched yet */
	return strtoull(start, NULL, 10) << PID_BITS | (board_owner)pid;
}

pid_t board_owner_pid(board_owner owner)
{
	return (pid_t)(owner & ((1u << PID_BITS) - 1));
}

bool board_owner_alive(board_owner owner)
{
	return owner && board_owner_of(board_owner_pid(owner)) == owner;
}
