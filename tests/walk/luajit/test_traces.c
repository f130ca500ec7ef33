/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LuaJIT's traces: which functions compiled code is made of; and traces with counts, offsets and
 * references beyond their ends, also such as change while they are read. What cannot be told is
 * torn or unreadable, never another function.
 */
#include "luajit_fixture.h"

#include <string.h>

#define NUMBER 3

static void run_trace(struct fixture *fixture, uint32_t at, bool in_c)
{
	luajit_fixture__main(fixture);
	luajit_fixture__trace(fixture, NUMBER);
	luajit_image__run_trace(&fixture->image, 0, NUMBER, at, in_c);
}

static uint64_t trace_at(struct fixture *fixture, size_t field)
{
	return memory__get(&fixture->image.memory,
			   luajit_image__trace_place(&fixture->image, NUMBER), IMAGE_REF) +
	       field;
}

#define FIELD(fixture, name) trace_at(fixture, offsetof(struct ls_luajit_trace, name))

static void expect_all(struct fixture *fixture)
{
	luajit_walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 0);
}

static void shows_inlined_functions_of_each_snapshot(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t count;

	luajit_fixture__main(fixture);
	luajit_fixture__trace(fixture, NUMBER);
	count = image->threads[0].call_count;
	for (uint32_t at = 0; at < IMAGE_SNAPSHOTS; at++) {
		luajit_image__run_trace(image, 0, NUMBER, at, false);
		assert_int_equal(image->threads[0].call_count, count + at % 3);
		expect_all(fixture);
		image->threads[0].call_count = count;
		luajit_image__native_frame(image, image->sp - image->threads[0].cframe + 512);
		image->sp = image->threads[0].cframe;
	}
}

static void
ends_with_what_the_trace_begins_in_where_snapshots_have_no_places(struct fixture *fixture)
{
	const struct image_thread *thread = &fixture->image.threads[0];

	fixture->layout.lacks_places = 1;
	run_trace(fixture, 8, false);
	luajit_walker__sample(&fixture->walker, &fixture->image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_TORN);
	assert_int_equal(luajit_walker__count(&fixture->walker), thread->call_count - 2);
	assert_int_equal(fixture->walker.scratch->frames[0].function,
			 thread->calls[thread->call_count - 3].function);
}

static void shows_what_called_c_code(struct fixture *fixture)
{
	run_trace(fixture, 8, true);
	expect_all(fixture);
}

/* The collector has put its own state where the number was. */
static void shows_what_started_a_collection(struct fixture *fixture)
{
	run_trace(fixture, 8, true);
	expect_all(fixture);
	luajit_image__set_vm_state(&fixture->image, LS_LUAJIT_IN_GC);
	expect_all(fixture);
	assert_int_equal(fixture->walker.scratch->sample.activity, LS_ACTIVITY_GC);
}

/* Before a trace stores its number, that of the one that went on with it is there. */
static void finds_a_trace_that_has_not_said_its_number(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t other = luajit_fixture__trace(fixture, 5);

	run_trace(fixture, 4, false);
	memory__put(&image->memory, other + offsetof(struct ls_luajit_trace, link), NUMBER, 2);
	luajit_image__set_global(image, image->layout->global_vm_state, 5, 4);
	expect_all(fixture);
	memory__put(&image->memory, other + offsetof(struct ls_luajit_trace, link), 5, 2);
	luajit_walker__forget(&fixture->walker);
	expect_all(fixture);
}

/* Whether nothing is known, or the frames are those of the image but for some next to the leaf. */
static bool is_part(const struct fixture *fixture)
{
	const struct image_thread *thread = &fixture->image.threads[0];
	uint32_t count = luajit_walker__count(&fixture->walker);

	if (fixture->walker.class == LS_SAMPLE_UNREADABLE)
		return true;
	if (count > thread->call_count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct image_call call =
			thread->calls[thread->call_count - 1 - (thread->call_count - count) - i];
		const struct ls_frame *frame = &fixture->walker.scratch->frames[i];

		call.is_native = frame->flags & LS_FRAME_NATIVE;
		if (frame->kind == LS_FRAME_LUA && frame->pc == LS_PC_UNKNOWN)
			call.pc = LS_PC_UNKNOWN;
		if (!luajit_walker__is_call(&fixture->walker, i, &call))
			return false;
	}
	return true;
}

