/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "json/json_writer.h"
#include "skip.h"

struct fixture {
	struct json_writer writer;
	FILE *stream;
	char *text;
	size_t length;
};

static int make_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	fixture->stream = open_memstream(&fixture->text, &fixture->length);
	if (!fixture->stream)
		return -1;
	json_writer__init(&fixture->writer, fixture->stream);
	return 0;
}

static int free_fixture(void **state)
{
	struct fixture *fixture = *state;

	fclose(fixture->stream);
	free(fixture->text);
	free(fixture);
	return 0;
}

static const char *finish(struct fixture *fixture)
{
	assert_int_equal(json_writer__finish(&fixture->writer), 0);
	assert_int_equal(fflush(fixture->stream), 0);
	/* Rewinding a stream does not erase what was written before. */
	fixture->text[fixture->length] = '\0';
	return fixture->text;
}

static void restart(struct fixture *fixture)
{
	rewind(fixture->stream);
	json_writer__init(&fixture->writer, fixture->stream);
}

/* A document that consists of this string only. */
static const char *written(struct fixture *fixture, const char *bytes, size_t length)
{
	restart(fixture);
	json_writer__bytes(&fixture->writer, bytes, length);
	return finish(fixture);
}

#define assert_written(fixture, bytes, expected)                                                   \
	assert_string_equal(written(fixture, bytes, sizeof(bytes) - 1), "\"" expected "\"\n")

static void nests_objects_and_arrays(void **state)
{
	struct fixture *fixture = *state;
	struct json_writer *writer = &fixture->writer;

	json_writer__object(writer);
	json_writer__key(writer, "a");
	json_writer__uint(writer, 1);
	json_writer__key(writer, "b");
	json_writer__array(writer);
	json_writer__int(writer, -2);
	json_writer__object(writer);
	json_writer__end_object(writer);
	json_writer__array(writer);
	json_writer__end_array(writer);
	json_writer__text(writer, "x");
	json_writer__end_array(writer);
	json_writer__key(writer, "c");
	json_writer__object(writer);
	json_writer__key(writer, "d");
	json_writer__text(writer, "");
	json_writer__end_object(writer);
	json_writer__end_object(writer);
	assert_string_equal(finish(fixture),
			    "{\"a\":1,\"b\":[-2,{},[],\"x\"],\"c\":{\"d\":\"\"}}\n");
}

static void puts_elements_on_lines_where_asked(void **state)
{
	struct fixture *fixture = *state;
	struct json_writer *writer = &fixture->writer;

	json_writer__array_lines(writer);
	json_writer__array(writer);
	json_writer__uint(writer, 1);
	json_writer__uint(writer, 2);
	json_writer__end_array(writer);
	json_writer__uint(writer, 3);
	json_writer__array_lines(writer);
	json_writer__end_array(writer);
	json_writer__end_array(writer);
	assert_string_equal(finish(fixture), "[\n[1,2],\n3,\n[]]\n");
}

static void writes_numbers_to_their_limits(void **state)
{
	struct fixture *fixture = *state;
	struct json_writer *writer = &fixture->writer;

	json_writer__array(writer);
	json_writer__uint(writer, 0);
	json_writer__uint(writer, UINT64_MAX);
	json_writer__int(writer, INT64_MIN);
	json_writer__int(writer, INT64_MAX);
	json_writer__end_array(writer);
	assert_string_equal(finish(fixture), "[0,18446744073709551615,-9223372036854775808,"
					     "9223372036854775807]\n");
}

static void writes_thousandths_as_short_as_they_are(void **state)
{
	static const uint64_t values[] = {0, 1, 10, 125, 500, 1000, 1020, 12345, UINT64_MAX};
	struct fixture *fixture = *state;

	json_writer__array(&fixture->writer);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		json_writer__thousandths(&fixture->writer, values[i]);
	json_writer__end_array(&fixture->writer);
	assert_string_equal(finish(fixture),
			    "[0,0.001,0.01,0.125,0.5,1,1.02,12.345,18446744073709551.615]\n");
}

