/* mark 0|1|2: the timing model off, on (without an argument too), or its totals since the last line. */
#include "mark.h"

int main(int argc, char **argv)
{
	switch (argc > 1 ? argv[1][0] : '1') {
	case '0':
		NUMABOX_OFF();
		return 0;
	case '1':
		NUMABOX_ON();
		return 0;
	case '2':
		NUMABOX_LAP();
		return 0;
	default:
		return 2;
	}
}