/* Writes the number there and expects that the stack is not taken for whole. */
static void expect_refusal(struct fixture *fixture, uint64_t at, uint64_t number, size_t size)
{
	struct memory *memory = &fixture->image.memory;
	uint64_t before = memory__get(memory, at, size);

	expect_all(fixture);
	memory__put(memory, at, number, size);
	luajit_walker__sample(&fixture->walker, &fixture->image);
	if (fixture->walker.class == LS_SAMPLE_COMPLETE || !is_part(fixture))
		fail_msg("%#lx at %#lx: class %d, error %d", (unsigned long)number,
			 (unsigned long)at, fixture->walker.class,
			 luajit_walker__error(&fixture->walker));
	assert_in_range(fixture->walker.reads, 1, 2000);
	memory__put(memory, at, before, size);
	luajit_walker__forget(&fixture->walker);
	expect_all(fixture);
}

static void refuses_headers_that_contradict_themselves(struct fixture *fixture)
{
	run_trace(fixture, 8, false);
	expect_refusal(fixture, FIELD(fixture, gct), LS_LUAJIT_PROTO, 1);
	expect_refusal(fixture, FIELD(fixture, number), NUMBER + 1, 2);
	expect_refusal(fixture, FIELD(fixture, code_size), 16, 4);
	expect_refusal(fixture, FIELD(fixture, code), IMAGE_MACHINE_CODE - 4096, 8);
	expect_refusal(fixture, FIELD(fixture, snapshot_count), 0, 2);
	expect_refusal(fixture, FIELD(fixture, snapshots), 0, 8);
	expect_refusal(fixture, FIELD(fixture, snapshots), ~0ULL << 16, 8);
	expect_refusal(fixture, FIELD(fixture, snapshot_map), 8, 8);
	expect_refusal(fixture, FIELD(fixture, ir), ~0ULL, 8);
	expect_refusal(fixture, FIELD(fixture, ir), 0, 8);
}

/* What is beyond the ends may look like a trace as well: that of an earlier one, say. */
static void refuses_what_is_beyond_the_ends_of_a_trace(struct fixture *fixture)
{
	struct memory *memory = &fixture->image.memory;
	uint64_t snapshot, entry, map;

	run_trace(fixture, 8, false);
	snapshot = memory__get(memory, FIELD(fixture, snapshots), 8) +
		   8 * sizeof(struct ls_luajit_snapshot);
	map = memory__get(memory, FIELD(fixture, snapshot_map), 8);
	entry = map + 4 * memory__get(memory, snapshot, 4);
	expect_refusal(fixture, snapshot, ~0U, 4);
	expect_refusal(fixture, snapshot, 1U << 20, 4);
	expect_refusal(fixture, FIELD(fixture, map_count), 4, 4);
	expect_refusal(fixture, FIELD(fixture, map_count), 0, 4);
	expect_refusal(fixture, FIELD(fixture, constant_start), LS_LUAJIT_REF_BIAS, 4);
	expect_refusal(fixture, snapshot + offsetof(struct ls_luajit_snapshot, entry_count), 255,
		       1);
	expect_refusal(fixture, snapshot + offsetof(struct ls_luajit_snapshot, reference), 0, 2);
	expect_refusal(fixture, snapshot + offsetof(struct ls_luajit_snapshot, reference), 0xffff,
		       2);
	expect_refusal(fixture, entry, 0, 2);
	expect_refusal(fixture, entry, 0x7fff, 2);
	expect_refusal(fixture, entry, 0xffff, 2);
	expect_refusal(fixture, entry + 4, 0, 2);
	expect_refusal(fixture, entry + 4, 0xffff, 2);
	for (uint32_t slot = 0; slot < 256; slot += 5)
		if (slot != memory__get(memory, entry + 3, 1))
			expect_refusal(fixture, entry + 3, slot, 1);
#ifdef LS_NARROW /* the instruction, and the links of two frames */
	for (uint64_t at = entry + 8; at <= entry + 16; at += 4) {
		expect_refusal(fixture, at, 0, 4);
		expect_refusal(fixture, at, ~0U, 4);
	}
#else
	expect_refusal(fixture, entry + 16, 0xff, 1);
	expect_refusal(fixture, entry + 17, ~0U, 4);
#endif
}

