#include "sys/room.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

/* Capstone with its tables maps 7 MiB, hwloc takes less than 10 MiB for machines of a thousand CPUs; and twice that */
#define ROOM_BYTES ((size_t)32 << 20)

bool room_is_left(void)
{
	int saved = errno;
	void *room = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room != MAP_FAILED)
		munmap(room, ROOM_BYTES);
	errno = saved;
	return room != MAP_FAILED;
}
