/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prosody: a server in Lua, whose main loop, timers and modules are on the stack of their work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "field.h"

static const char module[] =
	FIELD_WORK "local timer = require 'util.timer'\n"
		   "local stanza = require 'util.stanza'\n"
		   "local json = require 'util.json'\n"
		   "local function build(n)\n"
		   "	local message = stanza.message({to = 'a@localhost', type = 'chat'})\n"
		   "	for i = 1, n do message:tag('x'):text('v' .. i):up() end\n"
		   "	return tostring(message)\n"
		   "end\n"
		   "local function answer()\n"
		   "	for i = 1, 20 do work() build(5) json.encode({1, {a = 'b'}}) end\n"
		   "	return 0.001\n"
		   "end\n"
		   "timer.add_task(0.01, answer)\n"
		   "module:log('info', 'ready to be profiled')\n";

static struct child *start_prosody(struct stage *stage)
{
	char configuration[1024];
	struct child *prosody;

	field__write(stage, "mod_load.lua", module);
	snprintf(configuration, sizeof(configuration),
		 "run_as_root = true\ndata_path = '%s'\npidfile = '%s/pid'\n"
		 "plugin_paths = { '%s' }\nmodules_enabled = { 'load' }\n"
		 "modules_disabled = { 's2s', 'tls', 'c2s', 'offline' }\n"
		 "c2s_ports = {}\ns2s_ports = {}\nhttp_ports = {}\nhttps_ports = {}\n"
		 "component_ports = {}\nlog = { info = '*console' }\nVirtualHost 'localhost'\n",
		 stage->folder, stage->folder, stage->folder);
	prosody = start(stage, "prosody", "-F", "--config",
			field__write(stage, "prosody.cfg.lua", configuration));
	child__await_output(stage, prosody, "ready to be profiled");
	sleep_seconds(0.2);
	return prosody;
}

static void shows_a_module_s_timer_below_the_main_loop(void **state)
{
	struct child *prosody;
	struct scriptprofile *profile;

	need_to_record();
	need_program("prosody", "prosody");
	prosody = start_prosody(*state);
	profile = field__record(*state, prosody, "*mod_load.lua");
	require_of(profile, field__has_stack(profile, "runtimers > xpcall > * > work > hot"));
	require_of(profile, field__has_stack(profile, "build > tostring"));
	require_of(profile, field__has_stack(profile, "* > main chunk > loop > xpcall"));
	require_of(profile, scriptprofile__total_us(profile, "*util/stanza.lua", NULL, -1) > 0);
	require_of(profile, scriptprofile__total_us(profile, "*util/json.lua", NULL, -1) > 0);
	/* Nothing but Lua runs in an interpreter. */
	require_of(profile, field__host_percent(profile) <= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_a_module_s_timer_below_the_main_loop),
	};

	return cmocka_run_group_tests_name("prosody", tests, NULL, NULL);
}
