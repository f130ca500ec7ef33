/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a report keeps of recordings: totals by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report_fixture.h"

#define ALL_MS(fixture) ((fixture)->totals.all_us / 1000)

static void recursion_counts_once(void **state)
{
	struct fixture *fixture = *state;

	select_from(fixture, 1, (struct selection){});
	assert_int_equal(ALL_MS(fixture), 100);
	assert_int_equal(total_ms(fixture, "main chunk", "app.lua"), 100);
	assert_int_equal(total_ms(fixture, "work", "app.lua"), 66);
	assert_int_equal(self_ms(fixture, "work", "app.lua"), 25);
	assert_int_equal(total_ms(fixture, "leaf", "app.lua"), 30);
}

static void totals_follow_without_the_collector(void **state)
{
	struct fixture *fixture = *state;

	select_from(fixture, 1, (struct selection){.no_gc = true});
	assert_int_equal(ALL_MS(fixture), 85);
	assert_int_equal(total_ms(fixture, "main chunk", "app.lua"), 85);
	assert_int_equal(total_ms(fixture, "work", "app.lua"), 51);
	assert_int_equal(self_ms(fixture, "work", "app.lua"), 25);
	assert_int_equal(total_ms(fixture, "GC", "GC"), 0);
	assert_int_equal(selected_profile__all_ns(fixture->selected), 100 * NS_PER_MS);
	assert_int_equal(selected_profile__kept_ns(fixture->selected), 85 * NS_PER_MS);
}

static void totals_follow_without_plugins(void **state)
{
	struct fixture *fixture = *state;

	select_from(fixture, 1, (struct selection){.no_plugins = true});
	assert_int_equal(ALL_MS(fixture), 80);
	assert_int_equal(total_ms(fixture, "main chunk", "app.lua"), 80);
	assert_int_equal(total_ms(fixture, "plug", "plugin.lua"), 0);
	assert_int_equal(total_ms(fixture, "concat", "[C]"), 0);
}

static void a_focus_leaves_calls_of_one_function(void **state)
{
	static const char *const names[] = {"work", "app.lua:3"};
	struct fixture *fixture = *state;
	const struct ls_profile *profile;

	for (int i = 0; i < 2; i++) {
		select_from(fixture, 1, (struct selection){.focus = names[i]});
		assert_int_equal(ALL_MS(fixture), 66);
		assert_int_equal(total_ms(fixture, "work", "app.lua"), 66);
		assert_int_equal(total_ms(fixture, "leaf", "app.lua"), 26);
		assert_int_equal(total_ms(fixture, "main chunk", "app.lua"), 0);
		/* Stacks begin there. */
		profile = selected_profile__profile(fixture->selected);
		assert_int_equal(profile->category_count, 1);
		assert_string_equal(
			profile->functions[profile->nodes[profile->nodes[1].first_child].function]
				.name,
			"work");
	}
	select_from(fixture, 1, (struct selection){.focus = "work", .no_gc = true});
	assert_int_equal(ALL_MS(fixture), 51);
}

static void a_focus_needs_no_place(void **state)
{
	struct fixture *fixture = *state;
	const char *const name = "concat (app+0x120e)";

	fixture->functions[CONCAT].name = name;
	select_from(fixture, 1, (struct selection){.focus = "concat"});
	assert_int_equal(total_ms(fixture, name, "[C]"), 8);
	select_from(fixture, 1, (struct selection){.focus = name});
	assert_int_equal(total_ms(fixture, name, "[C]"), 8);
}

static void a_focus_on_nothing_is_refused(void **state)
{
	struct fixture *fixture = *state;
	const struct selection selection = {.focus = "app.lua:4"};
	const struct ls_profile *profile = &fixture->profile;
	struct selected_profile *selected;

	call_tree__export(fixture->tree, &fixture->profile);
	assert_int_equal(selected_profile__new(&profile, 1, &selection, &selected), -ENOENT);
	assert_null(selected);
}

static void several_recordings_add_up(void **state)
{
	struct fixture *fixture = *state;
	const struct ls_profile *profile;
	uint32_t count;

	select_from(fixture, 1, (struct selection){});
	count = selected_profile__profile(fixture->selected)->function_count;
	fixture->profile.recorder.interpreter = "Lua 5.4.4 in /usr/bin/lua5.4";
	select_from(fixture, 3, (struct selection){});
	profile = selected_profile__profile(fixture->selected);
	assert_int_equal(ALL_MS(fixture), 300);
	assert_int_equal(total_ms(fixture, "work", "app.lua"), 198);
	assert_int_equal(profile->function_count, count);
	assert_int_equal(profile->category_count, 1);
	assert_int_equal(profile->recorder.cpu_ns, 300 * NS_PER_MS);
	assert_string_equal(profile->recorder.target, "3 recordings of app");
	assert_string_equal(profile->recorder.interpreter, "Lua 5.4.4 in /usr/bin/lua5.4");
}

/* Those of `name`, as "21:20000 22:10000 ". */
static const char *lines_of(const struct fixture *fixture, const char *name, char *to, size_t size)
{
	const struct ls_profile *profile = selected_profile__profile(fixture->selected);
	const struct ls_profile_function *function =
		&profile->functions[id_of(fixture, name, "app.lua")];
	size_t length = 0;

	*to = '\0';
	for (uint32_t i = 0; i < function->line_count; i++)
		length += (size_t)snprintf(
			to + length, size - length, "%u:%llu ",
			profile->lines[function->first_line + i].line,
			(unsigned long long)fixture->totals.line_self_us[function->first_line + i]);
	return to;
}

static void lines_add_up(void **state)
{
	struct fixture *fixture = *state;
	char text[128];

	select_from(fixture, 1, (struct selection){});
	assert_string_equal(lines_of(fixture, "leaf", text, sizeof(text)), "21:20000 22:10000 ");
	select_from(fixture, 2, (struct selection){});
	assert_string_equal(lines_of(fixture, "leaf", text, sizeof(text)), "21:40000 22:20000 ");
}

/* Which of them were spent in that part is not known. */
static void lines_of_part_of_a_function_are_left_out(void **state)
{
	struct fixture *fixture = *state;
	char text[128];

	select_from(fixture, 1, (struct selection){.focus = "work"});
	assert_string_equal(lines_of(fixture, "leaf", text, sizeof(text)), "");
	assert_int_equal(selected_profile__without_lines(fixture->selected), 1);
	select_from(fixture, 1, (struct selection){.focus = "leaf"});
	assert_string_equal(lines_of(fixture, "leaf", text, sizeof(text)), "21:20000 22:10000 ");
	assert_int_equal(selected_profile__without_lines(fixture->selected), 0);
}

static void functions_that_were_split_by_line_are_one(void **state)
{
	struct fixture *fixture = *state;
	char text[128];

	charge(fixture, 7, MAIN, AT_LINE);
	select_from(fixture, 1, (struct selection){});
	assert_int_equal(self_ms(fixture, "work", "app.lua"), 32);
	assert_int_equal(total_ms(fixture, "work", "app.lua"), 73);
	assert_string_equal(lines_of(fixture, "work", text, sizeof(text)), "5:7000 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_recording(recursion_counts_once),
		with_recording(totals_follow_without_the_collector),
		with_recording(totals_follow_without_plugins),
		with_recording(a_focus_leaves_calls_of_one_function),
		with_recording(a_focus_needs_no_place),
		with_recording(a_focus_on_nothing_is_refused),
		with_recording(several_recordings_add_up),
		with_recording(lines_add_up),
		with_recording(lines_of_part_of_a_function_are_left_out),
		with_recording(functions_that_were_split_by_line_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
