/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which definitions of functions are sent, with what source, and how often their prototypes are
 * read again.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000ULL

static void sends_what_defines_a_function(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;
	const struct ls_function *function = &walker->definitions[0];
	uint64_t proto = image__proto(&fixture->image, "@a/file.lua", 33);

	fixture__run_alone(fixture, proto);
	walker__sample(walker, &fixture->image);
	assert_int_equal(walker->definition_count, 1);
	assert_int_equal(function->type, LS_RECORD_FUNCTION);
	assert_int_equal(function->tgid, fixture->image.tgid);
	assert_int_equal(function->function, proto);
	assert_int_equal(function->fingerprint, walker->scratch->frames[0].fingerprint);
	assert_int_equal(function->line_defined, 33);
	assert_int_equal(function->last_line_defined, 43);
	assert_int_equal(function->source_length, 11);
	assert_memory_equal(function->text, "@a/file.lua", 11);
	walker__sample(walker, &fixture->image);
	assert_int_equal(walker->definition_count, 0);
}

static void sends_a_definition_again_that_found_no_room(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;

	fixture__run_alone(fixture, fixture->protos[0]);
	walker->room = false;
	for (int i = 0; i < 3; i++) {
		fixture__fingerprint(fixture);
		assert_int_equal(walker->definition_count, 0);
	}
	walker->room = true;
	fixture__fingerprint(fixture);
	assert_int_equal(walker->definition_count, 1);
	fixture__fingerprint(fixture);
	assert_int_equal(walker->definition_count, 0);
}

static void sends_a_definition_for_each_process(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;

	fixture__run_alone(fixture, fixture->protos[0]);
	fixture__fingerprint(fixture);
	fixture->image.tgid++;
	fixture__fingerprint(fixture);
	assert_int_equal(walker->definition_count, 1);
	assert_int_equal(walker->definitions[0].tgid, fixture->image.tgid);
}

/* Each process has the function at the same address. */
static void remembers_what_forked_processes_have_sent(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;

	fixture__run_alone(fixture, fixture->protos[0]);
	for (int round = 0; round < 2; round++) {
		for (int worker = 0; worker < 8; worker++) {
			fixture__fingerprint(fixture);
			assert_int_equal(walker->definition_count, !round);
			fixture->image.tgid++;
		}
		fixture->image.tgid -= 8;
	}
}

static void sends_definitions_again_in_another_edition(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;
	uint64_t before;

	fixture__run_alone(fixture, fixture->protos[0]);
	before = fixture__fingerprint(fixture);
	walker->scratch->edition++;
	assert_int_equal(fixture__fingerprint(fixture), before);
	assert_int_equal(walker->definition_count, 1);
	fixture__fingerprint(fixture);
	assert_int_equal(walker->definition_count, 0);
}

/* A recycled prototype: other content at the same address is noticed when it is read again. */
static void sees_recycled_memory_in_time(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;
	struct image *image = &fixture->image;
	uint64_t source, before;

	fixture__run_alone(fixture, fixture->protos[0]);
	source = image__get(image, fixture->protos[0] + image->layout->proto_source);
	walker->step_ns = MS;
	for (int i = 0; i < 3000; i++)
		before = fixture__fingerprint(fixture);
	image__put(image, source + image->layout->string_contents + 1, 'x', 1);
	for (int i = 0; i < 20; i++)
		if (fixture__fingerprint(fixture) != before)
			break;
	assert_int_not_equal(walker->scratch->frames[0].fingerprint, before);
	assert_int_equal(walker->definition_count, 1);
	assert_memory_equal(walker->definitions[0].text, "@xain.lua", 9);
}

/* Content is trusted, without being read, for at most a 64th of the time that it was unchanged. */
static void trusts_content_for_no_more_than_it_has_proven(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;
	uint64_t known_since, looked_at;

	fixture__run_alone(fixture, fixture->protos[0]);
	fixture__fingerprint(fixture);
	known_since = looked_at = walker->now_ns;
	walker->step_ns = MS / 4;
	for (int i = 0; i < 12000; i++) {
		uint64_t reads;

		fixture__fingerprint(fixture);
		reads = walker->reads;
		if (reads > 7) {
			looked_at = walker->now_ns;
			continue;
		}
		assert_in_range(walker->now_ns - looked_at, 0, (looked_at - known_since) / 64);
		assert_in_range(walker->now_ns - looked_at, 0, 20 * MS);
	}
	assert_in_range(walker->now_ns - looked_at, 0, 20 * MS);
}

/* How many reads a sample takes after a second of sleep. */
static uint64_t reads_after_sleep(struct fixture *fixture)
{
	fixture->walker.now_ns += 1000 * MS;
	fixture->walker.asleep_ns += 1000 * MS;
	fixture__fingerprint(fixture);
	return fixture->walker.reads;
}

