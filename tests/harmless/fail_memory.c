/* Preloaded: writes down each place of nsched from which memory is asked for, and lets it fail once in one of them. By places as in
 * fail_calls: two return addresses of nsched's on the stack; so what hwloc, jansson or the C library ask for on nsched's behalf counts, too.
 *
 * FAIL_MEMORY_LIST: where the list goes when the process ends, with how many blocks of each place are still there;
 * FAIL_MEMORY_PLACE: the place that fails, at its first time, or always with FAIL_MEMORY_ALWAYS. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RANGES = 16, PLACES = 4096, BLOCKS = 1 << 20, STACK_WORDS = 768, KEY = 128 };

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *block);

static struct range { uintptr_t from, to, base; char name[32]; } range[RANGES];
static struct range foreign[RANGES];   /* hwloc and Capstone, which do not look at what they get (libnsched/sys/room.h) */
static unsigned foreigners;
static _Atomic unsigned ranges;
static struct place { char key[KEY]; int times, left; } place[PLACES];
static unsigned places;
static struct block { uintptr_t address; unsigned place; } blocks[BLOCKS];
static atomic_flag lock = ATOMIC_FLAG_INIT;
static bool hit;
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

static void enter(void) { while (atomic_flag_test_and_set(&lock)) { } }
static void leave(void) { atomic_flag_clear(&lock); }

/* Without memory: by hand, from a file that is read in pieces. */
static void read_ranges(void)
{
	static char text[1 << 18];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	uintptr_t base = 0;
	unsigned found = 0;
	foreigners = 0;
	for (ssize_t got = 1; fd >= 0 && n < sizeof text - 1 && (got = read(fd, text + n, sizeof text - 1 - n)) > 0; n += (size_t)got) { }
	if (fd >= 0) close(fd);
	text[n] = 0;
	for (char *line = text, *end; (end = strchr(line, '\n')) && found < RANGES; line = end + 1) {
		*end = 0;
		char *name = strrchr(line, '/'), *rest;
		int other = name && (!strncmp(name, "/libhwloc", 9) || !strncmp(name, "/libcapstone", 12));
		if (!name || (!other && strncmp(name, "/libnsched", 10))) continue;
		uintptr_t from = strtoul(line, &rest, 16), to = strtoul(rest + 1, &rest, 16);
		char *rights = rest + 1;
		if (!strtoul(rights + 5, NULL, 16)) base = from;
		if (rights[2] != 'x') continue;
		if (other) {
			if (foreigners < RANGES) foreign[foreigners++] = (struct range){ from, to, base, "" };
			continue;
		}
		range[found] = (struct range){ from, to, base, "" };
		strncat(range[found++].name, name + 1, sizeof range->name - 1);
	}
	atomic_store(&ranges, found);
}

static const struct range *range_of(uintptr_t address)
{
	for (unsigned i = 0; i < ranges; i++)
		if (address >= range[i].from && address < range[i].to) return &range[i];
	return NULL;
}

static bool is_return(uintptr_t address)
{
	const unsigned char *end = (const unsigned char *)address;   /* inside one of our libraries: can be read */
	return end[-5] == 0xe8 || (end[-6] == 0xff && end[-5] == 0x15) || (end[-2] == 0xff && (end[-1] & 0x38) == 0x10) ||
	       (end[-3] == 0xff && (end[-2] & 0x38) == 0x10);
}

static void put(char key[KEY], size_t *n, const char *text)
{
	while (*text && *n < KEY - 1) key[(*n)++] = *text++;
	key[*n] = 0;
}

static void put_hex(char key[KEY], size_t *n, uintptr_t number)
{
	for (int shift = 20; shift >= 0; shift -= 4)
		put(key, n, (char[]){ "0123456789abcdef"[number >> shift & 15], 0 });
}

