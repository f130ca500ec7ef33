/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which names from a definer's code are trusted: the definer may be dead by the time it is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "naming/nested_names.h"
#include "local_inspector.h"
#include "puc/prototype_puc.h"
#include "puc_image.h"

#define CLOSURE 79 /* OP_CLOSURE of 5.4, lopcodes.h */

static uint8_t child[256];
static uint32_t child_code[2] = {1, 2};
static uint64_t nested[1];
static int8_t lines[CODE_MAX];
static struct nested_names *names;
static struct nested_state definer_state, state_of_child;

static struct prototype_key key_of(const void *proto)
{
	struct target_memory memory = {.pid = getpid()};
	struct prototype_key key = {.address = address_of(proto)};

	assert_int_equal(
		prototype_puc__fingerprint(&memory, &image.layout, key.address, &key.fingerprint),
		0);
	return key;
}

/*
 * "local NAME = function". Unless it is to be covered, it follows more code than the fingerprint
 * covers.
 */
static void make_definer(const char *name, bool is_covered)
{
	const struct ls_puc_layout *layout = &image.layout;
	uint32_t before = is_covered ? 1 : 40;

	image__start(4);
	memset(child, 0, sizeof(child));
	image__put(child, 8, layout->proto_tag, 1);
	image__put(child, layout->proto_code, address_of(child_code), 8);
	image__put(child, layout->proto_code_count, 2, 4);
	nested[0] = address_of(child);
	for (uint32_t i = 0; i < before; i++)
		image__add(JMP, 0, 0, 0);
	image__add_local(name, (int32_t)before + 1, 99);
	image__add_wide(CLOSURE, 0, 0);
	image__add(CALL, 0, 1, 1);
	image__add(CALL, 0, 1, 1);
	image__finish();
	image__put(image.proto, layout->proto_nested, address_of(nested), 8);
	image__put(image.proto, layout->proto_nested_count, 1, 4);
	image__put(image.proto, layout->proto_line_info, address_of(lines), 8);
	image__put(image.proto, layout->proto_line_info_count, image.code_count, 4);
}

static void meet(uint64_t time_ns)
{
	const struct layout layout = {families__get(LS_FAMILY_PUC), 0, &image.layout};
	struct prototype_key key = key_of(image.proto);

	assert_int_equal(nested_names__meet(names, &layout, &key, &definer_state, time_ns), 0);
}

static const char *name_of_child(void)
{
	struct prototype_key key = key_of(child);

	return nested_names__find(names, &key, &state_of_child);
}

static int make_names(void **state)
{
	(void)state;
	definer_state = state_of_child = (struct nested_state){};
	names = nested_names__new(getpid(), local_inspector());
	return names ? 0 : -1;
}

static int free_names(void **state)
{
	(void)state;
	nested_names__free(names);
	return 0;
}

static void what_the_fingerprint_covers_counts_at_once(void **state)
{
	(void)state;
	make_definer("work", true);
	meet(0);
	assert_string_equal(name_of_child(), "work");
}

static void other_names_count_once_the_definer_runs_again(void **state)
{
	uint64_t before_ns = clock_ns(CLOCK_MONOTONIC);

	(void)state;
	make_definer("work", false);
	meet(before_ns);
	assert_null(name_of_child());
	meet(before_ns);
	assert_null(name_of_child());
	meet(clock_ns(CLOCK_MONOTONIC) + 1);
	assert_string_equal(name_of_child(), "work");
}

static void names_that_are_never_proven_count_in_the_end(void **state)
{
	(void)state;
	make_definer("work", false);
	meet(0);
	assert_null(name_of_child());
	nested_names__prove_all(names);
	assert_string_equal(name_of_child(), "work");
}

static void a_function_of_two_definers_that_differ_has_no_name(void **state)
{
	(void)state;
	make_definer("work", true);
	meet(0);
	make_definer("other", true);
	definer_state = (struct nested_state){};
	meet(0);
	assert_null(name_of_child());
}

/* By then, its memory belongs to something else. */
static void another_prototype_at_that_place_has_no_name(void **state)
{
	(void)state;
	make_definer("work", true);
	meet(0);
	child_code[0]++;
	assert_null(name_of_child());
}

#define named(test) cmocka_unit_test_setup_teardown(test, make_names, free_names)

int main(void)
{
	const struct CMUnitTest tests[] = {
		named(what_the_fingerprint_covers_counts_at_once),
		named(other_names_count_once_the_definer_runs_again),
		named(names_that_are_never_proven_count_in_the_end),
		named(a_function_of_two_definers_that_differ_has_no_name),
		named(another_prototype_at_that_place_has_no_name),
	};

	return cmocka_run_group_tests_name("nested_names", tests, NULL, NULL);
}
