/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which call names are trusted. A dead caller may still look alive except for the string that names
 * the call, so whatever the fingerprint claims to cover must change it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "local_inspector.h"
#include "naming/call_names.h"
#include "puc/prototype_puc.h"
#include "puc_image.h"

#define NAMES        20 /* of each kind, more than the fingerprint covers */
#define CALL_LAST    40 /* instructions: more than it covers */
#define LAST_COVERED 15 /* of the constants */

static struct target_memory memory;
static struct functions *functions;
static struct call_names *names;
static uint32_t callee;
static const char *called; /* in the last sample */

static int make_names(void **state)
{
	struct function_identity identity = {"app.lua", 3, 9, 77};

	(void)state;
	memory.pid = getpid();
	functions = functions__new();
	callee = functions ? functions__script(functions, &identity) : 0;
	names = callee ? call_names__new(getpid(), local_inspector(), functions) : NULL;
	return names ? 0 : -1;
}

static int free_names(void **state)
{
	(void)state;
	call_names__free(names);
	functions__free(functions);
	return 0;
}

static uint64_t fingerprint(void)
{
	uint64_t value = 0;

	assert_int_equal(
		prototype_puc__fingerprint(&memory, &image.layout, address_of(image.proto), &value),
		0);
	return value;
}

/* A call of the upvalue `index`, from the last instruction. */
static void call_upvalue(uint32_t index)
{
	char text[16];

	image__start(4);
	for (int i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "name_%02d", i);
		image__add_upvalue(text);
	}
	image__add(GETUPVAL, 0, index, 0);
	image__add(CALL, 0, 1, 1);
	image__finish();
}

static void call_local(uint32_t index)
{
	char text[16];

	image__start(4);
	for (int i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "name_%02d", i);
		image__add_local(text, 0, 9);
	}
	image__add(CALL, index, 1, 1);
	image__add(CALL, index, 1, 1);
	image__finish();
}

static void call_constant(uint32_t index)
{
	char text[16];

	image__start(4);
	for (int i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "name_%02d", i);
		image__add_constant(text);
	}
	image__add_wide(LOADK, 0, index);
	image__add(CALL, 0, 1, 1);
	image__finish();
}

/* Of the 16 constants before it, `strings` are strings and the rest numbers. */
static void call_constant_after_numbers(uint32_t strings)
{
	call_constant(LAST_COVERED);
	for (uint32_t i = strings; i < LAST_COVERED; i++)
		image.constants[i].tag = 3;
}

static void sample(uint64_t time_ns, uint64_t with_fingerprint)
{
	const struct ls_frame frames[] = {
		{.function = 1, .kind = LS_FRAME_LUA},
		{.function = address_of(image.proto),
		 .fingerprint = with_fingerprint,
		 .pc = image.code_count - 1,
		 .kind = LS_FRAME_LUA},
	};
	const struct layout layout = {families__get(LS_FAMILY_PUC), 0, &image.layout};

	assert_int_equal(call_names__vote(names, &layout, frames, 2, time_ns, callee, &called), 0);
}

static const char *shown(void)
{
	static struct ls_profile profile;

	functions__export(functions, &profile);
	return profile.functions[callee].name;
}

static void believes_what_the_fingerprint_covers(void **state)
{
	(void)state;
	call_upvalue(0);
	sample(1, fingerprint());
	assert_string_equal(called, "name_00");
	assert_string_equal(shown(), "name_00");
}

static void waits_for_a_caller_that_runs_after_its_name_was_read(void **state)
{
	(void)state;
	call_upvalue(NAMES - 1);
	sample(clock_ns(CLOCK_MONOTONIC), fingerprint());
	assert_null(called);
	assert_null(shown());
	sample(clock_ns(CLOCK_MONOTONIC), fingerprint());
	assert_string_equal(called, "name_19");
	assert_string_equal(shown(), "name_19");
}

static void believes_no_sample_from_before(void **state)
{
	(void)state;
	call_upvalue(NAMES - 1);
	sample(clock_ns(CLOCK_MONOTONIC), fingerprint());
	sample(clock_ns(CLOCK_MONOTONIC) - 1000000000, fingerprint());
	assert_null(shown());
}

static void suggests_what_was_sampled_once(void **state)
{
	(void)state;
	call_upvalue(NAMES - 1);
	sample(1, fingerprint());
	assert_null(shown());
	call_names__suggest(names);
	assert_string_equal(shown(), "name_19");
}