static void writes_truth_and_nothing(void **state)
{
	struct fixture *fixture = *state;

	json_writer__array(&fixture->writer);
	json_writer__bool(&fixture->writer, true);
	json_writer__bool(&fixture->writer, false);
	json_writer__null(&fixture->writer);
	json_writer__end_array(&fixture->writer);
	assert_string_equal(finish(fixture), "[true,false,null]\n");
}

static void leaves_valid_text_as_it_is(void **state)
{

	assert_written(*state, "a/b.lua:12 <anonymous>", "a/b.lua:12 <anonymous>");
	assert_written(*state, "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x8c\x99",
		       "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x8c\x99");
	/* the first and the last of each length */
	assert_written(*state, "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf",
		       "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf");
	assert_written(*state, "\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
		       "\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
}

static void escapes_quotes_and_control_characters(void **state)
{
	assert_written(*state, "a\"b\\c", "a\\\"b\\\\c");
	assert_written(*state, "a\nb\tc\rd", "a\\nb\\u0009c\\u000dd");
	assert_written(*state, "\0\x01\x1b[31m\x7f", "\\u0000\\u0001\\u001b[31m\\u007f");
	/* C1: next line, and the one-byte form of ESC [ */
	assert_written(*state, "\xc2\x85\xc2\x9b", "\\u0085\\u009b");
}

static void escapes_line_separators_and_text_direction(void **state)
{
	assert_written(*state, "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029");
	assert_written(*state, "\xe2\x80\xae\xe2\x81\xa6", "\\u202e\\u2066");
	assert_written(*state, "\u200e\u200f\u061c", "\\u200e\\u200f\\u061c");
	assert_written(*state, "\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf");
}

static void escapes_what_is_not_seen(void **state)
{
	assert_written(*state, "\u00ad\u200b\u200d\u2060\ufeff",
		       "\\u00ad\\u200b\\u200d\\u2060\\ufeff");
	/* Beyond what one escape holds. */
	assert_written(*state, "\U000e0001\U0001d173", "\\udb40\\udc01\\ud834\\udd73");
}

static void cannot_end_a_script_element(void **state)
{
	assert_written(*state, "</script><!--", "\\u003c/script>\\u003c!--");
	assert_written(*state, "<", "<");
}

static void shows_bytes_that_are_not_utf8(void **state)
{
	assert_written(*state, "\xff", "\\\\xff");
	assert_written(*state, "a\x80z", "a\\\\x80z");
	/* overlong, a surrogate, beyond U+10FFFF */
	assert_written(*state, "\xc0\x80", "\\\\xc0\\\\x80");
	assert_written(*state, "\xc1\xbf", "\\\\xc1\\\\xbf");
	assert_written(*state, "\xe0\x9f\xbf", "\\\\xe0\\\\x9f\\\\xbf");
	assert_written(*state, "\xf0\x8f\xbf\xbf", "\\\\xf0\\\\x8f\\\\xbf\\\\xbf");
	assert_written(*state, "\xed\xa0\x80", "\\\\xed\\\\xa0\\\\x80");
	assert_written(*state, "\xf4\x90\x80\x80", "\\\\xf4\\\\x90\\\\x80\\\\x80");
	assert_written(*state, "\xf5\x80\x80\x80", "\\\\xf5\\\\x80\\\\x80\\\\x80");
	/* cut off: at the end, and by a character that is valid */
	assert_written(*state, "\xe2\x82", "\\\\xe2\\\\x82");
	assert_string_equal(written(*state, "\xe2\x82\xac", 2), "\"\\\\xe2\\\\x82\"\n");
	assert_written(*state,
		       "\xe2\x82"
		       "a",
		       "\\\\xe2\\\\x82a");
	assert_written(*state, "\xf0\x9f\x8c\xc3\xa4", "\\\\xf0\\\\x9f\\\\x8c\xc3\xa4");
}

static void different_bytes_are_different_strings(void **state)
{
	assert_written(*state, "\\xff", "\\\\x5cxff");
	assert_written(*state, "\\xFF", "\\\\x5cxFF");
	assert_written(*state, "\\xf", "\\\\xf");
	assert_written(*state, "\\xfg", "\\\\xfg");
	assert_written(*state, "\\abc", "\\\\abc");
	assert_written(*state, "\\\xff", "\\\\\\\\xff");
}

/* Every pair of bytes, with and without a valid neighbour: a strict reader takes all of it. */
static void is_valid_json_whatever_the_bytes(void **state)
{
	for (unsigned int pair = 0; pair < 0x20000; pair++) {
		const char bytes[] = {(char)(pair >> 8), (char)pair, 'a'};
		size_t length = pair < 0x10000 ? 2 : 3;
		const char *text = written(*state, bytes, length);
		json_error_t error;
		json_t *json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

		if (!json)
			fail_msg("%s: %s", text, error.text);
		json_decref(json);
	}
}

static void refuses_calls_in_the_wrong_place(void **state)
{
	struct fixture *fixture = *state;
	struct json_writer *writer = &fixture->writer;

	assert_int_equal(json_writer__finish(writer), -EINVAL); /* no value */

	restart(fixture);
	json_writer__object(writer);
	json_writer__uint(writer, 1); /* no key */
	assert_int_equal(writer->error, -EINVAL);

	restart(fixture);
	json_writer__array(writer);
	json_writer__key(writer, "a"); /* no object */
	assert_int_equal(writer->error, -EINVAL);

	restart(fixture);
	json_writer__object(writer);
	json_writer__key(writer, "a");
	json_writer__key(writer, "b"); /* no value */
	assert_int_equal(writer->error, -EINVAL);

	restart(fixture);
	json_writer__object(writer);
	json_writer__key(writer, "a");
	json_writer__end_object(writer); /* no value */
	assert_int_equal(writer->error, -EINVAL);

	restart(fixture);
	json_writer__array(writer);
	json_writer__end_object(writer); /* not open */
	assert_int_equal(writer->error, -EINVAL);

	restart(fixture);
	json_writer__uint(writer, 1);
	json_writer__uint(writer, 2); /* two roots */
	assert_int_equal(writer->error, -EINVAL);

	restart(fixture);
	json_writer__end_array(writer); /* nothing open */
	assert_int_equal(writer->error, -EINVAL);

	restart(fixture);
	json_writer__array(writer); /* not closed */
	assert_int_equal(json_writer__finish(writer), -EINVAL);
}

static void bounds_the_depth(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 1; i < JSON_WRITER_DEPTH; i++)
		json_writer__array(&fixture->writer);
	assert_int_equal(fixture->writer.error, 0);
	json_writer__array(&fixture->writer);
	assert_int_equal(fixture->writer.error, -EINVAL);
}

