/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/log.h"
#include "base/progress.h"
#include "captured.h"

#define S       UINT64_C(1000000000)
#define END     "\a" /* written by the test: what comes before it has arrived */
#define CLEARED "\r\033[K"

/* A pseudo-terminal that stands in for standard error between begin() and end(). */
struct terminal {
	int master, slave, saved;
	char shown[4096];
};

static const struct progress countdown = {
	.elapsed_ns = 17 * S + 900000000,
	.duration_ns = 30 * S,
	.samples = 11874,
	.script_samples = 11530,
};

static void wait_for_next_draw(void)
{
	const struct timespec pause = {.tv_nsec = 210 * 1000 * 1000};

	nanosleep(&pause, NULL);
}

static int set_up(void **state)
{
	struct terminal *terminal = calloc(1, sizeof(*terminal));

	if (!terminal)
		return -1;
	terminal->master = posix_openpt(O_RDWR | O_NOCTTY);
	if (terminal->master < 0 || grantpt(terminal->master) || unlockpt(terminal->master))
		return -1;
	terminal->slave = open(ptsname(terminal->master), O_RDWR | O_NOCTTY);
	*state = terminal;
	setenv("TERM", "xterm", 1);
	log__set_level(LOG_INFO);
	wait_for_next_draw();
	return terminal->slave < 0;
}

static int tear_down(void **state)
{
	struct terminal *terminal = *state;

	close(terminal->slave);
	close(terminal->master);
	free(terminal);
	log__set_level(LOG_INFO);
	return 0;
}

static void set_width(struct terminal *terminal, unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};

	assert_return_code(ioctl(terminal->slave, TIOCSWINSZ, &size), 0);
}

static void begin(struct terminal *terminal)
{
	fflush(NULL);
	terminal->saved = dup(STDERR_FILENO);
	dup2(terminal->slave, STDERR_FILENO);
}

/* Removes the line, so that no other test inherits it, and returns what was shown before. */
static const char *end(struct terminal *terminal)
{
	char *shown = terminal->shown;
	size_t used = 0;
	ssize_t length;

	assert_int_equal(write(terminal->slave, END, 1), 1);
	do {
		length = read(terminal->master, shown + used, sizeof(terminal->shown) - 1 - used);
		used += length > 0 ? (size_t)length : 0;
		shown[used] = '\0';
	} while (length > 0 && !strstr(shown, END));
	shown[strcspn(shown, END)] = '\0';
	progress__clear();
	dup2(terminal->saved, STDERR_FILENO);
	close(terminal->saved);
	return shown;
}

static void counts_down_to_the_start(void **state)
{
	const struct progress waiting = {
		.elapsed_ns = 2 * S + 1, .duration_ns = 65 * S, .is_waiting = true};

	begin(*state);
	progress__show(&waiting);
	assert_string_equal(end(*state), "  starts in 1:03\033[K\r");
}

static void counts_down(void **state)
{
	begin(*state);
	progress__show(&countdown);
	assert_string_equal(end(*state),
			    "  0:13 left  11,874 samples  97.1% in script  0 lost\033[K\r");
}

static void counts_up_where_there_is_no_end(void **state)
{
	const struct progress open_end = {
		.elapsed_ns = 3723 * S, .samples = 10, .script_samples = 10, .lost = 1234};

	begin(*state);
	progress__show(&open_end);
	assert_string_equal(end(*state),
			    "  1:02:03 elapsed  10 samples  100.0% in script  1,234 lost\033[K\r");
}

static void stays_at_zero_when_time_is_over(void **state)
{
	struct progress over = countdown;

	over.elapsed_ns = 31 * S;
	begin(*state);
	progress__show(&over);
	assert_memory_equal(end(*state), "  0:00 left", 11);
}

static void says_that_there_are_no_samples_yet(void **state)
{
	const struct progress idle = {.duration_ns = 30 * S};

	begin(*state);
	progress__show(&idle);
	assert_string_equal(end(*state), "  0:30 left  no samples yet\033[K\r");
}

