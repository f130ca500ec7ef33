/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which instruction the running function is at, from registers. */
#include "fixture.h"

#include <string.h>

#define SAVED 3 /* the pc of fixture__main()'s leaf according to its CallInfo */

static uint64_t code_of(const struct fixture *fixture, size_t proto)
{
	const struct image *image = &fixture->image;

	return memory__get(&image->memory, fixture->protos[proto] + image->layout->proto_code, 8);
}

/* Starts with the main chunk and a leaf; all registers are 0. */
static void start(struct fixture *fixture)
{
	fixture__main(fixture);
	memset(fixture->image.registers, 0, sizeof(fixture->image.registers));
	fixture->image.register_count = 15;
}

/* Makes register `at` hold the leaf's pc after it has fetched instruction `pc`. */
static void set_pc(struct fixture *fixture, size_t at, uint32_t pc)
{
	fixture->image.registers[at] = code_of(fixture, 2) + 4 * (pc + 1);
}

/* Makes register `at` hold the instruction itself, `word`, under an arbitrary upper half. */
static void set_instruction(struct fixture *fixture, size_t at, uint32_t pc, uint32_t word)
{
	memory__put(&fixture->image.memory, code_of(fixture, 2) + 4 * pc, word, 4);
	fixture->image.registers[at] = 0xabcd00000000 | word;
}

