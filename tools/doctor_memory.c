/* Where a process's own memory lies, and under which policies: /proc/PID/numa_maps. */
#include "doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Files that are memory in all but name. */
static const char *const own_files[] = { "/dev/shm/", "/SYSV", "/memfd:", "/dev/zero", "/anon_hugepage", "/i915", "/[aio]" };

static bool is_own(const char *line)
{
	const char *file = strstr(line, " file=");

	if (file == NULL)
		return true;
	for (size_t i = 0; i < sizeof(own_files) / sizeof(own_files[0]); i++) {
		if (strncmp(file + strlen(" file="), own_files[i], strlen(own_files[i])) == 0)
			return true;
	}
	return false;
}

/* "bind:0-1", and where the name is of two words "prefer (many):0-1"; the rest of the line begins where it ends. */
static const char *take_policy(const char *line, char *policy, size_t bytes)
{
	const char *begin = line + strcspn(line, " ");

	begin += strspn(begin, " ");

	size_t length = strcspn(begin, " ");

	if (strncmp(begin, "prefer (many)", 13) == 0 || strncmp(begin, "weighted interleave", 19) == 0)
		length += 1 + strcspn(begin + length + 1, " ");
	snprintf(policy, bytes, "%.*s", (int)length, begin);
	return begin + length;
}

static unsigned node_of_os(const struct doctor_machine *machine, unsigned long os)
{
	for (unsigned i = 0; i < machine->n_nodes; i++) {
		if (machine->node[i].os == os)
			return i;
	}
	return DOCTOR_NO_NODE;
}

/* Adds "N0=512 N1=3" to `kib` by node; the pages have the size that the line names. */
static uint64_t add_pages(const char *line, const struct doctor_machine *machine, uint64_t kib[MACHINE_NODES])
{
	long long page_kib = text_number(line, "kernelpagesize_kB=", 4);
	uint64_t sum = 0;

	for (const char *word = strchr(line, ' '); word != NULL; word = strchr(word + 1, ' ')) {
		char *end;

		if (word[1] != 'N')
			continue;

		unsigned long os = strtoul(word + 2, &end, 10);

		if (end == word + 2 || *end != '=')
			continue;

		uint64_t pages = strtoull(end + 1, NULL, 10) * (uint64_t)page_kib;
		unsigned node = node_of_os(machine, os);

		if (node != DOCTOR_NO_NODE)
			kib[node] += pages;
		sum += pages;
	}
	return sum;
}

static void add_policy(struct doctor_memory *memory, const char *text, const uint64_t kib[MACHINE_NODES], uint64_t sum)
{
	unsigned i = 0;

	while (i < memory->n_policies && strcmp(memory->policy[i].text, text) != 0)
		i++;
	if (i == DOCTOR_POLICIES)
		return;

	struct doctor_policy *policy = &memory->policy[i];

	if (i == memory->n_policies) {
		memory->n_policies++;
		memset(policy, 0, sizeof(*policy));
		snprintf(policy->text, sizeof(policy->text), "%s", text);
	}
	policy->kib += sum;
	for (unsigned node = 0; node < MACHINE_NODES; node++)
		policy->node_kib[node] += kib[node];
}

static void add_line(struct doctor_memory *memory, const struct doctor_machine *machine, const char *line)
{
	char policy[DOCTOR_WORD];
	uint64_t kib[MACHINE_NODES] = { 0 };

	if (!is_own(line))
		return;

	uint64_t sum = add_pages(take_policy(line, policy, sizeof(policy)), machine, kib);

	if (sum == 0)
		return;
	memory->kib += sum;
	for (unsigned node = 0; node < MACHINE_NODES; node++)
		memory->node_kib[node] += kib[node];
	if (strcmp(policy, "default") != 0 && strcmp(policy, "local") != 0)
		add_policy(memory, policy, kib, sum);
}

void memory_look(struct doctor_memory *memory, struct doctor_files *files, const struct doctor_machine *machine, long pid)
{
	char *text = files_text(files, NULL, "/proc/%ld/numa_maps", pid);

	memset(memory, 0, sizeof(*memory));
	if (text == NULL) {
		if (errno != ESRCH)
			files_gap(files, "process %ld: where its memory lies: numa_maps can't be read (%s)", pid, strerror(errno));
		return;
	}
	memory->known = true;
	for (char *line = text, *next; line != NULL && *line != '\0'; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		add_line(memory, machine, line);
	}
	free(text);
}
