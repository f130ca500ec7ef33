/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* HAProxy: what it calls are coroutines that C resumes, under a count hook, in several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "field.h"

static const char script[] = FIELD_WORK
	"core.register_action('classify', {'http-req'}, function(txn)\n"
	"	for i = 1, 20 do if i % 2 == 0 then work() end\n"
	"	for part in txn.sf:path():gmatch('[^/]+') do txn:set_var('req.last', part) end\n"
	"	txn.http:req_set_header('X-Sum', tostring(i)) end\n"
	"end)\n"
	"core.register_service('hello', 'http', function(applet)\n"
	"	applet:set_status(200)\n"
	"	applet:add_header('content-length', '5')\n"
	"	applet:start_response()\n"
	"	applet:send('hello')\n"
	"end)\n"
	"core.register_task(function()\n"
	"	while true do\n"
	"		work()\n"
	"		core.msleep(1)\n"
	"	end\n"
	"end)\n";

static struct child *start_haproxy(struct stage *stage, const char *directive)
{
	char configuration[1024];
	struct child *haproxy;

	field__write(stage, "app.lua", script);
	snprintf(configuration, sizeof(configuration),
		 "global\n	nbthread 2\n	%s %s\n"
		 "defaults\n	mode http\n	timeout client 5s\n	timeout server 5s\n"
		 "	timeout connect 5s\n"
		 "frontend f\n	bind unix@%s\n	http-request lua.classify\n"
		 "	http-request use-service lua.hello\n",
		 directive, in_folder(stage, "app.lua"), in_folder(stage, "http.sock"));
	haproxy = start(stage, "haproxy", "-db", "-f", field__write(stage, "x.cfg", configuration));
	stage__await_file(stage, haproxy, "http.sock");
	return haproxy;
}

static void check_haproxy(struct stage *stage, const char *directive)
{
	struct child *haproxy;
	struct scriptprofile *profile;
	int64_t action, task;

	haproxy = start_haproxy(stage, directive);
	field__ask(stage, "http.sock", "/one/two/three");
	field__ask(stage, "http.sock", "/four/five/six");
	profile = field__record(stage, haproxy, "*app.lua");
	action = scriptprofile__total_us(profile, "*app.lua", NULL, 4);
	task = scriptprofile__total_us(profile, "*app.lua", NULL, 15);
	require_of(profile, action > 0);
	require_of(profile, task > 0);
	require_of(profile, scriptprofile__total_us(profile, "*app.lua", NULL, 9) > 0);
	require_of(profile,
		   scriptprofile__total_us(profile, "*app.lua", "work", 3) <= action + task);
	require_of(profile, field__has_c_function(profile, "TXN:set_var"));
	require_of(profile, field__has_c_function(profile, "HTTP:req_set_header"));
	require_of(profile, field__has_c_function(profile, "AppletHTTP:*"));
	require_of(profile,
		   field__has_c_function(profile, "iterator of gmatch (liblua5.3.so*+0x*)"));
	/* The hook interrupts every so many instructions, and is C. */
	require_of(profile,
		   scriptprofile__total_us(profile, NULL, "hook", -1) <= profile->all_us / 100);
	require_of(profile, field__host_percent(profile) >= 2);
	require_of(profile, field__host_percent(profile) <= 90);
}

static void follows_two_threads_that_share_a_vm(void **state)
{
	need_to_record();
	need_program("haproxy", "haproxy");
	check_haproxy(*state, "lua-load");
}

static void follows_two_threads_with_a_vm_each(void **state)
{
	need_to_record();
	need_program("haproxy", "haproxy");
	check_haproxy(*state, "lua-load-per-thread");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(follows_two_threads_that_share_a_vm),
		staged(follows_two_threads_with_a_vm_each),
	};

	return cmocka_run_group_tests_name("haproxy", tests, NULL, NULL);
}