static uint32_t leaf_pc(struct fixture *fixture)
{
	walker__sample(&fixture->walker, &fixture->image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
	assert_int_equal(fixture->walker.scratch->frames[0].function, fixture->protos[2]);
	return fixture->walker.scratch->frames[0].pc;
}

/* 5.2 and 5.3 store every pc: whatever registers hold, savedpc is right. */
static uint32_t expected(const struct fixture *fixture, uint32_t pc)
{
	uint8_t minor = fixture->row->offsets.minor;

	return minor == 2 || minor == 3 ? SAVED : pc;
}

static void is_saved_where_no_register_points_into_the_code(struct fixture *fixture)
{
	uint64_t code, end;

	start(fixture);
	code = code_of(fixture, 2);
	end = code + 4 * memory__get(&fixture->image.memory,
				     fixture->protos[2] + fixture->image.layout->proto_code_count,
				     4);
	assert_int_equal(leaf_pc(fixture), SAVED);
	fixture->image.registers[0] = code; /* before the first fetch; as good as saved */
	fixture->image.registers[1] = end + 4;
	fixture->image.registers[2] = code + 6;
	fixture->image.registers[3] = ~0ULL;
	assert_int_equal(leaf_pc(fixture), SAVED);
	fixture->image.registers[4] = end;
	assert_int_equal(leaf_pc(fixture), expected(fixture, (end - code) / 4 - 1));
}

static void is_the_largest_where_nothing_is_known(struct fixture *fixture)
{
	start(fixture);
	set_pc(fixture, 3, 12);
	set_pc(fixture, 7, 14);
	set_pc(fixture, 9, 13);
	assert_int_equal(leaf_pc(fixture), expected(fixture, 14));
}

static void is_the_register_whose_instruction_is_in_another(struct fixture *fixture)
{
	start(fixture);
	set_pc(fixture, 3, 12);
	set_pc(fixture, 7, 30);
	set_instruction(fixture, 11, 12, 0x80450022);
	assert_int_equal(leaf_pc(fixture), expected(fixture, 12));
	/*
	 * The register is trusted from then on, even if nothing confirms it and the other one lies.
	 */
	fixture->image.registers[11] = 0;
	for (uint32_t pc = 2; pc < 9; pc++) {
		set_pc(fixture, 3, pc);
		assert_int_equal(leaf_pc(fixture), expected(fixture, pc));
	}
}

/* The trusted register is in use for something else, and the other was never seen to be the pc. */
static void is_saved_where_the_trusted_register_is_in_use(struct fixture *fixture)
{
	start(fixture);
	set_pc(fixture, 3, 12);
	set_instruction(fixture, 11, 12, 0x80450022);
	leaf_pc(fixture);
	fixture->image.registers[3] = 77;
	set_pc(fixture, 7, 30);
	assert_int_equal(leaf_pc(fixture), SAVED);
}

/* Many registers hold a small number. */
static void does_not_take_a_small_number_for_an_instruction(struct fixture *fixture)
{
	start(fixture);
	set_pc(fixture, 3, 12);
	set_pc(fixture, 7, 30);
	set_instruction(fixture, 11, 12, 0xffff);
	assert_int_equal(leaf_pc(fixture), expected(fixture, 30));
}

/* A word that is sometimes there by chance, beside the one that is mostly there. */
static void trusts_what_was_seen_most(struct fixture *fixture)
{
	start(fixture);
	for (int i = 0; i < 600; i++) {
		set_pc(fixture, 3, 12);
		set_pc(fixture, 7, 30);
		fixture->image.registers[12] = 0;
		set_instruction(fixture, 11, 12, i % 3 ? 0x80450022 : 0xffff);
		if (i % 20 == 19)
			set_instruction(fixture, 12, 30, 0x80450077);
		leaf_pc(fixture);
	}
	assert_int_equal(leaf_pc(fixture), expected(fixture, 12));
	fixture->image.registers[3] = 0;
	assert_int_equal(leaf_pc(fixture), SAVED);
}

/* The current instruction of a caller is a call, whose pc was saved. */
static void leaves_callers_alone(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	start(fixture);
	set_pc(fixture, 3, 12);
	image__call_c(image, 0, IMAGE_C_FUNCTION, 4);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
	assert_int_equal(fixture->walker.scratch->frames[0].kind, LS_FRAME_C);
	assert_int_equal(fixture->walker.scratch->frames[1].function, fixture->protos[2]);
	assert_int_equal(fixture->walker.scratch->frames[1].pc, SAVED);
}

/* The same function runs in a coroutine and in its resumer. */
static void leaves_resumers_alone(struct fixture *fixture)
{
	const struct ls_frame *frames = fixture->walker.scratch->frames;
	uint32_t at_12 = 0;

	start(fixture);
	fixture__resume(fixture, IMAGE_MAIN);
	set_pc(fixture, 3, 12);
	fixture->image.registers[4] = fixture->image.threads[1].address;
	walker__sample(&fixture->walker, &fixture->image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
	assert_int_equal(frames[0].function, fixture->protos[2]);
	assert_int_equal(frames[3].function, fixture->protos[2]);
	for (uint32_t i = 1; i < walker__count(&fixture->walker); i++)
		at_12 += frames[i].pc == 12;
	assert_int_equal(at_12, 0);
	assert_int_equal(frames[3].pc, SAVED);
}

/* If the running function is dropped, its caller becomes the leaf. */
static void leaves_the_caller_of_a_dropped_call_alone(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_call *calls;

	start(fixture);
	image__call_lua(image, 0, fixture->protos[2], 3, 6);
	calls = image->threads[0].calls;
	image__set_call(image, &calls[1], 7);
	set_pc(fixture, 3, 12);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class,
			 image->layout->ci_is_array ? LS_SAMPLE_TORN : LS_SAMPLE_COMPLETE);
	assert_int_equal(walker__count(&fixture->walker), 2);
	walker__expect_call(&fixture->walker, 0, &calls[1]);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(is_saved_where_no_register_points_into_the_code),
		TEST(is_the_largest_where_nothing_is_known),
		TEST(is_the_register_whose_instruction_is_in_another),
		TEST(is_saved_where_the_trusted_register_is_in_use),
		TEST(does_not_take_a_small_number_for_an_instruction),
		TEST(trusts_what_was_seen_most),
		TEST(leaves_callers_alone),
		TEST(leaves_resumers_alone),
		TEST(leaves_the_caller_of_a_dropped_call_alone),
	};

	return fixture__run("current_pc", tests, sizeof(tests) / sizeof(tests[0]));
}