static void bounds_its_search_of_an_endless_array(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t at = image->layout->global_traces[0];

	run_trace(fixture, 8, false);
	expect_all(fixture);
	image->pc = IMAGE_MACHINE_CODE - 64;
	luajit_image__set_global(image, at + 12, ~0U, 4);
	for (int i = 0; i < 20; i++) {
		luajit_walker__sample(&fixture->walker, image);
		assert_int_equal(luajit_walker__error(&fixture->walker), LS_WALK_TRACE);
		assert_true(is_part(fixture));
		assert_in_range(fixture->walker.reads, 1, 2000);
	}
	for (uint64_t array = 0; array < 4; array++) {
		luajit_image__set_global(image, at, array << 40 | 8, 8);
		luajit_walker__sample(&fixture->walker, image);
		assert_int_equal(luajit_walker__error(&fixture->walker), LS_WALK_TRACE);
	}
}

/* Traces that go on with each other for ever. */
static void follows_no_circle_of_links(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t other = luajit_fixture__trace(fixture, 5);

	run_trace(fixture, 8, false);
	memory__put(&image->memory, other + offsetof(struct ls_luajit_trace, link), NUMBER, 2);
	memory__put(&image->memory, FIELD(fixture, link), 5, 2);
	image->pc = IMAGE_MACHINE_CODE - 64;
	luajit_walker__sample(&fixture->walker, image);
	assert_int_equal(luajit_walker__error(&fixture->walker), LS_WALK_TRACE);
	assert_true(is_part(fixture));
	assert_in_range(fixture->walker.reads, 1, 2000);
}

static uint64_t changes_left;
static struct fixture *changing;

/* After so many reads, parts of the trace that runs are elsewhere, or beyond its ends. */
static void change_trace(struct memory *memory)
{
	struct ls_luajit_trace header;
	uint64_t snapshots;

	if (!changes_left || --changes_left)
		return;
	memory__get_bytes(memory, trace_at(changing, 0), &header, sizeof(header));
	snapshots = header.snapshots;
	header.snapshot_map += 4;
	header.ir -= 8;
	header.snapshot_count = 0xffff;
	memory__put_bytes(memory, trace_at(changing, 0), &header, sizeof(header));
	for (uint32_t i = 0; i < IMAGE_SNAPSHOTS; i++)
		memory__put(memory, snapshots + i * sizeof(struct ls_luajit_snapshot),
			    header.map_count - i % 2, 4);
}

static void misreads_nothing_that_changes(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	struct memory *memory = &image->memory;
	uint8_t header[sizeof(struct ls_luajit_trace)], snapshots[IMAGE_SNAPSHOTS * 12];
	uint64_t at;

	run_trace(fixture, 8, false);
	at = memory__get(memory, FIELD(fixture, snapshots), 8);
	memory__get_bytes(memory, trace_at(fixture, 0), header, sizeof(header));
	memory__get_bytes(memory, at, snapshots, sizeof(snapshots));
	changing = fixture;
	for (uint64_t after = 1; after < 60; after++) {
		changes_left = after;
		memory->before_read = change_trace;
		luajit_walker__sample(&fixture->walker, image);
		memory->before_read = NULL;
		if (fixture->walker.class == LS_SAMPLE_COMPLETE)
			expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
		else
			assert_true(is_part(fixture));
		memory__put_bytes(memory, trace_at(fixture, 0), header, sizeof(header));
		memory__put_bytes(memory, at, snapshots, sizeof(snapshots));
	}
	expect_all(fixture);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(shows_inlined_functions_of_each_snapshot),
		TEST(ends_with_what_the_trace_begins_in_where_snapshots_have_no_places),
		TEST(shows_what_called_c_code),
		TEST(shows_what_started_a_collection),
		TEST(finds_a_trace_that_has_not_said_its_number),
		TEST(refuses_headers_that_contradict_themselves),
		TEST(refuses_what_is_beyond_the_ends_of_a_trace),
		TEST(bounds_its_search_of_an_endless_array),
		TEST(follows_no_circle_of_links),
		TEST(misreads_nothing_that_changes),
	};

	return luajit_fixture__run("traces", tests, sizeof(tests) / sizeof(tests[0]));
}
