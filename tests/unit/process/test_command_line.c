/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
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
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "local_inspector.h"
#include "process/command_line.h"

/* Above 4,194,304 (PID_MAX_LIMIT), so there is no such process. */
#define NO_PID 2000000000

static int waits_for; /* what the shell reads from */

static const char *label_of(const char *program, const char *script, const char *text)
{
	static char label[COMMAND_LINE_LABEL_SIZE];
	struct command_line line = {};

	snprintf(line.program, sizeof(line.program), "%s", program);
	snprintf(line.script, sizeof(line.script), "%s", script);
	snprintf(line.text, sizeof(line.text), "%s", text);
	return command_line__label(&line, "comm", label);
}

static void a_script_is_named_with_its_program(void **state)
{
	(void)state;
	assert_string_equal(label_of("lua5.4", "/srv/app/server.lua", "/usr/bin/lua5.4 -W x"),
			    "lua5.4 server.lua");
	assert_string_equal(label_of("lua5.4", "server.lua", "lua5.4 server.lua --key k"),
			    "lua5.4 server.lua");
	assert_string_equal(label_of("", "server.lua", " server.lua"), "comm server.lua");
}

static void a_command_line_without_a_script_loses_its_folders(void **state)
{
	(void)state;
	assert_string_equal(label_of("nmap", "", "/usr/bin/nmap -sV 10.0.0.0/8"),
			    "nmap -sV 10.0.0.0/8");
	assert_string_equal(
		label_of("redis-server 127.0.0.1:6379", "", "/usr/bin/redis-server 127.0.0.1:6379"),
		"redis-server 127.0.0.1:6379");
	/* Text after the first blank is not part of the program's path. */
	assert_string_equal(
		label_of("nginx -g x", "", "nginx: master process /usr/sbin/nginx -g x"),
		"nginx: master process /usr/sbin/nginx -g x");
	assert_string_equal(label_of("", "", "  x /y"), "x /y");
	assert_string_equal(label_of("", "", "/ x"), "/ x");
}

static void a_process_without_a_command_line_has_its_name(void **state)
{
	(void)state;
	assert_string_equal(label_of("", "", ""), "comm");
	assert_string_equal(label_of("", "", "   "), "comm");
}

static void a_long_one_is_cut_at_a_character(void **state)
{
	char text[100];

	(void)state;
	memset(text, 'x', 64);
	text[64] = '\0';
	assert_string_equal(label_of("", "", text), text);
	memset(text, 'x', 65);
	text[65] = '\0';
	assert_int_equal(strlen(label_of("", "", text)), 64);
	assert_string_equal(label_of("", "", text) + 60, "x...");
	/* The cut at byte 61 would split a character. */
	memset(text, 'y', 99);
	memcpy(text + 59, "\u20ac", 3);
	text[99] = '\0';
	assert_string_equal(label_of("", "", text) + 58, "y...");
}

/* Starts a shell that waits in this folder, with these words as its command line. */
static pid_t start(const char *folder, const char *const *words)
{
	int input[2], begun[2];
	char none;
	pid_t pid;

	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(begun, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (dup2(input[0], STDIN_FILENO) == STDIN_FILENO && !chdir(folder))
			execv("/bin/sh", (char *const *)words);
		_exit(1);
	}
	assert_true(pid > 0);
	close(input[0]);
	close(begun[1]);
	/* execv() has closed the child's end. */
	assert_int_equal(read(begun[0], &none, 1), 0);
	close(begun[0]);
	waits_for = input[1];
	return pid;
}

static void end(pid_t pid)
{
	close(waits_for);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void its_script_is_the_first_file_among_its_words(void **state)
{
	static const char *const words[] = {"/opt/x/app",    "-c",     "read x",
					    "--file=passwd", "passwd", NULL};
	static const char *const bare[] = {"app", "-c", "read x", "nosuch", NULL};
	struct command_line line;
	char label[COMMAND_LINE_LABEL_SIZE];
	pid_t pid = start("/etc", words);

	(void)state;
	assert_int_equal(command_line__read(pid, &line), 0);
	end(pid);
	assert_string_equal(line.program, "app");
	assert_string_equal(line.script, "passwd");
	assert_string_equal(line.text, "/opt/x/app -c read x --file=passwd passwd");
	assert_string_equal(command_line__label(&line, "sh", label), "app passwd");
	pid = start("/etc", bare);
	assert_int_equal(command_line__read(pid, &line), 0);
	end(pid);
	assert_string_equal(command_line__label(&line, "sh", label), "app -c read x nosuch");
}

static void its_bytes_are_kept_as_they_are(void **state)
{
	static const char *const words[] = {"/\033[2J\xff", "-c", "read x", "\n", NULL};
	char label[COMMAND_LINE_LABEL_SIZE];
	struct command_line line;
	pid_t pid = start("/", words);

	(void)state;
	assert_int_equal(command_line__read(pid, &line), 0);
	end(pid);
	assert_string_equal(command_line__label(&line, "sh", label), "\033[2J\xff -c read x \n");
}

static void nothing_is_read_where_command_lines_are_secret(void **state)
{
	static const char *const words[] = {"app", "-c", "read x", "secret", NULL};
	struct inspector *inspector = local_inspector();
	char label[COMMAND_LINE_LABEL_SIZE];
	struct command_line line;
	pid_t pid = start("/", words);

	(void)state;
	assert_non_null(inspector);
	assert_int_equal(inspector__label(inspector, pid, "sh", label), 0);
	assert_string_equal(label, "app -c read x secret");
	inspector__leave(inspector, INSPECTOR_COMMANDS);
	assert_int_equal(inspector__command_line(inspector, pid, &line), -ENOTSUP);
	assert_string_equal(line.text, "");
	assert_int_equal(inspector__label(inspector, pid, "sh", label), 0);
	assert_string_equal(label, "sh");
	end(pid);
}

static void a_process_that_is_gone_has_none(void **state)
{
	struct command_line line;

	(void)state;
	assert_int_equal(command_line__read(NO_PID, &line), -ESRCH);
	assert_string_equal(line.text, "");
}

#define EXECUTIONS 100

/* On one processor, the test rarely meets the process inside execve(). */
static void a_process_inside_execve_is_to_be_asked_again(void **state)
{
	struct command_line line;
	int again = 0;

	(void)state;
	for (int i = 0; i < EXECUTIONS; i++) {
		pid_t pid = fork();
		int error;

		if (!pid) {
			execl("/bin/sleep", "soon", "100", (char *)NULL);
			_exit(1);
		}
		assert_true(pid > 0);
		do {
			error = command_line__read(pid, &line);
			again += error == -EAGAIN;
			if (!error)
				assert_string_not_equal(line.text, "");
			else
				assert_int_equal(error, -EAGAIN);
		} while (strcmp(line.text, "soon 100") != 0);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	print_message("%d times without a command line\n", again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_inside_execve_is_to_be_asked_again),
		cmocka_unit_test(a_script_is_named_with_its_program),
		cmocka_unit_test(a_command_line_without_a_script_loses_its_folders),
		cmocka_unit_test(a_process_without_a_command_line_has_its_name),
		cmocka_unit_test(a_long_one_is_cut_at_a_character),
		cmocka_unit_test(its_script_is_the_first_file_among_its_words),
		cmocka_unit_test(its_bytes_are_kept_as_they_are),
		cmocka_unit_test(a_process_that_is_gone_has_none),
		cmocka_unit_test(nothing_is_read_where_command_lines_are_secret),
	};

	return cmocka_run_group_tests_name("command line", tests, NULL, NULL);
}
