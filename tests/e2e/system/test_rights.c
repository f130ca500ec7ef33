/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * luaspy uses its privileges only to look at processes: a user who may merely run luaspy gains no
 * access to files, folders or their contents, and no other user controls luaspy.
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

#include "spying.h"

#define PATIENCE 60
#define CALLER   65534
#define STRANGER 4711

/* Prefixes for a shell: as if called by sudo, or executing the rest as CALLER. */
#define BY_SUDO   "export SUDO_UID=65534 SUDO_GID=65534; "
#define BY_CALLER "exec setpriv --reuid=65534 --regid=65534 --clear-groups "

static struct child *run(struct stage *stage, const char *format, ...)
{
	va_list arguments;
	char *script;

	va_start(arguments, format);
	assert_true(vasprintf(&script, format, arguments) > 0);
	va_end(arguments);
	stage__own(stage, script, free);
	return start(stage, "sh", "-c", script);
}

static void assert_said(struct stage *stage, const struct child *spy, const char *text)
{
	if (!strstr(child__errors(stage, spy), text))
		fail_msg("no '%s' in: %s", text, child__errors(stage, spy));
}

static void assert_is(const struct stage *stage, const char *name, uid_t owner, mode_t mode)
{
	struct stat status;

	assert_return_code(lstat(in_folder(stage, name), &status), errno);
	print_message("%s: %u, %o\n", name, status.st_uid, status.st_mode & ALLPERMS);
	assert_int_equal(status.st_uid, owner);
	assert_int_equal(status.st_mode & ALLPERMS, mode);
}

static void make_folder(const struct stage *stage, const char *name, uid_t owner, mode_t mode)
{
	assert_return_code(mkdir(in_folder(stage, name), 0700), errno);
	assert_return_code(chown(in_folder(stage, name), owner, owner), errno);
	assert_return_code(chmod(in_folder(stage, name), mode), errno);
}

/*
 * Makes a copy of luaspy that everybody may run, with the file capabilities that 'make install
 * SETCAP=1' sets.
 */
static void make_capable(struct stage *stage)
{
	struct child *made;

	assert_return_code(chmod(stage->folder, 0755), errno);
	made = run(stage,
		   "install -m 755 '%s' luaspy && setcap cap_bpf,cap_perfmon,cap_sys_ptrace,"
		   "cap_dac_read_search,cap_checkpoint_restore+ep luaspy",
		   luaspy_program());
	if (child__wait(made, PATIENCE))
		skip_because("this file system knows no capabilities");
}

#define need_capabilities()                                                                        \
	do {                                                                                       \
		need_lua();                                                                        \
		need_program("setcap", "libcap2-bin");                                             \
		need_program("setpriv", "util-linux");                                             \
	} while (0)

/* The messages must not reveal whether anything exists there, or what it is. */
static void capabilities_reveal_nothing_about_a_closed_folder(void **state)
{
	static const char *const options[] = {
		"-o closed/%s", "--interval 1s -o closed/%s", "--output-dir closed/%s",
		"-o x.json --control closed/%s", "--output-dir closed/%s/in"};
	static const char *const names[] = {"file", "folder", "fifo", "none"};
	struct stage *stage = *state;
	struct child *target;

	need_capabilities();
	make_capable(stage);
	make_folder(stage, "closed", 0, 0700);
	make_folder(stage, "closed/folder", CALLER, 0755);
	write_text(stage, "closed/file", "");
	assert_return_code(mkfifo(in_folder(stage, "closed/fifo"), 0600), errno);
	target = start_busy(stage);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++) {
			char words[128];
			struct child *spy;

			snprintf(words, sizeof(words), options[i], names[j]);
			spy = run(stage, BY_CALLER "./luaspy record -q --until-samples 20 -p %d %s",
				  target->pid, words);
			assert_int_equal(child__wait(spy, PATIENCE), 1);
			assert_said(stage, spy, ": Permission denied\n");
			assert_null(strstr(child__errors(stage, spy), "_2"));
		}
	assert_int_equal(count_files(in_folder(stage, "closed")), 3);
}

static void capabilities_write_only_where_the_user_may(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;

	need_capabilities();
	make_capable(stage);
	make_folder(stage, "own", CALLER, 0755);
	target = start_busy(stage);
	spy = run(stage,
		  BY_CALLER
		  "./luaspy record --until-samples 20 -p %d -o own/x.json --control own/fifo",
		  target->pid);
	spying__finish(stage, spy);
	assert_is(stage, "own/x.json", CALLER, 0640);
	assert_int_equal(count_files(in_folder(stage, "own")), 1);
	spy = run(stage, BY_CALLER "./luaspy record --until-samples 20 -p %d --output-dir own/new",
		  target->pid);
	spying__finish(stage, spy);
	assert_is(stage, "own/new", CALLER, 0755);
	assert_int_equal(count_files(in_folder(stage, "own/new")), 1);
}

/*
 * The target claims that its code was loaded from a file that its user, who runs luaspy, may not
 * read. The file has functions on the same lines, whose names are the secret, and nothing else in
 * the target contradicts it.
 */
