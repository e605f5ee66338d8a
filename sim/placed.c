#include "placed.h"

#include "engine.h"

int placed_use(const struct placed *placed, struct engine *e)
{
	e->placed = placed;
	return 0;
}
