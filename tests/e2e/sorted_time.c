/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sorted_time.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

size_t sorted_time__owner_length(const char *name, char letter)
{
	size_t length = 1;

	if (name[0] != letter || !isdigit((unsigned char)name[1]))
		return 0;
	while (isdigit((unsigned char)name[length]))
		length++;
	return name[length] == '_' || !name[length] ? length : 0;
}

static void add_node(const struct scriptprofile *profile, int node, const char *category,
		     const char *root, struct sorted_time *sorted)
{
	int64_t us = profile->node_self_us[node];
	const struct scriptprofile_function *function = NULL;
	int is_foreign = 0;

	for (int id = node; profile->node_function[id]; id = profile->node_parent[id]) {
		size_t length;

		function = &profile->functions[profile->node_function[id]];
		/*
		 * C functions are the same in all threads and may be named after one thread's
		 * variable.
		 */
		length = strcmp(function->source, "[C]")
				 ? sorted_time__owner_length(function->name, category[0])
				 : 0;
		is_foreign |= length && (length != strlen(category) ||
					 strncmp(function->name, category, length) != 0);
	}
	if (!function)
		return;
	if (!strcmp(function->name, "(host)"))
		sorted->host += us;
	else if (!strcmp(function->name, "(unreadable)"))
		sorted->unreadable += us;
	else if (!strcmp(function->name, "(unsampled)"))
		return;
	else if (is_foreign)
		sorted->foreign += us;
	else if (root && strcmp(function->name, root) != 0)
		sorted->rootless += us;
	else
		sorted->right += us;
}

struct sorted_time sorted_time__of(const struct scriptprofile *profile, char letter,
				   const char *root)
{
	const json_t *categories = json_object_get(profile->document, "Categories");
	struct sorted_time sorted = {0};

	for (size_t i = 0; i < json_array_size(categories); i++) {
		const json_t *category = json_array_get(categories, i);
		const char *name = json_string_value(json_object_get(category, "Name"));
		int node = (int)json_integer_value(json_object_get(category, "NodeId"));

		if (letter == 'i' ? strcmp(name, "idle") != 0
				  : sorted_time__owner_length(name, letter) != strlen(name))
			continue;
		for (int id = 1; id <= profile->node_count; id++) {
			int top = id;

			while (profile->node_parent[top])
				top = profile->node_parent[top];
			if (top == node)
				add_node(profile, id, name, root, &sorted);
		}
	}
	return sorted;
}

void sorted_time__print(const char *what, const struct sorted_time *sorted)
{
	print_message("%s: right %lld us, foreign %lld, rootless %lld, host %lld, unreadable "
		      "%lld\n",
		      what, (long long)sorted->right, (long long)sorted->foreign,
		      (long long)sorted->rootless, (long long)sorted->host,
		      (long long)sorted->unreadable);
}