static void trusts_content_while_nobody_can_write_it(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;
	struct image *image = &fixture->image;
	uint64_t source, before;

	walker->step_ns = MS;
	walker->asleep_ns = walker->now_ns;
	fixture__run_alone(fixture, fixture->protos[0]);
	walker->is_alone = true;
	fixture__fingerprint(fixture);
	/* There is another thread. */
	walker->is_alone = false;
	assert_in_range(reads_after_sleep(fixture), 8, 40);
	/* The other thread has ended. */
	walker->is_alone = true;
	assert_in_range(reads_after_sleep(fixture), 8, 40);
	for (int i = 0; i < 300 || walker->reads < 8; i++)
		before = fixture__fingerprint(fixture);
	assert_in_range(reads_after_sleep(fixture), 1, 7);
	/* Once more, after a long proof. */
	walker->is_alone = false;
	assert_in_range(reads_after_sleep(fixture), 8, 40);
	fixture__fingerprint(fixture);
	assert_in_range(walker->reads, 1, 7);
	walker->is_alone = true;
	assert_in_range(reads_after_sleep(fixture), 8, 40);
	assert_in_range(reads_after_sleep(fixture), 1, 7);
	source = image__get(image, fixture->protos[0] + image->layout->proto_source);
	image__put(image, source + image->layout->string_contents + 1, 'x', 1);
	for (int i = 0; i < 20 && fixture__fingerprint(fixture) == before; i++)
		;
	assert_int_not_equal(walker->scratch->frames[0].fingerprint, before);
}

/* Recursion: every frame has the prototype that has just been read. */
static void looks_at_a_prototype_once_a_sample(struct fixture *fixture)
{
	fixture__main(fixture);
	for (int i = 0; i < 50; i++)
		image__call_lua(&fixture->image, 0, fixture->protos[1], 3, 4);
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 0);
	assert_int_equal(fixture->walker.definition_count, 3);
	assert_in_range(fixture->walker.reads, 1, 52 * 4 + 12 + 3 * 11);
}

static void calls_a_stripped_chunk_what_lua_does(struct fixture *fixture)
{
	fixture__run_alone(fixture, image__proto(&fixture->image, NULL, 0));
	fixture__fingerprint(fixture);
	assert_int_equal(fixture->walker.definition_count, 1);
	assert_int_equal(fixture->walker.definitions[0].source_length, 2);
	assert_memory_equal(fixture->walker.definitions[0].text, "=?", 2);
}

static void cuts_a_source_of_a_megabyte(struct fixture *fixture)
{
	const size_t size = 1 << 20;
	char *source = malloc(size + 1);

	assert_non_null(source);
	memset(source, 'y', size);
	source[size] = '\0';
	fixture__run_alone(fixture, image__proto(&fixture->image, source, 0));
	fixture__fingerprint(fixture);
	assert_int_equal(fixture->walker.definitions[0].source_length, LS_SOURCE_LEN - 1);
	assert_memory_equal(fixture->walker.definitions[0].text, source, LS_SOURCE_LEN - 1);
	free(source);
}

static void takes_sources_of_every_length(struct fixture *fixture)
{
	char source[600] = "";

	fixture__run_alone(fixture, fixture->protos[0]);
	for (size_t length = 1; length < sizeof(source) - 1; length += length < 40 ? 1 : 29) {
		uint64_t string, first, second;

		memset(source, 'z', length);
		source[0] = '=';
		string = image__string(&fixture->image, source, length);
		image__put(&fixture->image,
			   fixture->protos[0] + fixture->image.layout->proto_source, string, 8);
		first = fixture__fresh_fingerprint(fixture);
		assert_int_equal(fixture->walker.definitions[0].source_length,
				 length < LS_SOURCE_LEN ? length : LS_SOURCE_LEN - 1);
		/* Bytes left in the buffer by another source do not count. */
		memset(fixture->walker.scratch->content.source, 0x55, LS_SOURCE_LEN);
		fixture->walker.scratch->proto_cache[0].proto = 0;
		memset(fixture->walker.scratch->proto_cache, 0,
		       sizeof(fixture->walker.scratch->proto_cache));
		second = fixture__fingerprint(fixture);
		assert_int_equal(first, second);
	}
}

/* Text that runs into unmapped memory. */
static void survives_a_source_without_an_end(struct fixture *fixture)
{
	const uint64_t edge = 0x600000002000;
	struct image *image = &fixture->image;

	memory__map(&image->memory, edge - MEMORY_PAGE, MEMORY_PAGE);
	for (uint64_t at = edge - MEMORY_PAGE; at < edge; at++)
		image__put(image, at, 'q', 1);
	fixture__run_alone(fixture, fixture->protos[0]);
	for (uint64_t from = 1; from < 600; from += 53) {
		uint64_t string = edge - from - image->layout->string_contents;

		image__put(image, fixture->protos[0] + image->layout->proto_source, string, 8);
		fixture__fresh_fingerprint(fixture);
		assert_in_range(fixture->walker.definitions[0].source_length, 1, LS_SOURCE_LEN - 1);
	}
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(sends_what_defines_a_function),
		TEST(sends_a_definition_again_that_found_no_room),
		TEST(sends_a_definition_for_each_process),
		TEST(remembers_what_forked_processes_have_sent),
		TEST(sends_definitions_again_in_another_edition),
		TEST(sees_recycled_memory_in_time),
		TEST(trusts_content_for_no_more_than_it_has_proven),
		TEST(trusts_content_while_nobody_can_write_it),
		TEST(looks_at_a_prototype_once_a_sample),
		TEST(calls_a_stripped_chunk_what_lua_does),
		TEST(cuts_a_source_of_a_megabyte),
		TEST(takes_sources_of_every_length),
		TEST(survives_a_source_without_an_end),
	};

	return fixture__run("definitions", tests, sizeof(tests) / sizeof(tests[0]));
}
