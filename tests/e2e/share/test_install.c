/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* make install and uninstall, by what they do to a tree. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 60

/*
 * In the folder of the sources: install and uninstall work on $tree, which is PREFIX /opt/spy of
 * DESTDIR $destination; tree_of tells all that is in a folder, with modes.
 */
static const char setting[] =
	"set -e; stage=$PWD; destination=$stage/destination; tree=$destination/opt/spy; cd '%s'\n"
	"run() { env -u MAKEFLAGS make -s O=$stage/output PREFIX=/opt/spy DESTDIR=$destination $1 "
	">/dev/null; }\n"
	"tree_of() { (cd \"$1\" && find . -printf '%%p %%m %%s\\n' | sort); }\n";

static void assert_holds(struct stage *stage, const char *script)
{
	char sources[PATH_MAX], *text;
	struct child *child;

	need_to_record();
	assert_non_null(getcwd(sources, sizeof(sources)));
	assert_true(asprintf(&text, setting, sources) > 0);
	stage__own(stage, text, free);
	assert_true(asprintf(&text, "%s%s", text, script) > 0);
	stage__own(stage, text, free);
	child = start(stage, "bash", "-c", text);
	if (child__wait(child, PATIENCE))
		fail_msg("%s%s", child__output(stage, child), child__errors(stage, child));
}

static void uninstall_leaves_nothing_of_what_install_made(void **state)
{
	assert_holds(*state, "run install; [ -x $tree/bin/luaspy ] && [ -e $tree/share/man/man1 ]\n"
			     "run uninstall; [ ! -e $destination ]");
}

static void install_brings_a_page_of_the_manual_for_each_command(void **state)
{
	assert_holds(*state, "run install; sh user/share/manual.sh --list ./luaspy | "
			     "sed 's/$/.1/' | sort | diff - <(ls $tree/share/man/man1)\n"
			     "ls user/share/doc | sed -n 's/^\\(.*\\)[.]md$/luaspy-\\1.7/p' | "
			     "diff - <(ls $tree/share/man/man7)\n"
			     "grep -q 'TH LUASPY.*DUMP' $tree/share/man/man1/luaspy-dump.1");
}

static void uninstall_leaves_a_tree_as_it_was(void **state)
{
	assert_holds(*state, "mkdir -p $tree/bin $tree/share/man/man1 $tree/share/zsh $tree/etc\n"
			     "echo theirs >$tree/bin/theirs; tree_of $destination >$stage/before\n"
			     "run install; run uninstall\n"
			     "tree_of $destination | diff $stage/before -");
}

static void a_second_install_does_not_forget_what_the_first_made(void **state)
{
	assert_holds(*state, "mkdir -p $tree/lib; tree_of $destination >$stage/before\n"
			     "run install; rm -r $tree/share/man; run install; run uninstall\n"
			     "tree_of $destination | diff $stage/before -");
}

/* In a folder of luaspy's making. */
static void uninstall_leaves_what_others_added(void **state)
{
	assert_holds(*state,
		     "run install; echo theirs >$tree/share/man/man1/theirs.1; run uninstall\n"
		     "[ \"$(cd $tree && find . -mindepth 1 | sort | tr '\\n' ' ')\" = "
		     "'./share ./share/man ./share/man/man1 ./share/man/man1/theirs.1 ' ]");
}

static void uninstall_where_nothing_is_installed_does_nothing(void **state)
{
	assert_holds(*state, "mkdir -p $tree/share/man/man1; tree_of $destination >$stage/before\n"
			     "run uninstall; tree_of $destination | diff $stage/before -");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(uninstall_leaves_nothing_of_what_install_made),
		staged(install_brings_a_page_of_the_manual_for_each_command),
		staged(uninstall_leaves_a_tree_as_it_was),
		staged(a_second_install_does_not_forget_what_the_first_made),
		staged(uninstall_leaves_what_others_added),
		staged(uninstall_where_nothing_is_installed_does_nothing),
	};

	return cmocka_run_group_tests_name("install", tests, NULL, NULL);
}
