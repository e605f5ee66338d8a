/* The same for programs; docs/nsched.1 names the fields. */
#include "doctor.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "libnsched/sys/cpulist.h"

enum { LIST_BYTES = 1024 };

static json_t *list(const struct cpu_mask *mask)
{
	char text[LIST_BYTES];

	return json_string(list_text(mask, text, sizeof(text)));
}

static json_t *or_null(double value)
{
	return value > 0 ? json_real(value) : json_null();
}

/* What has been measured counts nodes with neither CPUs nor memory, too. */
static unsigned measured_number(const struct doctor_machine *machine, unsigned node)
{
	unsigned i = 0;

	while (i + 1 < machine->measured.n_nodes && machine->measured.os[i] != machine->node[node].os)
		i++;
	return i;
}

static json_t *node(const struct doctor_machine *machine, unsigned i)
{
	json_t *distances = json_array(), *latencies = json_array(), *bandwidths = json_array();

	for (unsigned to = 0; to < machine->n_nodes; to++)
		json_array_append_new(distances, machine->distance[i][to] > 0 ? json_integer(machine->distance[i][to]) : json_null());
	for (unsigned to = 0; machine->is_measured && to < machine->n_nodes; to++) {
		unsigned a = measured_number(machine, i), b = measured_number(machine, to);

		json_array_append_new(latencies, or_null((double)machine->measured.latency_ns[a][b]));
		json_array_append_new(bandwidths, or_null((double)machine->measured.bandwidth_mbs[a][b]));
	}
	return json_pack("{s:i, s:o, s:I, s:I, s:o, s:o, s:o}", "node", (int)machine->node[i].os, "cpus", list(&machine->node[i].cpus), "memory_kib",
	                 (json_int_t)machine->node[i].memory_kib, "spare_kib", (json_int_t)machine->node[i].spare_kib, "distances", distances,
	                 "latencies_ns", latencies, "bandwidths_mbs", bandwidths);
}

static json_t *machine(const struct doctor *doctor)
{
	const struct doctor_machine *m = &doctor->machine;
	const struct doctor_limits *own = &doctor->own;
	json_t *nodes = json_array();

	for (unsigned i = 0; i < m->n_nodes; i++)
		json_array_append_new(nodes, node(m, i));
	return json_pack("{s:s, s:s, s:s, s:o, s:i, s:o, s:o, s:s, s:o, s:b, s:o}", "host", m->host, "kernel", m->kernel, "processor", m->model,
	                 "online_cpus", list(&m->online), "threads_per_core", (int)m->threads_per_core, "allowed_cpus", list(&own->cpus),
	                 "allowed_nodes", list(&own->mems_os), "cgroup", own->cgroup, "quota_cpus", or_null(own->quota_cpus), "measured",
	                 (int)m->is_measured, "nodes", nodes);
}

static json_t *sources(const struct doctor_tools *tools)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < tools->n_sources; i++) {
		const struct doctor_source *source = &tools->source[i];

		json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", source->is.name, "state", source->is.error == 0 ? "on" : "off",
		                                       "reason", source->is.why, "remedy", source->remedy, "probe_us", (int)source->is.probe_us));
	}
	return array;
}

static json_t *abilities(const struct doctor_tools *tools)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < tools->n_abilities; i++) {
		const struct doctor_ability *ability = &tools->ability[i];

		json_array_append_new(array, json_pack("{s:s, s:b, s:s, s:s, s:s}", "name", ability->name, "works", ability->error == 0, "reason",
		                                       ability->error == 0 ? "" : strerror(-ability->error), "without", ability->without, "remedy",
		                                       ability->remedy));
	}
	return array;
}

static json_t *binders(const struct doctor_binders *b)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < b->n; i++)
		json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:I}", "who", b->binder[i].who, "setting", b->binder[i].setting, "effect",
		                                       b->binder[i].effect, "pid", (json_int_t)b->binder[i].pid));
	return array;
}