/* Number of the place, or -1: the program's own. Under the lock. */
static int find_place(const char *call, const void *frame, uintptr_t caller)
{
	static unsigned asked;
	uintptr_t stack[STACK_WORDS];
	size_t n = 0, words = STACK_WORDS;
	unsigned found = 0;
	char key[KEY];
	if (!ranges && asked++ % 16 == 0) read_ranges();
	if (!ranges) return -1;
	if (asked++ % 64 == 0) read_ranges();   /* others are loaded as time goes by */
	struct iovec own = { stack, sizeof stack }, other = { (void *)(uintptr_t)frame, sizeof stack };
	while (words > 32 && process_vm_readv(getpid(), &own, 1, &other, 1, 0) != (ssize_t)(words * sizeof *stack)) {
		words /= 2;
		own.iov_len = other.iov_len = words * sizeof *stack;
	}
	for (unsigned i = 0; i < foreigners; i++)
		if (caller >= foreign[i].from && caller < foreign[i].to) put(key, &n, "foreign-");
	put(key, &n, call);
	for (size_t i = 0; i < words && found < 2; i++) {
		const struct range *r = range_of(stack[i]);
		if (!r || !is_return(stack[i])) continue;
		put(key, &n, ":");
		put(key, &n, r->name);
		put(key, &n, "+");
		put_hex(key, &n, stack[i] - r->base);
		found++;
	}
	if (!found) return -1;
	for (unsigned i = 0; i < places; i++)
		if (!strcmp(place[i].key, key)) return (int)i;
	if (places == PLACES) return -1;
	memcpy(place[places].key, key, KEY);
	return (int)places++;
}

/* True: this one fails. `which` is its place. */
static bool fails(const char *call, const void *frame, const void *caller, int *which)
{
	int saved = errno;
	bool fail = false;
	*which = -1;
	if (inside) return false;
	inside = true;
	enter();
	*which = find_place(call, frame, (uintptr_t)caller);
	if (*which >= 0) {
		const char *wanted = getenv("FAIL_MEMORY_PLACE");
		place[*which].times++;
		fail = wanted && !strcmp(wanted, place[*which].key) && (!hit || getenv("FAIL_MEMORY_ALWAYS"));
		hit |= fail;
	}
	leave();
	inside = false;
	errno = fail ? ENOMEM : saved;
	return fail;
}

static size_t slot_of(const void *block)
{
	return ((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 44;
}

static void *keep(void *block, int which)
{
	if (!block || which < 0) return block;
	enter();
	for (size_t i = slot_of(block), n = 0; n < 64; i = (i + 1) % BLOCKS, n++) {
		if (blocks[i].address) continue;
		blocks[i] = (struct block){ (uintptr_t)block, (unsigned)which };
		place[which].left++;
		break;
	}
	leave();
	return block;
}

static void forget(const void *block)
{
	if (!block || !places) return;
	enter();
	for (size_t i = slot_of(block), n = 0; n < 64; i = (i + 1) % BLOCKS, n++) {
		if (blocks[i].address != (uintptr_t)block) continue;
		blocks[i].address = 0;
		place[blocks[i].place].left--;
		break;
	}
	leave();
}

#define EXPORTED __attribute__((visibility("default")))
#define HERE __builtin_frame_address(0), __builtin_return_address(0)

EXPORTED void *malloc(size_t bytes)
{
	int which;
	return fails("malloc", HERE, &which) ? NULL : keep(__libc_malloc(bytes), which);
}

EXPORTED void *calloc(size_t n, size_t bytes)
{
	int which;
	return fails("calloc", HERE, &which) ? NULL : keep(__libc_calloc(n, bytes), which);
}

EXPORTED void *realloc(void *old, size_t bytes)
{
	int which;
	if (fails("realloc", HERE, &which)) return NULL;
	forget(old);
	return keep(__libc_realloc(old, bytes), which);
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t bytes)
{
	int which;
	if (fails("posix_memalign", HERE, &which)) return ENOMEM;
	*block = keep(__libc_memalign(alignment, bytes), which);
	return *block ? 0 : ENOMEM;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t bytes)
{
	int which;
	return fails("aligned_alloc", HERE, &which) ? NULL : keep(__libc_memalign(alignment, bytes), which);
}

EXPORTED void free(void *block)
{
	forget(block);
	__libc_free(block);
}

__attribute__((destructor)) static void write_list(void)
{
	const char *list = getenv("FAIL_MEMORY_LIST");
	inside = true;
	FILE *out = list && places ? fopen(list, "we") : NULL;
	if (!out) return;
	for (unsigned i = 0; i < places; i++) fprintf(out, "%d %d %s\n", place[i].times, place[i].left, place[i].key);
	fprintf(out, "%s\n", hit ? "hit" : "none");
	fclose(out);
}
