/* What the operand decoder does with any code and registers: at the most as many addresses as there is room for, each where data can be,
 * and every sample counted once. Code is the input itself, which ends anywhere. */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sys/operand.h"

enum { SAMPLES = 4 };
#define BASE UINT64_C(0x10000) /* where the code lies */

struct code {
	const uint8_t *byte;
	size_t n;
	uint64_t start;
};

static unsigned read_code(void *arg, const struct operand_piece *pieces, unsigned count)
{
	const struct code *c = arg;
	for (unsigned i = 0; i < count; i++) {
		uint64_t at = pieces[i].from - BASE;
		if (pieces[i].from < BASE || at > c->n || pieces[i].bytes > c->n - at) return i;
		memcpy(pieces[i].to, c->byte + at, pieces[i].bytes);
	}
	return count;
}

static int find_function(void *arg, uint64_t ip, struct operand_function *function)
{
	const struct code *c = arg;
	if (ip < c->start || ip >= BASE + c->n) return -ENOENT;
	*function = (struct operand_function){ c->start, BASE + c->n, BASE, BASE + c->n };
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct regs regs;
	struct operand_decoder *decoder;
	struct operand_counts counts;
	uint64_t addrs[OPERAND_MOST], calls = 0;
	if (size < sizeof regs + 4) return 0;
	memcpy(&regs, data, sizeof regs);
	struct code code = { data + sizeof regs, size - sizeof regs, BASE + data[0] % 4 };
	struct operand_code from = { read_code, find_function, &code };
	if (operand_open(&from, &decoder)) return 0;
	for (unsigned i = 0; i < SAMPLES; i++) {
		regs.ip = BASE + (code.n * i / SAMPLES + data[i % size]) % (code.n + 2);
		(void)operand_price(decoder, regs.ip);
		for (int again = 0; again < 2; again++, calls++) {
			unsigned n = operand_resolve(decoder, &regs, addrs, OPERAND_MOST);
			if (n > OPERAND_MOST) abort();
			for (unsigned k = 0; k < n; k++)
				if (addrs[k] > REGS_MOST_ADDRESS) abort();
		}
		operand_tick(decoder);
	}
	operand_counts(decoder, &counts);
	if (counts.resolved + counts.no_memory + counts.gather + counts.lost_registers + counts.unreadable != calls) abort();
	operand_close(decoder);
	return 0;
}
