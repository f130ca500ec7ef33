/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tells prototypes apart, which of them are sent, and how often they are read again. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000ULL

static void put(struct image *image, uint64_t address, uint64_t number, size_t size)
{
	memory__put(&image->memory, address, number, size);
}

static uint64_t get(struct image *image, uint64_t address)
{
	return memory__get(&image->memory, address, 8);
}

/* Makes the main thread run `proto`, and nothing else. */
static void run_alone(struct fixture *fixture, uint64_t proto)
{
	image__protect(&fixture->image, IMAGE_MAIN);
	image__call_lua(&fixture->image, IMAGE_MAIN, proto, 5, 5);
}

/* Takes a sample. Returns its fingerprint of the running function. */
static uint64_t fingerprint(struct fixture *fixture)
{
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 0);
	return fixture->walker.scratch->frames[0].fingerprint;
}

/* The same from a walker that knows nothing yet. */
static uint64_t fresh_fingerprint(struct fixture *fixture)
{
	walker__forget(&fixture->walker);
	return fingerprint(fixture);
}

static void sends_what_defines_a_function(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;
	const struct ls_function *function = &walker->definitions[0];
	uint64_t proto = image__proto(&fixture->image, "@a/file.lua", 33);

	run_alone(fixture, proto);
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

	run_alone(fixture, fixture->protos[0]);
	walker->room = false;
	for (int i = 0; i < 3; i++) {
		fingerprint(fixture);
		assert_int_equal(walker->definition_count, 0);
	}
	walker->room = true;
	fingerprint(fixture);
	assert_int_equal(walker->definition_count, 1);
	fingerprint(fixture);
	assert_int_equal(walker->definition_count, 0);
}

static void sends_a_definition_for_each_process(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;

	run_alone(fixture, fixture->protos[0]);
	fingerprint(fixture);
	fixture->image.tgid++;
	fingerprint(fixture);
	assert_int_equal(walker->definition_count, 1);
	assert_int_equal(walker->definitions[0].tgid, fixture->image.tgid);
}

