/* Counts the MPI calls of a program without any wrapper: the other opinion, that the plugin's counts are held
 * against. As an auditor of the dynamic linker (LD_AUDIT) it sees each symbol that is bound from one object
 * to another. A call from the program, or from a library of its, to MPI_X, or to the Fortran name of it, is
 * bound to a few instructions that count and go on; how the MPI library calls itself is not looked at. So it
 * does not depend on who is preloaded, on the language, nor on what the plugin thinks is a call.
 *
 * The counts lie in a file, AUDIT_FILE with the process number behind it, that is mapped: nothing has to be
 * written at the end, however the program ends. Lines of 64 bytes: the name, and at byte 56 the count. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "the counting instructions are x86-64's"
#endif

enum { LINES = 2048, NAME_BYTES = 56, CODE_BYTES = 64 };

static struct line {
	char name[NAME_BYTES];
	uint64_t calls;
} *lines;
static unsigned char *code;
static unsigned n_lines, n_code;
static atomic_flag busy = ATOMIC_FLAG_INIT;

unsigned la_version(unsigned version)
{
	char file[4096];
	const char *name = getenv("AUDIT_FILE");

	if (name == NULL)
		return 0;
	snprintf(file, sizeof(file), "%s.%ld", name, (long)getpid());
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, LINES * sizeof(*lines)) < 0)
		return 0;
	lines = mmap(NULL, LINES * sizeof(*lines), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	code = mmap(NULL, LINES * CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	close(fd);
	return lines == MAP_FAILED || code == MAP_FAILED ? 0 : version;
}

/* The MPI library's own objects, its components and Fortran bindings, and the plugin. */
static int is_inside(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;

	return strncmp(name, "libmp", 5) == 0 || strncmp(name, "mca_", 4) == 0 || strncmp(name, "libmca_", 7) == 0 ||
	       strncmp(name, "libopen-", 8) == 0 || strncmp(name, "libnsched", 9) == 0;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	(void)namespace;
	*cookie = (uintptr_t)map;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

/* Not tolower and strcasecmp: an auditor has a C library of its own, whose locale the program's threads do not have. */
static char small(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

/* "Send" of MPI_Send, PMPI_Send, mpi_send_, mpi_send__ and mpi_send_f08_, all in small letters; 0: another one. */
static int mpi_name(const char *symbol, char *name)
{
	size_t length = strlen(symbol), n = 0;

	symbol += small(symbol[0]) == 'p';
	if ((strncmp(symbol, "MPI_", 4) != 0 && strncmp(symbol, "mpi_", 4) != 0) || length >= NAME_BYTES)
		return 0;
	for (symbol += 4; *symbol != '\0'; symbol++)
		name[n++] = small(*symbol);
	while (n > 0 && name[n - 1] == '_')
		n--;
	name[n] = '\0';
	if (n > 6 && strcmp(name + n - 6, "_f08ts") == 0)
		name[n - 6] = '\0';
	else if (n > 4 && strcmp(name + n - 4, "_f08") == 0)
		name[n - 4] = '\0';
	return name[0] != '\0';
}

static uint64_t *counter(const char *name)
{
	if (n_code == LINES)
		return NULL;
	for (unsigned i = 0; i < n_lines; i++)
		if (strcmp(lines[i].name, name) == 0)
			return &lines[i].calls;
	if (n_lines == LINES)
		return NULL;
	strcpy(lines[n_lines].name, name);
	return &lines[n_lines++].calls;
}

static void put(unsigned char **at, const void *bytes, size_t n)
{
	memcpy(*at, bytes, n);
	*at += n;
}

/* mov $counter, %r11; lock incq (%r11); mov $target, %r11; jmp *%r11 -- r11 is nobody's at a call */
static uintptr_t counting(uint64_t *calls, uintptr_t target)
{
	unsigned char *start = code + CODE_BYTES * (n_code++), *at = start;

	put(&at, "\x49\xbb", 2);
	put(&at, &calls, 8);
	put(&at, "\xf0\x49\xff\x03", 4);
	put(&at, "\x49\xbb", 2);
	put(&at, &target, 8);
	put(&at, "\x41\xff\xe3", 3);
	return (uintptr_t)start;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags, const char *name)
{
	char mpi[NAME_BYTES + 8];
	(void)index;
	(void)to;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || (*flags & LA_SYMB_DLSYM) || !mpi_name(name, mpi) ||
	    is_inside(((struct link_map *)*from)->l_name))
		return symbol->st_value;
	while (atomic_flag_test_and_set(&busy))
		; /* threads bind at the same time */
	uint64_t *calls = counter(mpi);
	uintptr_t target = calls == NULL ? symbol->st_value : counting(calls, symbol->st_value);

	atomic_flag_clear(&busy);
	return target;
}
