/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau_fixture.h"

#include <stdlib.h>

/* As none is known: each member is elsewhere, and there are more types behind strings. */
static const struct ls_luau_layout fork = {
	.string_type = 6,
	.function_type = 3,
	.closure_function = 40,
	.proto_size = 224,
	.proto_constants = 32,
	.proto_code = 48,
	.proto_children = 16,
	.proto_line_info = 120,
	.proto_line_bases = 8,
	.proto_source = 72,
	.proto_name = 64,
	.proto_code_count = 220,
	.proto_child_count = 216,
	.proto_constant_count = 212,
	.proto_line_info_size = 208,
	.proto_line_gap = 200,
	.proto_line_defined = 204,
	.proto_upvalues = 60,
	.proto_parameters = 61,
	.proto_is_vararg = 62,
};

size_t luau_fixture__rows(void)
{
	return layouts_luau_count + 1;
}

const struct ls_luau_layout *luau_fixture__layout(size_t row)
{
	return row < layouts_luau_count ? &layouts_luau[row].offsets : &fork;
}

void luau_fixture__start(struct fixture *fixture, size_t row)
{
	static const struct image_build builds[] = {{16, 40, 10}, {24, 48, 10}, {16, 48, 12}};
	static const char *const sources[] = {"=main", "@body.luau", "@leaf.luau"};
	static const char *const names[] = {NULL, "body", "leaf"};
	struct image *image = &fixture->image;

	luau_image__start(image, luau_fixture__layout(row),
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

static const char *name_of(size_t row)
{
	return row < layouts_luau_count ? layouts_luau[row].name : "luau-fork";
}

static struct fixture *start(size_t row)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (fixture)
		luau_fixture__start(fixture, row);
	return fixture;
}

static void end(struct fixture *fixture)
{
	luau_fixture__end(fixture);
	free(fixture);
}

int luau_fixture__run(const char *group, const struct fixture_test *tests, size_t count)
{
	const struct rows rows = {
		.count = luau_fixture__rows(), .name = name_of, .start = start, .end = end};

	return rows__run(group, &rows, tests, count);
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
