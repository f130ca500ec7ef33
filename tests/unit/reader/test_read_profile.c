/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ScriptProfiler files, read back: luaspy's own, those of others, and those that are none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/format.h"
#include "reader/read_profile.h"
#include "random_profile.h"
#include "reading.h"

static void assert_text_equal(const char *left, const char *right)
{
	assert_int_equal(!left, !right);
	if (left)
		assert_string_equal(left, right);
}

static void assert_functions_equal(const struct ls_profile *left, const struct ls_profile *right)
{
	assert_int_equal(left->function_count, right->function_count);
	for (uint32_t id = 1; id <= left->function_count; id++) {
		const struct ls_profile_function *a = &left->functions[id];
		const struct ls_profile_function *b = &right->functions[id];

		assert_text_equal(a->source, b->source);
		assert_text_equal(a->name, b->name);
		assert_int_equal(a->line, b->line);
		assert_int_equal(a->flags, b->flags);
	}
}

static void assert_trees_equal(const struct ls_profile *left, const struct ls_profile *right)
{
	assert_int_equal(left->node_count, right->node_count);
	for (uint32_t id = 1; id <= left->node_count; id++) {
		const struct ls_profile_node *a = &left->nodes[id], *b = &right->nodes[id];

		assert_int_equal(a->parent, b->parent);
		assert_int_equal(a->function, b->function);
		assert_int_equal(a->first_child, b->first_child);
		assert_int_equal(a->next_sibling, b->next_sibling);
		assert_int_equal(a->samples, b->samples);
	}
	assert_int_equal(left->category_count, right->category_count);
	for (uint32_t i = 0; i < left->category_count; i++) {
		assert_string_equal(left->categories[i].name, right->categories[i].name);
		assert_int_equal(left->categories[i].node, right->categories[i].node);
	}
	assert_int_equal(left->sample_count, right->sample_count);
}

/* Written and read, it is the same; written again, every byte is. */
static void go_there_and_back(const struct ls_profile *profile)
{
	char *first, *text, *second, reason[READ_PROFILE_REASON_SIZE];
	size_t first_size, second_size;
	struct read_profile *read;

	first = reading__write("scriptprofiler", profile, &first_size);
	text = malloc(first_size + 1);
	assert_non_null(text);
	memcpy(text, first, first_size + 1);
	if (read_profile__new(text, first_size, &read, reason))
		fail_msg("%s", reason);
	assert_functions_equal(profile, read_profile__profile(read));
	assert_trees_equal(profile, read_profile__profile(read));
	second = reading__write("scriptprofiler", read_profile__profile(read), &second_size);
	assert_int_equal(first_size, second_size);
	assert_memory_equal(first, second, first_size);
	read_profile__free(read);
	free(first);
	free(text);
	free(second);
}

static void random_trees_survive_there_and_back(void **state)
{
	static const uint32_t depths[] = {1, 2, 3, 10, 100, 1000};

	(void)state;
	for (uint32_t seed = 1; seed <= 24; seed++) {
		struct random_profile_options options = {.seed = seed,
							 .nodes = 50 * seed + 1100,
							 .depth = depths[seed % 6],
							 .has_timeline = seed % 2};
		struct random_profile *random = random_profile__new(&options);

		go_there_and_back(random_profile__profile(random));
		random_profile__free(random);
	}
}

static void a_hundred_thousand_nodes_survive_there_and_back(void **state)
{
	struct random_profile_options options = {
		.seed = 42, .nodes = 100000, .depth = 300, .has_timeline = true};
	struct random_profile *random = random_profile__new(&options);

	(void)state;
	assert_in_range(random_profile__profile(random)->node_count, 50000, 100000);
	go_there_and_back(random_profile__profile(random));
	random_profile__free(random);
}

/* Of any tree; that they are right, tests/formats shows. */
static void every_format_can_be_written_of_any_tree(void **state)
{
	const struct format *format;

	(void)state;
	for (uint32_t seed = 1; seed <= 4; seed++) {
		struct random_profile_options options = {
			.seed = seed, .nodes = 3000, .depth = 1000, .has_timeline = seed % 2};
		struct random_profile *random = random_profile__new(&options);

		for (size_t i = 0; (format = format__at(i)); i++) {
			size_t size;

			free(reading__write(format->name, random_profile__profile(random), &size));
			assert_in_range(size, 100, UINT32_MAX);
		}
		random_profile__free(random);
	}
}

/* Reads a copy of the text; the caller frees both. */
static struct read_profile *read_text(const char *text, char **copy)
{
	char reason[READ_PROFILE_REASON_SIZE];
	struct read_profile *read;

