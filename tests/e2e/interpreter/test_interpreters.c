/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several Luas in one process, and Luas that are loaded late, replaced, forced, or unknown. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE       20
#define BUILD_PATIENCE 120

#define SPIN(name)                                                                                 \
	"local function " name "() local x = 0 for i = 1, 3e4 do x = x + i end return x end "      \
	"for i = 1, 20 do " name "() "

static const char first_chunk[] = SPIN("spin_first") "end";
static const char second_chunk[] = SPIN("spin_second") "end";
static const char calling_chunk[] = SPIN("spin_first") "call_second() end";

/* The path of Debian's liblua of this version. */
static char *library(struct stage *stage, const char *version)
{
	char pattern[64];
	glob_t found;
	char *path;

	snprintf(pattern, sizeof(pattern), "/usr/lib/*-linux-gnu/liblua%s.so.0", version);
	path = glob(pattern, 0, NULL, &found) ? NULL : strdup(found.gl_pathv[0]);
	globfree(&found);
	return path ? stage__own(stage, path, free) : NULL;
}

#define start_loader(stage, mode, chunk)                                                           \
	({                                                                                         \
		const char *one = library(stage, "5.1"), *other = library(stage, "5.4");           \
                                                                                                   \
		need_to_record();                                                                  \
		if (!one || !other)                                                                \
			lacks_package("liblua5.1-0");                                              \
		start(stage, built_program("loader"), mode, one, chunk, other, second_chunk);      \
	})

static void expect_shares(const struct scriptprofile *profile, int first_percent,
			  int second_percent, int sum_percent)
{
	int64_t first = scriptprofile__self_us(profile, NULL, "spin_first", -1);
	int64_t second = scriptprofile__self_us(profile, NULL, "spin_second", -1);

	print_message("%lld%% and %lld%%\n", (long long)(first * 100 / profile->all_us),
		      (long long)(second * 100 / profile->all_us));
	if (first < profile->all_us * first_percent / 100 ||
	    second < profile->all_us * second_percent / 100 ||
	    first + second < profile->all_us * sum_percent / 100) {
		scriptprofile__print(profile);
		fail();
	}
}

static void expect_layouts(const struct scriptprofile *profile, const char *one, const char *other)
{
	const char *layout = json_string_value(
		json_object_get(json_object_get(profile->document, "Recorder"), "Layout"));

	assert_non_null(layout);
	if (!strstr(layout, one) || !strstr(layout, other))
		fail_msg("layout '%s'", layout);
}

static void profiles_two_luas_that_take_turns(void **state)
{
	struct child *target = start_loader(*state, "turns", first_chunk);
	struct scriptprofile *profile;

	child__await_output(*state, target, "up");
	profile = record(*state, target->pid, "-d", "1500ms");
	expect_shares(profile, 20, 20, 90);
	expect_layouts(profile, "5.1-5.1.5, agreed on", "5.4.3-5.4.9, agreed on");
	assert_in_range(scriptprofile__samples(profile, "unreadable"), 0,
			scriptprofile__samples(profile, "total") / 100);
}

static void profiles_two_luas_on_two_threads(void **state)
{
	struct child *target = start_loader(*state, "threads", first_chunk);
	struct scriptprofile *profile;

	child__await_output(*state, target, "up");
	profile = record(*state, target->pid, "-d", "1500ms");
	expect_shares(profile, 20, 20, 90);
	expect_layouts(profile, "5.1-5.1.5, agreed on", "5.4.3-5.4.9, agreed on");
}

/* The frames of the lower Lua are not shown, so the stack counts as torn. */
static void shows_the_upper_of_two_luas_and_marks_the_stack_torn(void **state)
{
	struct child *target = start_loader(*state, "nested", calling_chunk);
	struct scriptprofile *profile;

	child__await_output(*state, target, "up");
	profile = record(*state, target->pid, "-d", "1500ms");
	expect_shares(profile, 1, 80, 90);
	assert_in_range(scriptprofile__samples(profile, "torn"),
			scriptprofile__samples(profile, "total") * 8 / 10,
			scriptprofile__samples(profile, "total"));
	if (scriptprofile__stack_us(profile, "spin_second > spin_first") ||
	    scriptprofile__stack_us(profile, "spin_first > spin_second"))
		fail();
}

