/* The calls that the plugin itself makes into the MPI library. All of them are local: nothing of nsched's
 * communicates through MPI, so a rank without the plugin has nothing to wait for. */
#ifndef NSCHED_MPI_LIBRARY_H
#define NSCHED_MPI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi_family.h"

#define LIBRARY_CALLS(CALL) \
	CALL(Initialized)           \
	CALL(Get_library_version)   \
	CALL(Type_size)             \
	CALL(Type_size_x)           \
	CALL(Comm_rank)             \
	CALL(Comm_size)             \
	CALL(Comm_test_inter)       \
	CALL(Comm_group)            \
	CALL(Comm_remote_group)     \
	CALL(Win_get_group)         \
	CALL(Group_rank)            \
	CALL(Group_size)            \
	CALL(Group_translate_ranks) \
	CALL(Group_free)            \
	CALL(Topo_test)             \
	CALL(Cartdim_get)           \
	CALL(Cart_shift)            \
	CALL(Graph_neighbors_count) \
	CALL(Graph_neighbors)       \
	CALL(Dist_graph_neighbors_count) \
	CALL(Dist_graph_neighbors)

struct library {
#define CALL(name) __typeof__(&PMPI_##name) name;
	LIBRARY_CALLS(CALL)
#undef CALL
};

extern struct library library;

/* Finds them all; false if one is missing. Before any of them is called. */
bool library_bind(void);

#endif