static void capabilities_read_no_source_that_the_user_may_not(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *target, *spy;

	need_capabilities();
	make_capable(stage);
	make_folder(stage, "closed", 0, 0700);
	make_folder(stage, "own", CALLER, 0755);
	write_text(stage, "closed/lib.lua", "local function secret()\nfor i = 1, 9 do end\nend");
	write_text(stage, "app.lua",
		   "load('local t = {function()\\nfor i = 1, 10000 do end\\nend}\\n' ..\n"
		   "'local called = t[1] while true do called() end', '@closed/lib.lua')()\n");
	target = run(stage, BY_CALLER "lua5.4 app.lua");
	child__let_work(target, 0.1);
	spy = run(stage, BY_CALLER "./luaspy record --until-samples 100 -p %d -o own/x.json",
		  target->pid);
	spying__finish(stage, spy);
	profile = spying__read(stage, in_folder(stage, "own/x.json"));
	assert_true(scriptprofile__self_us(profile, "closed/lib.lua", "called", 1) > 0);
	assert_int_equal(scriptprofile__self_us(profile, NULL, "secret", -1), 0);
	/* Root may read it. */
	profile = record(stage, target->pid, "--until-samples", "100", "-q");
	assert_true(scriptprofile__self_us(profile, "closed/lib.lua", "secret", 1) > 0);
}

/* Only a file of the user's describes this terminal. "Not known" shows that it was not parsed. */
static void capabilities_parse_no_terminfo_of_the_user(void **state)
{
	static const char *const variables[] = {"TERMINFO=$PWD/terms", "TERMINFO_DIRS=$PWD/terms",
						"HOME=$PWD/home"};
	struct stage *stage = *state;
	struct child *target, *spy;

	need_capabilities();
	need_program("script", "bsdutils");
	need_program("tic", "ncurses-bin");
	make_capable(stage);
	target = run(stage, "infocmp xterm | sed 's/^xterm|[^,]*/of-the-user/' >entry &&\n"
			    "mkdir -p terms home/.terminfo && tic -x -o terms entry &&\n"
			    "tic -x -o home/.terminfo entry && chmod -R a+rX terms home");
	assert_int_equal(child__wait(target, PATIENCE), 0);
	target = start_busy(stage);
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		spy = run(stage,
			  "export TERM=of-the-user %s\n" BY_CALLER
			  "script -qefc './luaspy top -p %d' /dev/null",
			  variables[i], target->pid);

		child__await_output(stage, spy, "'of-the-user' is not known");
		assert_int_equal(child__wait(spy, PATIENCE), 1);
	}
	/* The same holds under sudo where sudo keeps the variable. */
	spy = run(stage,
		  BY_SUDO "export TERM=of-the-user TERMINFO=$PWD/terms\n"
			  "exec script -qefc '%s top -p %d' /dev/null",
		  luaspy_program(), target->pid);
	child__await_output(stage, spy, "'of-the-user' is not known");
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	/*
	 * Root itself may use its own description. timeout stays in the foreground: where the shell
	 * of script(1) forks for it, a process group of its own could not use the terminal.
	 */
	target = run(stage,
		     "export TERM=of-the-user TERMINFO=$PWD/terms\n"
		     "sleep 60 | script -qefc 'timeout --foreground 60 %s top -p %d' /dev/null",
		     luaspy_program(), target->pid);
	child__await_output(stage, target, "self%");
	assert_null(strstr(child__output(stage, target), "is not known"));
}

static void a_set_user_id_luaspy_refuses_to_run(void **state)
{
	struct child *spy;

	need_capabilities();
	assert_return_code(chmod(((struct stage *)*state)->folder, 0755), errno);
	spy = run(*state, "install -m 4755 '%s' luaspy && " BY_CALLER "./luaspy check",
		  luaspy_program());
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	assert_said(*state, spy, "cannot run with the set-user-ID bit (remove it, ");
	assert_string_equal(child__output(*state, spy), "");
}

/* Files that sudo's caller could have created belong to the caller; all others stay root's. */
static void sudo_gives_the_caller_files_they_could_have_made(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;

	need_lua();
	assert_return_code(chmod(stage->folder, 0755), errno);
	make_folder(stage, "own", CALLER, 0755);
	write_text(stage, "precious", "");
	assert_return_code(chmod(in_folder(stage, "precious"), 0600), errno);
	target = start_busy(stage);
	spy = run(stage,
		  BY_SUDO "for file in own/x.json new.json precious; do\n"
			  "'%s' record -q --until-samples 20 -p %d -o $file || exit; done",
		  luaspy_program(), target->pid);
	spying__finish(stage, spy);
	assert_is(stage, "own/x.json", CALLER, 0640);
	assert_is(stage, "new.json", 0, 0640);
	assert_is(stage, "precious", 0, 0600);
	spying__read(stage, in_folder(stage, "precious"));
	spy = run(
		stage,
		BY_SUDO
		"'%s' record -q --until-samples 300 --interval 200ms --keep 1 --output-dir own/new "
		"-p %d && '%s' record -q --until-samples 300 --interval 200ms --keep 1 --output-dir "
		"new -p %d",
		luaspy_program(), target->pid, luaspy_program(), target->pid);
	spying__finish(stage, spy);
	assert_is(stage, "own/new", CALLER, 0755);
	assert_is(stage, "new", 0, 0755);
	assert_int_equal(count_files(in_folder(stage, "own/new")), 1);
	assert_int_equal(count_files(in_folder(stage, "new")), 1);
	spy = run(stage, "test \"$(find own -user 65534 | wc -l)\" = 4");
	spying__finish(stage, spy);
}

