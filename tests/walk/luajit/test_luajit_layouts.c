/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The self-check of a layout: a VM proves its own and no other, and none if it moved a field. */
#include "luajit_fixture.h"

#include <string.h>

static void run(struct fixture *fixture)
{
	size_t running = luajit_fixture__chain(fixture, 1);

	fixture->walker.is_undecided = true;
	luajit_fixture__nest(fixture, running, 5);
	luajit_image__run_vm(&fixture->image, running, 12);
}

static void proves_its_own_layout_and_no_other(struct fixture *fixture)
{
	run(fixture);
	for (size_t i = 0; i < layouts_luajit_count; i++) {
		luajit_walker__forget(&fixture->walker);
		luajit_walker__sample_as(&fixture->walker, &fixture->image,
					 &layouts_luajit[i].offsets);
		assert_int_equal(fixture->walker.is_evidence, &layouts_luajit[i] == fixture->row);
	}
}

static void expect_no_evidence(struct fixture *fixture, const char *what, size_t at)
{
	for (size_t i = 0; i < layouts_luajit_count; i++) {
		luajit_walker__forget(&fixture->walker);
		luajit_walker__sample_as(&fixture->walker, &fixture->image,
					 &layouts_luajit[i].offsets);
		if (fixture->walker.is_evidence)
			fail_msg("%s, moved from byte %zu on, fits %s", what, at,
				 layouts_luajit[i].name);
	}
}

/* Moves what is from byte `from` of an object on up by a reference, up to its end. */
static void move_fields(struct image *image, uint64_t object, size_t from, size_t size)
{
	uint8_t bytes[4096];

	memory__get_bytes(&image->memory, object, bytes, size);
	memmove(bytes + from + IMAGE_REF, bytes + from, size - from - IMAGE_REF);
	memset(bytes + from, 0, IMAGE_REF);
	memory__put_bytes(&image->memory, object, bytes, size);
}

/* A prototype of which all fields from one on are further up; its bytecode is as well. */
static void refuses_prototypes_that_moved_a_field(struct fixture *fixture)
{
	const size_t size = sizeof(struct ls_luajit_proto);
	uint8_t before[3][sizeof(struct ls_luajit_proto)];

	run(fixture);
	for (size_t i = 0; i < 3; i++)
		memory__get_bytes(&fixture->image.memory, fixture->protos[i], before[i], size);
	for (size_t at = 8; at < size - 8; at += IMAGE_REF) {
		if (at == offsetof(struct ls_luajit_proto, padding) ||
		    at == offsetof(struct ls_luajit_proto, gc_list))
			continue; /* nobody reads these, and what is behind them moves below */
		for (size_t i = 0; i < 3; i++)
			move_fields(&fixture->image, fixture->protos[i], at, size);
		expect_no_evidence(fixture, "GCproto", at);
		for (size_t i = 0; i < 3; i++)
			memory__put_bytes(&fixture->image.memory, fixture->protos[i], before[i],
					  size);
	}
}

static void refuses_states_that_moved_a_field(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const size_t size = sizeof(struct ls_luajit_state);
	uint8_t before[2][sizeof(struct ls_luajit_state)];

	run(fixture);
	for (size_t i = 0; i < 2; i++)
		memory__get_bytes(&image->memory, image->threads[i].address, before[i], size);
	for (size_t at = 8; at <= offsetof(struct ls_luajit_state, cframe); at += IMAGE_REF) {
		for (size_t i = 0; i < 2; i++)
			move_fields(image, image->threads[i].address, at, size);
		expect_no_evidence(fixture, "lua_State", at);
		for (size_t i = 0; i < 2; i++)
			memory__put_bytes(&image->memory, image->threads[i].address, before[i],
					  size);
	}
}

static void refuses_a_global_state_that_moved_a_field(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct ls_luajit_layout *own = image->layout;
	uint8_t before[1024];

	run(fixture);
	memory__get_bytes(&image->memory, image->global, before, sizeof(before));
	for (size_t at = own->global_vm_state; at <= own->global_current; at += IMAGE_REF) {
		/* One word more makes the older layout's cur_L the newer one's. */
		if (at > own->global_main_thread && own->global_current + IMAGE_REF == 376)
			break;
		/* What is inserted is 0, and so is jit_L where no trace runs. */
		if (at == own->global_current && own->has_jit_state)
			break;
		move_fields(image, image->global, at, 512);
		expect_no_evidence(fixture, "global_State", at);
		memory__put_bytes(&image->memory, image->global, before, sizeof(before));
	}
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(proves_its_own_layout_and_no_other),
		TEST(refuses_prototypes_that_moved_a_field),
		TEST(refuses_states_that_moved_a_field),
		TEST(refuses_a_global_state_that_moved_a_field),
	};

	return luajit_fixture__run("layouts of LuaJIT", tests, sizeof(tests) / sizeof(tests[0]));
}
