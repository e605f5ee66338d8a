/* sys/board_find.c over a folder of the test's own: what other tests and jobs leave in /dev/shm meanwhile, or sweep there, is neither
 * counted nor missed. */
#include "board_apart.h"

#define BOARD_FOLDER board_apart_folder
#include "../../libnsched/sys/board_find.c"
