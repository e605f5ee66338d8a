/* What the names of machines do with any bytes: the first line is a machine, the others its parameters. Each is taken, or refused with
 * a text of one line. A machine that is taken holds together. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "machine.h"

enum { BYTES_MOST = 4096 };

static void hold(int ret, const char *error)
{
	if (ret && (!error[0] || strchr(error, '\n'))) abort();
}

static void set_all(struct sim_machine *m, char *line)
{
	char error[SIM_ERROR] = "";
	for (char *next; line; line = next) {
		next = strchr(line, '\n');
		if (next) *next++ = 0;
		hold(sim_machine_set(m, line, error), error);
	}
	sim_machine_perturb(m, 0.3, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sim_machine m;
	char text[BYTES_MOST + 1], error[SIM_ERROR] = "";
	const char *why;
	if (size > BYTES_MOST) return 0;
	memcpy(text, data, size);
	text[size] = 0;
	for (char *c = text; *c; c++)   /* names of files are no business of this; nor is a text with two lines in its first */
		if (*c == '/' || *c == '.') return 0;
	char *rest = strchr(text, '\n');
	if (rest) *rest++ = 0;
	for (char *c = text; *c; c++)
		if (*c < ' ') *c = ' ';
	int ret = sim_machine_load(&m, text, error);
	hold(ret, error);
	if (ret) return 0;
	if (machine_check(&m.known, &why)) abort();
	set_all(&m, rest);
	sim_machine_free(&m);
	return 0;
}
