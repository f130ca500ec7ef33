/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands that a session takes through a FIFO, and from whom. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "control_helpers.h"

#define EVENTS_MAX 10000

/* luaspy writes no profile without a script, and a busy machine may keep the target waiting. */
static void await_script(struct stage *stage, const struct child *spy, struct child *target)
{
	spying__await_timers(stage, spy);
	child__let_work(target, 0.1);
}

static void writes_to_standard_output_only_once(void **state)
{
	struct child *target, *spy;
	char name[32];

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "--control", "fifo", "-o", "-");
	await_script(*state, spy, target);
	tell(*state, "write");
	tell(*state, "stop");
	spying__finish(*state, spy);
	snprintf(name, sizeof(name), ".%d.out", spy->number);
	spying__read(*state, in_folder(*state, name));
	assert_non_null(strstr(child__errors(*state, spy),
			       "ignored 'write': '-' takes one profile, at the end"));
}

static void warns_once_of_unknown_commands(void **state)
{
	struct child *target, *spy;
	char line[3000];
	const char *said;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "--control", "fifo", "-o", "profile.json");
	await_script(*state, spy, target);
	tell(*state, "paus\033[31me");
	tell(*state, "");
	tell(*state, "pauses");
	tell(*state, "markx");
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	tell(*state, line);
	tell(*state, "  mark  a  b \r");
	tell(*state, "stop");
	spying__finish(*state, spy);
	said = child__errors(*state, spy);
	assert_non_null(strstr(said, "unknown command 'paus\\x1b[31me' (accepted: pause, resume, "
				     "mark TEXT, write, stop)"));
	assert_int_equal(count(said, "accepted:"), 1);
	assert_non_null(strstr(said, "4 commands were not understood"));
	assert_string_equal(
		event_text(spying__read(*state, in_folder(*state, "profile.json")), 0, "Text"),
		"a  b");
}

static void keeps_marks_in_order_whatever_is_in_them(void **state)
{
	struct scriptprofile *profile;
	struct child *target, *spy;
	double last = 0;
	char *text;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "--control", "fifo", "-o", "profile.json");
	await_script(*state, spy, target);
	tell(*state, "mark </script>\033]0;x\a\xff\xe2\x80\xae");
	tell(*state, "pause");
	tell(*state, "mark second");
	tell(*state, "mark");
	tell(*state, "stop");
	spying__finish(*state, spy);
	profile = spying__read(*state, in_folder(*state, "profile.json"));
	assert_int_equal(json_array_size(events(profile)), 4);
	for (size_t i = 0; i < 4; i++) {
		assert_true(event_seconds(profile, i) >= last);
		last = event_seconds(profile, i);
	}
	assert_string_equal(event_text(profile, 0, "Text"), "</script>\033]0;x\a\\xff\xe2\x80\xae");
	assert_string_equal(event_text(profile, 2, "Text"), "second");
	assert_string_equal(event_text(profile, 3, "Text"), "");
	text = stage__own(*state, read_file(in_folder(*state, "profile.json"), NULL), free);
	for (const char *at = text; *at; at++)
		assert_true((unsigned char)*at >= ' ' || *at == '\n');
	assert_null(strstr(text, "</script"));
}

static void counts_the_marks_that_it_does_not_keep(void **state)
{
	struct scriptprofile *profile;
	struct child *target, *spy;
	FILE *fifo;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "--control", "fifo", "-o", "profile.json");
	await_script(*state, spy, target);
	fifo = fopen(in_folder(*state, "fifo"), "w");
	assert_non_null(fifo);
	for (int i = 0; i < EVENTS_MAX + 50; i++)
		fprintf(fifo, "mark %d\n", i);
	fprintf(fifo, "stop\n");
	fclose(fifo);
	spying__finish(*state, spy);
	profile = spying__read(*state, in_folder(*state, "profile.json"));
	assert_int_equal(json_array_size(events(profile)), EVENTS_MAX);
	assert_string_equal(event_text(profile, EVENTS_MAX - 1, "Text"), "9999");
	assert_int_equal(scriptprofile__recorded(profile, "EventsLeftOut"), 50);
	assert_non_null(strstr(child__errors(*state, spy), "50  marks and pauses"));
}

static void uses_no_cpu_time_while_nobody_writes(void **state)
{
	struct child *target, *spy;
	double cpu_s;

	need_lua();
	target = start(*state, "lua5.4", "-e", "print('ready') io.flush() io.read()");
	child__await_output(*state, target, "ready");
	spy = start_record(*state, target->pid, "--control", "fifo", "-o", "profile.json");
	spying__await_timers(*state, spy);
	for (int i = 0; i < 100; i++)
		tell(*state, "mark");
	/* Without the CPU time for the start, most of which the kernel's verifier takes. */
	cpu_s = -child__cpu_seconds(spy);
	sleep_seconds(2);
	cpu_s += child__cpu_seconds(spy);
	tell(*state, "stop");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	print_message("%.3f s of CPU time in 2 s\n", cpu_s);
	assert_true(cpu_s < 0.5);
}

/* The next line of the FIFO for answers, within the test's patience. */
static const char *answer(struct stage *stage, int fd)
{
	struct pollfd event = {.fd = fd, .events = POLLIN};
	char *line = stage__own(stage, calloc(1, 256), free);

	for (size_t i = 0; i < 255; i++) {
		if (poll(&event, 1, PATIENCE * 1000) != 1 || read(fd, line + i, 1) != 1)
			break;
		if (line[i] == '\n') {
			line[i] = '\0';
			break;
		}
	}
	return line;
}

