/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/backlog.h"

/* Offset of a record's number, whatever its size. */
struct taken {
	uint32_t next;    /* the number that is expected */
	uint32_t refused; /* that one is answered by an error; 0: none */
};

/* Odd sizes, including the longest and the shortest. */
static size_t size_of(uint32_t number)
{
	if (number % 50 == 7)
		return BACKLOG_RECORD_MAX;
	return sizeof(number) + number % 131;
}

static int take(void *context, void *record, size_t size)
{
	struct taken *taken = context;
	const unsigned char *bytes = record;
	uint32_t number;

	assert_int_equal((uintptr_t)record % 8, 0);
	memcpy(&number, record, sizeof(number));
	assert_int_equal(number, taken->next);
	assert_int_equal(size, size_of(number));
	for (size_t i = sizeof(number); i < size; i++)
		assert_int_equal(bytes[i], (unsigned char)number);
	taken->next++;
	return number && number == taken->refused ? -EIO : 0;
}

static void put(struct backlog *backlog, uint32_t number)
{
	unsigned char *record = malloc(size_of(number));

	assert_non_null(record);
	memset(record, (unsigned char)number, size_of(number));
	memcpy(record, &number, sizeof(number));
	backlog__add(backlog, record, size_of(number));
	free(record);
}

static void hands_out_in_order_what_was_added(void **state)
{
	struct backlog backlog = {};
	struct taken taken = {};
	uint32_t number = 0;

	(void)state;
	assert_int_equal(backlog__hand_out(&backlog, take, &taken), 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++) {
			assert_int_equal(backlog__make_room(&backlog), 0);
			put(&backlog, number++);
		}
		assert_int_equal(backlog__hand_out(&backlog, take, &taken), 0);
		assert_int_equal(taken.next, number);
		assert_ptr_equal(backlog.first, backlog.last);
	}
	backlog__free(&backlog);
	assert_int_equal(backlog.bytes, 0);
}

static void goes_on_behind_the_record_that_was_refused(void **state)
{
	struct backlog backlog = {};
	struct taken taken = {.refused = 60};

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(backlog__make_room(&backlog), 0);
		put(&backlog, i);
	}
	assert_int_equal(backlog__hand_out(&backlog, take, &taken), -EIO);
	assert_int_equal(taken.next, 61);
	assert_int_equal(backlog__hand_out(&backlog, take, &taken), 0);
	assert_int_equal(taken.next, 100);
	backlog__free(&backlog);
}

static void is_bounded(void **state)
{
	struct backlog backlog = {};
	struct taken taken = {};
	uint32_t count = 0;
	int error;

	(void)state;
	while (!(error = backlog__make_room(&backlog))) {
		put(&backlog, count++);
		assert_in_range(count, 1, BACKLOG_BYTES_MAX / 64);
	}
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(backlog.bytes, BACKLOG_BYTES_MAX);
	/* The backlog has the records, and the buffer has room again. */
	assert_int_equal(backlog__hand_out(&backlog, take, &taken), 0);
	assert_int_equal(taken.next, count);
	assert_int_equal(backlog__make_room(&backlog), 0);
	backlog__free(&backlog);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_out_in_order_what_was_added),
		cmocka_unit_test(goes_on_behind_the_record_that_was_refused),
		cmocka_unit_test(is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
