/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every test runs once for each row of layouts_puc[], with an image and a walker of its own. */
#ifndef TEST_FIXTURE_H
#define TEST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "image.h"
#include "objects.h"
#include "rows.h"
#include "walker.h"

struct fixture {
	const struct layout_puc *row;
	struct image image;
	struct walker walker;
	uint64_t protos[3]; /* the functions of fixture__resume() */
};

/* Returns what the test program's main() has to return. */
int fixture__run(const char *group, const struct fixture_test *tests, size_t count);

/*
 * Whether the layouts differ in nothing that distinguishes images: 5.4.1 and 5.4.2 differ only in
 * flags.
 */
bool fixture__is_same_class(const struct layout_puc *one, const struct layout_puc *other);

/*
 * Makes the main thread the running one, under a protected call: a main chunk that has called a
 * function.
 */
void fixture__main(struct fixture *fixture);

/* Makes the running call of `resumer` a call of coroutine.resume(coroutine). */
void fixture__hold(struct fixture *fixture, size_t resumer, size_t coroutine);

/*
 * The running thread calls coroutine.resume, which runs a new coroutine with two calls. Returns the
 * coroutine.
 */
size_t fixture__resume(struct fixture *fixture, size_t running);

/*
 * fixture__main(), then the same `count` times: threads 0 .. count are the chain. Returns the
 * running one.
 */
size_t fixture__chain(struct fixture *fixture, size_t count);

/* Calls `count` functions, each from the one before. */
void fixture__nest(struct fixture *fixture, size_t thread, size_t count, uint32_t slots);

/* Fails unless the sample holds all calls of the main thread but number `missing` (0: outermost).
 */
void fixture__expect_calls_but(struct fixture *fixture, size_t missing);
/* Takes a sample; fails unless it is torn by that error and holds these calls. */
void fixture__expect_all_but(struct fixture *fixture, size_t missing, uint8_t error);

/* Makes the main thread run `proto`, and nothing else. */
void fixture__run_alone(struct fixture *fixture, uint64_t proto);

/* Takes a sample of the main thread alone. Returns its fingerprint of the running function. */
uint64_t fixture__fingerprint(struct fixture *fixture);
/* The same from a walker that knows nothing yet. */
uint64_t fixture__fresh_fingerprint(struct fixture *fixture);

#endif
