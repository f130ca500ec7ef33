/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several processes as one category: of one name, one cgroup, one user. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cgroup.h"
#include "spying.h"

#define PATIENCE 60

/*
 * The time of the category with this name; 0 if it does not exist. `count`: the number of
 * categories.
 */
static int64_t category_us(const struct scriptprofile *profile, const char *name, int *count)
{
	json_t *categories = json_object_get(profile->document, "Categories"), *category;
	int64_t us = 0;
	size_t i;

	*count = (int)json_array_size(categories);
	json_array_foreach(categories, i, category)
	{
		const char *found = json_string_value(json_object_get(category, "Name"));
		json_int_t node = json_integer_value(json_object_get(category, "NodeId"));

		print_message("'%s': %.3f s\n", found, (double)profile->node_total_us[node] / 1e6);
		if (!strcmp(found, name))
			us = profile->node_total_us[node];
	}
	return us;
}

/* Copies the interpreter under a name that no other program on the machine has. */
static void copy_lua(struct stage *stage)
{
	struct child *copy = start(stage, "sh", "-c",
				   "cp \"$(readlink -f \"$(command -v lua5.4)\")\" brief-lua");

	assert_int_equal(child__wait(copy, PATIENCE), 0);
}

static struct child *start_system(struct stage *stage, const char *merge_by)
{
	struct child *spy =
		start(stage, luaspy_program(), "record", "--system", "--merge-by", merge_by,
		      "--name", "^(brief-lua|renamed)$", "-o", "profile.json");

	child__await_errors(stage, spy, "processes run an interpreter");
	return spy;
}

static struct scriptprofile *end_system(struct stage *stage, struct child *spy)
{
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	return spying__read(stage, in_folder(stage, "profile.json"));
}

/*
 * What a shell's `times` prints for the children that it waited for, in microseconds; printed last.
 */
static int64_t children_us(struct stage *stage, const struct child *shell)
{
	const char *line = strchr(child__output(stage, shell), '\n');
	double user_m, user_s, system_m, system_s;

	assert_non_null(line);
	assert_int_equal(
		sscanf(line + 1, "%lfm%lfs %lfm%lfs", &user_m, &user_s, &system_m, &system_s), 4);
	return (int64_t)(1e6 * (60 * (user_m + system_m) + user_s + system_s));
}

static void merges_a_thousand_scripts_of_one_name(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy, *shell;
	int64_t found_us, all_us;
	int count;

	need_lua();
	copy_lua(stage);
	write_text(stage, "brief.lua", LUA_SPIN "spin(0.004)");
	write_text(stage, "run.sh",
		   "i=0; while [ $i -lt 1000 ]; do ./brief-lua brief.lua; i=$((i+1)); done\n"
		   "times\n");
	spy = start_system(stage, "name");
	shell = start(stage, "sh", "run.sh");
	assert_int_equal(child__wait(shell, PATIENCE), 0);
	profile = end_system(stage, spy);
	all_us = children_us(stage, shell);
	found_us = category_us(profile, "brief-lua", &count);
	print_message("%.1f%% of the CPU time of 1,000 scripts of %.1f ms\n",
		      100.0 * (double)found_us / (double)all_us, (double)all_us / 1e6);
	assert_int_equal(count, 1);
	/* Before it becomes the program, each process is a copy of the shell. */
	assert_in_range(found_us, all_us * 9 / 10, all_us * 101 / 100);
	assert_int_equal(scriptprofile__recorded(profile, "LostRecords"), 0);
}

static void puts_a_process_into_the_category_of_its_current_name(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy, *one;
	int64_t before_us, after_us;
	int count;

	need_lua();
	copy_lua(stage);
	write_text(stage, "name.lua",
		   LUA_SPIN "spin(1)\n"
			    "local file = io.open('/proc/self/comm', 'w')\n"
			    "file:write('renamed') file:close()\n"
			    "spin(2)");
	spy = start_system(stage, "name");
	one = start(stage, "./brief-lua", "name.lua");
	assert_int_equal(child__wait(one, PATIENCE), 0);
	profile = end_system(stage, spy);
	before_us = category_us(profile, "brief-lua", &count);
	after_us = category_us(profile, "renamed", &count);
	assert_int_equal(count, 2);
	/* luaspy checks the names twice a second. */
	assert_in_range(before_us, 950000, 1700000);
	assert_in_range(after_us, 1300000, 2050000);
}

static void merges_by_user(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy, *shell;
	int64_t root_us, other_us;
	int count;

	need_lua();
	need_program("setpriv", "util-linux");
	copy_lua(stage);
	assert_int_equal(chmod(stage->folder, 0755), 0);
	write_text(stage, "brief.lua", LUA_SPIN "spin(0.2)");
	write_text(stage, "run.sh",
		   "for i in 1 2 3; do ./brief-lua brief.lua; done\n"
		   "for i in 1 2; do setpriv --reuid=4242 ./brief-lua brief.lua; done\n");
	spy = start_system(stage, "user");
	shell = start(stage, "sh", "run.sh");
	assert_int_equal(child__wait(shell, PATIENCE), 0);
	profile = end_system(stage, spy);
	root_us = category_us(profile, "root", &count);
	other_us = category_us(profile, "4242", &count);
	assert_int_equal(count, 2);
	assert_in_range(root_us, 570000, 700000);
	assert_in_range(other_us, 380000, 480000);
}

static void merges_by_cgroup(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	const char *cgroup;
	struct child *spy, *shell;
	int64_t found_us;
	char *script, name[32];
	int count;

	need_lua();
	snprintf(name, sizeof(name), "luaspy-test-%d", getpid());
	cgroup = cgroup__make(stage, name);
	if (!cgroup)
		skip_because("no cgroup can be made in '/sys/fs/cgroup'");
	copy_lua(stage);
	write_text(stage, "brief.lua", LUA_SPIN "spin(0.2)");
	assert_true(asprintf(&script,
			     "echo $$ >%s/cgroup.procs\n"
			     "for i in 1 2 3; do ./brief-lua brief.lua; done\n",
			     cgroup) > 0);
	stage__own(stage, script, free);
	spy = start_system(stage, "cgroup");
	shell = start(stage, "sh", "-c", script);
	assert_int_equal(child__wait(shell, PATIENCE), 0);
	profile = end_system(stage, spy);
	found_us = category_us(profile, strrchr(cgroup, '/'), &count);
	assert_int_equal(count, 1);
	assert_in_range(found_us, 570000, 700000);
}

static void merges_children_of_a_command(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy;
	int64_t found_us;
	int count;

	need_lua();
	write_text(stage, "brief.lua", LUA_SPIN "spin(0.2)");
	write_text(stage, "run.sh", "for i in 1 2 3 4; do lua5.4 brief.lua; done\n");
	spy = start(stage, luaspy_program(), "record", "--children", "--merge-by=name", "-o",
		    "profile.json", "--", "sh", "run.sh");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	found_us = category_us(profile, "lua5.4", &count);
	/* This also counts the shell, which has no Lua. */
	assert_int_equal(count, 2);
	assert_in_range(found_us, 760000, 900000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		staged(merges_a_thousand_scripts_of_one_name),
		staged(puts_a_process_into_the_category_of_its_current_name),
		staged(merges_by_user),
		staged(merges_by_cgroup),
		staged(merges_children_of_a_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
