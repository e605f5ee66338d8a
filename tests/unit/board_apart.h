/* Where the boards of this test are: set before the first is made. */
#ifndef TESTS_UNIT_BOARD_APART_H
#define TESTS_UNIT_BOARD_APART_H

extern char board_apart_folder[];

#endif
