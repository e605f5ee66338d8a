/* The calls by which a program starts others. A child inherits the CPUs of the thread that made it, and those may be a
 * node's, by nsched's doing: around these calls the thread has all CPUs of the process. (fork is the core's matter, by
 * pthread_atfork; the child of a vfork comes here with its execve.) Between vfork and execve nothing may be looked up
 * or allocated: all is there beforehand. */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nsched.h"

typedef void hook_fn(void);

static _Atomic(hook_fn *) begin_hook, end_hook;

/* For the core, when it is opened. */
NSCHED_API void nsched_preload_exec(hook_fn *begin, hook_fn *end);
void nsched_preload_exec(hook_fn *begin, hook_fn *end)
{
	atomic_store(&end_hook, end);
	atomic_store(&begin_hook, begin);
}

static void call(_Atomic(hook_fn *) *hook)
{
	hook_fn *function = atomic_load(hook);
	int saved = errno;

	if (function)
		function();
	errno = saved;
}

#define NEXT(F) F(execve) F(execv) F(execvp) F(execvpe) F(fexecve) F(execveat) F(posix_spawn) F(posix_spawnp) F(system) F(popen)
static struct {
#define POINTER(name) __typeof__(&name) name;
	NEXT(POINTER)
#undef POINTER
} next;

static void find_next(void)
{
#define FIND(function) \
	if (!next.function) \
		next.function = (__typeof__(next.function))dlsym(RTLD_NEXT, #function);
	NEXT(FIND)
#undef FIND
}

__attribute__((constructor)) static void prepare_exec(void)
{
	find_next();
}

/* Another library's constructor may come before ours. */
#define WRAPPED(type, failed, function, ...) \
	do { \
		if (!next.function) \
			find_next(); \
		if (!next.function) { \
			errno = ENOSYS; \
			return failed; \
		} \
		call(&begin_hook); \
		type result = next.function(__VA_ARGS__); \
		call(&end_hook); \
		return result; \
	} while (0)

NSCHED_API int execve(const char *path, char *const argv[], char *const envp[])
{
	WRAPPED(int, -1, execve, path, argv, envp);
}

NSCHED_API int execv(const char *path, char *const argv[])
{
	WRAPPED(int, -1, execv, path, argv);
}

NSCHED_API int execvp(const char *file, char *const argv[])
{
	WRAPPED(int, -1, execvp, file, argv);
}

NSCHED_API int execvpe(const char *file, char *const argv[], char *const envp[])
{
	WRAPPED(int, -1, execvpe, file, argv, envp);
}

NSCHED_API int fexecve(int fd, char *const argv[], char *const envp[])
{
	WRAPPED(int, -1, fexecve, fd, argv, envp);
}

NSCHED_API int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
	WRAPPED(int, -1, execveat, folder, path, argv, envp, flags);
}

/* Those with their arguments in a row, up to a NULL: how many there are, and then they as an array. */
static size_t count(va_list arguments)
{
	size_t n = 1;

	while (va_arg(arguments, char *))
		n++;
	return n;
}

#define ROW(first, argv, last) \
	va_list last; \
	va_start(last, first); \
	size_t n_ = count(last); \
	va_end(last); \
	char **argv = alloca((n_ + 1) * sizeof(*argv)); \
	va_start(last, first); \
	argv[0] = (char *)(size_t)(first); \
	for (size_t i_ = 1; i_ <= n_; i_++) \
		argv[i_] = va_arg(last, char *)

NSCHED_API int execl(const char *path, const char *first, ...)
{
	ROW(first, argv, last);
	va_end(last);
	return execv(path, argv);
}

NSCHED_API int execlp(const char *file, const char *first, ...)
{
	ROW(first, argv, last);
	va_end(last);
	return execvp(file, argv);
}

NSCHED_API int execle(const char *path, const char *first, ...)
{
	ROW(first, argv, last);
	char *const *envp = va_arg(last, char *const *);
	va_end(last);
	return execve(path, argv, envp);
}

NSCHED_API int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                           char *const argv[], char *const envp[])
{
	WRAPPED(int, ENOSYS, posix_spawn, pid, path, actions, attributes, argv, envp);
}

NSCHED_API int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                            char *const argv[], char *const envp[])
{
	WRAPPED(int, ENOSYS, posix_spawnp, pid, file, actions, attributes, argv, envp);
}

NSCHED_API int system(const char *command)
{
	WRAPPED(int, -1, system, command);
}

NSCHED_API FILE *popen(const char *command, const char *mode)
{
	WRAPPED(FILE *, NULL, popen, command, mode);
}
