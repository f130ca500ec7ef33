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

#include "format/format.h"
#include "profile/call_tree.h"
#include "profile/totals.h"
#include "skip.h"

#define PAGE "user/page/page.html"

static const char hostile[] = "</script><script>alert('&')</script><!--\xe2\x80\xa8\\<]]>";

static struct ls_profile_function functions[] = {{0}, {.source = hostile, .name = hostile}};

/* A category, and below it a function whose name wants to be markup. */
static int write_to(FILE *stream)
{
	struct call_tree *tree = call_tree__new();
	struct ls_profile profile = {0};
	struct ls_totals totals;
	uint32_t root;
	int error;

	assert_non_null(tree);
	root = call_tree__category(tree, hostile);
	call_tree__add(tree, call_tree__child(tree, root, 1), 1, 5000);
	call_tree__export(tree, &profile);
	profile.functions = functions;
	profile.function_count = 1;
	assert_int_equal(totals__compute(&profile, &totals), 0);
	error = write_html(&profile, &totals, stream);
	totals__free(&totals);
	call_tree__free(tree);
	return error;
}

static char *written(void)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	assert_non_null(stream);
	assert_int_equal(write_to(stream), 0);
	assert_int_equal(fclose(stream), 0);
	assert_int_equal(strlen(text), length);
	return text;
}

static char *page(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = fopen(PAGE, "re");

	if (!file)
		fail_msg("cannot open '%s': tests run in the folder of the sources", PAGE);
	assert_true(getdelim(&text, &size, '\0', file) > 0);
	fclose(file);
	return text;
}

/* What is in the place of the profile; the rest has to be the page as it is checked in. */
static char *profile_in(const char *text)
{
	char *whole = page();
	char *place = strstr(whole, "\n@PROFILE@\n");
	const char *after;
	size_t before_length, profile_length;
	char *profile;

	assert_non_null(place);
	before_length = (size_t)(place + 1 - whole);
	after = strchr(place + 1, '\n') + 1;
	assert_memory_equal(text, whole, before_length);
	assert_true(strlen(text) > before_length + strlen(after));
	profile_length = strlen(text) - before_length - strlen(after);
	assert_string_equal(text + before_length + profile_length, after);
	profile = strndup(text + before_length, profile_length);
	assert_non_null(profile);
	free(whole);
	return profile;
}

static void is_the_page_with_the_profile_in_its_place(void **state)
{
	char *text = written(), *profile = profile_in(text);
	json_t *json = json_loads(profile, JSON_REJECT_DUPLICATES, NULL);
	json_t *function;

	(void)state;
	assert_non_null(json);
	function = json_array_get(json_object_get(json, "Functions"), 0);
	assert_string_equal(json_string_value(json_object_get(function, "Name")), hostile);
	assert_string_equal(json_string_value(json_object_get(function, "Source")), hostile);
	assert_int_equal(json_integer_value(json_object_get(function, "TotalDuration")), 5);
	json_decref(json);
	free(profile);
	free(text);
}

static void no_name_is_markup(void **state)
{
	char *text = written(), *profile = profile_in(text);

	(void)state;
	assert_null(strpbrk(profile, "<>&"));
	assert_null(strstr(profile, "\xe2\x80\xa8"));
	free(profile);
	free(text);
}

static void reports_a_full_disk(void **state)
{
	FILE *full = fopen("/dev/full", "we");
	int error;

	(void)state;
	if (!full)
		skip_because("no /dev/full here");
	setvbuf(full, NULL, _IONBF, 0);
	error = write_to(full);
	assert_int_equal(error, -ENOSPC);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_the_page_with_the_profile_in_its_place),
		cmocka_unit_test(no_name_is_markup),
		cmocka_unit_test(reports_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
