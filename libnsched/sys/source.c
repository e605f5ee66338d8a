#include "source.h"

#include <errno.h>
#include <stdio.h>

void source_lost(int err, char why[SOURCE_WHY])
{
	if (err == -EBUSY)
		snprintf(why, SOURCE_WHY, "the program took it for itself");
	else if (err == -ELIBACC)
		snprintf(why, SOURCE_WHY, "Capstone can't be loaded: install it (Debian: libcapstone4)");
	else
		snprintf(why, SOURCE_WHY, "lost in mid-run (error %d)", -err);
}
