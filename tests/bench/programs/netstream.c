/* netstream: pairs of processes, one of which sends a buffer over TCP on the loopback, again and again, to the other, which
 * reads it: for want of netperf. Both touch what they send and get. -p is the number of pairs, -k the buffer. A unit of work
 * is a KiB received. What the kernel does is free in the timing model, so only touching memory counts there. */
#define _GNU_SOURCE
#include "bench.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK = 32 << 10 };

static int listener[BENCH_THREADS_MOST];
static struct sockaddr_in address[BENCH_THREADS_MOST];

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

/* Before the processes are forked, so that each finds its pair's port. */
static void listen_for(unsigned pair)
{
	socklen_t length = sizeof(address[pair]);

	address[pair] = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	listener[pair] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener[pair] < 0 || bind(listener[pair], (struct sockaddr *)&address[pair], length) != 0 ||
	    listen(listener[pair], 1) != 0 || getsockname(listener[pair], (struct sockaddr *)&address[pair], &length) != 0)
		fail("loopback");
}

static bool sends(unsigned process)
{
	return process % 2 == 0;
}

struct end {
	char *buffer;
	int connection;
};

static void *prepare(const struct bench_options *options, unsigned process)
{
	static struct end end;

	end.buffer = bench_map(options->kib << 10, options);
	end.connection = -1;
	if (options->bind == BENCH_NONE)
		memset(end.buffer, 1, options->kib << 10);
	(void)process;
	return &end;
}

static void touch(struct bench_worker *worker)
{
	const struct bench_options *options = worker->options;
	struct end *end = worker->memory;
	unsigned pair = worker->process / 2;

	if (options->bind != BENCH_NONE) {
		bench_memory_to(end->buffer, options->kib << 10,
		                1ul << bench_memory_node(options->bind, bench_cpu_of(options->bind, worker->i, worker->all)));
		memset(end->buffer, 1, options->kib << 10);
	}
	if (sends(worker->process)) {
		end->connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (end->connection < 0 || connect(end->connection, (struct sockaddr *)&address[pair], sizeof(address[pair])) != 0)
			fail("connect");
	} else {
		end->connection = accept(listener[pair], NULL, NULL);
		if (end->connection < 0)
			fail("accept");
	}
	struct timeval soon = { 0, 100000 }; /* so that both see the end, whoever is first */

	setsockopt(end->connection, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	setsockopt(end->connection, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
}

static uint64_t work(struct bench_worker *worker, uint64_t round)
{
	struct end *end = worker->memory;
	char *chunk = end->buffer + round % ((worker->options->kib << 10) / CHUNK) * CHUNK;
	unsigned long sum = 0;
	ssize_t got;

	if (sends(worker->process)) {
		memset(chunk, (int)round, CHUNK);
		(void)!send(end->connection, chunk, CHUNK, MSG_NOSIGNAL);
		return 0;
	}
	got = recv(end->connection, chunk, CHUNK, MSG_WAITALL);
	for (ssize_t i = 0; i + 8 <= got; i += 8)
		sum += *(const unsigned long *)(void *)(chunk + i);
	__asm__ volatile("" ::"r"(sum));
	return got > 0 ? (uint64_t)got >> 10 : 0;
}

int main(int argc, char **argv)
{
	static const struct bench_work streaming = { prepare, touch, work };
	struct bench_options options = bench_options(argc, argv, (struct bench_options){ .processes = 4, .threads = 1, .kib = 1024, .seconds = 9 },
	                                             "pairs of processes that stream over the loopback");

	options.processes *= 2; /* -p: pairs */
	if (options.kib < CHUNK >> 10 || options.processes > BENCH_THREADS_MOST)
		options.kib = CHUNK >> 10;
	for (unsigned pair = 0; pair < options.processes / 2; pair++)
		listen_for(pair);
	return bench_run(&options, &streaming);
}
