/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/category_words.h"

static const struct category_words of_categories[] = {
	[CATEGORY_THREAD] = {"thread", "threads"},
	[CATEGORY_PROCESS] = {"process", "processes"},
	[CATEGORY_STATE] = {"VM", "VMs"},
	[CATEGORY_CHUNK] = {"chunk", "chunks"},
};

static const struct category_words of_groups[] = {
	[GROUPING_NAME] = {"name", "names"},
	[GROUPING_CGROUP] = {"cgroup", "cgroups"},
	[GROUPING_USER] = {"user", "users"},
};

const struct category_words *category_words__of(enum category_kind category,
						enum grouping_kind merge_by)
{
	return merge_by == GROUPING_NONE ? &of_categories[category] : &of_groups[merge_by];
}
