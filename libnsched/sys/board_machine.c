/* The machine on the board: read from hwloc by one, used by all. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "sys/board_map.h"

enum { NONE = -1 };   /* of machine_bytes, as unsigned: it could not be had */

/* As it lies there; the pointer in it means nothing. */
struct stored {
	struct machine machine;
	struct machine_cpu cpu[];
};

static uint32_t stored_bytes(uint32_t n_cpus)
{
	return (uint32_t)(sizeof(struct stored) + n_cpus * sizeof(struct machine_cpu));
}

size_t board_machine_room(void)
{
	return board_round(stored_bytes(MACHINE_CPUS));
}

int board_take_machine(struct board *board)
{
	board_owner self = board_owner_of(getpid()), turn = atomic_load(&board->header->machine_turn);
	if (atomic_load(&board->header->machine_bytes)) return 0;
	if (turn && board_owner_alive(turn)) return turn == self;
	return atomic_compare_exchange_strong(&board->header->machine_turn, &turn, self);
}

int board_write_machine(struct board *board, const struct machine *machine)
{
	uint32_t bytes = machine ? stored_bytes(machine->n_cpus) : 0;
	struct stored *stored = machine ? calloc(1, bytes) : NULL;
	int ret = machine && !stored ? -ENOMEM : 0;
	if (stored) {
		stored->machine = *machine;
		stored->machine.cpu = NULL;
		memcpy(stored->cpu, machine->cpu, machine->n_cpus * sizeof *machine->cpu);
		ret = board_pwrite(board->fd, stored, bytes, board_machine_offset(board->slots));
	}
	atomic_store(&board->header->machine_bytes, ret || !machine ? (uint32_t)NONE : bytes);
	free(stored);
	return ret;
}

static bool sound(const struct machine *m)
{
	const char *why;
	if (machine_check(m, &why)) return false;
	for (unsigned i = 0; i < m->n_nodes; i++) {
		if (!(m->node[i].lines_per_ns > 0) || !isfinite(m->node[i].lines_per_ns)) return false;
		for (unsigned j = 0; j < m->n_nodes; j++)
			if (!isfinite(m->latency_ns[i][j])) return false;
	}
	for (unsigned c = 0; c < m->n_cpus; c++) {
		unsigned node = m->cpu[c].node;
		if (m->cpu[c].os >= MACHINE_CPUS || node >= m->n_nodes) return false;
		if (c < m->node[node].first_cpu || c >= m->node[node].first_cpu + m->node[node].n_cpus) return false;
	}
	return true;
}

static int rebuild(const struct stored *stored, uint32_t bytes, struct machine *machine)
{
	unsigned nodes = stored->machine.n_nodes, cpus = stored->machine.n_cpus;
	if (!nodes || nodes > MACHINE_NODES || cpus > MACHINE_CPUS || bytes != stored_bytes(cpus)) return -ENODEV;
	int ret = machine_init(machine, cpus);
	if (ret) return ret;
	struct machine_cpu *cpu = machine->cpu;
	*machine = stored->machine;
	machine->cpu = cpu;
	memcpy(cpu, stored->cpu, cpus * sizeof *cpu);
	if (sound(machine)) return 0;
	machine_free(machine);
	return -ENODEV;
}

int board_read_machine(const struct board *board, struct machine *machine)
{
	uint32_t bytes = atomic_load(&board->header->machine_bytes);
	if (!bytes) return -EAGAIN;
	if (bytes == (uint32_t)NONE || bytes < sizeof(struct stored) || bytes > board_machine_room()) return -ENODEV;
	struct stored *stored = malloc(bytes);
	if (!stored) return -ENOMEM;
	int ret = board_pread(board->fd, stored, bytes, board_machine_offset(board->slots)) ? -ENODEV : rebuild(stored, bytes, machine);
	free(stored);
	return ret;
}
