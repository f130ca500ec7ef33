/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats_fixture.h"

#define LATE_MAX (sizeof(((struct stats_fixture *)0)->late) / sizeof(uint64_t))

uint32_t stats_fixture__script(struct stats_fixture *stats_fixture, const char *source,
			       uint32_t line)
{
	const struct function_identity identity = {source, line, line + 1, 0};
	uint32_t function = functions__script(stats_fixture->functions, &identity);

	assert_int_not_equal(function, 0);
	return function;
}

static int set_up(void **state, bool is_of_many)
{
	struct stats_fixture *stats_fixture = calloc(1, sizeof(*stats_fixture));

	*state = stats_fixture;
	if (!stats_fixture)
		return -1;
	stats_fixture->functions = functions__new();
	stats_fixture->tree = call_tree__new();
	stats_fixture->stats = function_stats__new(is_of_many);
	stats_fixture->time_ns = 100 * S;
	stats_fixture->period_ns = 1;
	if (!stats_fixture->functions || !stats_fixture->tree || !stats_fixture->stats)
		return -1;
	stats_fixture->work = stats_fixture__script(stats_fixture, "work.lua", 1);
	stats_fixture->rest = stats_fixture__script(stats_fixture, "rest.lua", 1);
	stats_fixture->host = functions__pseudo(stats_fixture->functions, PROFILE_HOST);
	return 0;
}

int stats_fixture__set_up_one(void **state)
{
	return set_up(state, false);
}

int stats_fixture__set_up_many(void **state)
{
	return set_up(state, true);
}

int stats_fixture__tear_down(void **state)
{
	struct stats_fixture *stats_fixture = *state;

	function_stats__free(stats_fixture->stats);
	functions__free(stats_fixture->functions);
	call_tree__free(stats_fixture->tree);
	free(stats_fixture);
	return 0;
}

void stats_fixture__sample(struct stats_fixture *stats_fixture, const char *category,
			   uint64_t count, const uint32_t *stack)
{
	uint32_t node = call_tree__category(stats_fixture->tree, category);
	uint64_t ns = count * stats_fixture->period_ns;

	for (; *stack; stack++)
		node = call_tree__child(stats_fixture->tree, node, *stack);
	call_tree__add(stats_fixture->tree, node, count, ns);
	call_tree__weigh(stats_fixture->tree, node, ns);
	stats_fixture->complete += count;
}

void stats_fixture__lose(struct stats_fixture *stats_fixture, const char *category, uint64_t count)
{
	call_tree__weigh(stats_fixture->tree, call_tree__category(stats_fixture->tree, category),
			 count * stats_fixture->period_ns);
	stats_fixture->dropped += count;
}

void stats_fixture__evict(struct stats_fixture *stats_fixture, uint32_t gone, uint64_t samples)
{
	uint8_t used[16];

	assert_in_range(functions__highest(stats_fixture->functions), 1, sizeof(used) - 1);
	memset(used, 1, sizeof(used));
	used[gone] = 0;
	assert_int_equal(functions__evict(stats_fixture->functions, used), 1);
	call_tree__free(stats_fixture->tree);
	stats_fixture->tree = call_tree__new();
	assert_non_null(stats_fixture->tree);
	stats_fixture->complete = 0;
	stats_fixture->evicted += samples;
}

void stats_fixture__export(const struct stats_fixture *stats_fixture, struct ls_profile *profile)
{
	*profile = (struct ls_profile){.recorder = {.cpu_ns = stats_fixture->cpu_ns,
						    .evicted_samples = stats_fixture->evicted}};
	call_tree__export(stats_fixture->tree, profile);
	functions__export(stats_fixture->functions, profile);
	profile->recorder.classes[LS_SAMPLE_COMPLETE] = stats_fixture->complete;
	profile->recorder.classes[LS_SAMPLE_DROPPED] = stats_fixture->dropped;
}

void stats_fixture__look(struct stats_fixture *stats_fixture, const char *const *living)
{
	struct ls_profile profile;

	stats_fixture__export(stats_fixture, &profile);
	stats_fixture->time_ns += S;
	assert_int_equal(
		function_stats__begin(stats_fixture->stats, stats_fixture->time_ns, &profile), 0);
	for (size_t i = 0; living[i]; i++)
		assert_int_equal(
			function_stats__see_living(stats_fixture->stats, living[i],
						   i < LATE_MAX ? stats_fixture->late[i] : 0),
			0);
	assert_int_equal(function_stats__end(stats_fixture->stats), 0);
}

static bool is_called(const struct stats_process *process, const char *name)
{
	return process->name ? name && !strcmp(process->name, name) : !name;
}

const struct stats_process *stats_fixture__process(const struct stats_fixture *stats_fixture,
						   const char *name)
{
	size_t count;
	const struct stats_process *processes =
		function_stats__processes(stats_fixture->stats, &count);

	for (size_t i = 0; i < count; i++)
		if (is_called(&processes[i], name))
			return &processes[i];
	return NULL;
}

const struct stats_row *stats_fixture__row(const struct stats_fixture *stats_fixture,
					   const char *name, uint32_t function)
{
	size_t count, process_count;
	const struct stats_row *rows = function_stats__rows(stats_fixture->stats, &count);
	const struct stats_process *processes =
		function_stats__processes(stats_fixture->stats, &process_count);

	for (size_t i = 0; i < count; i++) {
		assert_in_range(rows[i].process, 0, process_count - 1);
		if (rows[i].function == function && is_called(&processes[rows[i].process], name))
			return &rows[i];
	}
	return NULL;
}

void stats_fixture__expect(const struct stats_fixture *stats_fixture, const char *name,
			   uint32_t function, uint64_t recent_self, uint64_t recent_total,
			   uint64_t self, uint64_t total)
{
	const struct stats_row *row = stats_fixture__row(stats_fixture, name, function);

	assert_non_null(row);
	assert_int_equal(row->recent.self, recent_self);
	assert_int_equal(row->recent.total, recent_total);
	assert_int_equal(row->all.self, self);
	assert_int_equal(row->all.total, total);
}
