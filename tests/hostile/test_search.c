/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process that was asked for, and whose files take long to search for interpreters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "siege.h"

#define PATIENCE 60
#define FILES    16 /* of 50 MB: more than twice TIME_BUDGET_MAPPED_NS */

/* It works for 0.4 s before it is Lua, and for two seconds then. */
#define LUA_SHARE 0.7

static const char busy[] = "local stop = os.clock() + 2 "
			   "while os.clock() < stop do for i = 1, 10000 do end end";

static void make_files(struct siege *siege)
{
	char name[32];

	for (int i = 1; i <= FILES; i++) {
		snprintf(name, sizeof(name), "big%d", i);
		siege__make_bomb(siege, "big", name);
	}
}

/* Only a session of the whole machine is sparing with each process. */
static void is_searched_to_the_end(void **state)
{
	struct siege *siege = *state;
	struct stage *stage = siege->stage;
	struct scriptprofile *profile;
	struct child *spy;
	double share;
	char count[16];

	need_lua();
	make_files(siege);
	snprintf(count, sizeof(count), "%d", FILES);
	spy = start(stage, luaspy_program(), "record", "-v", "-o", "x.json", "--",
		    built_program("attacks/large_start"), count, siege__field(siege, "big"),
		    "lua5.4", "-e", busy);
	if (child__wait(spy, PATIENCE))
		fail_msg("exit status %d: %s", spy->status, child__errors(stage, spy));
	profile = spying__read(stage, in_folder(stage, "x.json"));
	share = (double)scriptprofile__samples(profile, "complete") /
		(double)scriptprofile__samples(profile, "total");
	print_message("%.1f%% of the samples are of Lua\n", 100 * share);
	assert_true(share > LUA_SHARE);
}

/* Luaspy does not wait until its owner gives up the lease. */
static void is_not_said_to_be_without_an_interpreter(void **state)
{
	struct siege *siege = *state;
	struct stage *stage = siege->stage;
	struct child *holder = attack_with(siege, "lease", "1", siege__field(siege, "")), *spy;

	need_to_record();
	siege__await(siege, holder, "mapped");
	spy = start_record(stage, holder->pid, "-d", "1", "-o", "x.json");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	assert_non_null(strstr(child__errors(stage, spy),
			       "its files could not be searched for an interpreter"));
}

static const struct attack large = {.name = "is_searched_to_the_end"};
static const struct attack leased = {.name = "is_not_said_to_be_without_an_interpreter"};

int main(void)
{
	const struct CMUnitTest tests[] = {
		{large.name, is_searched_to_the_end, siege__open, siege__close, (void *)&large},
		{leased.name, is_not_said_to_be_without_an_interpreter, siege__open, siege__close,
		 (void *)&leased},
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
