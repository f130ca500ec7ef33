/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What cmocka hands from one function to the next. */
struct run {
	const struct layout_puc *row;
	const struct fixture_test *test;
	struct fixture *fixture;
	char name[200];
};

static int set_up(void **state)
{
	struct run *run = *state;
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	fixture->row = run->row;
	image__start(&fixture->image, &run->row->offsets);
	walker__start(&fixture->walker);
	fixture->protos[0] = image__proto(&fixture->image, "@main.lua", 0);
	fixture->protos[1] = image__proto(&fixture->image, "@body.lua", 10);
	fixture->protos[2] = image__proto(&fixture->image, "@leaf.lua", 20);
	run->fixture = fixture;
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
	struct fixture *fixture = run->fixture;

	walker__end(&fixture->walker);
	image__end(&fixture->image);
	free(fixture);
	return 0;
}

int fixture__run(const char *group, const struct fixture_test *tests, size_t count)
{
	size_t total = count * layouts_puc_count;
	struct CMUnitTest *units = calloc(total, sizeof(*units));
	struct run *runs = calloc(total, sizeof(*runs));
	int failed = 1;

	if (!units || !runs)
		goto cleanup;
	for (size_t i = 0; i < total; i++) {
		runs[i].row = &layouts_puc[i % layouts_puc_count];
		runs[i].test = &tests[i / layouts_puc_count];
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

bool fixture__is_same_class(const struct layout_puc *one, const struct layout_puc *other)
{
	struct ls_puc_layout offsets = other->offsets;

	offsets.status_tail = one->offsets.status_tail;
	offsets.status_hooked = one->offsets.status_hooked;
	offsets.status_finalizer = one->offsets.status_finalizer;
	return !memcmp(&offsets, &one->offsets, sizeof(offsets));
}

void fixture__main(struct fixture *fixture)
{
	image__protect(&fixture->image, IMAGE_MAIN);
	image__call_lua(&fixture->image, IMAGE_MAIN, fixture->protos[0], 7, 10);
	image__call_lua(&fixture->image, IMAGE_MAIN, fixture->protos[2], 3, 5);
}

void fixture__hold(struct fixture *fixture, size_t resumer, size_t coroutine)
{
	struct image *image = &fixture->image;
	uint64_t argument = image__top(image, resumer)->value + 16;

	memory__put(&image->memory, argument, image->threads[coroutine].address, 8);
	memory__put(&image->memory, argument + 8, image->layout->minor == 1 ? 8 : 8 + 64, 8);
}

size_t fixture__resume(struct fixture *fixture, size_t running)
{
	struct image *image = &fixture->image;
	size_t coroutine = image__coroutine(image);

	image__call_light(image, running, IMAGE_C_FUNCTION, 4);
	fixture__hold(fixture, running, coroutine);
	image__protect(image, coroutine);
	image__call_lua(image, coroutine, fixture->protos[1], 11, 8);
	image__call_lua(image, coroutine, fixture->protos[2], 5, 6);
	return coroutine;
}

size_t fixture__chain(struct fixture *fixture, size_t count)
{
	size_t running = IMAGE_MAIN;

	fixture__main(fixture);
	for (size_t i = 0; i < count; i++)
		running = fixture__resume(fixture, running);
	return running;
}

void fixture__nest(struct fixture *fixture, size_t thread, size_t count, uint32_t slots)
{
	for (size_t i = 0; i < count; i++)
		image__call_lua(&fixture->image, thread, fixture->protos[i % 3], i % 60, slots);
}