static void a_file_has_the_mode_that_was_asked_for(void **state)
{
	struct child *target, *spy;

	need_lua();
	target = start_busy(*state);
	spy = run(
		*state,
		"umask 077; '%s' record -q --until-samples 20 -p %d --mode 644 -o x.json && "
		"'%s' record -q --until-samples 20 -p %d --mode=600 --output-dir out && mv out/* y.json && "
		"'%s' record -q --until-samples 20 -p %d --mode 640 --interval 1s -o z.json && mv z-* z.json",
		luaspy_program(), target->pid, luaspy_program(), target->pid, luaspy_program(),
		target->pid);
	spying__finish(*state, spy);
	assert_is(*state, "x.json", 0, 0644);
	assert_is(*state, "y.json", 0, 0600);
	assert_is(*state, "z.json", 0, 0640);
}

/* In a sticky folder such as /tmp, another user may have made the name first. */
static void another_users_fifo_or_folder_is_refused(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;

	need_lua();
	make_folder(stage, "shared", 0, 01777);
	assert_return_code(mkfifo(in_folder(stage, "shared/fifo"), 0600), errno);
	assert_return_code(chmod(in_folder(stage, "shared/fifo"), 0666), errno);
	assert_return_code(chown(in_folder(stage, "shared/fifo"), STRANGER, STRANGER), errno);
	make_folder(stage, "shared/folder", STRANGER, 0777);
	assert_return_code(symlink("../taken", in_folder(stage, "shared/link")), errno);
	assert_return_code(lchown(in_folder(stage, "shared/link"), STRANGER, STRANGER), errno);
	make_folder(stage, "taken", 0, 0755);
	target = start_busy(stage);
	for (int is_called = 0; is_called < 2; is_called++) {
		const char *begin = is_called ? BY_SUDO : "";

		spy = run(
			stage,
			"%s exec '%s' record --until-samples 20 -p %d -o x.json --control shared/fifo",
			begin, luaspy_program(), target->pid);
		assert_int_equal(child__wait(spy, PATIENCE), 1);
		assert_said(stage, spy,
			    "cannot take commands from 'shared/fifo': another user made "
			    "it (remove it, or choose another name)\n");
		spy = run(stage,
			  "%s exec '%s' record --until-samples 20 -p %d -o x.json --control fifo "
			  "--control-ack shared/fifo",
			  begin, luaspy_program(), target->pid);
		assert_int_equal(child__wait(spy, PATIENCE), 1);
		assert_said(stage, spy, "cannot answer in 'shared/fifo': another user made it");
		for (int is_link = 0; is_link < 2; is_link++) {
			spy = run(
				stage,
				"%s exec '%s' record --until-samples 20 -p %d --output-dir shared/%s",
				begin, luaspy_program(), target->pid, is_link ? "link/" : "folder");
			assert_int_equal(child__wait(spy, PATIENCE), 1);
			assert_said(stage, spy,
				    ": another user made it in a folder that everyone may");
		}
	}
	assert_is(stage, "shared/fifo", STRANGER, 0666);
	assert_int_equal(count_files(in_folder(stage, "shared/folder")), 0);
	assert_int_equal(count_files(in_folder(stage, "taken")), 0);
}

/* The owner chose its mode and may want others to write to it. */
static void a_fifo_of_ones_own_is_accepted(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;

	need_lua();
	assert_return_code(chmod(stage->folder, 0755), errno);
	make_folder(stage, "shared", 0, 01777);
	target = start_busy(stage);
	spy = run(
		stage,
		"set -e; mkfifo -m 666 shared/fifo; '%s' record -q --until-samples 20 -p %d -o x.json "
		"--control shared/fifo; chown 65534 shared/fifo; " BY_SUDO
		"exec '%s' record -q --until-samples 20 -p %d -o x.json --control shared/fifo",
		luaspy_program(), target->pid, luaspy_program(), target->pid);
	spying__finish(stage, spy);
	assert_is(stage, "shared/fifo", CALLER, 0666);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(capabilities_reveal_nothing_about_a_closed_folder),
		staged(capabilities_write_only_where_the_user_may),
		staged(capabilities_read_no_source_that_the_user_may_not),
		staged(capabilities_parse_no_terminfo_of_the_user),
		staged(a_set_user_id_luaspy_refuses_to_run),
		staged(sudo_gives_the_caller_files_they_could_have_made),
		staged(a_file_has_the_mode_that_was_asked_for),
		staged(another_users_fifo_or_folder_is_refused),
		staged(a_fifo_of_ones_own_is_accepted),
	};

	return cmocka_run_group_tests_name("rights", tests, NULL, NULL);
}
