#define _GNU_SOURCE
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The linker's name for the head of this very program: what our libraries are built for. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* ---- the way to it ------------------------------------------------------------------------------ */

static int usable(const char *path)
{
	struct stat info;

	if (stat(path, &info) < 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	if (S_ISDIR(info.st_mode))
		return -EISDIR;
	return access(path, X_OK) == 0 ? 0 : -EACCES;
}

static int find_in_path(const char *name, char path[PATH_MAX])
{
	const char *folders = getenv("PATH");
	int result = -ENOENT;

	if (folders == NULL)
		folders = "/bin:/usr/bin"; /* as execvp */
	for (;; folders++) {
		size_t length = strcspn(folders, ":");
		const char *slash = length == 0 ? "" : "/"; /* an empty one is the current folder */

		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, folders, slash, name) < PATH_MAX) {
			int one = usable(path);

			if (one == 0)
				return 0;
			if (one == -EACCES)
				result = -EACCES;
		}
		folders += length;
		if (*folders == '\0')
			return result;
	}
}

int program_find(const char *name, char path[PATH_MAX])
{
	if (name[0] == '\0')
		return -ENOENT;
	if (strchr(name, '/') == NULL)
		return find_in_path(name, path);
	if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
		return -ENAMETOOLONG;
	return usable(path);
}

/* ---- the ELF file ------------------------------------------------------------------------------- */

/* A part of the mapped file, or NULL where a damaged file points outside of itself. */
static const void *part(const char *file, size_t file_bytes, uint64_t offset, uint64_t bytes)
{
	return offset <= file_bytes && bytes <= file_bytes - offset ? file + offset : NULL;
}

static uint64_t file_offset(const ElfW(Phdr) *headers, unsigned count, uint64_t address)
{
	for (unsigned i = 0; i < count; i++) {
		if (headers[i].p_type == PT_LOAD && address >= headers[i].p_vaddr &&
		    address - headers[i].p_vaddr < headers[i].p_filesz)
			return address - headers[i].p_vaddr + headers[i].p_offset;
	}
	return UINT64_MAX;
}

/* Whether one of the libraries that the program names begins with `library`. */
static int needs(const char *file, size_t bytes, const ElfW(Phdr) *headers, unsigned count, const ElfW(Phdr) *dynamic,
                 const char *library)
{
	const ElfW(Dyn) *entry = part(file, bytes, dynamic->p_offset, dynamic->p_filesz);
	size_t entries = dynamic->p_filesz / sizeof(*entry);
	uint64_t names = UINT64_MAX;

	for (size_t i = 0; entry != NULL && i < entries; i++) {
		if (entry[i].d_tag == DT_STRTAB)
			names = file_offset(headers, count, entry[i].d_un.d_ptr);
	}
	for (size_t i = 0; entry != NULL && names != UINT64_MAX && i < entries; i++) {
		const char *name = entry[i].d_tag == DT_NEEDED
			? part(file, bytes, names + entry[i].d_un.d_val, strlen(library)) : NULL;

		if (name != NULL && strncmp(name, library, strlen(library)) == 0)
			return 1;
	}
	return 0;
}

static enum program_kind look_at_elf(const char *file, size_t bytes, int *threaded)
{
	static const char *const runtimes[] = { "libgomp.", "libomp.", "libomp5.", "libiomp5." };
	const ElfW(Ehdr) *elf = part(file, bytes, 0, sizeof(*elf));
	const ElfW(Phdr) *dynamic = NULL;
	int interpreter = 0;

	if (elf == NULL || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0)
		return PROGRAM_SCRIPT;
	if (elf->e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] || elf->e_machine != __ehdr_start.e_machine)
		return PROGRAM_FOREIGN;

	const ElfW(Phdr) *headers = part(file, bytes, elf->e_phoff, (uint64_t)elf->e_phnum * sizeof(*headers));

	if (headers == NULL || elf->e_phentsize != sizeof(*headers))
		return PROGRAM_SERVED;
	for (unsigned i = 0; i < elf->e_phnum; i++) {
		interpreter |= headers[i].p_type == PT_INTERP;
		if (headers[i].p_type == PT_DYNAMIC)
			dynamic = &headers[i];
	}
	if (!interpreter)
		return PROGRAM_STATIC;
	for (size_t i = 0; dynamic != NULL && i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		*threaded |= needs(file, bytes, headers, elf->e_phnum, dynamic, runtimes[i]);
	if (dynamic != NULL && needs(file, bytes, headers, elf->e_phnum, dynamic, "libasan."))
		return PROGRAM_ASAN;
	return PROGRAM_SERVED;
}

/* Whether exec would raise the program's rights above its user's: then ld.so ignores LD_PRELOAD. */
static int is_secure(int fd, const struct stat *info)
{
	int more_user = (info->st_mode & S_ISUID) && info->st_uid != geteuid();
	int more_group = (info->st_mode & S_ISGID) && (info->st_mode & S_IXGRP) && info->st_gid != getegid();
	int more_rights = geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;

	return more_user || more_group || more_rights;
}

enum program_kind program_look(const char *path, int *threaded)
{
	enum program_kind kind = PROGRAM_SERVED;
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*threaded = 0;
	if (fd < 0) { /* executable, but not readable: setuid programs are often so */
		if (stat(path, &info) == 0 && (info.st_mode & S_ISUID) && info.st_uid != geteuid())
			kind = PROGRAM_SECURE;
		return kind;
	}
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
		size_t bytes = (size_t)info.st_size;
		void *file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);

		if (file != MAP_FAILED) {
			kind = look_at_elf(file, bytes, threaded);
			munmap(file, bytes);
		}
		if (kind != PROGRAM_STATIC && is_secure(fd, &info))
			kind = PROGRAM_SECURE;
	}
	close(fd);
	return kind;
}
