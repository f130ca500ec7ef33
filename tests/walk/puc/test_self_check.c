/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forks of Lua that moved a field: the image of each class is read with a layout in which one field
 * has taken the place of its neighbour, and the neighbour, if luaspy uses it, that of the field.
 * Either the sample then proves no layout, or no value that luaspy uses differs.
 * LUASPY_SHOW_TABLE=1 shows which check found what.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum structure { IN_STATE, IN_CALL, IN_LUA_CLOSURE, IN_C_CLOSURE, IN_PROTO, IN_STRING, IN_GLOBAL };

struct field {
	const char *name;
	size_t offset_at; /* in struct ls_puc_layout */
	size_t size;
	enum structure structure;
	bool is_optional; /* offset 0: a release without it */
	bool is_witness;  /* nothing but the self-check reads it */
};

#define FIELD(name, size, structure, is_optional)                                                  \
	{                                                                                          \
#name, offsetof(struct ls_puc_layout, name), size, structure, is_optional, false   \
	}
#define WITNESS(name, size, structure, is_optional)                                                \
	{                                                                                          \
#name, offsetof(struct ls_puc_layout, name), size, structure, is_optional, true    \
	}

static const struct field fields[] = {
	FIELD(state_status, 1, IN_STATE, false),
	FIELD(state_allow_hook, 1, IN_STATE, false),
	FIELD(state_top, 8, IN_STATE, false),
	FIELD(state_global, 8, IN_STATE, false),
	FIELD(state_ci, 8, IN_STATE, false),
	FIELD(state_savedpc, 8, IN_STATE, true),
	FIELD(state_stack_last, 8, IN_STATE, false),
	FIELD(state_stack, 8, IN_STATE, false),
	FIELD(state_base_ci, 8, IN_STATE, false),
	FIELD(state_error_jump, 8, IN_STATE, false),
	FIELD(state_globals, 8, IN_STATE, true),
	FIELD(ci_func, 8, IN_CALL, false),
	FIELD(ci_top, 8, IN_CALL, false),
	FIELD(ci_previous, 8, IN_CALL, true),
	FIELD(ci_next, 8, IN_CALL, true),
	FIELD(ci_savedpc, 8, IN_CALL, false),
	FIELD(ci_status, 0, IN_CALL, false),
	FIELD(ci_base, 8, IN_CALL, false),
	WITNESS(ci_results, 0, IN_CALL, false),
	WITNESS(state_stack_size, 4, IN_STATE, true),
	FIELD(closure_is_c, 1, IN_LUA_CLOSURE, true),
	FIELD(closure_proto, 8, IN_LUA_CLOSURE, false),
	FIELD(closure_function, 8, IN_C_CLOSURE, false),
	FIELD(proto_constants, 8, IN_PROTO, false),
	FIELD(proto_code, 8, IN_PROTO, false),
	FIELD(proto_line_info, 8, IN_PROTO, false),
	FIELD(proto_abs_line_info, 8, IN_PROTO, true),
	FIELD(proto_local_vars, 8, IN_PROTO, false),
	FIELD(proto_upvalues, 8, IN_PROTO, false),
	FIELD(proto_nested, 8, IN_PROTO, false),
	FIELD(proto_source, 8, IN_PROTO, false),
	FIELD(proto_upvalue_count, 4, IN_PROTO, false),
	FIELD(proto_constant_count, 4, IN_PROTO, false),
	FIELD(proto_code_count, 4, IN_PROTO, false),
	FIELD(proto_line_info_count, 4, IN_PROTO, false),
	FIELD(proto_abs_line_info_count, 4, IN_PROTO, true),
	FIELD(proto_local_var_count, 4, IN_PROTO, false),
	FIELD(proto_nested_count, 4, IN_PROTO, false),
	FIELD(proto_line_defined, 4, IN_PROTO, false),
	FIELD(proto_last_line_defined, 4, IN_PROTO, false),
	WITNESS(proto_max_stack, 1, IN_PROTO, true),
	FIELD(string_contents, 8, IN_STRING, false),
	FIELD(string_short_length, 1, IN_STRING, true),
	FIELD(global_main_thread, 8, IN_GLOBAL, false),
	FIELD(global_registry, 8, IN_GLOBAL, false),
};

