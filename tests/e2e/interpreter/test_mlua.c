/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A Rust program that embeds Luau (tests/programs/host_mlua/): two VMs that take turns on a thread
 * by async functions, all of whose functions are machine code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define UNMARKED_MAX 0.01 /* of the time: calls that have just begun */

/* Three quarters of the work are hot's. */
#define SCRIPT(vm)                                                                                 \
	"local function work(n)\n"                                                                 \
	"	local s = 0\n"                                                                           \
	"	for i = 1, n do s = s + i % 7 end\n"                                                     \
	"	return s\n"                                                                              \
	"end\n"                                                                                    \
	"local function hot_" vm "(n) return work(3 * n) + 1 end\n"                                \
	"local function cold_" vm "(n) return work(n) + 1 end\n"                                   \
	"while true do\n"                                                                          \
	"	for i = 1, 20 do hot_" vm "(1000 + i) cold_" vm "(1000 + i) end\n"                 \
	"	pause()\n"                                                                               \
	"end\n"

/* A macro, for cmocka's skip() leaves the test from where it is. mlua needs a newer cargo than some
 * distributions have. */
#define need_mlua()                                                                                \
	do {                                                                                       \
		need_to_record();                                                                  \
		if (!access(built_program("../../hosts/mlua.refused"), F_OK))                      \
			skip_because("cargo cannot build it");                                     \
		need_host(built_program("../../hosts/mlua"));                                      \
	} while (0)

static struct scriptprofile *record_both(struct stage *stage)
{
	struct scriptprofile *profile;
	struct child *target;

	write_text(stage, "one.luau", SCRIPT("one"));
	write_text(stage, "two.luau", SCRIPT("two"));
	target = start(stage, built_program("../../hosts/mlua"), "one.luau", "two.luau");
	child__let_work(target, 0.2);
	profile = record_shares(stage, target->pid, "--until-samples=2000", "-F", "2000");
	child__kill(target);
	return profile;
}

static void its_vms_take_turns(void **state)
{
	const struct scriptprofile *profile;

	need_mlua();
	profile = record_both(*state);
	scriptprofile__assert_stack(profile, "main chunk > hot_one > work", 0.3, 0.45);
	scriptprofile__assert_stack(profile, "main chunk > cold_one > work", 0.08, 0.17);
	scriptprofile__assert_stack(profile, "main chunk > hot_two > work", 0.3, 0.45);
	scriptprofile__assert_stack(profile, "main chunk > cold_two > work", 0.08, 0.17);
	assert_int_equal(scriptprofile__samples(profile, "unreadable"), 0);
}

static void its_functions_are_machine_code(void **state)
{
	const struct scriptprofile *profile;
	double unmarked = 0;

	need_mlua();
	profile = record_both(*state);
	for (int id = 1; id <= profile->function_count; id++)
		if (!strcmp(profile->functions[id].name, "work") &&
		    !(profile->functions[id].flags & 1))
			unmarked += scriptprofile__share(profile, profile->functions[id].total_us);
	assert_true(unmarked < UNMARKED_MAX);
}

/* mlua makes all functions of Rust closures of one C function. */
static void tells_functions_of_rust_apart(void **state)
{
	const struct scriptprofile *profile;
	struct child *target;

	need_mlua();
	write_text(*state, "rust.luau",
		   "local function tick() spawn(3000) shift(1000) end\n"
		   "while true do for i = 1, 200 do tick() end pause() end\n");
	target = start(*state, built_program("../../hosts/mlua"), "rust.luau");
	child__let_work(target, 0.2);
	profile = record_shares(*state, target->pid, "--until-samples=2000", "-F", "2000");
	scriptprofile__assert_stack(profile, "main chunk > tick > spawn (*)", 0.7, 0.8);
	scriptprofile__assert_stack(profile, "main chunk > tick > shift (*)", 0.2, 0.3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(its_vms_take_turns),
		staged(its_functions_are_machine_code),
		staged(tells_functions_of_rust_apart),
	};

	return cmocka_run_group_tests_name("mlua", tests, NULL, NULL);
}
