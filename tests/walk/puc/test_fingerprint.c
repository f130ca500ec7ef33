/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tells prototypes apart. */
#include "fixture.h"

#include <string.h>

/* The text of a string is written over; nothing else of the prototype changes. */
static void tells_functions_apart_by_the_text_of_their_source(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t before, source;

	fixture__run_alone(fixture, fixture->protos[0]);
	before = fixture__fresh_fingerprint(fixture);
	assert_int_equal(fixture__fresh_fingerprint(fixture), before);
	source = image__get(image, fixture->protos[0] + image->layout->proto_source);
	image__put(image, source + image->layout->string_contents + 1, 'x', 1);
	assert_int_not_equal(fixture__fresh_fingerprint(fixture), before);
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
	uint64_t constants = image__get(image, fixture->protos[0] + image->layout->proto_constants);
	uint64_t before, string, other;

	fixture__run_alone(fixture, fixture->protos[0]);
	before = fixture__fresh_fingerprint(fixture);
	for (size_t i = 0; i < 3; i++) {
		size_t length = strlen(texts[i][0]);
		uint8_t bytes[128], saved[128];

		string = image__get(image, constants + i * 16);
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
		assert_int_not_equal(fixture__fresh_fingerprint(fixture), before);
		memory__put_bytes(&image->memory, string, saved, length);
		assert_int_equal(fixture__fresh_fingerprint(fixture), before);
	}
}

/* Adds an array of one name, of a local variable or an upvalue. */
static void put_names(struct fixture *fixture, uint8_t array, uint8_t count, uint64_t string)
{
	struct image *image = &fixture->image;
	uint64_t items = image__allocate(image, 16);

	image__put(image, items, string, 8);
	image__put(image, fixture->protos[0] + array, items, 8);
	image__put(image, fixture->protos[0] + count, 1, 4);
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

	fixture__run_alone(fixture, fixture->protos[0]);
	put_names(fixture, layout->proto_local_vars, layout->proto_local_var_count, locals);
	put_names(fixture, layout->proto_upvalues, layout->proto_upvalue_count, upvalues);
	before = fixture__fresh_fingerprint(fixture);
	image__put(image, locals + layout->string_contents, 'x', 1);
	assert_int_not_equal(fixture__fresh_fingerprint(fixture), before);
	image__put(image, locals + layout->string_contents, 'l', 1);
	assert_int_equal(fixture__fresh_fingerprint(fixture), before);
	image__put(image, upvalues + 12, 0xabcd, 4); /* its hash */
	assert_int_not_equal(fixture__fresh_fingerprint(fixture), before);
}

/* Bytes after a string's NUL do not belong to it. */
static void ignores_what_follows_a_name(struct fixture *fixture)
{
	const struct ls_puc_layout *layout = fixture->image.layout;
	struct image *image = &fixture->image;
	uint64_t string = image__string(image, "four", 4), before;

	fixture__run_alone(fixture, fixture->protos[0]);
	put_names(fixture, layout->proto_local_vars, layout->proto_local_var_count, string);
	before = fixture__fresh_fingerprint(fixture);
	for (uint32_t i = 5; i < 16; i++)
		image__put(image, string + layout->string_contents + i, 'x', 1);
	assert_int_equal(fixture__fresh_fingerprint(fixture), before);
	image__put(image, string + layout->string_contents + 4, 'x', 1);
	assert_int_not_equal(fixture__fresh_fingerprint(fixture), before);
}

static void tells_functions_apart_by_a_number(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t constants = image__get(image, fixture->protos[0] + image->layout->proto_constants);
	uint64_t before;

	fixture__run_alone(fixture, fixture->protos[0]);
	before = fixture__fresh_fingerprint(fixture);
	image__put(image, constants + 3 * 16, 0x4046000000000000, 8);
	assert_int_not_equal(fixture__fresh_fingerprint(fixture), before);
}

