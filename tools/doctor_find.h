/* The findings: each is a function over what was read, listed in doctor_findings.c's table. It says whether it is
 * the case, and if so what, by which evidence, and what helps. It reads nothing from the machine. */
#ifndef NSCHED_DOCTOR_FIND_H
#define NSCHED_DOCTOR_FIND_H

#include "doctor.h"

/* `process` is NULL for those of the machine. */
typedef bool find_test(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding);

find_test find_stacked, find_team, find_narrow, find_siblings;       /* doctor_find_threads.c */
find_test find_no_share, find_foreign_share;                         /* doctor_find_ranks.c */
find_test find_one_node, find_far, find_policy, find_mems;           /* doctor_find_memory.c */
find_test find_installation, find_no_sampling, find_pages_stay, find_full, find_mover, find_quota; /* doctor_find_machine.c */

/* "rank 3" or "the program" */
const char *find_who(const struct doctor_process *process, char text[DOCTOR_WORD]);

/* The setting in the process's environment that binds threads ("GOMP_CPU_AFFINITY=0"), or NULL. */
const char *find_binding(const struct doctor_process *process, char text[DOCTOR_WORD]);

/* Active threads by logical node. Those whose node is not known count nowhere. */
void find_active_by_node(const struct doctor_process *process, unsigned active[MACHINE_NODES]);

/* Nodes as the kernel writes them, of a set of logical ones. */
const char *find_nodes(const struct doctor_machine *machine, uint64_t nodes, char text[DOCTOR_WORD]);

#endif
