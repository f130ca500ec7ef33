/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every test runs once for each layout that is known, and for one that is not, as it may be derived
 * from a fork; each with an image and a walker of its own. Rows take turns in what else builds of
 * Luau differ in.
 */
#ifndef TEST_LUAU_FIXTURE_H
#define TEST_LUAU_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "luau_image.h"
#include "luau_walker.h"
#include "rows.h"

struct fixture {
	struct image image;
	struct walker walker;
	uint64_t protos[3];
	uint64_t closures[3]; /* of these */
	uint64_t builtin;     /* coroutine.resume and whatever else is in C */
};

/* Returns what the test program's main() has to return. */
int luau_fixture__run(const char *group, const struct fixture_test *tests, size_t count);

/* How many rows there are: an index of layouts_luau[], or one more. */
size_t luau_fixture__rows(void);

const struct ls_luau_layout *luau_fixture__layout(size_t row);

/* The same by hand, for those that are no cmocka tests. */
void luau_fixture__start(struct fixture *fixture, size_t row);
void luau_fixture__end(struct fixture *fixture);

/* The main thread runs a main chunk that has called a function. */
void luau_fixture__main(struct fixture *fixture);

/*
 * luau_fixture__main(), then the same `count` times: the running thread calls coroutine.resume,
 * which runs a new coroutine with two calls. Threads 0 .. count are the chain. Returns the running
 * one.
 */
size_t luau_fixture__chain(struct fixture *fixture, size_t count);

/* Calls `count` functions, each from the one before. */
void luau_fixture__nest(struct fixture *fixture, size_t thread, size_t count);

#endif
