/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prosody: a server in Lua, whose main loop, timers and modules are on the stack of their work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
	child__let_work(prosody, 0.1);
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

/* Its own loop is none, nor what that does for itself. */
static void knows_its_plugins(void **state)
{
	struct scriptprofile *profile;
	struct child *prosody;
	int64_t plugin_us = 0, total_us;

	need_to_record();
	need_program("prosody", "prosody");
	prosody = start_prosody(*state);
	profile = record(*state, prosody->pid, "-d", "1", "-F", "5khz", "-q", "--plugin-preset",
			 "prosody");
	total_us = scriptprofile__total_us(profile, "*mod_load.lua", "answer", -1);
	for (int id = 1; id <= profile->function_count; id++) {
		const struct scriptprofile_function *function = &profile->functions[id];

		if (strstr(function->source, "mod_load.lua") || !strcmp(function->name, "hot"))
			require_of(profile, function->flags == 2);
		if (!strcmp(function->name, "loop") || !strcmp(function->name, "runtimers"))
			require_of(profile, function->flags == 0);
		plugin_us += function->flags == 2 ? function->self_us : 0;
	}
	/* Libraries of prosody that it calls are in it. */
	require_of(profile, plugin_us >= profile->all_us / 2);
	require_of(profile, plugin_us >= total_us);
	require_of(profile, plugin_us <= profile->all_us);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_a_module_s_timer_below_the_main_loop),
		staged(knows_its_plugins),
	};

	return cmocka_run_group_tests_name("prosody", tests, NULL, NULL);
}