#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

static const char *const doubts[] = {
	[LS_DOUBT_SOURCE] = "source",       [LS_DOUBT_LINES] = "lines",
	[LS_DOUBT_CODE] = "code",           [LS_DOUBT_LINE_INFO] = "line info",
	[LS_DOUBT_CONSTANTS] = "constants", [LS_DOUBT_LOCALS] = "locals",
	[LS_DOUBT_NESTED] = "nested",       [LS_DOUBT_UPVALUES] = "upvalues",
	[LS_DOUBT_STATUS] = "status",       [LS_DOUBT_PLACES] = "places",
	[LS_DOUBT_CALLS] = "calls",         [LS_DOUBT_C_FUNCTION] = "C function",
	[LS_DOUBT_GLOBAL] = "global",       [LS_DOUBT_ERROR_JUMP] = "errorJmp",
	[LS_DOUBT_FLAGS] = "flags",         [LS_DOUBT_STACK] = "stack",
};

static bool is_wide(const struct field *field)
{
	return field->structure == IN_GLOBAL;
}

static size_t get_offset(const struct ls_puc_layout *layout, const struct field *field)
{
	const uint8_t *at = (const uint8_t *)layout + field->offset_at;

	return is_wide(field) ? at[0] | (size_t)at[1] << 8 : at[0];
}

static void set_offset(struct ls_puc_layout *layout, const struct field *field, size_t offset)
{
	uint8_t *at = (uint8_t *)layout + field->offset_at;

	at[0] = (uint8_t)offset;
	if (is_wide(field))
		at[1] = (uint8_t)(offset >> 8);
}

static size_t size_of(const struct ls_puc_layout *layout, const struct field *field)
{
	if (field->size)
		return field->size;
	return field->is_witness ? layout->ci_results_size : layout->ci_status_size;
}

static size_t room_in(const struct ls_puc_layout *layout, enum structure structure)
{
	switch (structure) {
	case IN_STATE:
		return layout->state_size;
	case IN_CALL:
		return layout->ci_size;
	case IN_PROTO:
		return layout->proto_size;
	default:
		return SIZE_MAX;
	}
}

static bool has(const struct ls_puc_layout *layout, const struct field *field)
{
	if (field->offset_at == offsetof(struct ls_puc_layout, ci_base))
		return layout->ci_has_base;
	if (layout->ci_is_array &&
	    (field->offset_at == offsetof(struct ls_puc_layout, ci_next) ||
	     field->offset_at == offsetof(struct ls_puc_layout, ci_previous)))
		return false;
	if (field->offset_at == offsetof(struct ls_puc_layout, global_main_thread))
		return !layout->main_thread_is_embedded;
	return !field->is_optional || get_offset(layout, field);
}

/* Makes a layout in which the field lies one place further. False: there is none. */
static bool move(const struct ls_puc_layout *layout, const struct field *field, int direction,
		 struct ls_puc_layout *moved)
{
	size_t size = size_of(layout, field), from = get_offset(layout, field);
	size_t to = direction < 0 ? from - size : from + size;

	if ((direction < 0 && from < size) || (!is_wide(field) && to > UINT8_MAX) ||
	    to + size > room_in(layout, field->structure))
		return false;
	*moved = *layout;
	set_offset(moved, field, to);
	for (size_t i = 0; i < FIELD_COUNT; i++)
		if (&fields[i] != field && fields[i].structure == field->structure &&
		    has(layout, &fields[i]) && get_offset(layout, &fields[i]) == to &&
		    size_of(layout, &fields[i]) == size)
			set_offset(moved, &fields[i], from);
	return true;
}

