/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
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

#include "captured.h"
#include "control/control.h"
#include "session/events.h"

struct fixture {
	char folder[64], path[80], answers_path[80];
	struct control *control;
	int writer, answers;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	strcpy(fixture->folder, "/tmp/luaspy-test-XXXXXX");
	if (!mkdtemp(fixture->folder))
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/fifo", fixture->folder);
	snprintf(fixture->answers_path, sizeof(fixture->answers_path), "%s/ack", fixture->folder);
	if (control__open(fixture->path, fixture->answers_path, &fixture->control))
		return -1;
	fixture->writer = open(fixture->path, O_WRONLY | O_NONBLOCK);
	fixture->answers = open(fixture->answers_path, O_RDONLY | O_NONBLOCK);
	return fixture->writer < 0 || fixture->answers < 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->writer);
	close(fixture->answers);
	control__close(fixture->control);
	rmdir(fixture->folder);
	free(fixture);
	return 0;
}

static void put(struct fixture *fixture, const char *bytes, size_t length)
{
	assert_int_equal(write(fixture->writer, bytes, length), length);
}

#define put_text(fixture, text) put(fixture, text, strlen(text))

static void assert_takes(struct fixture *fixture, enum control_command expected)
{
	const char *text;

	assert_int_equal(control__take(fixture->control, &text), expected);
}

static void takes_commands_in_their_order(void **state)
{
	const char *text;

	put_text(*state, "pause\n\n  resume\t\r\nmark\nwrite\nstop\n");
	assert_takes(*state, CONTROL_PAUSE);
	assert_takes(*state, CONTROL_RESUME);
	assert_int_equal(control__take(((struct fixture *)*state)->control, &text), CONTROL_MARK);
	assert_string_equal(text, "");
	assert_takes(*state, CONTROL_WRITE);
	assert_takes(*state, CONTROL_STOP);
	assert_takes(*state, CONTROL_NONE);
	put(*state, "pause\0resume\0", 13);
	assert_takes(*state, CONTROL_PAUSE);
	assert_takes(*state, CONTROL_RESUME);
	assert_takes(*state, CONTROL_NONE);
}

static void waits_for_the_end_of_a_line(void **state)
{
	put_text(*state, "pau");
	assert_takes(*state, CONTROL_NONE);
	put_text(*state, "se");
	assert_takes(*state, CONTROL_NONE);
	put_text(*state, "\nre");
	assert_takes(*state, CONTROL_PAUSE);
	assert_takes(*state, CONTROL_NONE);
	put_text(*state, "sume\n");
	assert_takes(*state, CONTROL_RESUME);
}

/* An endless line is one line, whatever it contains; the line after it counts again. */
static void passes_over_lines_that_are_too_long(void **state)
{
	struct captured captured;
	char line[CONTROL_LINE_MAX], *said;

	memset(line, 'x', sizeof(line));
	captured__start(&captured, STDERR_FILENO);
	for (int i = 0; i < 5; i++) {
		put(*state, line, sizeof(line));
		assert_takes(*state, CONTROL_NONE);
	}
	put_text(*state, "\npause\n");
	for (int i = 0; i < 3; i++) {
		const char *text;

		if (control__take(((struct fixture *)*state)->control, &text) == CONTROL_PAUSE)
			break;
		assert_int_not_equal(i, 2);
	}
	said = captured__end(&captured);
	assert_non_null(strstr(said, "command is too long: 'xxx"));
	assert_null(strstr(strstr(said, "warning") + 1, "warning"));
	free(said);
}

static void takes_the_longest_line(void **state)
{
	char line[CONTROL_LINE_MAX];
	const char *text;

	memset(line, 'x', sizeof(line));
	memcpy(line, "mark ", 5);
	line[sizeof(line) - 1] = '\n';
	put(*state, line, sizeof(line));
	assert_int_equal(control__take(((struct fixture *)*state)->control, &text), CONTROL_MARK);
	assert_int_equal(strlen(text), CONTROL_LINE_MAX - 6);
}

static void assert_answer(struct fixture *fixture, const char *expected)
{
	char answer[256] = "";
	ssize_t length = read(fixture->answers, answer, sizeof(answer) - 1);

	answer[length > 0 ? length : 0] = '\0';
	assert_string_equal(answer, expected);
}

static void answers_in_words(void **state)
{
	struct control *control = ((struct fixture *)*state)->control;
	struct captured captured;

	assert_answer(*state, "");
	control__answer(control, CONTROL_PAUSE, NULL);
	control__answer(control, CONTROL_WRITE, "No space left on device");
	assert_answer(*state, "ok pause\nfailed write: No space left on device\n");
	captured__start(&captured, STDERR_FILENO);
	put_text(*state, "paus\n");
	assert_takes(*state, CONTROL_NONE);
	free(captured__end(&captured));
	assert_answer(*state, "failed: not understood\n");
}

/* Nobody has to read the answers: luaspy goes on, and reports how many the reader missed. */
static void counts_the_answers_that_nobody_reads(void **state)
{
	struct fixture *fixture = *state;
	struct captured captured;
	char *said;

	for (int i = 0; i < 20000; i++)
		control__answer(fixture->control, CONTROL_STOP, NULL);
	captured__start(&captured, STDERR_FILENO);
	control__close(fixture->control);
	fixture->control = NULL;
	said = captured__end(&captured);
	assert_non_null(
		strstr(said, "answers to commands were lost: nobody read the earlier ones"));
	free(said);
}

static void does_not_answer_where_it_is_told(void **state)
{
	struct fixture *fixture = *state;
	struct control *other;
	struct captured captured;
	char *said;

	captured__start(&captured, STDERR_FILENO);
	assert_int_equal(control__open(fixture->path, fixture->path, &other), -EINVAL);
	said = captured__end(&captured);
	assert_non_null(strstr(said, "commands come from there"));
	assert_null(other);
	free(said);
}

static void keeps_events_up_to_a_bound(void **state)
{
	struct events events = {};
	char text[8] = "a";

	(void)state;
	for (uint64_t i = 0; i < EVENTS_MAX + 7; i++)
		events__add(&events, i, "mark", text);
	events__add(&events, 9, "pause", NULL);
	text[0] = 'b';
	assert_int_equal(events.count, EVENTS_MAX);
	assert_int_equal(events.left_out, 8);
	assert_int_equal(events.items[EVENTS_MAX - 1].time_ns, EVENTS_MAX - 1);
	assert_string_equal(events.items[0].text, "a");
	events__free(&events);
	assert_int_equal(events.count, 0);
}

#define with_fifo(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fifo(takes_commands_in_their_order),
		with_fifo(waits_for_the_end_of_a_line),
		with_fifo(passes_over_lines_that_are_too_long),
		with_fifo(takes_the_longest_line),
		with_fifo(answers_in_words),
		with_fifo(counts_the_answers_that_nobody_reads),
		with_fifo(does_not_answer_where_it_is_told),
		cmocka_unit_test(keeps_events_up_to_a_bound),
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
