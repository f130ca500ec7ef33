/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(size_t row)
{
	return layouts_puc[row].name;
}

static struct fixture *start(size_t row)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return NULL;
	fixture->row = &layouts_puc[row];
	image__start(&fixture->image, &fixture->row->offsets);
	walker__start(&fixture->walker);
	fixture->protos[0] = image__proto(&fixture->image, "@main.lua", 0);
	fixture->protos[1] = image__proto(&fixture->image, "@body.lua", 10);
	fixture->protos[2] = image__proto(&fixture->image, "@leaf.lua", 20);
	return fixture;
}

static void end(struct fixture *fixture)
{
	walker__end(&fixture->walker);
	image__end(&fixture->image);
	free(fixture);
}

int fixture__run(const char *group, const struct fixture_test *tests, size_t count)
{
	const struct rows rows = {
		.count = layouts_puc_count, .name = name_of, .start = start, .end = end};

	return rows__run(group, &rows, tests, count);
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

void fixture__expect_calls_but(struct fixture *fixture, size_t missing)
{
	const struct image_thread *thread = &fixture->image.threads[0];
	size_t at = 0;

	for (size_t i = thread->call_count; i-- > 0;)
		if (i != missing)
			walker__expect_call(&fixture->walker, at++, &thread->calls[i]);
	assert_int_equal(walker__count(&fixture->walker), at);
}

void fixture__expect_all_but(struct fixture *fixture, size_t missing, uint8_t error)
{
	walker__sample(&fixture->walker, &fixture->image);
	assert_int_equal(walker__error(&fixture->walker), error);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_TORN);
	assert_int_equal(fixture->walker.is_evidence, 0);
	fixture__expect_calls_but(fixture, missing);
}

void fixture__run_alone(struct fixture *fixture, uint64_t proto)
{
	image__protect(&fixture->image, IMAGE_MAIN);
	image__call_lua(&fixture->image, IMAGE_MAIN, proto, 5, 5);
}

uint64_t fixture__fingerprint(struct fixture *fixture)
{
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 0);
	return fixture->walker.scratch->frames[0].fingerprint;
}

uint64_t fixture__fresh_fingerprint(struct fixture *fixture)
{
	walker__forget(&fixture->walker);
	return fixture__fingerprint(fixture);
}
