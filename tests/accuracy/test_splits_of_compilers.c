/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scripts that measure themselves in LuaJIT and Luau, interpreted and as machine code: how they
 * divide their time, and how much of it LuaJIT's collector takes. luaspy has to come to the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "split.h"

#define GC_SLACK 0.02

static void split_in_luajit(struct stage *stage, const char *compiler)
{
	struct watched watched;

	need_to_record();
	need_program("luajit", "luajit");
	watched = watch(stage, "10khz", "SPLIT ", "luajit", compiler, program_source("split.lua"),
			"3000", "50", "30", "15", "5");
	split__check(&watched, 0);
}

static void finds_50_30_15_5_in_interpreted_luajit(void **state)
{
	split_in_luajit(*state, "-joff");
}

static void finds_50_30_15_5_in_compiled_luajit(void **state)
{
	split_in_luajit(*state, "-jon");
}

/*
 * Luau cannot read a line: instead of waiting for one, the script uses a second and a half of CPU
 * time, and a minute at its end.
 */
#define BEFORE_SPLIT                                                                               \
	"local seconds = 1.5\n"                                                                    \
	"local function read()\n"                                                                  \
	"	local stop = cputime() + seconds\n"                                                      \
	"	while cputime() < stop do end\n"                                                         \
	"	seconds = 60\n"                                                                          \
	"end\n"                                                                                    \
	"local io = {read = read, stdout = {flush = function() end}}\n"                            \
	"local os = {clock = cputime}\n"

static void write_split_of_luau(struct stage *stage)
{
	size_t size;
	char *script = read_file(program_source("split.lua"), &size), *whole;

	stage__own(stage, script, free);
	assert_true(asprintf(&whole, BEFORE_SPLIT "%.*s", (int)size, script) > 0);
	stage__own(stage, whole, free);
	write_text(stage, "split.luau", whole);
}

static void split_in_luau(struct stage *stage, const char *build)
{
	struct watched watched;
	char host[64];

	need_to_record();
	snprintf(host, sizeof(host), "../../hosts/luau_%s", build);
	need_host(built_program(host));
	write_split_of_luau(stage);
	watched = watch(stage, "10khz", "SPLIT ", built_program(host), "split.luau", "3000", "50",
			"30", "15", "5");
	split__check(&watched, 0);
}

static void finds_50_30_15_5_in_interpreted_luau(void **state)
{
	split_in_luau(*state, "736-gcc");
}

static void finds_50_30_15_5_in_compiled_luau(void **state)
{
	split_in_luau(*state, "736-native");
}

/* The script says "GC us us": its time in the collector, and in work(). */
static void finds_the_collectors_share(struct stage *stage, const char *compiler)
{
	struct watched watched;
	double gc_us, work_us, gc_found, work_found, share, found;
	const char *said;

	need_to_record();
	need_program("luajit", "luajit");
	watched =
		watch(stage, "10khz", "GC ", "luajit", compiler, program_source("collections.lua"));
	said = strstr(watched.said, "GC ");
	assert_int_equal(sscanf(said, "GC %lf %lf", &gc_us, &work_us), 2);
	gc_found = (double)scriptprofile__self_us(watched.profile, NULL, "GC", -1);
	work_found = (double)scriptprofile__self_us(watched.profile, NULL, "work", -1);
	share = gc_us / (gc_us + work_us);
	found = gc_found / (gc_found + work_found);
	print_message("GC: measured %.0f us of %.0f, found %.0f of %.0f\n", gc_us, gc_us + work_us,
		      gc_found, gc_found + work_found);
	print_message("measured %.2f%%, found %.2f%%\n", 100 * share, 100 * found);
	assert_true(found > share - GC_SLACK);
	assert_true(found < share + GC_SLACK);
}

static void finds_the_collectors_share_in_interpreted_luajit(void **state)
{
	finds_the_collectors_share(*state, "-joff");
}

static void finds_the_collectors_share_in_compiled_luajit(void **state)
{
	finds_the_collectors_share(*state, "-jon");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(finds_50_30_15_5_in_interpreted_luajit),
		staged(finds_50_30_15_5_in_compiled_luajit),
		staged(finds_50_30_15_5_in_interpreted_luau),
		staged(finds_50_30_15_5_in_compiled_luau),
		staged(finds_the_collectors_share_in_interpreted_luajit),
		staged(finds_the_collectors_share_in_compiled_luajit),
	};

	return cmocka_run_group_tests_name("splits of compilers", tests, NULL, NULL);
}
