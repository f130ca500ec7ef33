/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout that is derived from a running program must be the one that is known for it; forks
 * that moved members must come out as their sources have them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dump/vm_search.h"
#include "luau/calibration_luau.h"
#include "luau/layout_luau.h"
#include "process/page_cache.h"
#include "skip.h"
#include "stage.h"

/* Functions of several sizes, with and without names, upvalues and functions of their own. */
static const char script[] =
	"local Shape = {}\n"
	"function Shape.area(n)\n"
	"	local sum = 0\n"
	"	for i = 1, n do sum = sum + i % 7 end\n"
	"	return sum\n"
	"end\n"
	"function Shape:perimeter(n) return self.area(n) * 2 end\n"
	"local function nest(a, b, c)\n"
	"	return function(...)\n"
	"		local x = a\n"
	"		return function() x = x + b + c return x end\n"
	"	end\n"
	"end\n"
	"local kept = {nest(1, 2, 3), nest(4, 5, 6)(), Shape.area, Shape.perimeter}\n"
	"local function waits(value) write('READY\\n') wait() return value end\n"
	"local t = {}\n"
	"t.run = function(...) local value = waits(...) return value end\n"
	"t.run(kept)\n";

static const char *host(const char *build)
{
	char program[64];

	snprintf(program, sizeof(program), "../../hosts/luau_%s", build);
	return built_program(program);
}

static struct child *start_host(struct stage *stage, const char *build)
{
	struct child *target;

	need_host(host(build));
	write_text(stage, "app.luau", script);
	target = start(stage, host(build), "app.luau");
	child__await_output(stage, target, "READY");
	child__await_state(stage, target, 'S');
	return target;
}

static struct vm_found find_vm(const struct child *target)
{
	struct ls_candidates candidates[LS_FAMILY_COUNT] = {};
	struct vm_search search;

	candidates[LS_FAMILY_LUAU].layouts = layout_luau__all();
	assert_int_equal(vm_search__find(target->pid, candidates, &search), 0);
	assert_int_equal(search.count, 1);
	return search.items[0];
}

static int calibrate(const struct child *target, uint64_t state, struct ls_luau_layout *layout,
		     char reason[160])
{
	struct target_memory memory = {.pid = target->pid, .pages = page_cache__new()};
	int error;

	assert_non_null(memory.pages);
	error = calibration_luau__run(&memory, state, layout, reason, 160);
	page_cache__free(memory.pages);
	return error;
}

static void assert_derived(struct stage *stage, const char *build,
			   const struct ls_luau_layout *expected)
{
	struct child *target = start_host(stage, build);
	struct vm_found vm = find_vm(target);
	struct ls_luau_layout layout;
	char reason[160];

	if (calibrate(target, vm.main_thread, &layout, reason))
		fail_msg("%s: %s", build, reason);
	child__kill(target);
	assert_memory_equal(&layout, expected ? expected : vm.layout.offsets, sizeof(layout));
}

static void derives_what_is_known_of_a_release(void **state)
{
	static const char *const builds[] = {"516-gcc", "577-gcc",     "635-gcc",    "727-longjmp",
					     "736-gcc", "736-vector4", "736-native", "736-clang"};

	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++)
		assert_derived(*state, builds[i], NULL);
}

static void derives_what_a_fork_has_moved(void **state)
{
	const struct ls_luau_layout *known = &layouts_luau[0].offsets;
	struct ls_luau_layout names = *known, lines = *known;

	names.proto_source = known->proto_name;
	names.proto_name = known->proto_source;
	assert_derived(*state, "736-moved-proto", &names);
	lines.proto_line_info = known->proto_line_bases;
	lines.proto_line_bases = known->proto_line_info;
	lines.proto_native = known->proto_native;
	assert_derived(*state, "736-moved-lines", &lines);
}

static void says_what_it_could_not_tell(void **state)
{
	static const char too_few[] = "write('READY\\n') wait()\n";
	struct ls_luau_layout layout;
	struct child *target;
	char reason[160];

	need_host(host("736-gcc"));
	write_text(*state, "few.luau", too_few);
	target = start(*state, host("736-gcc"), "few.luau");
	child__await_output(*state, target, "READY");
	child__await_state(*state, target, 'S');
	assert_int_equal(calibrate(target, find_vm(target).main_thread, &layout, reason), -ENODATA);
	assert_string_equal(reason, "no two members are tables of lines whose sizes fit "
				    "(closures seen: 1)");
	assert_int_equal(calibrate(target, 8, &layout, reason), -EFAULT);
	assert_string_equal(reason, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(derives_what_is_known_of_a_release),
		staged(derives_what_a_fork_has_moved),
		staged(says_what_it_could_not_tell),
	};

	return cmocka_run_group_tests_name("calibration_luau", tests, NULL, NULL);
}
