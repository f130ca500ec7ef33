/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>

#include "base/log.h"
#include "captured.h"

static void assert_printable(const char *text, const char *expected)
{
	char to[256];

	assert_ptr_equal(log__printable(text, to, sizeof(to)), to);
	assert_string_equal(to, expected);
}

static void leaves_printable_text_as_it_is(void **state)
{
	(void)state;
	assert_printable("", "");
	assert_printable(NULL, "");
	assert_printable("a b~'\\", "a b~'\\");
	assert_printable("na\u00efve \u51fd\u6570 \U0001f600 \u00a0",
			 "na\u00efve \u51fd\u6570 \U0001f600 \u00a0");
}

static void escapes_control_characters(void **state)
{
	(void)state;
	assert_printable("\033[31mred\033[0m", "\\x1b[31mred\\x1b[0m");
	assert_printable("a\r\n\tb\001\x7f", "a\\x0d\\x0a\\x09b\\x01\\x7f");
	assert_printable("\xc2\x80\xc2\x9b"
			 "31m\xc2\x9f",
			 "\\xc2\\x80\\xc2\\x9b31m\\xc2\\x9f");
}

static void escapes_what_turns_the_direction_of_text(void **state)
{
	static const char *const turning[] = {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029",
					      "\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
					      "\u2066", "\u2067", "\u2068", "\u2069"};
	char to[32];

	(void)state;
	for (size_t i = 0; i < sizeof(turning) / sizeof(turning[0]); i++)
		assert_memory_equal(log__printable(turning[i], to, sizeof(to)), "\\x", 2);
	assert_printable("\u202e", "\\xe2\\x80\\xae");
	assert_printable("\u2027\u202f\u205f\u2070", "\u2027\u202f\u205f\u2070");
}

/* Names that look alike but differ. */
static void escapes_what_is_not_seen(void **state)
{
	static const char *const unseen[] = {
		"\u00ad", "\u034f", "\u115f",     "\u180e",     "\u200b",    "\u200c", "\u200d",
		"\u2060", "\u2064", "\u206a",     "\u206f",     "\u3164",    "\ufe0f", "\ufeff",
		"\uffa0", "\ufff9", "\U0001d173", "\U000e0001", "\U000e0fff"};
	char to[32];

	(void)state;
	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
		assert_memory_equal(log__printable(unseen[i], to, sizeof(to)), "\\x", 2);
	assert_printable("lua\ufeff", "lua\\xef\\xbb\\xbf");
	assert_printable("\u00ac\u00ae\u0350\ufe10\uffef\ufffd\U000e1000",
			 "\u00ac\u00ae\u0350\ufe10\uffef\ufffd\U000e1000");
}

