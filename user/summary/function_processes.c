/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/function_processes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/terminal.h"
#include "summary/process_table.h"

#define OTHERS_SIZE 16 /* " +4294967295" */

/* What is added up, in tables by function and by category. */
struct sums {
	uint64_t *self_us;    /* of `count` functions in each category */
	uint32_t *places;     /* by id of a function: its place among these, from 1; 0: none */
	uint32_t *categories; /* by id of a node: the index of its category */
};

static int allocate(const struct ls_profile *profile, unsigned count, struct sums *sums)
{
	sums->self_us = calloc((size_t)profile->category_count * count + 1, sizeof(uint64_t));
	sums->places = calloc((size_t)profile->function_count + 1, sizeof(uint32_t));
	sums->categories = calloc((size_t)profile->node_count + 1, sizeof(uint32_t));
	return sums->self_us && sums->places && sums->categories ? 0 : -ENOMEM;
}

/* Adds up the own time of nodes: children have higher ids than their parents. */
static void add_up(const struct ls_profile *profile, const struct ls_totals *totals, unsigned count,
		   struct sums *sums)
{
	for (uint32_t i = 0; i < profile->category_count; i++)
		sums->categories[profile->categories[i].node] = i;
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		const struct ls_profile_node *node = &profile->nodes[id];
		uint32_t place = sums->places[node->function];

		if (node->parent)
			sums->categories[id] = sums->categories[node->parent];
		if (place)
			sums->self_us[(size_t)sums->categories[id] * count + place - 1] +=
				totals__node_self_us(profile, totals, id);
	}
}

static struct function_process find_most(const uint64_t *self_us, unsigned count,
					 uint32_t category_count)
{
	struct function_process found = {};
	uint32_t holders = 0;

	for (uint32_t i = 0; i < category_count; i++) {
		holders += self_us[(size_t)i * count] != 0;
		if (self_us[(size_t)i * count] > self_us[(size_t)found.category * count])
			found.category = i;
	}
	found.others = holders ? holders - 1 : 0;
	return found;
}

int function_processes__find(const struct ls_profile *profile, const struct ls_totals *totals,
			     const uint32_t *functions, unsigned count,
			     struct function_process *found)
{
	struct sums sums = {};
	int error = allocate(profile, count, &sums);

	if (error)
		goto cleanup;
	for (unsigned i = 0; i < count; i++)
		sums.places[functions[i]] = i + 1;
	add_up(profile, totals, count, &sums);
	for (unsigned i = 0; i < count; i++)
		found[i] = find_most(sums.self_us + i, count, profile->category_count);
cleanup:
	free(sums.self_us);
	free(sums.places);
	free(sums.categories);
	return error;
}

static unsigned format_others(const struct function_process *found, char to[OTHERS_SIZE])
{
	to[0] = '\0';
	if (found->others)
		snprintf(to, OTHERS_SIZE, " +%" PRIu32, found->others);
	return (unsigned)strlen(to);
}

unsigned function_process__width(const struct ls_profile *profile,
				 const struct function_process *found)
{
	char name[PRINTER_TEXT_SIZE], others[OTHERS_SIZE];

	log__printable(profile->categories[found->category].name, name, sizeof(name));
	return terminal__width(name) + format_others(found, others);
}

char *function_process__fit(const struct ls_profile *profile, const struct function_process *found,
			    unsigned columns, bool utf8, char *to, size_t size)
{
	char name[PRINTER_TEXT_SIZE], others[OTHERS_SIZE];
	unsigned taken = format_others(found, others);

	process_table__fit_name(profile->categories[found->category].name,
				columns > taken ? columns - taken : 0, utf8, name, sizeof(name));
	snprintf(to, size, "%s%s", name, others);
	return to;
}
