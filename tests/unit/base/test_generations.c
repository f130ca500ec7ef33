/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/generations.h"

struct value {
	char *text;
};

static int dropped;

static void drop(void *value)
{
	free(((struct value *)value)->text);
	dropped++;
}

static int make_cache(void **state)
{
	dropped = 0;
	*state = generations__new(sizeof(uint64_t), sizeof(struct value), drop);
	return *state ? 0 : -1;
}

static int free_cache(void **state)
{
	generations__free(*state);
	return 0;
}

static void add(struct generations *cache, uint64_t key)
{
	struct value *value = generations__add(cache, &key);

	assert_non_null(value);
	assert_null(value->text);
	value->text = strdup("text");
}

static bool has(struct generations *cache, uint64_t key)
{
	return generations__find(cache, &key) != NULL;
}

static void finds_what_was_added(void **state)
{
	uint64_t key = 3;
	struct value *value;

	assert_false(has(*state, 3));
	add(*state, 3);
	add(*state, 4);
	value = generations__find(*state, &key);
	assert_non_null(value);
	assert_string_equal(value->text, "text");
	assert_int_equal(generations__young(*state), 2);
	assert_int_equal(generations__added(*state), 2);
	generations__free(NULL);
}

static void drops_what_was_not_asked_for_while_old(void **state)
{
	add(*state, 1);
	add(*state, 2);
	generations__age(*state);
	assert_int_equal(generations__young(*state), 0);
	assert_int_equal(generations__added(*state), 0);
	assert_true(has(*state, 1));
	assert_int_equal(generations__young(*state), 1);
	assert_int_equal(generations__added(*state), 0);
	generations__age(*state);
	assert_int_equal(dropped, 1);
	assert_false(has(*state, 2));
	assert_true(has(*state, 1));
}

static void keeps_what_is_in_use_for_ever(void **state)
{
	for (uint64_t key = 1; key <= 100000; key++) {
		add(*state, key);
		assert_true(has(*state, 1));
		if (generations__young(*state) >= 100)
			generations__age(*state);
	}
	assert_in_range(100000 - dropped, 100, 200);
}

static void count(void *context, void *value)
{
	assert_string_equal(((const struct value *)value)->text, "text");
	++*(int *)context;
}

static void shows_young_and_old(void **state)
{
	int values = 0;

	add(*state, 1);
	add(*state, 2);
	generations__age(*state);
	add(*state, 3);
	generations__visit(*state, count, &values);
	assert_int_equal(values, 3);
}

#define fixed(test) cmocka_unit_test_setup_teardown(test, make_cache, free_cache)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixed(finds_what_was_added),
		fixed(drops_what_was_not_asked_for_while_old),
		fixed(keeps_what_is_in_use_for_ever),
		fixed(shows_young_and_old),
	};

	return cmocka_run_group_tests_name("generations", tests, NULL, NULL);
}
