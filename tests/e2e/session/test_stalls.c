/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nobody reads luaspy's output: it samples all the same, and ends when it is told to. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "accounts.h"

#define PATIENCE  60
#define WORK_US   1500000.0
#define PIPE_SIZE 4096

static void free_file(void *file)
{
	close(*(int *)file);
	free(file);
}

/*
 * Opens both ends of a FIFO in the stage's folder, so that neither end waits for the other. The
 * stage owns it.
 */
static int hold_fifo(struct stage *stage, const char *name)
{
	int *file = malloc(sizeof(*file));

	assert_non_null(file);
	assert_int_equal(mkfifo(in_folder(stage, name), 0600), 0);
	*file = open(in_folder(stage, name), O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_return_code(*file, errno);
	stage__own(stage, file, free_file);
	assert_return_code(fcntl(*file, F_SETPIPE_SZ, PIPE_SIZE), errno);
	return *file;
}

static struct child *start_worker(struct stage *stage)
{
	struct child *worker = start(stage, "lua5.4", "-e",
				     "print('up') io.stdout:flush() io.read()\n" LUA_SPIN
				     "local function hot() spin(1.5) return 1 end\nhot()");

	child__await_output(stage, worker, "up");
	return worker;
}

/* Starts luaspy with its standard output or standard error in a FIFO. */
static struct child *start_stalled(struct stage *stage, pid_t pid, const char *words,
				   const char *redirection)
{
	char command[512];

	snprintf(command, sizeof(command), "exec '%s' record -p %d %s %s", luaspy_program(), pid,
		 words, redirection);
	return start(stage, "sh", "-c", command);
}

static void assert_has_work(struct stage *stage, const char *name, const struct child *worker)
{
	struct scriptprofile *profile = spying__read(stage, in_folder(stage, name));

	print_message("%lld of %lld samples dropped\n",
		      (long long)scriptprofile__samples(profile, "dropped"),
		      (long long)scriptprofile__samples(profile, "total"));
	assert_int_equal(scriptprofile__samples(profile, "dropped"), 0);
	accounts__assert_near("CPU time", (double)profile->all_us, accounts__charged_us(worker),
			      0.01);
	accounts__assert_near("hot", (double)scriptprofile__total_us(profile, NULL, "hot", -1),
			      WORK_US, 0.03);
}

/* The reader comes late, but gets the whole profile. */
static void waits_for_the_reader_of_the_profile(void **state)
{
	struct stage *stage = *state;
	struct child *worker, *spy, *reader;

	need_lua();
	hold_fifo(stage, "pipe");
	worker = start_worker(stage);
	spy = start_stalled(stage, worker->pid, "-F 1khz --timeline -o -", ">pipe");
	spying__await_timers(stage, spy);
	child__tell(worker, "go");
	assert_int_equal(child__wait(worker, PATIENCE), 0);
	sleep_seconds(2);
	reader = start(stage, "sh", "-c", "exec cat <pipe >x.json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	child__await_state(stage, reader, 'S');
	assert_has_work(stage, "x.json", worker);
}

/* This is the second SIGTERM; the first has only ended the recording. */
static void ends_although_nobody_reads_the_profile(void **state)
{
	struct stage *stage = *state;
	struct child *busy, *spy;

	need_lua();
	hold_fifo(stage, "pipe");
	busy = start_busy(stage);
	spy = start_stalled(stage, busy->pid, "-q -F 10khz --timeline -o -", ">pipe");
	spying__await_timers(stage, spy);
	child__let_work(busy, 0.5);
	kill(spy->pid, SIGTERM);
	sleep_seconds(3);
	/* It waits for the reader and takes no samples. */
	child__await_state(stage, spy, 'S');
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, 5), 128 + SIGTERM);
}

/* Messages come at the start, at each mark and at each write. */
static void samples_although_nobody_reads_its_messages(void **state)
{
	struct stage *stage = *state;
	struct child *worker, *spy;
	char filler[PIPE_SIZE];
	int errors, room = 0;

	need_lua();
	errors = hold_fifo(stage, "errors");
	worker = start_worker(stage);
	spy = start_stalled(stage, worker->pid, "-v -F 1khz -o x.json", "2>errors");
	spying__await_timers(stage, spy);
	memset(filler, 'x', sizeof(filler));
	while (write(errors, filler, 1) == 1)
		room++;
	print_message("%d bytes were free\n", room);
	child__tell(worker, "go");
	assert_int_equal(child__wait(worker, PATIENCE), 0);
	/* The file is written before anybody reads the messages. */
	stage__await_file(stage, spy, "x.json");
	assert_has_work(stage, "x.json", worker);
	sleep_seconds(2);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, 5), 128 + SIGTERM);
}

/* Ctrl-S stops a terminal like this. */
static void samples_although_its_terminal_is_stopped(void **state)
{
	struct stage *stage = *state;
	struct child *worker, *spy;
	char *name;
	int *terminal = malloc(sizeof(*terminal));
	int other;

	need_lua();
	assert_non_null(terminal);
	stage__own(stage, terminal, free_file);
	*terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_return_code(*terminal, errno);
	assert_int_equal(grantpt(*terminal) | unlockpt(*terminal), 0);
	name = ptsname(*terminal);
	assert_non_null(name);
	other = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_return_code(other, errno);
	worker = start_worker(stage);
	setenv("TERMINAL", name, 1);
	spy = start_stalled(stage, worker->pid, "-F 1khz -o x.json", "2>\"$TERMINAL\"");
	spying__await_timers(stage, spy);
	assert_int_equal(tcflow(other, TCOOFF), 0);
	child__tell(worker, "go");
	assert_int_equal(child__wait(worker, PATIENCE), 0);
	stage__await_file(stage, spy, "x.json");
	assert_has_work(stage, "x.json", worker);
	assert_int_equal(tcflow(other, TCOON), 0);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(waits_for_the_reader_of_the_profile),
		staged(ends_although_nobody_reads_the_profile),
		staged(samples_although_nobody_reads_its_messages),
		staged(samples_although_its_terminal_is_stopped),
	};

	return cmocka_run_group_tests_name("stalls", tests, NULL, NULL);
}