static json_t *thread(const struct doctor *doctor, const struct doctor_thread *t)
{
	return json_pack("{s:I, s:s, s:o, s:b, s:i, s:i, s:o}", "tid", (json_int_t)t->tid, "name", t->name, "cpus", list(&t->cpus), "busy",
	                 (int)t->active, "run_permille", t->run_permille, "wait_permille", t->wait_permille, "node",
	                 t->node < doctor->machine.n_nodes ? json_integer(doctor->machine.node[t->node].os) : json_null());
}

static json_t *memory(const struct doctor *doctor, const struct doctor_memory *m)
{
	json_t *nodes = json_array(), *policies = json_array();

	if (!m->known) {
		json_decref(nodes);
		json_decref(policies);
		return json_null();
	}
	for (unsigned i = 0; i < doctor->machine.n_nodes; i++)
		json_array_append_new(nodes, json_integer((json_int_t)m->node_kib[i]));
	for (unsigned i = 0; i < m->n_policies; i++)
		json_array_append_new(policies, json_pack("{s:s, s:I}", "policy", m->policy[i].text, "kib", (json_int_t)m->policy[i].kib));
	return json_pack("{s:I, s:o, s:o}", "kib", (json_int_t)m->kib, "node_kib", nodes, "policies", policies);
}

static json_t *process(const struct doctor *doctor, const struct doctor_process *p)
{
	json_t *threads = json_array(), *rank = json_null();

	for (unsigned i = 0; i < p->n_threads; i++)
		json_array_append_new(threads, thread(doctor, &p->thread[i]));
	if (p->rank.launcher != NULL)
		rank = json_pack("{s:s, s:I, s:I, s:s}", "launcher", p->rank.launcher, "rank", (json_int_t)p->rank.rank, "ranks",
		                 (json_int_t)p->rank.ranks, "job", p->rank.job);
	return json_pack("{s:I, s:s, s:o, s:o, s:s, s:i, s:o, s:s, s:s, s:b, s:o, s:o}", "pid", (json_int_t)p->pid, "name", p->name, "cpus",
	                 list(&p->cpus), "cpuset", list(&p->limits.cpus), "cgroup", p->limits.cgroup, "busy_threads", (int)p->n_active, "memory",
	                 memory(doctor, &p->memory), "openmp", p->openmp != NULL ? p->openmp : "", "mpi", p->mpi != NULL ? p->mpi : "", "nsched",
	                 (int)p->nsched, "rank", rank, "threads", threads);
}

static json_t *processes(const struct doctor *doctor)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < doctor->job.n; i++) {
		if (doctor->job.process[i].target)
			json_array_append_new(array, process(doctor, &doctor->job.process[i]));
	}
	return array;
}

static json_t *findings(const struct doctor *doctor)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < doctor->n_found; i++) {
		const struct finding *f = &doctor->found[i];

		json_array_append_new(array, json_pack("{s:s, s:o, s:s, s:s, s:s}", "id", f->id, "pid", f->pid != 0 ? json_integer(f->pid) : json_null(),
		                                       "finding", f->what, "evidence", f->evidence, "remedy", f->remedy));
	}
	return array;
}

static json_t *gaps(const struct doctor_files *files)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < files->n_gaps && i < DOCTOR_GAPS; i++)
		json_array_append_new(array, json_string(files->gap[i]));
	return array;
}

int doctor_json(const struct doctor *doctor, FILE *out)
{
	char version[DOCTOR_WORD];

	snprintf(version, sizeof(version), "%d.%d.%d", NSCHED_VERSION_MAJOR, NSCHED_VERSION_MINOR, NSCHED_VERSION_PATCH);

	json_t *root = json_pack("{s:s, s:b, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version", version, "healthy", doctor->n_found == 0,
	                         "serves", doctor->tools.worthwhile, "serves_not", doctor->tools.why_not.text, "machine", machine(doctor), "sources",
	                         sources(&doctor->tools), "abilities", abilities(&doctor->tools), "others", binders(&doctor->binders), "processes",
	                         processes(doctor), "not_known", gaps(&doctor->files), "findings", findings(doctor));

	if (root == NULL)
		return -ENOMEM;

	int error = json_dumpf(root, out, JSON_INDENT(1)) != 0 ? -EIO : 0;

	fputc('\n', out);
	json_decref(root);
	return error;
}
