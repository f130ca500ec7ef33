/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau_fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* What cmocka hands from one function to the next. */
struct run {
	size_t row;
	const struct fixture_test *test;
	struct fixture *fixture;
	char name[200];
};

void luau_fixture__start(struct fixture *fixture, size_t row)
{
	static const struct image_build builds[] = {{16, 40, 10}, {24, 48, 10}, {16, 48, 12}};
	static const char *const sources[] = {"=main", "@body.luau", "@leaf.luau"};
	static const char *const names[] = {NULL, "body", "leaf"};
	struct image *image = &fixture->image;

	luau_image__start(image, &layouts_luau[row].offsets,
			  &builds[row % (sizeof(builds) / sizeof(*builds))]);
	luau_walker__start(&fixture->walker);
	for (uint32_t i = 0; i < 3; i++) {
		fixture->protos[i] = luau_image__proto(image, sources[i], names[i], i ? 10 * i : 1);
		fixture->closures[i] = luau_image__closure(image, fixture->protos[i]);
	}
	fixture->builtin = luau_image__c_closure(image, IMAGE_C_FUNCTION);
}

void luau_fixture__end(struct fixture *fixture)
{
	luau_walker__end(&fixture->walker);
	luau_image__end(&fixture->image);
}

static int set_up(void **state)
{
	struct run *run = *state;

	run->fixture = calloc(1, sizeof(*run->fixture));
	if (!run->fixture)
		return -1;
	luau_fixture__start(run->fixture, run->row);
	return 0;
}

static void run_one(void **state)
{
	struct run *run = *state;

	run->test->run(run->fixture);
}

static int tear_down(void **state)
{
	struct run *run = *state;

	luau_fixture__end(run->fixture);
	free(run->fixture);
	return 0;
}

int luau_fixture__run(const char *group, const struct fixture_test *tests, size_t count)
{
	size_t total = count * layouts_luau_count;
	struct CMUnitTest *units = calloc(total, sizeof(*units));
	struct run *runs = calloc(total, sizeof(*runs));
	int failed = 1;

	if (!units || !runs)
		goto cleanup;
	for (size_t i = 0; i < total; i++) {
		runs[i].row = i % layouts_luau_count;
		runs[i].test = &tests[i / layouts_luau_count];
		snprintf(runs[i].name, sizeof(runs[i].name), "%s (%s)", runs[i].test->name,
			 layouts_luau[runs[i].row].name);
		units[i] = (struct CMUnitTest){runs[i].name, run_one, set_up, tear_down, &runs[i]};
	}
	failed = _cmocka_run_group_tests(group, units, total, NULL, NULL);
cleanup:
	free(units);
	free(runs);
	return failed;
}

void luau_fixture__main(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	luau_image__enter(image, IMAGE_MAIN);
	luau_image__call(image, IMAGE_MAIN, fixture->closures[0], 0);
	luau_image__call(image, IMAGE_MAIN, fixture->closures[1], 7);
}

size_t luau_fixture__chain(struct fixture *fixture, size_t count)
{
	struct image *image = &fixture->image;
	size_t running = IMAGE_MAIN, coroutine;

	luau_fixture__main(fixture);
	for (size_t i = 0; i < count; i++) {
		coroutine = luau_image__coroutine(image);
		luau_image__call(image, running, fixture->builtin, 3);
		luau_image__hold(image, running, coroutine);
		luau_image__enter(image, coroutine);
		luau_image__call(image, coroutine, fixture->closures[1], 0);
		luau_image__call(image, coroutine, fixture->closures[2], 11);
		running = coroutine;
	}
	return running;
}

void luau_fixture__nest(struct fixture *fixture, size_t thread, size_t count)
{
	for (size_t i = 0; i < count; i++)
		luau_image__call(&fixture->image, thread, fixture->closures[i % 3], i % 31);
}
