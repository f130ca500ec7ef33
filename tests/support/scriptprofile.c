/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scriptprofile.h"

#define SEPARATOR " > "
#define NAMES_MAX 256

static int64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static void check_file(const char *path)
{
	char command[4352], output[4096];
	size_t length;
	FILE *checker;

	snprintf(command, sizeof(command), "python3 tests/check_scriptprofiler.py '%s' 2>&1", path);
	checker = popen(command, "r");
	assert_non_null(checker);
	length = fread(output, 1, sizeof(output) - 1, checker);
	output[length] = '\0';
	if (pclose(checker) != 0)
		fail_msg("%s", output);
}

static void read_nodes(struct scriptprofile *profile)
{
	const json_t *nodes = json_object_get(profile->document, "Nodes");
	const json_t *node, *child, *category;
	size_t index, at;

	json_array_foreach(nodes, index, node)
	{
		const json_t *functions = json_object_get(node, "FunctionIds");
		int64_t self = number(node, "TotalDuration");

		profile->node_total_us[index + 1] = self;
		profile->node_samples[index + 1] = number(node, "Samples");
		json_array_foreach(json_object_get(node, "NodeIds"), at, child)
		{
			json_int_t id = json_integer_value(child);

			profile->node_parent[id] = (int)index + 1;
			profile->node_function[id] =
				(int)json_integer_value(json_array_get(functions, at));
			self -= number(json_array_get(nodes, (size_t)id - 1), "TotalDuration");
		}
		profile->node_self_us[index + 1] = self;
	}
	json_array_foreach(json_object_get(profile->document, "Categories"), index, category)
		profile->all_us += profile->node_total_us[number(category, "NodeId")];
}

static void add_self_times(struct scriptprofile *profile)
{
	for (int id = 1; id <= profile->node_count; id++)
		profile->functions[profile->node_function[id]].self_us += profile->node_self_us[id];
}

static void read_functions(struct scriptprofile *profile)
{
	const json_t *function;
	size_t index;

	profile->functions[0].source = "";
	profile->functions[0].name = "";
	json_array_foreach(json_object_get(profile->document, "Functions"), index, function)
	{
		struct scriptprofile_function *to = &profile->functions[index + 1];

		to->source = text(function, "Source");
		to->name = text(function, "Name");
		to->line = number(function, "Line");
		to->flags = number(function, "Flags");
		to->total_us = number(function, "TotalDuration");
	}
	add_self_times(profile);
}

struct scriptprofile *scriptprofile__read(const char *path)
{
	struct scriptprofile *profile = calloc(1, sizeof(*profile));
	json_error_t error;
	size_t nodes;

	assert_non_null(profile);
	check_file(path);
	profile->document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!profile->document)
		fail_msg("'%s' line %d: %s", path, error.line, error.text);
	nodes = json_array_size(json_object_get(profile->document, "Nodes"));
	profile->node_count = (int)nodes;
	profile->function_count =
		(int)json_array_size(json_object_get(profile->document, "Functions"));
	profile->functions =
		calloc((size_t)profile->function_count + 1, sizeof(*profile->functions));
	profile->node_total_us = calloc(nodes + 1, sizeof(*profile->node_total_us));
	profile->node_self_us = calloc(nodes + 1, sizeof(*profile->node_self_us));
	profile->node_samples = calloc(nodes + 1, sizeof(*profile->node_samples));
	profile->node_function = calloc(nodes + 1, sizeof(*profile->node_function));
	profile->node_parent = calloc(nodes + 1, sizeof(*profile->node_parent));
	assert_non_null(profile->functions);
	assert_non_null(profile->node_parent);
	read_nodes(profile);
	read_functions(profile);
	return profile;
}

void scriptprofile__free(struct scriptprofile *profile)
{
	if (!profile)
		return;
	json_decref(profile->document);
	free(profile->functions);
	free(profile->node_total_us);
	free(profile->node_self_us);
	free(profile->node_samples);
	free(profile->node_function);
	free(profile->node_parent);
	free(profile);
}

/* Adds the self time of a node to all nodes and, once each, to the functions above it. */
static void add_to_totals(struct scriptprofile *profile, int node, int *last_seen)
{
	for (int above = node; above; above = profile->node_parent[above]) {
		int function = profile->node_function[above];

		profile->node_total_us[above] += profile->node_self_us[node];
		if (last_seen[function] == node)
			continue;
		last_seen[function] = node;
		profile->functions[function].total_us += profile->node_self_us[node];
	}
}

void scriptprofile__weigh_alike(struct scriptprofile *profile)
{
	int *last_seen = calloc((size_t)profile->function_count + 1, sizeof(*last_seen));
	int64_t us = 0, samples = 0;

	assert_non_null(last_seen);
	for (int id = 1; id <= profile->node_count; id++) {
		profile->node_total_us[id] = 0;
		if (!profile->node_samples[id])
			continue;
		us += profile->node_self_us[id];
		samples += profile->node_samples[id];
	}
	for (int id = 0; id <= profile->function_count; id++)
		profile->functions[id].total_us = profile->functions[id].self_us = 0;
	profile->all_us = 0;
	for (int id = 1; id <= profile->node_count; id++) {
		if (profile->node_samples[id])
			profile->node_self_us[id] = us * profile->node_samples[id] / samples;
		profile->all_us += profile->node_self_us[id];
		add_to_totals(profile, id, last_seen);
	}
	add_self_times(profile);
	free(last_seen);
}

