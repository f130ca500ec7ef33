/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit_fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* What cmocka hands from one function to the next. */
struct run {
	const struct layout_luajit *row;
	const struct fixture_test *test;
	struct fixture *fixture;
	char name[200];
};

void luajit_fixture__start(struct fixture *fixture, const struct layout_luajit *row)
{
	static const char *const sources[] = {"@main.lua", "@body.lua", "@leaf.lua"};
	struct image *image = &fixture->image;

	fixture->row = row;
	luajit_image__start(image, &row->offsets);
	luajit_walker__start(&fixture->walker);
	for (uint32_t i = 0; i < 3; i++) {
		fixture->protos[i] = luajit_image__proto(image, sources[i], 10 * i);
		fixture->closures[i] = luajit_image__closure(image, fixture->protos[i]);
	}
	fixture->builtin = luajit_image__builtin(image, IMAGE_C_FUNCTION, 40);
}

void luajit_fixture__end(struct fixture *fixture)
{
	luajit_walker__end(&fixture->walker);
	luajit_image__end(&fixture->image);
}

static int set_up(void **state)
{
	struct run *run = *state;

	run->fixture = calloc(1, sizeof(*run->fixture));
	if (!run->fixture)
		return -1;
	luajit_fixture__start(run->fixture, run->row);
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

	luajit_fixture__end(run->fixture);
	free(run->fixture);
	return 0;
}

int luajit_fixture__run(const char *group, const struct fixture_test *tests, size_t count)
{
	size_t total = count * layouts_luajit_count;
	struct CMUnitTest *units = calloc(total, sizeof(*units));
	struct run *runs = calloc(total, sizeof(*runs));
	int failed = 1;

	if (!units || !runs)
		goto cleanup;
	for (size_t i = 0; i < total; i++) {
		runs[i].row = &layouts_luajit[i % layouts_luajit_count];
		runs[i].test = &tests[i / layouts_luajit_count];
		snprintf(runs[i].name, sizeof(runs[i].name), "%s (%s)", runs[i].test->name,
			 runs[i].row->name);
		units[i] = (struct CMUnitTest){runs[i].name, run_one, set_up, tear_down, &runs[i]};
	}
	failed = _cmocka_run_group_tests(group, units, total, NULL, NULL);
cleanup:
	free(units);
	free(runs);
	return failed;
}

void luajit_fixture__main(struct fixture *fixture)
{
	luajit_image__call_from_c(&fixture->image, IMAGE_MAIN, fixture->closures[0]);
	luajit_image__call(&fixture->image, IMAGE_MAIN, fixture->closures[2], 7);
}

size_t luajit_fixture__resume(struct fixture *fixture, size_t running)
{
	struct image *image = &fixture->image;
	size_t coroutine = luajit_image__coroutine(image);

	luajit_image__call(image, running, fixture->builtin, 3);
	luajit_image__save_base(image, running);
	luajit_image__native_frame(image, 96);
	memory__put(&image->memory, image->sp + 32, image->threads[running].address, 8);
	luajit_image__call_from_c(image, coroutine, fixture->closures[1]);
	luajit_image__call(image, coroutine, fixture->closures[2], 11);
	return coroutine;
}

size_t luajit_fixture__chain(struct fixture *fixture, size_t count)
{
	size_t running = IMAGE_MAIN;

	luajit_fixture__main(fixture);
	for (size_t i = 0; i < count; i++)
		running = luajit_fixture__resume(fixture, running);
	return running;
}

void luajit_fixture__nest(struct fixture *fixture, size_t thread, size_t count)
{
	for (size_t i = 0; i < count; i++)
		luajit_image__call(&fixture->image, thread, fixture->closures[i % 3], i % 31);
}

uint64_t luajit_fixture__trace(struct fixture *fixture, uint32_t number)
{
	const uint64_t inlined[] = {fixture->closures[1], fixture->closures[0]};

	return luajit_image__add_trace(&fixture->image, number, fixture->closures[2], inlined, 2,
				       5);
}
