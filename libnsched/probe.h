/* Which evidence can be had here: every source tried, for the doctor. */
#ifndef NSCHED_PROBE_H
#define NSCHED_PROBE_H

#include "nsched.h"

/* nsched_probe without its arguments' checks; no session may have the sources. */
int probe_sources(nsched_source_t *source, size_t size, unsigned most);

#endif