static bool fits(const char *pattern, const char *word)
{
	return !fnmatch(pattern, word, FNM_EXTMATCH);
}

static bool is_meant(const struct scriptprofile_function *function, const char *source,
		     const char *name, int line)
{
	return (!source || fits(source, function->source)) &&
	       (!name || fits(name, function->name)) && (line == -1 || function->line == line);
}

int64_t scriptprofile__self_us(const struct scriptprofile *profile, const char *source,
			       const char *name, int line)
{
	int64_t sum = 0;

	for (int id = 1; id <= profile->function_count; id++)
		if (is_meant(&profile->functions[id], source, name, line))
			sum += profile->functions[id].self_us;
	return sum;
}

int64_t scriptprofile__total_us(const struct scriptprofile *profile, const char *source,
				const char *name, int line)
{
	int64_t sum = 0;

	for (int id = 1; id <= profile->function_count; id++)
		if (is_meant(&profile->functions[id], source, name, line))
			sum += profile->functions[id].total_us;
	return sum;
}

struct names {
	char text[4096];
	const char *names[NAMES_MAX];
	int count;
	bool is_whole;
};

static void split(const char *stack, struct names *to)
{
	char *at = to->text;

	to->is_whole = *stack == '^';
	to->count = 0;
	assert_in_range(strlen(stack), 0, sizeof(to->text) - 1);
	strcpy(to->text, stack + to->is_whole);
	while (at) {
		char *separator = strstr(at, SEPARATOR);

		assert_in_range(to->count, 0, NAMES_MAX - 1);
		to->names[to->count++] = at;
		if (separator)
			*separator = '\0';
		at = separator ? separator + strlen(SEPARATOR) : NULL;
	}
}

static bool ends_with(const struct scriptprofile *profile, int node, const struct names *names)
{
	for (int i = names->count; i-- > 0; node = profile->node_parent[node]) {
		int function = profile->node_function[node];

		if (!function || !fits(names->names[i], profile->functions[function].name))
			return false;
	}
	return !names->is_whole || !profile->node_function[node];
}

int64_t scriptprofile__stack_us(const struct scriptprofile *profile, const char *stack)
{
	struct names names;
	int64_t sum = 0;

	split(stack, &names);
	for (int id = 1; id <= profile->node_count; id++)
		if (ends_with(profile, id, &names))
			sum += profile->node_total_us[id];
	return sum;
}

static const json_t *recorder_of(const struct scriptprofile *profile)
{
	const json_t *recorder = json_object_get(profile->document, "Recorder");

	assert_non_null(recorder);
	return recorder;
}

static int64_t existing_number(const json_t *object, const char *key)
{
	if (!json_is_integer(json_object_get(object, key)))
		fail_msg("the Recorder has no number '%s'", key);
	return number(object, key);
}

int64_t scriptprofile__recorded(const struct scriptprofile *profile, const char *key)
{
	return existing_number(recorder_of(profile), key);
}

int64_t scriptprofile__samples(const struct scriptprofile *profile, const char *class)
{
	return existing_number(json_object_get(recorder_of(profile), "Samples"), class);
}

static void print_stack(const struct scriptprofile *profile, int node)
{
	char line[4096], *at = line + sizeof(line) - 1;

	*at = '\0';
	for (int id = node; profile->node_function[id]; id = profile->node_parent[id]) {
		const char *name = profile->functions[profile->node_function[id]].name;
		size_t length = strlen(name);

		if (at - line < (ptrdiff_t)(length + strlen(SEPARATOR) + 4)) {
			at -= 3;
			memcpy(at, "...", 3);
			break;
		}
		if (*at) {
			at -= strlen(SEPARATOR);
			memcpy(at, SEPARATOR, strlen(SEPARATOR));
		}
		at -= length;
		memcpy(at, name, length);
	}
	print_error("%10lld us  %s\n", (long long)profile->node_self_us[node], at);
}

static void print_reasons(const struct scriptprofile *profile)
{
	const json_t *reason;
	size_t index;

	json_array_foreach(json_object_get(recorder_of(profile), "Reasons"), index, reason)
		print_error("%lld %s samples: %s\n",
			    (long long)json_integer_value(json_object_get(reason, "Count")),
			    json_string_value(json_object_get(reason, "Class")),
			    json_string_value(json_object_get(reason, "Sentence")));
}

void scriptprofile__print(const struct scriptprofile *profile)
{
	int64_t threshold = profile->all_us / 500;

	print_error("%10lld us  all; stacks with more than a 500th:\n", (long long)profile->all_us);
	for (int id = 1; id <= profile->node_count; id++)
		if (profile->node_self_us[id] > threshold)
			print_stack(profile, id);
	print_reasons(profile);
}

double scriptprofile__share(const struct scriptprofile *profile, int64_t us)
{
	return (double)us / (double)profile->all_us;
}

void scriptprofile__assert_share(const struct scriptprofile *profile, const char *what,
				 double share, double low, double high)
{
	print_message("%s: %.1f%%\n", what, 100 * share);
	if (share >= low && share <= high)
		return;
	scriptprofile__print(profile);
	fail_msg("%s: %.3f is not within %.3f and %.3f", what, share, low, high);
}

void scriptprofile__assert_stack(const struct scriptprofile *profile, const char *stack, double low,
				 double high)
{
	int64_t us = scriptprofile__stack_us(profile, stack);

	scriptprofile__assert_share(profile, stack, scriptprofile__share(profile, us), low, high);
}
