/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that load Lua as a plugin, and call scripts when something happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "field.h"

/* What magnet's own function takes is a fraction of a microsecond. */
static const char page[] = FIELD_WORK "for i = 1, 10 do work() end\n"
				      "for i = 1, 2e3 do path = lighty.env['uri.path'] end\n"
				      "lighty.header['X-Sum'] = tostring(work())\n"
				      "lighty.content = {lighty.env['uri.path']}\n"
				      "return 200\n";

static void shows_a_page_of_lighttpd_by_the_name_it_gives_its_chunk(void **state)
{
	char configuration[1024];
	struct child *lighttpd;
	struct scriptprofile *profile;

	need_to_record();
	need_program("lighttpd", "lighttpd");
	if (access("/usr/lib/lighttpd/mod_magnet.so", F_OK))
		lacks_package("lighttpd-modules-lua");
	snprintf(configuration, sizeof(configuration),
		 "server.document-root = \"%s\"\nserver.bind = \"%s\"\n"
		 "server.modules = (\"mod_magnet\")\nmagnet.attract-raw-url-to = (\"%s\")\n",
		 ((struct stage *)*state)->folder, in_folder(*state, "http.sock"),
		 field__write(*state, "page.lua", page));
	lighttpd =
		start(*state, "lighttpd", "-D", "-f", field__write(*state, "x.cfg", configuration));
	stage__await_file(*state, lighttpd, "http.sock");
	field__ask(*state, "http.sock", "/one/two");
	profile = field__record(*state, lighttpd, "?string*page.lua*");
	require_of(profile, field__has_stack(profile, "^main chunk > work > hot"));
	/* By the metatable that holds it; by its caller if it was not asked for in time. */
	require_of(profile,
		   field__has_stack(profile, "^main chunk > li.req_attr.__index") ||
			   field__has_stack(profile, "^main chunk > index (mod_magnet.so+0x*)"));
	require_of(profile, field__host_percent(profile) >= 2);
	require_of(profile, field__host_percent(profile) <= 85);
}

/* Between the calls of its timer weechat does not sleep, so the script has to work for longer. */
static const char timer[] =
	FIELD_WORK FIELD_UP "weechat.register('load', '', '1', '', '', '', '')\n"
			    "function on_timer()\n"
			    "	for i = 1, 60 do\n"
			    "		work()\n"
			    "		weechat.config_string(\n"
			    "			weechat.config_get('weechat.look.bare'))\n"
			    "	end\n"
			    "	weechat.print('', 'said')\n"
			    "	return weechat.WEECHAT_RC_OK\n"
			    "end\n"
			    "weechat.hook_timer(1, 0, 0, 'on_timer', '')\n";

static void shows_what_weechat_calls_by_name(void **state)
{
	struct child *weechat;
	struct scriptprofile *profile;

	need_to_record();
	need_program("weechat-headless", "weechat-headless");
	if (access("/usr/lib/x86_64-linux-gnu/weechat/plugins/lua.so", F_OK) &&
	    access("/usr/lib/aarch64-linux-gnu/weechat/plugins/lua.so", F_OK))
		lacks_package("weechat-lua");
	assert_int_equal(mkdir(in_folder(*state, "lua"), 0755), 0);
	assert_int_equal(mkdir(in_folder(*state, "lua/autoload"), 0755), 0);
	field__write(*state, "lua/autoload/timer.lua", timer);
	weechat = start(*state, "weechat-headless", "-d", ((struct stage *)*state)->folder);
	stage__await_file(*state, weechat, "up");
	/* It loads other plugins, too. */
	child__let_work(weechat, 0.2);
	profile = field__record(*state, weechat, "*timer.lua");
	require_of(profile, field__has_stack(profile, "^on_timer > work > hot"));
	require_of(profile, field__has_stack(profile, "^on_timer > weechat.config_get"));
	require_of(profile, field__has_stack(profile, "^on_timer > weechat.print"));
	require_of(profile, field__host_percent(profile) <= 30);
}

static const char reader[] = FIELD_WORK
	"local function read()\n"
	"	for i = 1, 100 do work() end\n"
	"	collectd.dispatch_values{host = 'h', plugin = 'p', type = 'gauge', values = {1}}\n"
	"	return 0\n"
	"end\n"
	"collectd.register_read(read)\n" FIELD_UP;

static void shows_the_thread_of_collectd_that_runs_a_script(void **state)
{
	char configuration[1024];
	struct child *collectd;
	struct scriptprofile *profile;

	need_to_record();
	want_program("collectd", "collectd-core", "6 MB");
	field__write(*state, "reader.lua", reader);
	snprintf(configuration, sizeof(configuration),
		 "BaseDir \"%s\"\nInterval 0.01\nLoadPlugin lua\n"
		 "<Plugin lua>\nBasePath \"%s\"\nScript \"reader.lua\"\n</Plugin>\n",
		 ((struct stage *)*state)->folder, ((struct stage *)*state)->folder);
	collectd =
		start(*state, "collectd", "-f", "-C", field__write(*state, "x.cfg", configuration),
		      "-P", in_folder(*state, "pid"));
	stage__await_file(*state, collectd, "up");
	profile = field__record(*state, collectd, "*reader.lua");
	require_of(profile, field__has_c_function(profile, "collectd.dispatch_values"));
	require_of(profile, field__host_percent(profile) <= 60);
}

static const char scan[] =
	FIELD_WORK "local stdnse = require 'stdnse'\n"
		   "categories = {'safe'}\n"
		   "prerule = function() return true end\n"
		   "local function probe() work() stdnse.sleep(0.0001) end\n"
		   "action = function() " FIELD_UP "while true do probe() end end\n";

/* Its scheduler calls the API on coroutines that have yielded. */
static void shows_a_script_of_nmap_below_its_scheduler(void **state)
{
	struct child *nmap;
	struct scriptprofile *profile;

	need_to_record();
	want_program("nmap", "nmap", "28 MB");
	nmap = start(*state, "nmap", "--script", field__write(*state, "scan.nse", scan), "-sn",
		     "-n", "127.0.0.1");
	stage__await_file(*state, nmap, "up");
	profile = field__record(*state, nmap, "*scan.nse");
	require_of(profile,
		   field__has_stack(profile, "run > Thread:resume > * > action > probe > work"));
	require_of(profile, field__has_c_function(profile, "nmap.socket.loop"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_a_page_of_lighttpd_by_the_name_it_gives_its_chunk),
		staged(shows_what_weechat_calls_by_name),
		staged(shows_the_thread_of_collectd_that_runs_a_script),
		staged(shows_a_script_of_nmap_below_its_scheduler),
	};

	return cmocka_run_group_tests_name("plugins", tests, NULL, NULL);
}
