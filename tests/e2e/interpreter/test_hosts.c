/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lua in unusual places: under other names, in deleted files, in other programs. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 20

static const char busy_script[] = "local function inner() local x = 0 for i = 1, 1e4 do x = x + i "
				  "end return x end\n"
				  "function outer() while true do inner() end end\n"
				  "local co = coroutine.create(function() outer() return 1 end)\n"
				  "coroutine.resume(co)\n";

static void check_busy(struct stage *stage, const struct child *target)
{
	struct scriptprofile *profile;

	child__let_work(target, 0.05);
	profile = record(stage, target->pid, "-d", "700ms");
	if (scriptprofile__stack_us(profile, "main chunk > coroutine.resume > * > outer > inner") <
		    profile->all_us * 9 / 10 ||
	    scriptprofile__samples(profile, "unreadable")) {
		scriptprofile__print(profile);
		fail();
	}
}

static void copy(struct stage *stage, const char *from, const char *to)
{
	char command[512];

	snprintf(command, sizeof(command), "cp \"$(readlink -f \"$(command -v %s)\")\" '%s'", from,
		 to);
	assert_int_equal(child__wait(start(stage, "sh", "-c", command), PATIENCE), 0);
}

static void finds_lua_in_a_program_of_another_name(void **state)
{
	need_to_record();
	need_program("lua5.4", "lua5.4");
	copy(*state, "lua5.4", in_folder(*state, "xyz"));
	check_busy(*state, start(*state, in_folder(*state, "xyz"), "-e", busy_script));
}

static void finds_lua_in_a_program_that_is_deleted(void **state)
{
	struct child *target;

	need_to_record();
	need_program("lua5.3", "lua5.3");
	copy(*state, "lua5.3", in_folder(*state, "xyz"));
	target = start(*state, in_folder(*state, "xyz"), "-e", busy_script);
	child__let_work(target, 0.05);
	assert_int_equal(unlink(in_folder(*state, "xyz")), 0);
	check_busy(*state, target);
}

static void finds_lua_behind_a_name_of_hostile_characters(void **state)
{
	static const char name[] = "a\33[31m\n'\"b (deleted)";
	struct child *target, *spy;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	copy(*state, "lua5.4", in_folder(*state, "xyz"));
	assert_int_equal(rename(in_folder(*state, "xyz"), in_folder(*state, name)), 0);
	target = start(*state, in_folder(*state, name), "-e", busy_script);
	child__let_work(target, 0.05);
	spy = start_record(*state, target->pid, "-d", "300ms", "-o", "x.json");
	if (child__wait(spy, PATIENCE) != 0)
		fail_msg("%s", child__errors(*state, spy));
	assert_null(strchr(child__errors(*state, spy), '\33'));
	assert_non_null(strstr(child__errors(*state, spy), "Lua 5.4"));
	spying__read(*state, in_folder(*state, "x.json"));
}

static const char redis_script[] =
	"local function spin(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end\n"
	"local function talk() return redis.call('incr', 'counter') end\n"
	"for i = 1, 1e9 do spin(300) talk() end\n";

static struct child *start_redis(struct stage *stage)
{
	struct child *redis;
	const char *socket = in_folder(stage, "redis.sock");

	redis = start(stage, "redis-server", "--port", "0", "--unixsocket", socket, "--save", "",
		      "--appendonly", "no", "--daemonize", "no");
	child__await_output(stage, redis, "ready to accept connections");
	return redis;
}

static void finds_the_script_that_redis_runs(void **state)
{
	struct child *redis;
	struct scriptprofile *profile;
	int64_t script_us;

	need_to_record();
	need_program("redis-server", "redis-server");
	need_program("redis-cli", "redis-tools");
	redis = start_redis(*state);
	start(*state, "redis-cli", "-s", in_folder(*state, "redis.sock"), "eval", redis_script,
	      "0");
	child__let_work(redis, 0.1);
	profile = record(*state, redis->pid, "-d", "1", "-F", "10khz");
	script_us = scriptprofile__total_us(profile, NULL, "spin", -1) +
		    scriptprofile__total_us(profile, NULL, "talk", -1);
	if (script_us < profile->all_us * 9 / 10 ||
	    !scriptprofile__stack_us(profile, "talk > redis.call")) {
		scriptprofile__print(profile);
		fail();
	}
	assert_true(scriptprofile__total_us(profile, "*user_script", "spin", 1) > 0);
	assert_true(scriptprofile__total_us(profile, "*user_script", "talk", 2) > 0);
}

/*
 * The script ends in the call of a function that it defines, so no sample has the script itself.
 * Redis keeps it, and has no text for it.
 */
static void names_what_a_kept_script_defines(void **state)
{
	static const char script[] = "local jobs = {spin = function(n)\n"
				     "	local x = 0\n"
				     "	for i = 1, n do x = x + i % 7 end\n"
				     "	return x\n"
				     "end}\n"
				     "return jobs.spin(1e9)\n";
	struct scriptprofile *profile;
	struct child *redis;

	need_to_record();
	need_program("redis-server", "redis-server");
	need_program("redis-cli", "redis-tools");
	redis = start_redis(*state);
	start(*state, "redis-cli", "-s", in_folder(*state, "redis.sock"), "eval", script, "0");
	child__let_work(redis, 0.1);
	profile = record(*state, redis->pid, "-d", "1");
	scriptprofile__assert_stack(profile, "jobs.spin", 0.9, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(finds_lua_in_a_program_of_another_name),
		staged(finds_lua_in_a_program_that_is_deleted),
		staged(finds_lua_behind_a_name_of_hostile_characters),
		staged(finds_the_script_that_redis_runs),
		staged(names_what_a_kept_script_defines),
	};

	return cmocka_run_group_tests_name("hosts", tests, NULL, NULL);
}
