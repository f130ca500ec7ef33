/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/message.h"

static void holds_what_was_put_in_in_order(void **state)
{
	struct message message = {};
	char into[8], *text;

	(void)state;
	message__put_number(&message, 7);
	message__put_text(&message, "seven");
	message__put_text(&message, NULL);
	message__put_text(&message, "");
	message__put_text(&message, "eight");
	assert_int_equal(message__take_number(&message, 7), 7);
	text = message__take_text(&message, 5);
	assert_string_equal(text, "seven");
	free(text);
	assert_null(message__take_text(&message, 5));
	text = message__take_text(&message, 5);
	assert_string_equal(text, "");
	free(text);
	message__take_text_into(&message, into, sizeof(into));
	assert_string_equal(into, "eight");
	assert_int_equal(message__end(&message), 0);
	message__free(&message);
}

static void is_bad_where_something_is_left_or_missing(void **state)
{
	struct message message = {};

	(void)state;
	message__put_number(&message, 7);
	assert_int_equal(message__end(&message), -EBADMSG);
	message__clear(&message);
	message__put(&message, "1234", 4);
	assert_int_equal(message__take_number(&message, UINT64_MAX), 0);
	assert_int_equal(message__end(&message), -EBADMSG);
	message__free(&message);
}

static void is_bad_where_a_number_or_a_text_is_too_large(void **state)
{
	struct message message = {};
	char into[5];

	(void)state;
	message__put_number(&message, 8);
	assert_int_equal(message__take_number(&message, 7), 0);
	assert_int_equal(message.error, -EBADMSG);
	message__clear(&message);
	message__put_text(&message, "eight");
	assert_null(message__take_text(&message, 4));
	assert_int_equal(message.error, -EBADMSG);
	message__clear(&message);
	message__put_text(&message, "eight");
	message__take_text_into(&message, into, sizeof(into));
	assert_string_equal(into, "");
	assert_int_equal(message.error, -EBADMSG);
	message__free(&message);
}

/* A truncated name could be mistaken for another one. */
static void is_bad_where_a_text_has_a_nul(void **state)
{
	const uint32_t length = 3;
	struct message message = {};

	(void)state;
	message__put(&message, &length, sizeof(length));
	message__put(&message, "a\0b", 3);
	assert_null(message__take_text(&message, 16));
	assert_int_equal(message__end(&message), -EBADMSG);
	message__free(&message);
}

static void has_a_largest_size(void **state)
{
	struct message message = {};

	(void)state;
	assert_null(message__extend(&message, (size_t)MESSAGE_BYTES_MAX + 1));
	assert_int_equal(message.error, -E2BIG);
	message__clear(&message);
	assert_non_null(message__extend(&message, MESSAGE_BYTES_MAX));
	message__put(&message, "x", 1);
	assert_int_equal(message.error, -E2BIG);
	message__free(&message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_what_was_put_in_in_order),
		cmocka_unit_test(is_bad_where_something_is_left_or_missing),
		cmocka_unit_test(is_bad_where_a_number_or_a_text_is_too_large),
		cmocka_unit_test(is_bad_where_a_text_has_a_nul),
		cmocka_unit_test(has_a_largest_size),
	};

	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