static void tells_functions_apart_by_their_code(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t code = image__get(image, fixture->protos[0] + image->layout->proto_code);
	uint64_t before, shape;

	fixture__run_alone(fixture, fixture->protos[0]);
	before = fixture__fresh_fingerprint(fixture);
	shape = fixture->walker.definitions[0].shape;
	image__put(image, code + 8, 0x1234, 4);
	assert_int_not_equal(fixture__fresh_fingerprint(fixture), before);
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

	fixture__run_alone(fixture, fixture->protos[0]);
	before = fixture__fresh_fingerprint(fixture);
	for (size_t i = 0; i < sizeof(halves); i++) {
		uint64_t field = fixture->protos[0] + halves[i];
		uint32_t was = (uint32_t)memory__get(&image->memory, field, 4);

		image__put(image, field, was ^ 2, 4);
		assert_int_not_equal(fixture__fresh_fingerprint(fixture), before);
		image__put(image, field, was, 4);
	}
	assert_int_equal(fixture__fresh_fingerprint(fixture), before);
}

/* What the garbage collector writes into a live prototype or string: marks and links. */
static void ignores_what_the_collector_writes(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t proto = fixture->protos[0], before, constants;

	fixture__run_alone(fixture, proto);
	before = fixture__fresh_fingerprint(fixture);
	constants = image__get(image, proto + image->layout->proto_constants);
	image__put(image, proto, 0x555555550000, 8);
	image__put(image, proto + 9, 0x2, 1);
	image__put(image, image__get(image, constants), 0x555555550000, 8);
	image__put(image, image__get(image, constants) + 9, 0x2, 1);
	assert_int_equal(fixture__fresh_fingerprint(fixture), before);
}

static void survives_lying_counts(struct fixture *fixture)
{
	static const uint32_t lies[] = {0, 1, 15, 16, 17, 0x7fffffff, 0x80000000, 0xffffffff};
	const struct ls_puc_layout *layout = fixture->image.layout;
	const uint8_t counts[] = {layout->proto_constant_count, layout->proto_code_count,
				  layout->proto_upvalue_count, layout->proto_line_info_count};
	struct image *image = &fixture->image;

	fixture__run_alone(fixture, fixture->protos[0]);
	for (size_t i = 0; i < sizeof(counts); i++) {
		uint64_t field = fixture->protos[0] + counts[i];
		uint32_t was = (uint32_t)memory__get(&image->memory, field, 4);

		for (size_t j = 0; j < sizeof(lies) / sizeof(lies[0]); j++) {
			image__put(image, field, lies[j], 4);
			walker__forget(&fixture->walker);
			walker__sample(&fixture->walker, image);
			assert_in_range(fixture->walker.reads, 1, 40);
		}
		image__put(image, field, was, 4);
	}
	fixture__fingerprint(fixture);
}

static void survives_wild_pointers_in_a_prototype(struct fixture *fixture)
{
	static const uint64_t wild[] = {0, 8, 0x10001, 1ULL << 47, ~7ULL, ~0ULL, 0x123456789a0};
	const struct ls_puc_layout *layout = fixture->image.layout;
	const uint8_t fields[] = {layout->proto_constants, layout->proto_line_info,
				  layout->proto_local_vars, layout->proto_source};
	struct image *image = &fixture->image;

	fixture__run_alone(fixture, fixture->protos[0]);
	for (size_t i = 0; i < sizeof(fields); i++)
		for (size_t j = 0; j < sizeof(wild) / sizeof(wild[0]); j++) {
			uint64_t was = image__get(image, fixture->protos[0] + fields[i]);

			image__put(image, fixture->protos[0] + fields[i], wild[j], 8);
			fixture__fresh_fingerprint(fixture);
			image__put(image, fixture->protos[0] + fields[i], was, 8);
		}
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(tells_functions_apart_by_the_text_of_their_source),
		TEST(tells_functions_apart_by_the_text_of_a_constant),
		TEST(tells_functions_apart_by_the_names_that_they_use),
		TEST(ignores_what_follows_a_name),
		TEST(tells_functions_apart_by_a_number),
		TEST(tells_functions_apart_by_their_code),
		TEST(tells_functions_apart_by_every_fixed_field),
		TEST(ignores_what_the_collector_writes),
		TEST(survives_lying_counts),
		TEST(survives_wild_pointers_in_a_prototype),
	};

	return fixture__run("fingerprint", tests, sizeof(tests) / sizeof(tests[0]));
}
