/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes with another root, in mount, PID and user namespaces of their own: outside of them, the
 * same paths lead to other files.
 */
#include <errno.h>
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

#define PATIENCE 30
#define ID_START "0123456789ab"
#define ID       ID_START "cdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* `root` becomes the root; the old one is in "/old". */
#define ENTER                                                                                      \
	"mount --bind root root && cd root && pivot_root . old && cd / &&\n"                       \
	"cd \"$folder\" && exec ./lua-by-link "

/*
 * Makes a tree with an interpreter, which runs through a link to its absolute path. In our root,
 * that path is a text file; the link that later replaces the interpreter leads to one of another
 * release.
 */
static const char make_root[] =
	"set -e; lua=$(readlink -f \"$(command -v lua5.4)\"); folder=$PWD\n"
	"mkdir -p root/old \"root$folder/bin\" bin; chmod -R a+rx root\n"
	"for file in $(ldd \"$lua\" | grep -o '/[^ ]*'); do\n"
	"	mkdir -p \"root${file%/*}\"; cp -L \"$file\" \"root$file\"\n"
	"done\n"
	"cp \"$lua\" \"root$folder/bin/inner-lua\"; echo no program >bin/inner-lua\n"
	"cp \"$(readlink -f \"$(command -v lua5.1)\")\" bin/other\n"
	"ln -s \"$folder/bin/inner-lua\" \"root$folder/lua-by-link\"\n"
	"cp busy.lua \"root$folder\"\n";

static const char busy_script[] = "function work() local x = 0 for i = 1, 1e5 do x = x + i end "
				  "return x end\n"
				  "io.open('up', 'w'):close()\n"
				  "while true do work() end\n";

/* Starts a shell in its own namespaces, as process 1. It runs `before` outside of them. */
static struct child *start_inside(struct stage *stage, const char *before, const char *words)
{
	char *text;

	assert_true(asprintf(&text,
			     "%s folder=$PWD exec unshare --fork --kill-child --pid --mount "
			     "--user --map-root-user sh -c '" ENTER "%s'",
			     before, words) > 0);
	stage__own(stage, text, free);
	return start(stage, "sh", "-c", text);
}

/* Returns 0 if such a root can be made here. */
static int prepare(struct stage *stage)
{
	struct child *maker, *trial;

	write_file(in_folder(stage, "busy.lua"), busy_script, strlen(busy_script));
	maker = start(stage, "sh", "-c", make_root);
	if (child__wait(maker, PATIENCE))
		fail_msg("cannot make a root: %s", child__errors(stage, maker));
	trial = start_inside(stage, "", "-v");
	if (child__wait(trial, PATIENCE))
		print_message("%s", child__errors(stage, trial));
	return trial->status;
}

#define need_root_of_its_own(stage)                                                                \
	do {                                                                                       \
		need_lua();                                                                        \
		need_program("lua5.1", "lua5.1");                                                  \
		need_program("unshare", "util-linux");                                             \
		need_program("pivot_root", "util-linux");                                          \
		need_program("pgrep", "procps");                                                   \
		if (prepare(stage))                                                                \
			skip_because("no namespaces with another root can be made here");          \
	} while (0)

/* The process inside, by its pid in our namespace, once it works. */
static struct child await_inside(struct stage *stage, const struct child *shell)
{
	struct child *pgrep, inside = {};
	char number[16], up[128];

	snprintf(up, sizeof(up), "root%s/up", stage->folder);
	stage__await_file(stage, shell, up);
	snprintf(number, sizeof(number), "%d", shell->pid);
	pgrep = start(stage, "pgrep", "-P", number);
	assert_int_equal(child__wait(pgrep, PATIENCE), 0);
	inside.pid = (pid_t)atoi(child__output(stage, pgrep));
	assert_int_not_equal(inside.pid, 0);
	return inside;
}

static const char *interpreter_in(const struct stage *stage)
{
	static char path[128];

	snprintf(path, sizeof(path), "root%s/bin/inner-lua", stage->folder);
	return in_folder(stage, path);
}

/* Seen from outside, its path now leads to our root's lua5.1; inside, it leads to nothing. */
static void replace_by_link(struct stage *stage)
{
	assert_return_code(unlink(interpreter_in(stage)), errno);
	assert_return_code(symlink(in_folder(stage, "bin/other"), interpreter_in(stage)), errno);
	assert_return_code(access(interpreter_in(stage), X_OK), errno);
}

