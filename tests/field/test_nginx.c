/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nginx with its Lua module, as OpenResty is: LuaJIT in workers of a master, whose handlers are
 * coroutines that the module's own scheduler resumes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "field.h"

static const char content[] =
	"local function hot() local x = 0 for i = 1, 30000 do x = x + i % 7 end return x end\n"
	"local function warm() local x = 0 for i = 1, 10000 do x = x + i % 7 end return x end\n"
	"local function inner() for i = 1, 3 do hot() coroutine.yield(i) end end\n"
	"local function outer()\n"
	"	local child = coroutine.wrap(inner)\n"
	"	for i = 1, 3 do child() end\n"
	"	warm()\n"
	"end\n"
	"local function light()\n"
	"	coroutine.wrap(outer)()\n"
	"	ngx.sleep(0)\n"
	"	warm()\n"
	"end\n"
	"local function handle()\n"
	"	local one, two = ngx.thread.spawn(light), ngx.thread.spawn(light)\n"
	"	ngx.thread.wait(one)\n"
	"	ngx.thread.wait(two)\n"
	"	hot()\n"
	"	for i = 1, 300 do ngx.say('line', i) end\n"
	"end\n"
	"handle()\n";

/* nginx names the access handler by the line that it ends on. */
#define CONFIGURATION                                                                              \
	"load_module %1$s/root/usr/lib/nginx/modules/ndk_http_module.so;\n"                        \
	"load_module %1$s/root/usr/lib/nginx/modules/ngx_http_lua_module.so;\n"                    \
	"worker_processes 2; user root; daemon off; pid nginx.pid; error_log error.log;\n"         \
	"events { worker_connections 64; }\n"                                                      \
	"http { access_log off; lua_package_path '%1$s/root/usr/share/lua/5.1/?.lua;;';\n"         \
	"client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t;\n"                       \
	"uwsgi_temp_path t; scgi_temp_path t;\n"                                                   \
	"server { listen 127.0.0.1:%2$d; location / {\n"                                           \
	"access_by_lua '\n"                                                                        \
	"local function allow() local x = 0 for i = 1, 30000 do x = x + i %% 7 end end\n"          \
	"allow()\n"                                                                                \
	"'; content_by_lua_file content.lua; } } }\n"
#define ACCESS_CHUNK "access_by_lua(nginx.conf:12)"

struct server {
	struct child *master;
	char url[64];
	char libraries[512]; /* a word for env */
	char folder[512];
};

#define need_nginx()                                                                               \
	do {                                                                                       \
		need_to_record();                                                                  \
		if (access(nginx_folder(), F_OK))                                                  \
			lacks_package("libnginx-mod-http-lua");                                    \
	} while (0)

static const char *nginx_folder(void)
{
	static char folder[512];

	assert_non_null(getcwd(folder, sizeof(folder) - 64));
	strcat(folder, "/.output/tests/field/nginx");
	return folder;
}

static struct child *load_server(struct stage *stage, const struct server *server)
{
	char wrk[600];

	snprintf(wrk, sizeof(wrk), "%s/root/usr/bin/wrk", server->folder);
	return start(stage, "env", server->libraries, wrk, "-t1", "-c4", "-d60", server->url);
}

static void start_server(struct stage *stage, struct server *server)
{
	int port = 20000 + getpid() % 20000;
	char configuration[4096], nginx[600];

	snprintf(server->folder, sizeof(server->folder), "%s", nginx_folder());
	snprintf(server->libraries, sizeof(server->libraries), "LD_LIBRARY_PATH=%.400s/lib",
		 server->folder);
	snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%d/", port);
	snprintf(nginx, sizeof(nginx), "%s/root/usr/sbin/nginx", server->folder);
	snprintf(configuration, sizeof(configuration), CONFIGURATION, server->folder, port);
	field__write(stage, "nginx.conf", configuration);
	field__write(stage, "content.lua", content);
	server->master = start(stage, "env", server->libraries, nginx, "-p", stage->folder, "-c",
			       in_folder(stage, "nginx.conf"));
	stage__await_file(stage, server->master, "nginx.pid");
	load_server(stage, server);
	sleep_seconds(0.5);
}

/* Time of the category of that name. */
static int64_t category_us(const struct scriptprofile *profile, const char *name)
{
	json_t *categories = json_object_get(profile->document, "Categories"), *category;
	size_t i;

	json_array_foreach(
		categories, i,
		category) if (!strcmp(json_string_value(json_object_get(category, "Name")),
				      name)) return profile
		->node_total_us[json_integer_value(json_object_get(category, "NodeId"))];
	return 0;
}

static void check_chunks(const struct scriptprofile *profile)
{
	int64_t total = scriptprofile__samples(profile, "total");
	int64_t host = scriptprofile__samples(profile, "host");

	require_of(profile, total - host > 300);
	require_of(profile,
		   scriptprofile__samples(profile, "complete") * 100 > (total - host) * 97);
	require_of(profile, category_us(profile, ACCESS_CHUNK) * 100 > profile->all_us);
	require_of(profile,
		   category_us(profile, ACCESS_CHUNK) ==
			   scriptprofile__total_us(profile, ACCESS_CHUNK, "main chunk", -1));
	require_of(profile, field__has_stack(profile, "^main chunk > allow"));
	require_of(profile, field__has_stack(profile, "^main chunk > handle > hot"));
	require_of(profile, field__has_stack(profile, "inner > hot"));
	require_of(profile, field__has_stack(profile, "light > warm"));
	require_of(profile, field__has_c_function(profile, "ngx.say"));
}

static void shows_handlers_by_the_chunks_that_nginx_names(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct server server;

	need_nginx();
	start_server(stage, &server);
	profile = record(stage, server.master->pid, "--children", "--category", "chunk", "-d", "2",
			 "-F", "5khz");
	check_chunks(profile);
}

/* A reload replaces the workers by new ones, while the profile is being made. */
static void follows_the_workers_of_a_reload(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct server server;
	struct child *spy;
	char nginx[600];

	need_nginx();
	start_server(stage, &server);
	snprintf(nginx, sizeof(nginx), "%s/root/usr/sbin/nginx", server.folder);
	spy = start_record(stage, server.master->pid, "--children", "--category", "process", "-d",
			   "4", "-F", "2khz", "-o", "workers.json");
	spying__await_timers(stage, spy);
	sleep_seconds(1);
	child__wait(start(stage, "env", server.libraries, nginx, "-p", stage->folder, "-c",
			  in_folder(stage, "nginx.conf"), "-s", "reload"),
		    10);
	spying__finish(stage, spy);
	profile = spying__read(stage, in_folder(stage, "workers.json"));
	require_of(profile, json_array_size(json_object_get(profile->document, "Categories")) >= 4);
	check_chunks(record(stage, server.master->pid, "--children", "--category", "chunk", "-d",
			    "2", "-F", "5khz"));
}

/* Its workers outlive a master that is killed. */
static int close_server(void **state)
{
	struct stage *stage = *state;
	char *pid = read_file(in_folder(stage, "nginx.pid"), NULL);

	if (pid && atoi(pid) > 1)
		kill(atoi(pid), SIGTERM);
	free(pid);
	sleep_seconds(0.2);
	return stage__close(state);
}

#define with_server(test) cmocka_unit_test_setup_teardown(test, stage__open, close_server)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_server(shows_handlers_by_the_chunks_that_nginx_names),
		with_server(follows_the_workers_of_a_reload),
	};

	return cmocka_run_group_tests_name("nginx", tests, NULL, NULL);
}
