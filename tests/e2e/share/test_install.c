/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* make install and uninstall, checked by what they change in a tree. */
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
 * Runs a script in the folder of the sources: install and uninstall work on $tree, which is PREFIX
 * /opt/spy of DESTDIR $destination; tree_of prints everything in a folder, with modes.
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

static void uninstall_removes_all_that_install_made(void **state)
{
	assert_holds(*state, "run install; [ -x $tree/bin/luaspy ] && [ -e $tree/share/man/man1 ]\n"
			     "run uninstall; [ ! -e $destination ]");
}

static void installs_a_manual_page_for_each_command(void **state)
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

static void uninstall_after_two_installs_removes_all(void **state)
{
	assert_holds(*state, "mkdir -p $tree/lib; tree_of $destination >$stage/before\n"
			     "run install; rm -r $tree/share/man; run install; run uninstall\n"
			     "tree_of $destination | diff $stage/before -");
}

/* The file is in a folder that luaspy's install made. */
static void uninstall_keeps_files_of_others(void **state)
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
		staged(uninstall_removes_all_that_install_made),
		staged(installs_a_manual_page_for_each_command),
		staged(uninstall_leaves_a_tree_as_it_was),
		staged(uninstall_after_two_installs_removes_all),
		staged(uninstall_keeps_files_of_others),
		staged(uninstall_where_nothing_is_installed_does_nothing),
	};

	return cmocka_run_group_tests_name("install", tests, NULL, NULL);
}