	*copy = strdup(text);
	assert_non_null(*copy);
	if (read_profile__new(*copy, strlen(text), &read, reason))
		fail_msg("%s", reason);
	return read;
}

/* As Roblox writes it: no Recorder, nodes in any order, the collector by its id alone. */
static void reads_what_another_program_wrote(void **state)
{
	const struct ls_profile *profile;
	struct read_profile *read;
	char *copy;

	(void)state;
	read = read_text(
		"{\"GCFuncId\":2,\"Functions\":[{\"Name\":\"f\",\"Source\":\"a\",\"Line\":3,"
		"\"TotalDuration\":70},{\"Name\":\"collect\",\"TotalDuration\":20}],"
		"\"Nodes\":[{\"TotalDuration\":20},{\"NodeIds\":[1],\"FunctionIds\":[2],"
		"\"TotalDuration\":70},{\"TotalDuration\":100,\"FunctionIds\":[1],"
		"\"NodeIds\":[2]}],\"Categories\":[{\"NodeId\":3,\"Name\":\"c\"}],"
		"\"SessionStartTime\":1.5e3,\"SessionEndTime\":2000.75,\"Other\":[{}],"
		"\"Version\":2}",
		&copy);
	profile = read_profile__profile(read);
	assert_int_equal(profile->node_count, 3);
	assert_int_equal(profile->categories[0].node, 1);
	assert_int_equal(profile->nodes[1].self_ns, 30000);
	assert_int_equal(profile->nodes[2].self_ns, 50000);
	assert_int_equal(profile->nodes[2].function, 1);
	assert_int_equal(profile->nodes[3].self_ns, 20000);
	assert_int_equal(profile->nodes[3].parent, 2);
	assert_true(profile__is_gc(&profile->functions[2]));
	assert_null(profile->recorder.version);
	assert_int_equal(profile->recorder.start_ms, 1500);
	assert_int_equal(profile->recorder.duration_ns, 500000000);
	read_profile__free(read);
	free(copy);
}

static void reads_version_1(void **state)
{
	const struct ls_profile *profile;
	struct read_profile *read;
	char *copy;

	(void)state;
	read = read_text(
		"{\"Version\":1,\"Children\":{\",main,\":{\"TotalDuration\":90,\"Children\":{"
		"\"a.lua,f,12\":{\"TotalDuration\":60,\"Children\":{\"GC,GC,\":"
		"{\"TotalDuration\":15}}},\"a.lua,,20\":{\"TotalDuration\":30,\"Children\":{"
		"\"a.lua,f,12\":{\"Name\":\"f\",\"TotalDuration\":10}}}}}}}",
		&copy);
	profile = read_profile__profile(read);
	assert_int_equal(profile->category_count, 1);
	assert_string_equal(profile->categories[0].name, "main");
	assert_int_equal(profile->node_count, 5);
	assert_int_equal(profile->function_count, 3);
	assert_int_equal(profile->nodes[1].self_ns, 0);
	assert_int_equal(profile->nodes[2].self_ns, 45000);
	assert_string_equal(profile->functions[1].source, "a.lua");
	assert_string_equal(profile->functions[1].name, "f");
	assert_int_equal(profile->functions[1].line, 12);
	assert_true(profile__is_gc(&profile->functions[2]));
	assert_null(profile->functions[3].name);
	assert_int_equal(profile->nodes[5].function, 1);
	assert_int_equal(profile->nodes[5].parent, 4);
	read_profile__free(read);
	free(copy);
}

#define HEAD "{\"Version\":2,\"Functions\":[{\"TotalDuration\":1}],"
#define ONE  HEAD "\"Categories\":[{\"Name\":\"a\",\"NodeId\":1}],\"Nodes\":["