/* Each process has the function at the same address. */
static void remembers_what_forked_processes_have_sent(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;

	run_alone(fixture, fixture->protos[0]);
	for (int round = 0; round < 2; round++) {
		for (int worker = 0; worker < 8; worker++) {
			fingerprint(fixture);
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

	run_alone(fixture, fixture->protos[0]);
	before = fingerprint(fixture);
	walker->scratch->edition++;
	assert_int_equal(fingerprint(fixture), before);
	assert_int_equal(walker->definition_count, 1);
	fingerprint(fixture);
	assert_int_equal(walker->definition_count, 0);
}

/* The text of a string is written over; nothing else of the prototype changes. */
static void tells_functions_apart_by_the_text_of_their_source(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t before, source;

	run_alone(fixture, fixture->protos[0]);
	before = fresh_fingerprint(fixture);
	assert_int_equal(fresh_fingerprint(fixture), before);
	source = get(image, fixture->protos[0] + image->layout->proto_source);
	put(image, source + image->layout->string_contents + 1, 'x', 1);
	assert_int_not_equal(fresh_fingerprint(fixture), before);
}

/* lstring.c: a short string has the hash of its text; of a long one the text is read. */
static void tells_functions_apart_by_the_text_of_a_constant(struct fixture *fixture)
{
	static const char *const texts[3][2] = {
		{"print", "error"},
		{"a constant", "a sonctant"},
		{"of some more than forty bytes, which is a long string",
		 "as some more than forty bytes, which is a long string"},
	};
	struct image *image = &fixture->image;
	uint64_t constants = get(image, fixture->protos[0] + image->layout->proto_constants);
	uint64_t before, string, other;

	run_alone(fixture, fixture->protos[0]);
	before = fresh_fingerprint(fixture);
	for (size_t i = 0; i < 3; i++) {
		size_t length = strlen(texts[i][0]);
		uint8_t bytes[128], saved[128];

		string = get(image, constants + i * 16);
		other = image__string(image, texts[i][1], length);
		length += image->layout->string_contents + 8;
		memory__get_bytes(&image->memory, string, saved, length);
		memory__get_bytes(&image->memory, other, bytes, length);
		/*
		 * Recycled memory: a long string that points to its text points to the same place.
		 */
		if (i == 2 && image->layout->string_long_text)
			memcpy(bytes + 24, saved + 24, 8);
		memory__put_bytes(&image->memory, string, bytes, length);
		assert_int_not_equal(fresh_fingerprint(fixture), before);
		memory__put_bytes(&image->memory, string, saved, length);
		assert_int_equal(fresh_fingerprint(fixture), before);
	}
}

/* Adds an array of one name, of a local variable or an upvalue. */
static void put_names(struct fixture *fixture, uint8_t array, uint8_t count, uint64_t string)
{
	struct image *image = &fixture->image;
	uint64_t items = image__allocate(image, 16);

	put(image, items, string, 8);
	put(image, fixture->protos[0] + array, items, 8);
	put(image, fixture->protos[0] + count, 1, 4);
}

/*
 * A dead prototype that nobody has overwritten yet, although its strings are already others: a call
 * would get the name of another function.
 */
static void tells_functions_apart_by_the_names_that_they_use(struct fixture *fixture)
{
	const struct ls_puc_layout *layout = fixture->image.layout;
	struct image *image = &fixture->image;
	uint64_t locals = image__string(image, "local_name", 10);
	uint64_t upvalues = image__string(image, "up", 2), before;

	run_alone(fixture, fixture->protos[0]);
	put_names(fixture, layout->proto_local_vars, layout->proto_local_var_count, locals);
	put_names(fixture, layout->proto_upvalues, layout->proto_upvalue_count, upvalues);
	before = fresh_fingerprint(fixture);
	put(image, locals + layout->string_contents, 'x', 1);
	assert_int_not_equal(fresh_fingerprint(fixture), before);
	put(image, locals + layout->string_contents, 'l', 1);
	assert_int_equal(fresh_fingerprint(fixture), before);
	put(image, upvalues + 12, 0xabcd, 4); /* its hash */
	assert_int_not_equal(fresh_fingerprint(fixture), before);
}

/* Bytes after a string's NUL do not belong to it. */
static void ignores_what_follows_a_name(struct fixture *fixture)
{
	const struct ls_puc_layout *layout = fixture->image.layout;
	struct image *image = &fixture->image;
	uint64_t string = image__string(image, "four", 4), before;

	run_alone(fixture, fixture->protos[0]);
	put_names(fixture, layout->proto_local_vars, layout->proto_local_var_count, string);
	before = fresh_fingerprint(fixture);
	for (uint32_t i = 5; i < 16; i++)
		put(image, string + layout->string_contents + i, 'x', 1);
	assert_int_equal(fresh_fingerprint(fixture), before);
	put(image, string + layout->string_contents + 4, 'x', 1);
	assert_int_not_equal(fresh_fingerprint(fixture), before);
}

static void tells_functions_apart_by_a_number(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t constants = get(image, fixture->protos[0] + image->layout->proto_constants);
	uint64_t before;

	run_alone(fixture, fixture->protos[0]);
	before = fresh_fingerprint(fixture);
	put(image, constants + 3 * 16, 0x4046000000000000, 8);
	assert_int_not_equal(fresh_fingerprint(fixture), before);
}

static void tells_functions_apart_by_their_code(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t code = get(image, fixture->protos[0] + image->layout->proto_code);
	uint64_t before, shape;

	run_alone(fixture, fixture->protos[0]);
	before = fresh_fingerprint(fixture);
	shape = fixture->walker.definitions[0].shape;
	put(image, code + 8, 0x1234, 4);
	assert_int_not_equal(fresh_fingerprint(fixture), before);
	assert_int_not_equal(fixture->walker.definitions[0].shape, shape);
}

static void tells_functions_apart_by_every_fixed_field(struct fixture *fixture)
{
	const struct ls_puc_layout *layout = fixture->image.layout;
	const uint8_t halves[] = {layout->proto_constant_count, layout->proto_upvalue_count,
				  layout->proto_line_defined,   layout->proto_last_line_defined,
				  layout->proto_line_info,      layout->proto_local_vars};
	struct image *image = &fixture->image;
	uint64_t before;

	run_alone(fixture, fixture->protos[0]);
	before = fresh_fingerprint(fixture);
	for (size_t i = 0; i < sizeof(halves); i++) {
		uint64_t field = fixture->protos[0] + halves[i];
		uint32_t was = (uint32_t)memory__get(&image->memory, field, 4);

		put(image, field, was ^ 2, 4);
		assert_int_not_equal(fresh_fingerprint(fixture), before);
		put(image, field, was, 4);
	}
	assert_int_equal(fresh_fingerprint(fixture), before);
}

/* What the garbage collector writes into a live prototype or string: marks and links. */
static void ignores_what_the_collector_writes(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t proto = fixture->protos[0], before, constants;

	run_alone(fixture, proto);
	before = fresh_fingerprint(fixture);
	constants = get(image, proto + image->layout->proto_constants);
	put(image, proto, 0x555555550000, 8);
	put(image, proto + 9, 0x2, 1);
	put(image, get(image, constants), 0x555555550000, 8);
	put(image, get(image, constants) + 9, 0x2, 1);
	assert_int_equal(fresh_fingerprint(fixture), before);
}

/* A recycled prototype: other content at the same address is noticed when it is read again. */
static void sees_recycled_memory_in_time(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;
	struct image *image = &fixture->image;
	uint64_t source, before;

	run_alone(fixture, fixture->protos[0]);
	source = get(image, fixture->protos[0] + image->layout->proto_source);
	walker->step_ns = MS;
	for (int i = 0; i < 3000; i++)
		before = fingerprint(fixture);
	put(image, source + image->layout->string_contents + 1, 'x', 1);
	for (int i = 0; i < 20; i++)
		if (fingerprint(fixture) != before)
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

	run_alone(fixture, fixture->protos[0]);
	fingerprint(fixture);
	known_since = looked_at = walker->now_ns;
	walker->step_ns = MS / 4;
	for (int i = 0; i < 12000; i++) {
		uint64_t reads;

		fingerprint(fixture);
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
	fingerprint(fixture);
	return fixture->walker.reads;
}

static void trusts_content_while_nobody_can_write_it(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;
	struct image *image = &fixture->image;
	uint64_t source, before;

	walker->step_ns = MS;
	walker->asleep_ns = walker->now_ns;
	run_alone(fixture, fixture->protos[0]);
	walker->is_alone = true;
	fingerprint(fixture);
	/* There is another thread. */
	walker->is_alone = false;
	assert_in_range(reads_after_sleep(fixture), 8, 40);
	/* The other thread has ended. */
	walker->is_alone = true;
	assert_in_range(reads_after_sleep(fixture), 8, 40);
	for (int i = 0; i < 300 || walker->reads < 8; i++)
		before = fingerprint(fixture);
	assert_in_range(reads_after_sleep(fixture), 1, 7);
	/* Once more, after a long proof. */
	walker->is_alone = false;
	assert_in_range(reads_after_sleep(fixture), 8, 40);
	fingerprint(fixture);
	assert_in_range(walker->reads, 1, 7);
	walker->is_alone = true;
	assert_in_range(reads_after_sleep(fixture), 8, 40);
	assert_in_range(reads_after_sleep(fixture), 1, 7);
	source = get(image, fixture->protos[0] + image->layout->proto_source);
	put(image, source + image->layout->string_contents + 1, 'x', 1);
	for (int i = 0; i < 20 && fingerprint(fixture) == before; i++)
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
	run_alone(fixture, image__proto(&fixture->image, NULL, 0));
	fingerprint(fixture);
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
	run_alone(fixture, image__proto(&fixture->image, source, 0));
	fingerprint(fixture);
	assert_int_equal(fixture->walker.definitions[0].source_length, LS_SOURCE_LEN - 1);
	assert_memory_equal(fixture->walker.definitions[0].text, source, LS_SOURCE_LEN - 1);
	free(source);
}

static void takes_sources_of_every_length(struct fixture *fixture)
{
	char source[600] = "";

	run_alone(fixture, fixture->protos[0]);
	for (size_t length = 1; length < sizeof(source) - 1; length += length < 40 ? 1 : 29) {
		uint64_t string, first, second;

		memset(source, 'z', length);
		source[0] = '=';
		string = image__string(&fixture->image, source, length);
		put(&fixture->image, fixture->protos[0] + fixture->image.layout->proto_source,
		    string, 8);
		first = fresh_fingerprint(fixture);
		assert_int_equal(fixture->walker.definitions[0].source_length,
				 length < LS_SOURCE_LEN ? length : LS_SOURCE_LEN - 1);
		/* Bytes left in the buffer by another source do not count. */
		memset(fixture->walker.scratch->content.source, 0x55, LS_SOURCE_LEN);
		fixture->walker.scratch->proto_cache[0].proto = 0;
		memset(fixture->walker.scratch->proto_cache, 0,
		       sizeof(fixture->walker.scratch->proto_cache));
		second = fingerprint(fixture);
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
		put(image, at, 'q', 1);
	run_alone(fixture, fixture->protos[0]);
	for (uint64_t from = 1; from < 600; from += 53) {
		uint64_t string = edge - from - image->layout->string_contents;

		put(image, fixture->protos[0] + image->layout->proto_source, string, 8);
		fresh_fingerprint(fixture);
		assert_in_range(fixture->walker.definitions[0].source_length, 1, LS_SOURCE_LEN - 1);
	}
}

static void survives_lying_counts(struct fixture *fixture)
{
	static const uint32_t lies[] = {0, 1, 15, 16, 17, 0x7fffffff, 0x80000000, 0xffffffff};
	const struct ls_puc_layout *layout = fixture->image.layout;
	const uint8_t counts[] = {layout->proto_constant_count, layout->proto_code_count,
				  layout->proto_upvalue_count, layout->proto_line_info_count};
	struct image *image = &fixture->image;

	run_alone(fixture, fixture->protos[0]);
	for (size_t i = 0; i < sizeof(counts); i++) {
		uint64_t field = fixture->protos[0] + counts[i];
		uint32_t was = (uint32_t)memory__get(&image->memory, field, 4);

		for (size_t j = 0; j < sizeof(lies) / sizeof(lies[0]); j++) {
			put(image, field, lies[j], 4);
			walker__forget(&fixture->walker);
			walker__sample(&fixture->walker, image);
			assert_in_range(fixture->walker.reads, 1, 40);
		}
		put(image, field, was, 4);
	}
	fingerprint(fixture);
}

static void survives_wild_pointers_in_a_prototype(struct fixture *fixture)
{
	static const uint64_t wild[] = {0, 8, 0x10001, 1ULL << 47, ~7ULL, ~0ULL, 0x123456789a0};
	const struct ls_puc_layout *layout = fixture->image.layout;
	const uint8_t fields[] = {layout->proto_constants, layout->proto_line_info,
				  layout->proto_local_vars, layout->proto_source};
	struct image *image = &fixture->image;

	run_alone(fixture, fixture->protos[0]);
	for (size_t i = 0; i < sizeof(fields); i++)
		for (size_t j = 0; j < sizeof(wild) / sizeof(wild[0]); j++) {
			uint64_t was = get(image, fixture->protos[0] + fields[i]);

			put(image, fixture->protos[0] + fields[i], wild[j], 8);
			fresh_fingerprint(fixture);
			put(image, fixture->protos[0] + fields[i], was, 8);
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
		TEST(tells_functions_apart_by_the_text_of_their_source),
		TEST(tells_functions_apart_by_the_text_of_a_constant),
		TEST(tells_functions_apart_by_the_names_that_they_use),
		TEST(ignores_what_follows_a_name),
		TEST(tells_functions_apart_by_a_number),
		TEST(tells_functions_apart_by_their_code),
		TEST(tells_functions_apart_by_every_fixed_field),
		TEST(ignores_what_the_collector_writes),
		TEST(sees_recycled_memory_in_time),
		TEST(trusts_content_for_no_more_than_it_has_proven),
		TEST(trusts_content_while_nobody_can_write_it),
		TEST(looks_at_a_prototype_once_a_sample),
		TEST(calls_a_stripped_chunk_what_lua_does),
		TEST(cuts_a_source_of_a_megabyte),
		TEST(takes_sources_of_every_length),
		TEST(survives_a_source_without_an_end),
		TEST(survives_lying_counts),
		TEST(survives_wild_pointers_in_a_prototype),
	};

	return fixture__run("fingerprint", tests, sizeof(tests) / sizeof(tests[0]));
}
