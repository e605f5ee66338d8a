/* The public face: checks arguments, keeps errno, and hands on. The contracts are in nsched.h. */
#include "nsched.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"

/* Every call that may change errno is wrapped in these two. */
#define KEEP_ERRNO int saved_errno = errno
#define GIVE_BACK(ret) do { int r_ = (ret); errno = saved_errno; return r_; } while (0)

int nsched_version(void)
{
	return NSCHED_VERSION;
}

int nsched_worthwhile(nsched_error_t *why)
{
	KEEP_ERRNO;
	GIVE_BACK(process_worthwhile(why));
}

int nsched_probe(nsched_source_t *source, size_t size, unsigned most)
{
	KEEP_ERRNO;
	if (!source || size < sizeof *source) return -EINVAL;
	GIVE_BACK(process_probe(source, size, most));
}

int nsched_open(const nsched_config_t *config, nsched_t **handle)
{
	KEEP_ERRNO;
	if (!handle) return -EINVAL;
	GIVE_BACK(process_open(config, handle));
}

int nsched_close(nsched_t *handle)
{
	KEEP_ERRNO;
	if (!handle) return -EINVAL;
	GIVE_BACK(process_close(handle));
}

int nsched_start(nsched_t *handle)
{
	KEEP_ERRNO;
	if (!handle) return -EINVAL;
	GIVE_BACK(process_start(handle));
}

int nsched_step(nsched_t *handle)
{
	KEEP_ERRNO;
	if (!handle) return -EINVAL;
	GIVE_BACK(process_step(handle));
}

int nsched_thread_register(nsched_t *handle, nsched_thread_t **thread)
{
	KEEP_ERRNO;
	if (!handle || !thread) return -EINVAL;
	*thread = registry_add(&handle->registry, (pid_t)syscall(SYS_gettid), true);
	if (*thread) registry_settle(*thread);
	GIVE_BACK(*thread ? 0 : -ENOMEM);
}

void nsched_thread_unregister(nsched_thread_t *thread)
{
	if (thread) registry_bye(thread);
}

int nsched_thread_place(nsched_thread_t *thread)
{
	KEEP_ERRNO;
	if (!thread) return 0;
	GIVE_BACK(registry_place(thread));
}

void nsched_region_begin(nsched_thread_t *thread, const void *key)
{
	if (thread) region_begin(&thread->regions, key);
}

void nsched_region_end(nsched_thread_t *thread)
{
	if (thread) region_end(&thread->regions);
}

void nsched_loop_chunk(nsched_thread_t *thread, uint64_t start)
{
	if (thread) region_chunk(&thread->regions, start);
}

void nsched_mem_touch(nsched_thread_t *thread, const void *addr)
{
	if (thread && addr) registry_touch(thread, (uintptr_t)addr);
}

int nsched_mem_attach(nsched_t *handle, const char *name, const void *addr, size_t bytes)
{
	KEEP_ERRNO;
	if (!handle || !name || !addr || !bytes) return -EINVAL;
	GIVE_BACK(ranges_attach(&handle->ranges, name, (uintptr_t)addr, bytes));
}

int nsched_mem_detach(nsched_t *handle, const void *addr)
{
	KEEP_ERRNO;
	if (!handle || !addr) return -EINVAL;
	GIVE_BACK(ranges_detach(&handle->ranges, (uintptr_t)addr));
}

int nsched_mem_hint(nsched_t *handle, nsched_thread_t *thread, const void *addr, size_t bytes, uint64_t bytes_per_s)
{
	KEEP_ERRNO;
	if (!handle || !thread || !addr || !bytes) return -EINVAL;
	GIVE_BACK(ranges_hint(&handle->ranges, thread->number, (uintptr_t)addr, bytes, bytes_per_s));
}

int nsched_exchange_source(nsched_t *handle, const nsched_exchange_source_t *source)
{
	KEEP_ERRNO;
	if (!handle || (source && (source->size < offsetof(nsched_exchange_source_t, hold) || !source->sent))) return -EINVAL;
	GIVE_BACK(exchange_set(&handle->exchange, source));
}

int nsched_masks_changed(nsched_t *handle)
{
	if (!handle) return -EINVAL;
	atomic_store_explicit(&handle->registry.masks_changed, true, memory_order_release);
	return 0;
}

void nsched_exec_begin(void)
{
	int saved_errno = errno;
	process_exec_begin();
	errno = saved_errno;
}

void nsched_exec_end(void)
{
	int saved_errno = errno;
	process_exec_end();
	errno = saved_errno;
}

int nsched_stats(nsched_t *handle, nsched_stats_t *stats)
{
	KEEP_ERRNO;
	if (!handle || !stats || stats->size < sizeof(nsched_stats_t)) return -EINVAL;
	GIVE_BACK(process_stats(handle, stats));
}

int nsched_report(nsched_t *handle, const char *file)
{
	KEEP_ERRNO;
	if (!handle || !file || !*file) return -EINVAL;
	GIVE_BACK(process_report(handle, file));
}