static const struct {
	const char *text, *reason;
} wrong_texts[] = {
	{"", "the text ends here, at byte 0"},
	{"[]", "expected an object, at byte 0"},
	{"{}", "no ScriptProfiler file: it has no Version"},
	{"{\"Version\":3}", "ScriptProfiler version 3 is not known (accepted: 1 and 2)"},
	{"{\"Version\":2} x", "expected nothing more, at byte 14"},
	{"{\"Version\":2,}", "expected a string, at byte 13"},
	{"{\"Version\":02}", "expected a whole number from 0, at byte 11"},
	{"{\"Version\":-1}", "expected a whole number from 0, at byte 11"},
	{"{\"Version\":2.5}", "expected a whole number, at byte 11"},
	{"{\"a\":\"\xff\"}", "no valid UTF-8, at byte 6"},
	{"{\"a\":\"\n\"}", "a control character in a string, at byte 6"},
	{"{\"a\":\"\\q\"}", "no escape begins like this, at byte 7"},
	{"{\"a\":\"\\ud800\"}", "no valid \\u escape, at byte 12"},
	{"{\"a\":tru}", "expected a value, at byte 5"},
	{"{\"Version\":2,\"Nodes\":[{}]}", "node 1 has no TotalDuration"},
	{ONE "{\"TotalDuration\":1,\"NodeIds\":[2]}]}", "node 1 has 0 FunctionIds, but 1 NodeIds"},
	{ONE "{\"TotalDuration\":1,\"NodeIds\":[2],\"FunctionIds\":[1]}]}",
	 "node 1 has the child 2, but there are 1 nodes"},
	{ONE "{\"TotalDuration\":1,\"NodeIds\":[2],\"FunctionIds\":[9]},{\"TotalDuration\":1}]}",
	 "node 1 calls function 9, but there are 1"},
	{ONE "{\"TotalDuration\":1,\"NodeIds\":[2],\"FunctionIds\":[1]},{\"TotalDuration\":2}]}",
	 "node 1 has less TotalDuration than its children"},
	{ONE "{\"TotalDuration\":9,\"NodeIds\":[2,3],\"FunctionIds\":[1,1]},"
	     "{\"TotalDuration\":2},{\"TotalDuration\":2}]}",
	 "node 1 calls function 1 twice"},
	{ONE "{\"TotalDuration\":9,\"NodeIds\":[2,2],\"FunctionIds\":[1,1]},"
	     "{\"TotalDuration\":2}]}",
	 "node 2 has two parents"},
	{ONE "{\"TotalDuration\":1},{\"TotalDuration\":1,\"NodeIds\":[3],\"FunctionIds\":[1]},"
	     "{\"TotalDuration\":1,\"NodeIds\":[2],\"FunctionIds\":[1]}]}",
	 "2 of 3 nodes are not below a category"},
	{ONE "{\"TotalDuration\":1,\"NodeIds\":[1],\"FunctionIds\":[1]}]}",
	 "node 1, of category 1, has a parent or another category"},
	{ONE "{\"TotalDuration\":9007199254740992}]}", "the number is too large, at byte 112"},
	{HEAD "\"Categories\":[{\"Name\":\"a\",\"NodeId\":4}],\"Nodes\":[]}",
	 "category 1 is node 4, but there are 0 nodes"},
	{ONE "{\"TotalDuration\":1}],\"Samples\":[[2,1,1]]}",
	 "sample 1 is of node 2, but there are 1"},
	{ONE "{\"TotalDuration\":1}],\"GCFuncId\":2}", "GCFuncId is 2, but there are 1 functions"},
	{"{\"Version\":1,\"Nodes\":[{\"TotalDuration\":1}]}",
	 "its nodes are not those of version 1"},
};

static void says_where_and_why_a_text_is_no_profile(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong_texts) / sizeof(wrong_texts[0]); i++) {
		char reason[READ_PROFILE_REASON_SIZE], *copy = strdup(wrong_texts[i].text);
		struct read_profile *read;

		assert_non_null(copy);
		assert_int_equal(read_profile__new(copy, strlen(copy), &read, reason), -EINVAL);
		assert_null(read);
		assert_string_equal(reason, wrong_texts[i].reason);
		free(copy);
	}
}

/* Of a file that is cut off anywhere, nothing is taken. */
static void no_prefix_of_a_file_is_a_file(void **state)
{
	struct random_profile_options options = {.seed = 7, .nodes = 12, .depth = 3};
	struct random_profile *random = random_profile__new(&options);
	char reason[READ_PROFILE_REASON_SIZE], *text, *copy;
	size_t size;

	(void)state;
	text = reading__write("scriptprofiler", random_profile__profile(random), &size);
	for (size_t cut = 0; cut < size - 2; cut++) {
		struct read_profile *read;

		copy = malloc(cut + 1);
		assert_non_null(copy);
		memcpy(copy, text, cut);
		copy[cut] = '\0';
		assert_int_equal(read_profile__new(copy, cut, &read, reason), -EINVAL);
		free(copy);
	}
	free(text);
	random_profile__free(random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_trees_survive_there_and_back),
		cmocka_unit_test(a_hundred_thousand_nodes_survive_there_and_back),
		cmocka_unit_test(every_format_can_be_written_of_any_tree),
		cmocka_unit_test(reads_what_another_program_wrote),
		cmocka_unit_test(reads_version_1),
		cmocka_unit_test(says_where_and_why_a_text_is_no_profile),
		cmocka_unit_test(no_prefix_of_a_file_is_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