/* Whether a field has the same value in an object under both layouts. */
static bool is_same(const struct image *image, uint64_t object, const struct field *field,
		    const struct ls_puc_layout *moved)
{
	const struct ls_puc_layout *layout = image->layout;
	size_t size = size_of(layout, field);

	return memory__get(&image->memory, object + get_offset(layout, field), size) ==
	       memory__get(&image->memory, object + get_offset(moved, field), size);
}

static bool is_same_call(const struct image *image, const struct image_call *call,
			 const struct field *field, const struct ls_puc_layout *moved)
{
	if (field->structure == IN_CALL)
		return is_same(image, call->ci, field, moved);
	if (field->structure == IN_PROTO && call->kind == LS_FRAME_LUA)
		return is_same(image, call->function, field, moved);
	if (call->closure && field->structure == IN_LUA_CLOSURE)
		return is_same(image, call->closure, field, moved);
	if (call->closure && field->structure == IN_C_CLOSURE && call->kind == LS_FRAME_C)
		return is_same(image, call->closure, field, moved);
	return true;
}

static bool is_harmless(const struct image *image, const struct ls_puc_layout *moved)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (!has(image->layout, &fields[i]) || fields[i].is_witness)
			continue;
		if (fields[i].structure == IN_STRING &&
		    get_offset(image->layout, &fields[i]) != get_offset(moved, &fields[i]))
			return false;
		if (fields[i].structure == IN_GLOBAL &&
		    !is_same(image, image->global, &fields[i], moved))
			return false;
		for (size_t j = 0; j < image->thread_count; j++) {
			const struct image_thread *thread = &image->threads[j];

			if (fields[i].structure == IN_STATE &&
			    !is_same(image, thread->address, &fields[i], moved))
				return false;
			for (size_t k = 0; k < thread->call_count; k++)
				if (!is_same_call(image, &thread->calls[k], &fields[i], moved))
					return false;
		}
	}
	return true;
}

static void show(const struct fixture *fixture, const struct field *field, int direction,
		 const char *what)
{
	uint32_t doubt = fixture->walker.scratch->doubt;

	if (!getenv("LUASPY_SHOW_TABLE"))
		return;
	print_message("| %s | %s%+d | %s |\n", fixture->row->name, field->name, direction,
		      what                              ? what
		      : doubt                           ? doubts[doubt]
		      : walker__error(&fixture->walker) ? "the walk"
							: "no Lua function");
}

/* Returns how many moves passed as proof although values differ. */
static int try_moves(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;
	struct ls_puc_layout moved;
	int missed = 0;

	walker->is_undecided = true;
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (!has(&fixture->row->offsets, &fields[i]))
			continue;
		for (int direction = -1; direction <= 1; direction += 2) {
			bool harmless;

			if (!move(&fixture->row->offsets, &fields[i], direction, &moved))
				continue;
			walker__forget(walker);
			walker__sample_as(walker, &fixture->image, &moved);
			if (!walker->is_evidence) {
				show(fixture, &fields[i], direction, NULL);
				continue;
			}
			harmless = is_harmless(&fixture->image, &moved);
			show(fixture, &fields[i], direction, harmless ? "the same" : "MISSED");
			if (!harmless)
				print_message("%s: %s moved by %d is missed\n", fixture->row->name,
					      fields[i].name, direction);
			missed += !harmless;
		}
	}
	return missed;
}

static void expect_proof(struct fixture *fixture)
{
	walker__forget(&fixture->walker);
	fixture->walker.is_undecided = true;
	walker__sample(&fixture->walker, &fixture->image);
	if (!fixture->walker.is_evidence)
		print_message("%s: doubt %s, error %d\n", fixture->row->name,
			      doubts[fixture->walker.scratch->doubt],
			      walker__error(&fixture->walker));
	assert_int_equal(fixture->walker.is_evidence, true);
}

