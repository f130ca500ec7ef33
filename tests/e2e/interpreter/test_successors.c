/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * luaspy tells functions from others that lay at the same addresses before, although it does not
 * read the callers on a stack in each sample (bpf/closure_cache.bpf.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

static const char *source_at(const struct scriptprofile *profile, int node)
{
	return node ? profile->functions[profile->node_function[node]].source : "";
}

/* Time of stacks in which a function of one chunk has called one of another. */
static int64_t mixed_us(const struct scriptprofile *profile)
{
	int64_t mixed = 0;

	for (int id = 1; id <= profile->node_count; id++) {
		const char *chunk = source_at(profile, id);
		const char *callers = source_at(profile, profile->node_parent[id]);

		if (!strncmp(chunk, "chunk", 5) && !strncmp(callers, "chunk", 5) &&
		    strcmp(chunk, callers))
			mixed += profile->node_total_us[id];
	}
	return mixed;
}

static void check_successors(struct stage *stage, const char *program)
{
	struct child *target;
	struct scriptprofile *profile;

	target = start(stage, program, program_source("successors.lua"));
	child__await_output(stage, target, "ready");
	profile = record(stage, target->pid, "-d", "4", "-F", "10khz", "-q");
	print_message("%lld of %lld us mix chunks\n", (long long)mixed_us(profile),
		      (long long)profile->all_us);
	assert_true(scriptprofile__samples(profile, "total") > 1000);
	assert_true(scriptprofile__stack_us(profile, "outer > middle > work") > 0);
	assert_int_equal(mixed_us(profile), 0);
}

static void are_told_from_their_predecessors_in_5_4(void **state)
{
	need_lua();
	check_successors(*state, "lua5.4");
}

static void are_told_from_their_predecessors_in_luajit(void **state)
{
	need_to_record();
	need_program("luajit", "luajit");
	check_successors(*state, "luajit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(are_told_from_their_predecessors_in_5_4),
		staged(are_told_from_their_predecessors_in_luajit),
	};

	return cmocka_run_group_tests_name("successors", tests, NULL, NULL);
}
