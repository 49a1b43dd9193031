// SPDX-License-Identifier: GPL-2.0-only
/*
 * workingset: use more memory than there is, and see that every page comes back from swap as it was.
 *
 *	workingset MEGABYTES SECONDS PROCESSES
 *
 * Each process has a part of it as anonymous memory. It writes all pages, then some at random, each with a pattern of
 * its own number and of how often it was written, and checks what was there before. In the end all pages are checked.
 * Not threads: a UML guest runs only one thread of a program at a time.
 * Prints the number of pages written. Exit status: 0 right, 1 a wrong byte, 2 usage or no memory.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096
#define WORDS		(PAGE / sizeof(uint64_t))
#define PROCESSES_MAX	16

struct part {
	uint64_t *pages;
	uint32_t *rounds;	/* how often each page was written; the expected content follows from it */
	size_t nr;
	uint64_t random;
	uint64_t written;
	time_t end;
	bool wrong;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint64_t word_of(size_t page, uint32_t round, size_t i)
{
	return mix((uint64_t)page << 32 | round) + i;
}

static bool right(const struct part *p, size_t page)
{
	const uint64_t *w = p->pages + page * WORDS;
	size_t i;

	/* A page that was never written is zero. */
	for (i = 0; i < WORDS; i++) {
		uint64_t want = p->rounds[page] ? word_of(page, p->rounds[page], i) : 0;

		if (w[i] != want) {
			fprintf(stderr, "page %zu, round %u, word %zu: %016llx instead of %016llx\n", page,
				p->rounds[page], i, (unsigned long long)w[i], (unsigned long long)want);
			return false;
		}
	}
	return true;
}

static void fill(struct part *p, size_t page)
{
	uint64_t *w = p->pages + page * WORDS;
	size_t i;

	p->rounds[page]++;
	for (i = 0; i < WORDS; i++)
		w[i] = word_of(page, p->rounds[page], i);
	p->written++;
}

static int work(struct part *p)
{
	size_t page;

	for (page = 0; page < p->nr; page++)
		fill(p, page);
	while (time(NULL) < p->end && !p->wrong) {
		p->random += 0x9e3779b97f4a7c15ull;
		page = mix(p->random) % p->nr;
		p->wrong = !right(p, page);
		fill(p, page);
	}
	for (page = 0; page < p->nr && !p->wrong; page++)
		p->wrong = !right(p, page);
	printf("%llu pages written\n", (unsigned long long)p->written);
	return p->wrong;
}

static int start(struct part *p)
{
	p->pages = mmap(NULL, p->nr * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);
	p->rounds = calloc(p->nr, sizeof(*p->rounds));
	if (p->pages == MAP_FAILED || !p->rounds) {
		perror("memory");
		return 2;
	}
	return work(p);
}

int main(int argc, char **argv)
{
	struct part part = { };
	size_t pages, nr, i;
	int status, worst = 0;

	if (argc != 4)
		goto usage;
	pages = strtoul(argv[1], NULL, 10) << 8;
	nr = strtoul(argv[3], NULL, 10);
	if (!pages || !nr || nr > PROCESSES_MAX)
		goto usage;

	part.nr = pages / nr;
	part.end = time(NULL) + strtol(argv[2], NULL, 10);
	for (i = 0; i < nr; i++) {
		pid_t child = fork();

		part.random = i;
		if (!child)
			exit(start(&part));
		if (child < 0) {
			perror("fork");
			worst = 2;
		}
	}
	/* One that was killed was not right either. */
	while (wait(&status) > 0) {
		if (!WIFEXITED(status) || WEXITSTATUS(status) > worst)
			worst = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
	}
	return worst;
usage:
	fprintf(stderr, "usage: workingset MEGABYTES SECONDS PROCESSES\n");
	return 2;
}