/* Makes every Lua function call the next function by OP_CALL. */
static void link_calls(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	for (size_t i = 0; i < image->thread_count; i++)
		for (size_t j = 0; j + 1 < image->threads[i].call_count; j++) {
			const struct image_call *call = &image->threads[i].calls[j];

			if (call->kind == LS_FRAME_LUA)
				image__set_call(image, call,
						(uint32_t)(call[1].value - call->value) / 16);
		}
}

static void sees_a_moved_field_under_a_lua_function(struct fixture *fixture)
{
	fixture__chain(fixture, 2);
	link_calls(fixture);
	expect_proof(fixture);
	assert_int_equal(try_moves(fixture), 0);
}

static void sees_a_moved_field_under_a_c_function(struct fixture *fixture)
{
	fixture__chain(fixture, 1);
	image__call_c(&fixture->image, 1, IMAGE_C_FUNCTION, 5);
	link_calls(fixture);
	expect_proof(fixture);
	assert_int_equal(try_moves(fixture), 0);
}

static void sees_a_moved_field_in_a_main_thread_alone(struct fixture *fixture)
{
	fixture__main(fixture);
	image__call_lua(&fixture->image, IMAGE_MAIN, fixture->protos[1], 4, 6);
	link_calls(fixture);
	expect_proof(fixture);
	assert_int_equal(try_moves(fixture), 0);
}

/* errorJmp's place is then known by nothing but that no other field points to the stack. */
static void sees_a_moved_field_without_protection(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 3, 9);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[1], 4, 6);
	link_calls(fixture);
	image__execute(image, IMAGE_MAIN);
	expect_proof(fixture);
	assert_int_equal(try_moves(fixture), 0);
}

static void takes_a_stripped_chunk_for_proof(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t proto = image__proto(image, NULL, 0);

	image__protect(image, IMAGE_MAIN);
	image__call_lua(image, IMAGE_MAIN, proto, 3, 9);
	expect_proof(fixture);
}

static void is_in_doubt_where_the_closure_counts_other_upvalues(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	memory__put(&image->memory,
		    image__top(image, IMAGE_MAIN)->closure +
			    (image->layout->closure_is_c ? 11 : 10),
		    9, 1);
	fixture->walker.is_undecided = true;
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.is_evidence, false);
	assert_int_equal(fixture->walker.scratch->doubt, LS_DOUBT_UPVALUES);
}

static void expect_doubt(struct fixture *fixture, uint32_t doubt)
{
	walker__forget(&fixture->walker);
	fixture->walker.is_undecided = true;
	walker__sample(&fixture->walker, &fixture->image);
	assert_int_equal(fixture->walker.is_evidence, false);
	assert_int_equal(fixture->walker.scratch->doubt, doubt);
}

static void is_in_doubt_where_hooks_are_on_in_a_hook(struct fixture *fixture)
{
	const struct ls_puc_layout *layout = &fixture->row->offsets;
	struct image *image = &fixture->image;
	uint64_t status;

	if (!layout->status_hooked)
		return;
	fixture__main(fixture);
	status = image->threads[0].calls[0].ci + layout->ci_status;
	memory__put(&image->memory, status,
		    memory__get(&image->memory, status, layout->ci_status_size) |
			    layout->status_hooked,
		    layout->ci_status_size);
	expect_doubt(fixture, LS_DOUBT_FLAGS);
}

static void is_in_doubt_where_hooks_are_off_for_no_reason(struct fixture *fixture)
{
	fixture__main(fixture);
	image__set_field(&fixture->image, 0, fixture->row->offsets.state_allow_hook, 0, 1);
	expect_doubt(fixture, LS_DOUBT_FLAGS);
}

/*
 * Up to 5.3, `top` may be at the first register: while a function without arguments is called, or
 * after a call without results. In 5.1, L->base, which follows it, must be there as well.
 */
