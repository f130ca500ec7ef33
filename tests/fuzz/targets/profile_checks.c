/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "reader/read_profile.h"
#include "input.h"
#include "profile_checks.h"

#define NODES_MAX 2000 /* to be written: folded stacks of a deep tree are long */

static char *write_as(const struct format *format, const struct ls_profile *profile, size_t *size)
{
	struct ls_totals totals;
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);

	require(stream && !totals__compute(profile, &totals));
	require(!format->write(profile, &totals, stream));
	require(!fclose(stream));
	totals__free(&totals);
	return text;
}

static void check_tree(const struct ls_profile *profile)
{
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		const struct ls_profile_node *node = &profile->nodes[id];

		require(node->parent < id && node->function <= profile->function_count);
		require(!node->parent == !node->function);
		require(node->first_child <= profile->node_count);
		require(node->next_sibling <= profile->node_count);
	}
	for (uint32_t i = 0; i < profile->category_count; i++)
		require(profile->categories[i].node && profile->categories[i].name &&
			profile->categories[i].node <= profile->node_count);
}

/* What was read and written is read again, and is written the same. */
static void check_again(const struct ls_profile *profile)
{
	char reason[READ_PROFILE_REASON_SIZE], *first, *copy, *second;
	size_t first_size, second_size;
	struct read_profile *again;

	first = write_as(format__at(0), profile, &first_size);
	copy = malloc(first_size + 1);
	require(copy);
	memcpy(copy, first, first_size + 1);
	require(!read_profile__new(copy, first_size, &again, reason));
	second = write_as(format__at(0), read_profile__profile(again), &second_size);
	require(first_size == second_size && !memcmp(first, second, first_size));
	read_profile__free(again);
	free(first);
	free(copy);
	free(second);
}

void profile_checks__hold(const struct ls_profile *profile)
{
	const struct format *format;
	size_t written;

	check_tree(profile);
	check_again(profile);
	for (size_t i = 0; profile->node_count < NODES_MAX && (format = format__at(i)); i++)
		free(write_as(format, profile, &written));
}