static void notices_a_lua_that_is_loaded_late(void **state)
{
	struct child *target = start_loader(*state, "late", first_chunk), *spy;

	child__await_output(*state, target, "up");
	spy = start_record(*state, target->pid, "-d", "3", "-o", "late.json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	expect_shares(spying__read(*state, in_folder(*state, "late.json")), 20, 20, 85);
	assert_non_null(strstr(child__errors(*state, spy), "Lua 5.4"));
}

static void waits_for_the_first_lua_only_with_wait(void **state)
{
	struct child *target = start_loader(*state, "plugin", first_chunk), *spy;

	child__await_output(*state, target, "up");
	spy = start_record(*state, target->pid, "-d", "3", "-o", "none.json");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	assert_non_null(
		strstr(child__errors(*state, spy), "no interpreter in any of its files (--wait"));
	assert_int_not_equal(access(in_folder(*state, "none.json"), F_OK), 0);
	child__kill(target);
	target = start_loader(*state, "plugin", first_chunk);
	child__await_output(*state, target, "up");
	spy = start_record(*state, target->pid, "-d", "7", "--wait", "-o", "some.json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	expect_shares(spying__read(*state, in_folder(*state, "some.json")), 20, 20, 60);
}

static const char busy_script[] = "local function spin_first() local x = 0 for i = 1, 1e4 do "
				  "x = x + i end return x end while true do spin_first() end";

static void copy(struct stage *stage, const char *command)
{
	assert_int_equal(child__wait(start(stage, "sh", "-c", command), PATIENCE), 0);
}

static void profiles_the_program_that_runs_not_its_successor(void **state)
{
	struct child *target;
	struct scriptprofile *profile;

	need_to_record();
	need_program("/usr/bin/lua5.1", "lua5.1");
	need_program("/usr/bin/lua5.4", "lua5.4");
	copy(*state, "cp /usr/bin/lua5.1 lua; cp /usr/bin/lua5.4 new");
	target = start(*state, in_folder(*state, "lua"), "-e", busy_script);
	child__let_work(target, 0.05);
	copy(*state, "mv new lua");
	profile = record(*state, target->pid, "-d", "700ms");
	expect_shares(profile, 90, 0, 90);
	expect_layouts(profile, "5.1-5.1.5, agreed on by 8 of 8", "no sample fits another");
}

static void finds_the_layout_where_the_file_claims_another_release(void **state)
{
	struct child *target;

	need_to_record();
	need_program("/usr/bin/lua5.4", "lua5.4");
	copy(*state, "sed 's/Version: Lua 5[.]4[.][3-9]/Version: Lua 5.4.0/' /usr/bin/lua5.4 >lua; "
		     "chmod +x lua");
	target = start(*state, in_folder(*state, "lua"), "-e", busy_script);
	child__let_work(target, 0.05);
	/* luaspy tries layouts of other releases only after hundreds of samples without script. */
	expect_layouts(record(*state, target->pid, "-d", "3", "-F", "10khz"),
		       "5.4.3-5.4.9, agreed on", "");
}

static void reads_by_the_layout_that_is_forced(void **state)
{
	struct child *target, *spy;
	struct scriptprofile *profile;

	need_to_record();
	need_program("/usr/bin/lua5.3", "lua5.3");
	target = start(*state, "lua5.3", "-e", busy_script);
	child__let_work(target, 0.05);
	profile = record(*state, target->pid, "-d", "500ms", "--layout", "5.3.4");
	expect_shares(profile, 90, 0, 90);
	expect_layouts(profile, "5.3.2-5.3.6, forced: ", "samples fit");
	spy = start_record(*state, target->pid, "-d", "500ms", "--layout", "5.1", "-q");
	assert_int_equal(child__wait(spy, PATIENCE), 2);
	assert_non_null(strstr(child__errors(*state, spy), "unknown layout '5.1' (accepted: 5.1-"));
	spy = start_record(*state, target->pid, "-d", "500ms", "--layout", "5.1.5", "-q");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	assert_non_null(strstr(child__errors(*state, spy), "no script in the profile"));
}

/* The fork can be walked like any other 5.4, but its functions begin where they end. */
static void refuses_a_fork_that_swapped_two_fields(void **state)
{
	static const char build[] =
		"set -e; cp -r \"$0\" lua; sed -i 's/ linedefined;/ swapped;/; "
		"s/ lastlinedefined;/ linedefined;/; s/ swapped;/ lastlinedefined;/' "
		"lua/lobject.h; gcc -O1 -w -std=gnu99 -DLUA_USE_POSIX -Ilua -o host \"$1\" lua/*.c "
		"-lm";
	/*
	 * The swap shows in functions with lines of their own. A main chunk has none: a sample of
	 * it alone, between two calls, would fit 5.4.
	 */
	static const char busy[] = "local function spin()\n  local x = 0\n"
				   "  for i = 1, 1e4 do x = x + i end\n  return x\nend\n"
				   "local function spin_forever()\n"
				   "  while true do spin() end\nend\nspin_forever()\n";
	struct child *target, *spy;
	glob_t found;
	int missing;

	need_to_record();
	missing = glob("/root/.cargo/registry/src/*/lua-src-*/lua-5.4.8", 0, NULL, &found);
	if (missing)
		skip_because("its sources are not in cargo's registry (cargo info lua-src)");
	spy = start(*state, "sh", "-c", build, found.gl_pathv[0], program_source("host.c"));
	globfree(&found);
	if (child__wait(spy, BUILD_PATIENCE) != 0)
		fail_msg("%s", child__errors(*state, spy));
	write_file(in_folder(*state, "busy.lua"), busy, strlen(busy));
	target = start(*state, in_folder(*state, "host"), in_folder(*state, "busy.lua"));
	child__let_work(target, 0.05);
	spy = start_record(*state, target->pid, "-d", "3", "-o", "fork.json");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	assert_non_null(strstr(child__errors(*state, spy),
			       "an unknown or modified interpreter: none of 10 layouts "
			       "fits any of "));
	assert_int_not_equal(access(in_folder(*state, "fork.json"), F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(profiles_two_luas_that_take_turns),
		staged(profiles_two_luas_on_two_threads),
		staged(shows_the_upper_of_two_luas_and_marks_the_stack_torn),
		staged(notices_a_lua_that_is_loaded_late),
		staged(waits_for_the_first_lua_only_with_wait),
		staged(profiles_the_program_that_runs_not_its_successor),
		staged(finds_the_layout_where_the_file_claims_another_release),
		staged(reads_by_the_layout_that_is_forced),
		staged(refuses_a_fork_that_swapped_two_fields),
	};

	return cmocka_run_group_tests_name("interpreters", tests, NULL, NULL);
}
