/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tallying.h"

#define LATE_MAX (sizeof(((struct tallying *)0)->late) / sizeof(uint64_t))

uint32_t tallying__script(struct tallying *tallying, const char *source, uint32_t line)
{
	const struct function_identity identity = {source, line, line + 1, 0};
	uint32_t function = functions__script(tallying->functions, &identity);

	assert_int_not_equal(function, 0);
	return function;
}

static int set_up(void **state, bool is_of_many)
{
	struct tallying *tallying = calloc(1, sizeof(*tallying));

	*state = tallying;
	if (!tallying)
		return -1;
	tallying->functions = functions__new();
	tallying->tree = call_tree__new();
	tallying->tally = tally__new(is_of_many);
	tallying->time_ns = 100 * S;
	tallying->period_ns = 1;
	if (!tallying->functions || !tallying->tree || !tallying->tally)
		return -1;
	tallying->work = tallying__script(tallying, "work.lua", 1);
	tallying->rest = tallying__script(tallying, "rest.lua", 1);
	tallying->host = functions__pseudo(tallying->functions, PROFILE_HOST);
	return 0;
}

int tallying__set_up_one(void **state)
{
	return set_up(state, false);
}

int tallying__set_up_many(void **state)
{
	return set_up(state, true);
}

int tallying__tear_down(void **state)
{
	struct tallying *tallying = *state;

	tally__free(tallying->tally);
	functions__free(tallying->functions);
	call_tree__free(tallying->tree);
	free(tallying);
	return 0;
}

void tallying__sample(struct tallying *tallying, const char *category, uint64_t count,
		      const uint32_t *stack)
{
	uint32_t node = call_tree__category(tallying->tree, category);
	uint64_t ns = count * tallying->period_ns;

	for (; *stack; stack++)
		node = call_tree__child(tallying->tree, node, *stack);
	call_tree__add(tallying->tree, node, count, ns);
	call_tree__weigh(tallying->tree, node, ns);
	tallying->complete += count;
}

void tallying__lose(struct tallying *tallying, const char *category, uint64_t count)
{
	call_tree__weigh(tallying->tree, call_tree__category(tallying->tree, category),
			 count * tallying->period_ns);
	tallying->dropped += count;
}

void tallying__evict(struct tallying *tallying, uint32_t gone, uint64_t samples)
{
	uint8_t used[16];

	assert_in_range(functions__highest(tallying->functions), 1, sizeof(used) - 1);
	memset(used, 1, sizeof(used));
	used[gone] = 0;
	assert_int_equal(functions__evict(tallying->functions, used), 1);
	call_tree__free(tallying->tree);
	tallying->tree = call_tree__new();
	assert_non_null(tallying->tree);
	tallying->complete = 0;
	tallying->evicted += samples;
}

void tallying__look(struct tallying *tallying, const char *const *living)
{
	struct ls_profile profile = {
		.recorder = {.cpu_ns = tallying->cpu_ns, .evicted_samples = tallying->evicted}};

	call_tree__export(tallying->tree, &profile);
	functions__export(tallying->functions, &profile);
	profile.recorder.classes[LS_SAMPLE_COMPLETE] = tallying->complete;
	profile.recorder.classes[LS_SAMPLE_DROPPED] = tallying->dropped;
	tallying->time_ns += S;
	assert_int_equal(tally__begin(tallying->tally, tallying->time_ns, &profile), 0);
	for (size_t i = 0; living[i]; i++)
		assert_int_equal(tally__see_living(tallying->tally, living[i],
						   i < LATE_MAX ? tallying->late[i] : 0),
				 0);
	assert_int_equal(tally__end(tallying->tally), 0);
}

static bool is_called(const struct tally_process *process, const char *name)
{
	return process->name ? name && !strcmp(process->name, name) : !name;
}

const struct tally_process *tallying__process(const struct tallying *tallying, const char *name)
{
	size_t count;
	const struct tally_process *processes = tally__processes(tallying->tally, &count);

	for (size_t i = 0; i < count; i++)
		if (is_called(&processes[i], name))
			return &processes[i];
	return NULL;
}

const struct tally_row *tallying__row(const struct tallying *tallying, const char *name,
				      uint32_t function)
{
	size_t count, process_count;
	const struct tally_row *rows = tally__rows(tallying->tally, &count);
	const struct tally_process *processes = tally__processes(tallying->tally, &process_count);

	for (size_t i = 0; i < count; i++) {
		assert_in_range(rows[i].process, 0, process_count - 1);
		if (rows[i].function == function && is_called(&processes[rows[i].process], name))
			return &rows[i];
	}
	return NULL;
}

void tallying__expect(const struct tallying *tallying, const char *name, uint32_t function,
		      uint64_t recent_self, uint64_t recent_total, uint64_t self, uint64_t total)
{
	const struct tally_row *row = tallying__row(tallying, name, function);

	assert_non_null(row);
	assert_int_equal(row->recent.self, recent_self);
	assert_int_equal(row->recent.total, recent_total);
	assert_int_equal(row->all.self, self);
	assert_int_equal(row->all.total, total);
}
