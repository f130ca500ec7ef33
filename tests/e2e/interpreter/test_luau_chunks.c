/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chunks of Luau as categories: the outermost script of a stack, whatever resumed or called it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "accounts.h"
#include "luau_hosts.h"

static const char *const builds[] = {"516-gcc", "577-gcc", "736-gcc", "736-native"};

#define BUILDS (sizeof(builds) / sizeof(builds[0]))

static struct scriptprofile *record_chunks(struct stage *stage, const char *build,
					   const char *script)
{
	struct child *target = luau_host__start(stage, build, "app.luau", script);
	struct scriptprofile *profile = record_shares(stage, target->pid, "--until-samples=2000",
						      "-F", "4khz", "--category=chunk");

	child__kill(target);
	return profile;
}

static double share_of(const struct scriptprofile *profile, const char *chunk)
{
	return scriptprofile__share(profile, accounts__category_us(profile, chunk));
}

#define WORK(name)                                                                                 \
	"local size = 0\n"                                                                         \
	"function of_" name "()\n"                                                                 \
	"	size = size % 97e3 + 13e3\n"                                                             \
	"	local x = 0 for i = 1, size do x = x + i % 7 end\n"                                      \
	"end\n"

#define LOAD(name) "loadstring([[" WORK(name) "]], '@" name ".luau')()\n"

/*
 * Two VMs, on a thread each, as many hosts have them. How much of a busy machine each gets is not
 * known. Samples from before the layout is decided have no chunk.
 */
static void are_those_of_each_vm(void **state)
{
	struct stage *stage = *state;

	need_to_record();
	write_text(stage, "one.luau", WORK("one") "while true do of_one() end\n");
	write_text(stage, "two.luau", WORK("two") "while true do of_two() end\n");
	for (size_t i = 0; i < BUILDS; i++) {
		struct scriptprofile *profile = record_chunks(
			stage, builds[i], "start('one.luau') start('two.luau') wait()\n");
		double one = share_of(profile, "one.luau"), two = share_of(profile, "two.luau");

		scriptprofile__assert_share(profile, "both", one + two, 0.9, 1);
		assert_true(one > 0.02 && two > 0.02);
		scriptprofile__assert_stack(profile, "main chunk > of_one", one - 0.01, one);
		scriptprofile__assert_stack(profile, "main chunk > of_two", two - 0.01, two);
	}
}

/* What it calls and resumes is of the main script, from whichever chunk it is. */
static void begin_with_the_outermost(void **state)
{
	static const char script[] =
		LOAD("one") LOAD("two") "local resumed = coroutine.wrap(function()\n"
					"	while true do of_two() coroutine.yield() end\n"
					"end)\n"
					"while true do of_one() of_one() of_one() resumed() end\n";

	need_to_record();
	for (size_t i = 0; i < BUILDS; i++) {
		struct scriptprofile *profile = record_chunks(*state, builds[i], script);

		scriptprofile__assert_share(profile, "app.luau", share_of(profile, "app.luau"),
					    0.99, 1);
		scriptprofile__assert_stack(profile, "main chunk > of_one", 0.68, 0.82);
		scriptprofile__assert_stack(profile, "of_two", 0.18, 0.32);
		assert_true(scriptprofile__total_us(profile, "two.luau", "of_two", -1) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(are_those_of_each_vm),
		staged(begin_with_the_outermost),
	};

	return cmocka_run_group_tests_name("luau_chunks", tests, NULL, NULL);
}