static void suggests_nothing_where_callers_go(void **state)
{
	uint64_t before;

	(void)state;
	call_upvalue(NAMES - 1);
	before = fingerprint();
	sample(1, before);
	image.strings[0][image.layout.string_contents] = 'X';
	sample(2, before + 1);
	call_names__suggest(names);
	assert_null(shown());
	assert_int_equal(call_names__unread(names), 1);
}

static void suggests_nothing_when_told_so(void **state)
{
	(void)state;
	call_upvalue(NAMES - 1);
	sample(1, fingerprint());
	call_names__require_proof(names);
	call_names__suggest(names);
	assert_null(shown());
}

/*
 * Reads the call at `pc` and checks whether the fingerprint claims to cover it. If so, spoiling the
 * byte must change the fingerprint.
 */
static bool is_covered(uint32_t pc, uint8_t *byte)
{
	struct call_site site;
	uint64_t before = fingerprint();

	assert_int_equal(image__read(pc, &site), 0);
	if (!site.is_covered)
		return false;
	*byte ^= 1;
	assert_int_not_equal(fingerprint(), before);
	*byte ^= 1;
	return true;
}

static uint8_t *text_of(uint32_t index)
{
	return &image.strings[index][image.layout.string_contents + 6];
}

static void covers_eight_names_of_each_kind(void **state)
{
	static void (*const calls[])(uint32_t index) = {call_upvalue, call_local, call_constant};

	(void)state;
	for (size_t kind = 0; kind < sizeof(calls) / sizeof(calls[0]); kind++) {
		for (uint32_t i = 0; i < NAMES; i++) {
			calls[kind](i);
			assert_int_equal(is_covered(image.code_count - 1, text_of(i)), i < 8);
		}
	}
}

static void covers_strings_behind_numbers(void **state)
{
	(void)state;
	for (uint32_t strings = 0; strings <= 15; strings++) {
		call_constant_after_numbers(strings);
		assert_int_equal(is_covered(image.code_count - 1, text_of(15)), strings < 8);
	}
}

static void covers_which_local_lives(void **state)
{
	(void)state;
	call_local(3);
	assert_true(is_covered(image.code_count - 1, (uint8_t *)&image.locals[1].end_pc));
}

static void covers_the_first_sixteen_instructions(void **state)
{
	(void)state;
	image__start(4);
	image__add_local("callee", 0, CALL_LAST);
	for (uint32_t i = 0; i < CALL_LAST; i++)
		image__add(CALL, 0, 1, 1);
	image__finish();
	for (uint32_t i = 0; i < CALL_LAST; i++)
		assert_int_equal(is_covered(i, (uint8_t *)&image.code[i] + 2), i < 16);
	/* They are folded in pairs. */
	image.code_count = 15;
	image__finish();
	assert_true(is_covered(13, (uint8_t *)&image.code[13] + 2));
	assert_false(is_covered(14, (uint8_t *)&image.code[14] + 2));
}

/* LUAI_MAXSHORTLEN is 40: Lua hashes longer strings late, if ever. */
static void covers_no_long_names(void **state)
{
	char text[64];
	struct call_site site;

	(void)state;
	for (size_t length = 40; length <= 41; length++) {
		memset(text, 'x', sizeof(text));
		text[length] = '\0';
		image__start(4);
		image__add_local(text, 0, 9);
		image__add(CALL, 0, 1, 1);
		image__add(CALL, 0, 1, 1);
		image__finish();
		assert_int_equal(image__read(1, &site), 0);
		assert_int_equal(site.is_covered, length == 40);
	}
}

#define named(test) cmocka_unit_test_setup_teardown(test, make_names, free_names)

int main(void)
{
	const struct CMUnitTest tests[] = {
		named(believes_what_the_fingerprint_covers),
		named(waits_for_a_caller_that_runs_after_its_name_was_read),
		named(believes_no_sample_from_before),
		named(suggests_what_was_sampled_once),
		named(suggests_nothing_where_callers_go),
		named(suggests_nothing_when_told_so),
		named(covers_eight_names_of_each_kind),
		named(covers_strings_behind_numbers),
		named(covers_which_local_lives),
		named(covers_the_first_sixteen_instructions),
		named(covers_no_long_names),
	};

	return cmocka_run_group_tests_name("call_names", tests, NULL, NULL);
}
