#include "mpi_handles.h"

#include <pthread.h>
#include <stdlib.h>

/* One for all tables: they change only when communicators and persistent requests are made and freed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct handles_node *new_node(struct handles *handles)
{
	struct handles_node *node = handles->unused;

	if (node == NULL)
		return calloc(1, sizeof(*node));
	handles->unused = atomic_load_explicit(&node->next, memory_order_relaxed);
	return node;
}

static void link_node(struct handles *handles, struct handles_node *node, uintptr_t handle, void *value)
{
	struct handles_node *_Atomic *line = &handles->line[handles_line(handle)];

	atomic_store_explicit(&node->next, atomic_load_explicit(line, memory_order_relaxed), memory_order_relaxed);
	atomic_store_explicit(&node->value, value, memory_order_relaxed);
	atomic_store_explicit(&node->handle, handle, memory_order_release);
	atomic_store_explicit(line, node, memory_order_release);
}

void *handles_add(struct handles *handles, uintptr_t handle, void *value)
{
	pthread_mutex_lock(&lock);
	void *known = handles_find(handles, handle);
	struct handles_node *node = known == NULL ? new_node(handles) : NULL;

	if (node != NULL)
		link_node(handles, node, handle, value);
	pthread_mutex_unlock(&lock);
	if (node != NULL)
		return value;
	handles->release(value);
	return known;
}

void handles_remove(struct handles *handles, uintptr_t handle)
{
	void *value = NULL;

	pthread_mutex_lock(&lock);
	struct handles_node *_Atomic *place = &handles->line[handles_line(handle)];
	struct handles_node *node = atomic_load_explicit(place, memory_order_relaxed);

	while (node != NULL && atomic_load_explicit(&node->handle, memory_order_relaxed) != handle) {
		place = &node->next;
		node = atomic_load_explicit(place, memory_order_relaxed);
	}
	if (node != NULL) {
		value = atomic_load_explicit(&node->value, memory_order_relaxed);
		atomic_store_explicit(&node->handle, 0, memory_order_release);
		atomic_store_explicit(place, atomic_load_explicit(&node->next, memory_order_relaxed), memory_order_release);
		atomic_store_explicit(&node->next, handles->unused, memory_order_relaxed);
		handles->unused = node;
	}
	pthread_mutex_unlock(&lock);
	if (value != NULL)
		handles->release(value);
}

void handles_forked(void)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	lock = fresh;
}