static void assert_read_through_its_root(struct stage *stage, struct scriptprofile *profile,
					 const char *title)
{
	json_t *categories = json_object_get(profile->document, "Categories");
	const json_t *recorder = json_object_get(profile->document, "Recorder");
	const char *interpreter = json_string_value(json_object_get(recorder, "Interpreter"));
	char expected[160];

	assert_int_equal(json_array_size(categories), 1);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(categories, 0), "Name")), title);
	snprintf(expected, sizeof(expected), "in %s/bin/inner-lua,", stage->folder);
	print_message("%s, %s\n", title, interpreter);
	assert_memory_equal(interpreter, "Lua 5.4", 7);
	assert_non_null(strstr(interpreter, expected));
	assert_true(scriptprofile__samples(profile, "complete") > 300);
	assert_true((double)scriptprofile__total_us(profile, "busy.lua", "work", 1) >=
		    0.95 * (double)profile->all_us);
}

static struct child *start_system(struct stage *stage)
{
	struct child *spy =
		start(stage, luaspy_program(), "record", "--system", "--max-overhead", "none",
		      "--name", "^(inner-lua|lua-by-link)$", "-o", "profile.json");

	child__await_errors(stage, spy, "processes run an interpreter");
	return spy;
}

static void end_system(struct stage *stage, struct child *spy, const struct child *inside)
{
	char title[64];

	child__let_work(inside, 0.5);
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	snprintf(title, sizeof(title), "lua-by-link busy.lua (pid %d, 1 inside)", inside->pid);
	assert_read_through_its_root(stage, spying__read(stage, in_folder(stage, "profile.json")),
				     title);
}

static void are_found_while_they_run(void **state)
{
	struct child *spy, *shell, inside;

	need_root_of_its_own(*state);
	shell = start_inside(*state, "", "busy.lua");
	inside = await_inside(*state, shell);
	replace_by_link(*state);
	spy = start_system(*state);
	end_system(*state, spy, &inside);
}

static void are_found_when_they_begin(void **state)
{
	struct child *spy, *shell, inside;

	need_root_of_its_own(*state);
	spy = start_system(*state);
	shell = start_inside(*state, "", "busy.lua");
	inside = await_inside(*state, shell);
	end_system(*state, spy, &inside);
}

/* How a container's first process in this cgroup is named, after its program and pid. */
static void assert_called(struct stage *stage, const char *cgroup, const char *expected)
{
	struct child *shell, *dump, inside;
	char title[64], before[512], number[16];

	snprintf(before, sizeof(before), "echo $$ >%s/cgroup.procs;", cgroup);
	shell = start_inside(stage, before, "busy.lua");
	inside = await_inside(stage, shell);
	replace_by_link(stage);
	snprintf(title, sizeof(title), "lua-by-link busy.lua (pid %d, 1 %s)", inside.pid, expected);
	assert_read_through_its_root(
		stage, record(stage, inside.pid, "--until-samples=400", "--category", "process"),
		title);
	snprintf(number, sizeof(number), "%d", inside.pid);
	dump = start(stage, luaspy_program(), "dump", "-p", number);
	assert_int_equal(child__wait(dump, PATIENCE), 0);
	assert_non_null(strstr(child__output(stage, dump), title));
}

static void are_named_by_their_container(void **state)
{
	const char *cgroup;

	need_root_of_its_own(*state);
	cgroup = cgroup__make(*state, "docker-" ID ".scope");
	if (!cgroup)
		skip_because("no cgroup can be made in '/sys/fs/cgroup'");
	assert_called(*state, cgroup, "in " ID_START);
}

/* A user who owns a cgroup can make others in it and name them like another container's. */
static void are_not_named_by_a_cgroup_of_their_user(void **state)
{
	const char *cgroup;
	char name[32], claimed[256];

	need_root_of_its_own(*state);
	snprintf(name, sizeof(name), "luaspy-test-%d", getpid());
	cgroup = cgroup__make(*state, name);
	if (!cgroup)
		skip_because("no cgroup can be made in '/sys/fs/cgroup'");
	assert_return_code(chown(cgroup, 65534, 65534), errno);
	snprintf(claimed, sizeof(claimed), "%s/docker-" ID ".scope", cgroup);
	assert_return_code(mkdir(claimed, 0755), errno);
	assert_called(*state, claimed, "inside");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		staged(are_found_while_they_run),
		staged(are_found_when_they_begin),
		staged(are_named_by_their_container),
		staged(are_not_named_by_a_cgroup_of_their_user),
	};

	return cmocka_run_group_tests_name("containers", tests, NULL, NULL);
}
