/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A property is one TAP line. CHECK() notes a failure and goes on, so that one run shows everything.
 *
 * tap_end() prints the plan last: a test program that died has none.
 */
#ifndef TAP_H
#define TAP_H

#include <stdio.h>

static unsigned int tap_tests, tap_failed, tap_failures_here;

/* Print the first failures of a property; there may be thousands. */
#define CHECK(condition, ...) \
	do { \
		if (!(condition) && ++tap_failures_here <= 4) { \
			printf("# %s:%d: not true: %s: ", __FILE__, __LINE__, #condition); \
			printf(__VA_ARGS__); \
			printf("\n"); \
		} \
	} while (0)

static void property(const char *what, void (*test)(void))
{
	tap_failures_here = 0;
	test();
	tap_tests++;
	tap_failed += !!tap_failures_here;
	if (tap_failures_here > 4)
		printf("# and %u more\n", tap_failures_here - 4);
	printf("%sok %u - %s\n", tap_failures_here ? "not " : "", tap_tests, what);
	fflush(stdout);
}

static int tap_end(void)
{
	printf("1..%u\n", tap_tests);
	return !!tap_failed;
}

/* A generator of our own: the same numbers from the same seed everywhere (xorshift64*). */
static inline unsigned long long tap_random(unsigned long long *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

#endif
