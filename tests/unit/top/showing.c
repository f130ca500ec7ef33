/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "profile/call_tree.h"
#include "showing.h"
#include "statistics/function_calls.h"

#define S      UINT64_C(1000000000)
#define PERIOD (S / 1000)

static uint64_t add_node(struct call_tree *tree, const char *category,
			 const struct shown_function *functions, uint32_t *nodes, uint32_t id,
			 bool is_first)
{
	const struct shown_function *function = &functions[id - 1];
	uint32_t parent = call_tree__category(tree, category);
	uint64_t samples = function->before + (is_first ? 0 : function->recent);

	for (uint32_t i = 1; i < id; i++)
		if (function->caller && functions[i - 1].name &&
		    !strcmp(functions[i - 1].name, function->caller))
			parent = nodes[i];
	nodes[id] = call_tree__child(tree, parent, id);
	call_tree__add(tree, nodes[id], samples, samples * PERIOD);
	call_tree__weigh(tree, nodes[id], samples * PERIOD);
	return samples;
}

static const char *name_process(int process, char name[32])
{
	snprintf(name, 32, "lua5.4 (pid %d)", process);
	return name;
}

void showing__look(struct function_stats *stats, const struct shown_function *functions,
		   uint32_t count, int processes, bool is_first)
{
	struct ls_profile_function all[SHOWN_MAX + 1] = {0};
	uint32_t nodes[SHOWN_MAX + 1];
	struct ls_profile profile = {.functions = all, .function_count = count};
	struct call_tree *tree = call_tree__new();
	uint64_t samples = 0;
	char name[32];

	assert_non_null(tree);
	assert_in_range(count, 0, SHOWN_MAX);
	for (uint32_t id = 1; id <= count; id++)
		all[id] = (struct ls_profile_function){.source = functions[id - 1].source,
						       .name = functions[id - 1].name,
						       .line = functions[id - 1].line};
	for (int process = 1; process <= processes; process++)
		for (uint32_t id = 1; id <= count; id++)
			samples += add_node(tree, name_process(process, name), functions, nodes, id,
					    is_first);
	call_tree__export(tree, &profile);
	profile.recorder.classes[LS_SAMPLE_COMPLETE] = samples;
	profile.recorder.cpu_ns = samples * PERIOD;
	assert_int_equal(function_stats__begin(stats, is_first ? S : 2 * S, &profile), 0);
	for (int process = 1; process <= processes && function_stats__is_of_many(stats); process++)
		assert_int_equal(function_stats__see_living(stats, name_process(process, name), 0),
				 0);
	assert_int_equal(function_stats__end(stats), 0);
	assert_int_equal(function_calls__see(stats, &profile, is_first ? S : 2 * S), 0);
	call_tree__free(tree);
}

struct function_stats *showing__stats(const struct shown_function *functions, uint32_t count,
				      int processes)
{
	struct function_stats *stats = function_stats__new(processes > 1);

	assert_non_null(stats);
	showing__look(stats, functions, count, processes, true);
	showing__look(stats, functions, count, processes, false);
	return stats;
}