static void takes_an_empty_stack_for_proof_during_a_call(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t first;

	fixture__main(fixture);
	link_calls(fixture);
	first = image__top(image, IMAGE_MAIN)->value + 16;
	image__set_field(image, IMAGE_MAIN, image->layout->state_top, first, 8);
	if (image->layout->ci_is_array) {
		image__set_field(image, IMAGE_MAIN, image->layout->state_top + 8, first + 32, 8);
		expect_doubt(fixture, LS_DOUBT_PLACES);
		image__set_field(image, IMAGE_MAIN, image->layout->state_top + 8, first, 8);
	}
	expect_proof(fixture);
	assert_int_equal(try_moves(fixture), 0);
}

/* Hooks are disabled while a hook or a finalizer runs. */
static void takes_a_marked_call_for_proof(struct fixture *fixture)
{
	const struct ls_puc_layout *layout = &fixture->row->offsets;
	const uint32_t marks[] = {layout->status_hooked, layout->status_finalizer};
	struct image *image = &fixture->image;
	uint64_t status;

	fixture__main(fixture);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[2], 4, 6);
	link_calls(fixture);
	image__set_field(image, 0, layout->state_allow_hook, 0, 1);
	status = image->threads[0].calls[0].ci + layout->ci_status;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		uint64_t plain = memory__get(&image->memory, status, layout->ci_status_size);

		if (!marks[i])
			continue;
		memory__put(&image->memory, status, plain | marks[i], layout->ci_status_size);
		expect_proof(fixture);
		assert_int_equal(try_moves(fixture), 0);
		memory__put(&image->memory, status, plain, layout->ci_status_size);
		expect_doubt(fixture, LS_DOUBT_FLAGS);
	}
}

/* Sets how many registers a function has, so that they end `values` values below its call's top. */
static void end_registers(struct image *image, const struct image_call *call, uint64_t values)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t top = memory__get(&image->memory, call->ci + layout->ci_top, 8);

	memory__put(&image->memory, call->function + layout->proto_max_stack,
		    (top - call->value) / 16 - 1 - values, 1);
}

/* 5.1 marks no calls, but moves the top of the call that a hook interrupts. */
static void takes_a_call_with_the_top_of_a_hook_for_proof(struct fixture *fixture)
{
	const struct ls_puc_layout *layout = &fixture->row->offsets;
	struct image *image = &fixture->image;
	const struct image_call *calls;
	uint64_t top;

	if (!layout->proto_max_stack)
		return;
	fixture__main(fixture);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[2], 4, 6);
	link_calls(fixture);
	calls = image->threads[0].calls;
	top = memory__get(&image->memory, calls[0].ci + layout->ci_top, 8);
	memory__put(&image->memory, calls[0].ci + layout->ci_top, top + 16 * 20, 8);
	image__set_field(image, 0, layout->state_allow_hook, 0, 1);
	end_registers(image, &calls[0], 20);
	end_registers(image, &calls[1], 0);
	expect_proof(fixture);
	assert_int_equal(try_moves(fixture), 0);
	/* Nothing shows that registers are counted there. */
	end_registers(image, &calls[1], 1);
	expect_doubt(fixture, LS_DOUBT_FLAGS);
	end_registers(image, &calls[1], 20);
	expect_doubt(fixture, LS_DOUBT_FLAGS);
	end_registers(image, &calls[1], 0);
	end_registers(image, &calls[0], 19);
	expect_doubt(fixture, LS_DOUBT_FLAGS);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(sees_a_moved_field_under_a_lua_function),
		TEST(sees_a_moved_field_under_a_c_function),
		TEST(sees_a_moved_field_in_a_main_thread_alone),
		TEST(sees_a_moved_field_without_protection),
		TEST(takes_a_stripped_chunk_for_proof),
		TEST(is_in_doubt_where_the_closure_counts_other_upvalues),
		TEST(is_in_doubt_where_hooks_are_off_for_no_reason),
		TEST(is_in_doubt_where_hooks_are_on_in_a_hook),
		TEST(takes_an_empty_stack_for_proof_during_a_call),
		TEST(takes_a_marked_call_for_proof),
		TEST(takes_a_call_with_the_top_of_a_hook_for_proof),
	};

	return fixture__run("self_check", tests, sizeof(tests) / sizeof(tests[0]));
}
