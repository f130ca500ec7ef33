/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Redis: PUC Lua 5.1 of its own in the program. Its scripts are chunks, or libraries in a sandbox.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "field.h"

static struct child *start_redis(struct stage *stage)
{
	struct child *redis;

	redis = start(stage, "redis-server", "--port", "0", "--unixsocket",
		      in_folder(stage, "redis.sock"), "--save", "", "--appendonly", "no",
		      "--daemonize", "no");
	child__await_output(stage, redis, "ready to accept connections");
	return redis;
}

#define bombard(stage, ...)                                                                        \
	start(stage, "redis-benchmark", "-s", in_folder(stage, "redis.sock"), "-n", "100000000",   \
	      "-c", "4", "-P", "4", __VA_ARGS__)

static const char first_script[] =
	FIELD_WORK "for i = 1, 10 do work() end\n"
		   "redis.call('INCR', KEYS[1])\n"
		   "for word in string.gmatch('the quick brown fox', '%a+') do\n"
		   "	redis.call('HSET', KEYS[2], word, #word)\n"
		   "end\n"
		   "return cmsgpack.pack(cjson.decode('{\"a\":[1,2,3,4,5]}'))\n";

static const char second_script[] = FIELD_WORK "for i = 1, 3 do work() end return 1\n";

static int count_functions(const struct scriptprofile *profile, const char *prefix)
{
	int count = 0;

	for (int id = 1; id <= profile->function_count; id++)
		count += !strncmp(profile->functions[id].name, prefix, strlen(prefix));
	return count;
}

static void shows_each_script_under_the_name_that_redis_gives_it(void **state)
{
	struct child *redis;
	struct scriptprofile *profile;

	need_to_record();
	need_program("redis-server", "redis-server");
	need_program("redis-benchmark", "redis-tools");
	redis = start_redis(*state);
	bombard(*state, "eval", first_script, "2", "counter", "words");
	bombard(*state, "eval", second_script, "0");
	child__let_work(redis, 0.1);
	profile = field__record(*state, redis, "user_script");
	require_of(profile, count_functions(profile, "f_") == 2);
	require_of(profile, count_functions(profile, "main chunk") == 0);
	require_of(profile, field__has_stack(profile, "^f_* > redis.call"));
	require_of(profile, field__has_stack(profile, "^f_* > work > string.byte"));
	require_of(profile, field__has_c_function(profile, "cmsgpack.pack"));
	require_of(profile, field__has_c_function(profile, "cjson.decode"));
	require_of(profile, field__has_c_function(profile, "iterator of gmatch (*+0x*)"));
	/* Now and then Redis has its collector make a step when no script runs. */
	require_of(profile, scriptprofile__stack_us(profile, "^f_*") +
					    scriptprofile__stack_us(profile, "^GC") +
					    scriptprofile__total_us(profile, "", NULL, 0) ==
				    profile->all_us);
	require_of(profile, field__host_percent(profile) >= 1);
	require_of(profile, field__host_percent(profile) <= 50);
}

static const char library[] = "#!lua name=mine " FIELD_WORK "local function answer(keys, args)\n"
			      "	work()\n"
			      "	redis.call('HSET', keys[1], 'last', redis.call('TIME')[1])\n"
			      "	return redis.status_reply('OK')\n"
			      "end\n"
			      "redis.register_function('answer', answer)\n";

static void names_what_a_library_calls_from_its_sandbox(void **state)
{
	struct child *redis, *client;
	struct scriptprofile *profile;
	char text[sizeof(library)];

	need_to_record();
	need_program("redis-server", "redis-server");
	need_program("redis-benchmark", "redis-tools");
	redis = start_redis(*state);
	/* Redis takes the first line as its own and leaves an empty one in its place. */
	memcpy(text, library, sizeof(library));
	*strstr(text, " local") = '\n';
	client = start(*state, "redis-cli", "-s", in_folder(*state, "redis.sock"), "function",
		       "load", text);
	assert_int_equal(child__wait(client, 10), 0);
	bombard(*state, "fcall", "answer", "1", "key");
	child__let_work(redis, 0.1);
	profile = record(*state, redis->pid, "-d", "2s", "-F", "10khz");
	require_of(profile, scriptprofile__total_us(profile, "user_function", "hot", 2) >
				    profile->all_us / 4);
	require_of(profile, scriptprofile__total_us(profile, "user_function", NULL, 5) >
				    profile->all_us / 4);
	require_of(profile, field__has_stack(profile, "^* > redis.call"));
	require_of(profile, field__has_c_function(profile, "redis.status_reply"));
	require_of(profile, !field__has_c_function(profile, "*+0x*"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_each_script_under_the_name_that_redis_gives_it),
		staged(names_what_a_library_calls_from_its_sandbox),
	};

	return cmocka_run_group_tests_name("redis", tests, NULL, NULL);
}
