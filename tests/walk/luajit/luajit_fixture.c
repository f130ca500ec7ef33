/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit_fixture.h"

#include <stdlib.h>

void luajit_fixture__start(struct fixture *fixture, const struct layout_luajit *row)
{
	static const char *const sources[] = {"@main.lua", "@body.lua", "@leaf.lua"};
	struct image *image = &fixture->image;

	fixture->row = row;
	fixture->layout = row->offsets;
	fixture->layout.lacks_places = 0;
	luajit_image__start(image, &fixture->layout);
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

static const char *name_of(size_t row)
{
	return layouts_luajit[row].name;
}

static struct fixture *start(size_t row)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (fixture)
		luajit_fixture__start(fixture, &layouts_luajit[row]);
	return fixture;
}

static void end(struct fixture *fixture)
{
	luajit_fixture__end(fixture);
	free(fixture);
}

int luajit_fixture__run(const char *group, const struct fixture_test *tests, size_t count)
{
	const struct rows rows = {
		.count = layouts_luajit_count, .name = name_of, .start = start, .end = end};

	return rows__run(group, &rows, tests, count);
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