static void escapes_invalid_utf8_byte_by_byte(void **state)
{
	(void)state;
	assert_printable("\xff"
			 "a\x80",
			 "\\xffa\\x80");
	assert_printable("\xc0\x80", "\\xc0\\x80");
	assert_printable("\xc1\xbf", "\\xc1\\xbf");
	assert_printable("\xe0\x9f\xbf", "\\xe0\\x9f\\xbf");
	assert_printable("\xed\xa0\x80", "\\xed\\xa0\\x80");
	assert_printable("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	assert_printable("\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80");
	/* Sequences cut off in the middle, at the end, and before another character. */
	assert_printable("\xe4\xb8", "\\xe4\\xb8");
	assert_printable("\xe4\xb8z", "\\xe4\\xb8z");
	assert_printable("\xf0\x9f\x98\xe4\xb8\xad", "\\xf0\\x9f\\x98\u4e2d");
}

/*
 * The buffer is on the heap and of exactly this size, so that the sanitizer sees a write beyond it.
 */
static void assert_cut(const char *text, size_t size, const char *expected)
{
	char *to = malloc(size);

	assert_non_null(to);
	assert_string_equal(log__printable(text, to, size), expected);
	free(to);
}

static void shows_that_it_cut_off(void **state)
{
	char untouched = 'x';

	(void)state;
	assert_cut("abcdef", 7, "abcdef");
	assert_cut("abcdef", 6, "ab...");
	assert_cut("abcdef", 4, "...");
	assert_cut("abcdef", 3, "..");
	assert_cut("abcdef", 1, "");
	assert_cut("ab\033", 7, "ab\\x1b");
	assert_cut("ab\033", 6, "ab...");
	/* Truncation never splits an escape or a character. */
	assert_cut("\033\033", 8, "\\x1b...");
	assert_cut("\033\033", 7, "...");
	assert_cut("\u4e2d\u4e2d\u4e2d", 9, "\u4e2d...");
	assert_ptr_equal(log__printable("a", &untouched, 0), &untouched);
	assert_int_equal(untouched, 'x');
}

static void assert_shown(enum log_level level, const char *expected)
{
	struct captured captured;
	char *text;

	log__set_level(level);
	assert_int_equal(log__level(), level);
	captured__start(&captured, STDERR_FILENO);
	log_error("cannot open '%s': %s", "/x", "no such file");
	log_warn("%d events lost", 3);
	log_info("recording");
	log_debug("found '%s'", "it");
	text = captured__end(&captured);
	log__set_level(LOG_INFO);
	assert_string_equal(text, expected);
	free(text);
}

static void shows_messages_up_to_the_level(void **state)
{
	(void)state;
	assert_int_equal(log__level(), LOG_INFO);
	assert_shown(LOG_ERROR, "luaspy: cannot open '/x': no such file\n");
	assert_shown(LOG_WARN, "luaspy: cannot open '/x': no such file\n"
			       "luaspy: warning: 3 events lost\n");
	assert_shown(LOG_INFO, "luaspy: cannot open '/x': no such file\n"
			       "luaspy: warning: 3 events lost\n"
			       "luaspy: recording\n");
	assert_shown(LOG_DEBUG, "luaspy: cannot open '/x': no such file\n"
				"luaspy: warning: 3 events lost\n"
				"luaspy: recording\n"
				"luaspy: debug: found 'it'\n");
}

static void makes_one_harmless_line_of_any_argument(void **state)
{
	struct captured captured;
	char *text;

	(void)state;
	captured__start(&captured, STDERR_FILENO);
	log_error("cannot read '%s'", "a\nluaspy: all is well\033[2J\xff");
	text = captured__end(&captured);
	assert_string_equal(text, "luaspy: cannot read 'a\\x0aluaspy: all is well\\x1b[2J\\xff'\n");
	free(text);
}

static void cuts_off_endless_messages_visibly(void **state)
{
	struct captured captured;
	char *text, *name = calloc(1, 100001);

	(void)state;
	assert_non_null(name);
	memset(name, '\033', 100000);
	captured__start(&captured, STDERR_FILENO);
	log_error("cannot read '%s'", name);
	text = captured__end(&captured);
	assert_in_range(strlen(text), 1000, 10000);
	assert_string_equal(text + strlen(text) - 8, "\\x1b...\n");
	free(text);
	free(name);
}

static void leaves_errno_alone(void **state)
{
	struct captured captured;
	int error;

	(void)state;
	captured__start(&captured, STDERR_FILENO);
	close(STDERR_FILENO);
	errno = ENOENT;
	log_error("cannot open 'x'");
	error = errno;
	free(captured__end(&captured));
	assert_int_equal(error, ENOENT);
}

static void take(void *context, enum log_level level, const char *line)
{
	snprintf(context, 64, "%d %s", level, line);
}

static void goes_where_it_is_diverted(void **state)
{
	struct captured captured;
	char taken[64] = "", *text;

	(void)state;
	captured__start(&captured, STDERR_FILENO);
	log__divert(take, taken);
	log_warn("a\033b");
	log_debug("too fine");
	log__divert(NULL, NULL);
	log_error("as before");
	text = captured__end(&captured);
	assert_string_equal(taken, "1 a\\x1bb");
	assert_string_equal(text, "luaspy: as before\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_printable_text_as_it_is),
		cmocka_unit_test(escapes_control_characters),
		cmocka_unit_test(escapes_what_turns_the_direction_of_text),
		cmocka_unit_test(escapes_what_is_not_seen),
		cmocka_unit_test(escapes_invalid_utf8_byte_by_byte),
		cmocka_unit_test(shows_that_it_cut_off),
		cmocka_unit_test(shows_messages_up_to_the_level),
		cmocka_unit_test(makes_one_harmless_line_of_any_argument),
		cmocka_unit_test(cuts_off_endless_messages_visibly),
		cmocka_unit_test(leaves_errno_alone),
		cmocka_unit_test(goes_where_it_is_diverted),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
