/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every test runs once for each row of layouts_luajit[], with an image and a walker of its own. */
#ifndef TEST_LUAJIT_FIXTURE_H
#define TEST_LUAJIT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "luajit_calls.h"
#include "luajit_image.h"
#include "luajit_walker.h"
#include "rows.h"

struct fixture {
	const struct layout_luajit *row;
	/* The row's, with places in snapshots, for images have them; a test may take them away. */
	struct ls_luajit_layout layout;
	struct image image;
	struct walker walker;
	uint64_t protos[3];
	uint64_t closures[3]; /* of these */
	uint64_t builtin;     /* coroutine.resume, pcall and whatever else is in C */
};

/* Returns what the test program's main() has to return. */
int luajit_fixture__run(const char *group, const struct fixture_test *tests, size_t count);

/* The same by hand, for those that are no cmocka tests. */
void luajit_fixture__start(struct fixture *fixture, const struct layout_luajit *row);
void luajit_fixture__end(struct fixture *fixture);

/* The main thread runs a main chunk that has called a function. */
void luajit_fixture__main(struct fixture *fixture);

/*
 * The running thread calls coroutine.resume, which runs a new coroutine with two calls. Returns the
 * coroutine.
 */
size_t luajit_fixture__resume(struct fixture *fixture, size_t running);

/*
 * luajit_fixture__main(), then the same `count` times: threads 0 .. count are the chain. Returns
 * the running one.
 */
size_t luajit_fixture__chain(struct fixture *fixture, size_t count);

/* Calls `count` functions, each from the one before. */
void luajit_fixture__nest(struct fixture *fixture, size_t thread, size_t count);

/* Trace `number` begins in closures[2], which calls closures[1], which calls closures[0]. */
uint64_t luajit_fixture__trace(struct fixture *fixture, uint32_t number);

#endif