static void keeps_the_first_error_of_the_stream(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct json_writer writer;

	(void)state;
	if (!full)
		skip_because("there is no /dev/full");
	setvbuf(full, NULL, _IONBF, 0);
	json_writer__init(&writer, full);
	json_writer__array(&writer);
	json_writer__end_object(&writer);
	assert_int_equal(json_writer__finish(&writer), -ENOSPC);
	fclose(full);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_fixture, free_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(nests_objects_and_arrays),
		test(puts_elements_on_lines_where_asked),
		test(writes_numbers_to_their_limits),
		test(writes_thousandths_as_short_as_they_are),
		test(writes_truth_and_nothing),
		test(leaves_valid_text_as_it_is),
		test(escapes_quotes_and_control_characters),
		test(escapes_line_separators_and_text_direction),
		test(escapes_what_is_not_seen),
		test(cannot_end_a_script_element),
		test(shows_bytes_that_are_not_utf8),
		test(different_bytes_are_different_strings),
		test(is_valid_json_whatever_the_bytes),
		test(refuses_calls_in_the_wrong_place),
		test(bounds_the_depth),
		cmocka_unit_test(keeps_the_first_error_of_the_stream),
	};

	return cmocka_run_group_tests_name("json_writer", tests, NULL, NULL);
}