static const char *ask(struct stage *stage, int fd, const char *line)
{
	tell(stage, line);
	return answer(stage, fd);
}

/* The answer comes after the command has taken effect. */
static void answers_after_the_command_took_effect(void **state)
{
	struct child *target, *spy;
	const char *profile = "profile.json";
	int fd;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "--control", "fifo", "--control-ack", "ack", "-o",
			   profile);
	await_script(*state, spy, target);
	fd = open(in_folder(*state, "ack"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_return_code(fd, errno);
	assert_string_equal(ask(*state, fd, "mark here"), "ok mark");
	assert_string_equal(ask(*state, fd, "pause"), "ok pause");
	assert_string_equal(ask(*state, fd, "pause"), "ok pause");
	assert_string_equal(ask(*state, fd, "wriet"), "failed: not understood");
	assert_string_equal(ask(*state, fd, "write"), "ok write");
	assert_int_equal(json_array_size(events(spying__read(*state, in_folder(*state, profile)))),
			 3);
	assert_int_equal(unlink(in_folder(*state, profile)), 0);
	assert_string_equal(ask(*state, fd, "stop"), "ok stop");
	assert_int_equal(json_array_size(events(spying__read(*state, in_folder(*state, profile)))),
			 3);
	assert_string_equal(answer(*state, fd), "");
	close(fd);
	spying__finish(*state, spy);
	assert_int_equal(access(in_folder(*state, "ack"), F_OK), -1);
}

static void answers_that_a_command_failed(void **state)
{
	struct child *target, *spy;
	int fd;

	need_lua();
	target = start(*state, "lua5.4", "-e", "print('ready') io.flush() io.read()");
	child__await_output(*state, target, "ready");
	spy = start_record(*state, target->pid, "--control", "fifo", "--control-ack", "ack", "-o",
			   "-");
	spying__await_timers(*state, spy);
	fd = open(in_folder(*state, "ack"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_return_code(fd, errno);
	assert_string_equal(ask(*state, fd, "write"), "failed write: Operation not supported");
	assert_string_equal(ask(*state, fd, "stop"), "failed stop: no script in the profile");
	close(fd);
	assert_int_equal(child__wait(spy, PATIENCE), 3);
}

/* luaspy takes no other file for a FIFO and leaves none behind. */
static void refuses_a_file_that_is_no_fifo(void **state)
{
	struct child *target, *spy;
	char path[128];

	need_lua();
	target = start_busy(*state);
	write_file(in_folder(*state, "file"), "mine", 4);
	assert_int_equal(mkfifo(in_folder(*state, "real"), 0600), 0);
	snprintf(path, sizeof(path), "%s", in_folder(*state, "link"));
	assert_int_equal(symlink(in_folder(*state, "real"), path), 0);
	spy = start_record(*state, target->pid, "--control", "file", "-o", "profile.json");
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	assert_non_null(
		strstr(child__errors(*state, spy), "cannot take commands from 'file': not a FIFO"));
	spy = start_record(*state, target->pid, "--control", "link", "-o", "profile.json");
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	assert_non_null(
		strstr(child__errors(*state, spy), "cannot take commands from 'link': not a FIFO"));
	spy = start_record(*state, target->pid, "--control", "no/fifo", "-o", "profile.json");
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	assert_string_equal(stage__own(*state, read_file(in_folder(*state, "file"), NULL), free),
			    "mine");
}

static void keeps_a_fifo_that_was_there(void **state)
{
	struct child *target, *spy;

	need_lua();
	target = start_busy(*state);
	assert_int_equal(mkfifo(in_folder(*state, "fifo"), 0600), 0);
	spy = start_record(*state, target->pid, "--control", "fifo", "-o", "profile.json");
	await_script(*state, spy, target);
	sleep_seconds(0.1);
	tell(*state, "stop");
	spying__finish(*state, spy);
	assert_int_equal(access(in_folder(*state, "fifo"), F_OK), 0);
}

static void gives_the_fifo_to_the_caller_of_sudo(void **state)
{
	struct child *target, *spy;
	struct stat status;
	char pid[16];

	need_lua();
	need_root();
	assert_return_code(chown(((struct stage *)*state)->folder, 65534, 65534), errno);
	target = start_busy(*state);
	snprintf(pid, sizeof(pid), "%d", target->pid);
	spy = start(*state, "env", "SUDO_UID=65534", "SUDO_GID=65534", luaspy_program(), "record",
		    "-p", pid, "--control", "fifo", "-o", "profile.json");
	await_script(*state, spy, target);
	sleep_seconds(0.1);
	assert_int_equal(lstat(in_folder(*state, "fifo"), &status), 0);
	tell(*state, "stop");
	spying__finish(*state, spy);
	assert_true(S_ISFIFO(status.st_mode));
	assert_int_equal(status.st_mode & ALLPERMS, 0600);
	assert_int_equal(status.st_uid, 65534);
	assert_int_equal(status.st_gid, 65534);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(writes_to_standard_output_only_once),
		staged(warns_once_of_unknown_commands),
		staged(keeps_marks_in_order_whatever_is_in_them),
		staged(counts_the_marks_that_it_does_not_keep),
		staged(uses_no_cpu_time_while_nobody_writes),
		staged(answers_after_the_command_took_effect),
		staged(answers_that_a_command_failed),
		staged(refuses_a_file_that_is_no_fifo),
		staged(keeps_a_fifo_that_was_there),
		staged(gives_the_fifo_to_the_caller_of_sudo),
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
