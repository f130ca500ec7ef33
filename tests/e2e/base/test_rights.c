/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What luaspy does by privilege it does for looking at processes: whoever may only run luaspy gains
 * no file, no folder and no word by it, and nobody else tells it what to do.
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

/* A shell that has called sudo, or is the CALLER; then it does that. */
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

/* One that everybody may run and who runs it has capabilities, as 'make install SETCAP=1' has it.
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

/* The same is said of what is there, whatever it is, as of what is not. */
static void capabilities_tell_nothing_of_a_closed_folder(void **state)
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

static void capabilities_write_what_their_user_may(void **state)
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
 * The target claims that it was loaded from a file that is closed to its user, who profiles it. The
 * file's functions are on the same lines, and their names are the secret.
 */
static void capabilities_read_no_source_that_is_closed_to_their_user(void **state)
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
		   "load('local function f()\\nfor i = 1, 10000 do end\\nend\\n' ..\n"
		   "'local called = f while true do called() end', '@closed/lib.lua')()\n");
	target = run(stage, BY_CALLER "lua5.4 app.lua");
	child__let_work(target, 0.1);
	spy = run(stage, BY_CALLER "./luaspy record --until-samples 100 -p %d -o own/x.json",
		  target->pid);
	spying__finish(stage, spy);
	profile = spying__read(stage, in_folder(stage, "own/x.json"));
	assert_true(scriptprofile__self_us(profile, "closed/lib.lua", "f", 1) > 0);
	assert_int_equal(scriptprofile__self_us(profile, NULL, "secret", -1), 0);
	/* Root may know. */
	profile = record(stage, target->pid, "--until-samples", "100", "-q");
	assert_true(scriptprofile__self_us(profile, "closed/lib.lua", "secret", 1) > 0);
}

/* A terminal that only the caller's file describes is not known: nobody has parsed that file. */
static void capabilities_parse_no_terminal_of_their_users(void **state)
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
	/* Nor under sudo, where that lets the variable through. */
	spy = run(stage,
		  BY_SUDO "export TERM=of-the-user TERMINFO=$PWD/terms\n"
			  "exec script -qefc '%s top -p %d' /dev/null",
		  luaspy_program(), target->pid);
	child__await_output(stage, spy, "'of-the-user' is not known");
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	/*
	 * Whoever is root has root's own. timeout stays in the foreground: where the shell of
	 * script(1) forks for it, a group of its own could not use the terminal.
	 */
	target = run(stage,
		     "export TERM=of-the-user TERMINFO=$PWD/terms\n"
		     "sleep 60 | script -qefc 'timeout --foreground 60 %s top -p %d' /dev/null",
		     luaspy_program(), target->pid);
	child__await_output(stage, target, "self%");
	assert_null(strstr(child__output(stage, target), "is not known"));
}

static void another_users_rights_are_not_taken(void **state)
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

/* What sudo's caller could have made is theirs, all else is root's and stays so. */
static void sudo_gives_its_caller_what_they_could_have_made(void **state)
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

static void a_file_has_the_mode_that_is_asked_for(void **state)
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

/* In a folder as /tmp is, where a stranger was first. */
static void a_strangers_fifo_and_folder_are_not_taken(void **state)
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

/* Its mode is the word of its owner, who may want others to write to it. */
static void a_fifo_of_ones_own_is_taken(void **state)
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
		staged(capabilities_tell_nothing_of_a_closed_folder),
		staged(capabilities_write_what_their_user_may),
		staged(capabilities_read_no_source_that_is_closed_to_their_user),
		staged(capabilities_parse_no_terminal_of_their_users),
		staged(another_users_rights_are_not_taken),
		staged(sudo_gives_its_caller_what_they_could_have_made),
		staged(a_file_has_the_mode_that_is_asked_for),
		staged(a_strangers_fifo_and_folder_are_not_taken),
		staged(a_fifo_of_ones_own_is_taken),
	};

	return cmocka_run_group_tests_name("rights", tests, NULL, NULL);
}