static void fits_the_terminal_as_it_is_now(void **state)
{
	begin(*state);
	set_width(*state, 20);
	progress__show(&countdown);
	assert_string_equal(end(*state), "  0:13 left  11,874\033[K\r");
	begin(*state);
	set_width(*state, 53);
	wait_for_next_draw();
	progress__show(&countdown);
	assert_string_equal(end(*state),
			    CLEARED "  0:13 left  11,874 samples  97.1% in script  0 lost\033[K\r");
	begin(*state);
	set_width(*state, 52); /* as long as the line, whose last column stays free */
	wait_for_next_draw();
	progress__show(&countdown);
	assert_string_equal(end(*state),
			    CLEARED "  0:13 left  11,874 samples  97.1% in script  0 los\033[K\r");
	begin(*state);
	set_width(*state, 1);
	wait_for_next_draw();
	progress__show(&countdown);
	assert_string_equal(end(*state), CLEARED "\033[K\r");
}

static void draws_five_times_a_second_at_most(void **state)
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000};
	struct timespec start, now;
	unsigned draws = 0;

	begin(*state);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		progress__show(&countdown);
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 <
		 900);
	for (const char *c = end(*state); *c; c++)
		draws += *c == '\r';
	/* At 0, 200, 400, 600 and 800 ms; fewer on a machine that stalls. */
	assert_in_range(draws, 2, 5);
}

static void makes_way_for_messages(void **state)
{
	begin(*state);
	progress__show(&countdown);
	log_warn("something");
	log_warn("more");
	progress__clear();
	assert_string_equal(end(*state),
			    "  0:13 left  11,874 samples  97.1% in script  0 lost\033[K\r" CLEARED
			    "luaspy: warning: something\r\nluaspy: warning: more\r\n");
}

static void is_silent_when_asked_to_be(void **state)
{
	begin(*state);
	log__set_level(LOG_WARN);
	progress__show(&countdown);
	progress__clear();
	log__set_level(LOG_ERROR);
	progress__show(&countdown);
	progress__clear();
	assert_string_equal(end(*state), "");
}

static void is_silent_on_dumb_terminals(void **state)
{
	begin(*state);
	setenv("TERM", "dumb", 1);
	progress__show(&countdown);
	unsetenv("TERM");
	progress__show(&countdown);
	setenv("TERM", "xterm", 1);
	assert_string_equal(end(*state), "");
}

static void is_silent_where_there_is_no_terminal(void **state)
{
	struct captured captured;
	char *text;

	(void)state;
	captured__start(&captured, STDERR_FILENO);
	progress__show(&countdown);
	progress__clear();
	text = captured__end(&captured);
	assert_string_equal(text, "");
	free(text);
}

#define on_terminal(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static void says_that_it_is_paused(void **state)
{
	struct progress paused = countdown;

	paused.is_paused = 1;
	begin(*state);
	progress__show(&paused);
	assert_string_equal(end(*state),
			    "  0:13 left  paused  11,874 samples  97.1% in script  0 lost\033[K\r");
	paused.samples = 0;
	wait_for_next_draw();
	begin(*state);
	progress__show(&paused);
	assert_non_null(strstr(end(*state), "  0:13 left  paused  no samples yet\033[K\r"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_terminal(counts_down_to_the_start),
		on_terminal(counts_down),
		on_terminal(counts_up_where_there_is_no_end),
		on_terminal(stays_at_zero_when_time_is_over),
		on_terminal(says_that_there_are_no_samples_yet),
		on_terminal(fits_the_terminal_as_it_is_now),
		on_terminal(draws_five_times_a_second_at_most),
		on_terminal(makes_way_for_messages),
		on_terminal(is_silent_when_asked_to_be),
		on_terminal(is_silent_on_dumb_terminals),
		on_terminal(is_silent_where_there_is_no_terminal),
		on_terminal(says_that_it_is_paused),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
