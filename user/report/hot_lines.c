/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/hot_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/search.h"

struct list {
	struct hot_line *lines;
	size_t count;
};

static int compare_places(const void *left, const void *right)
{
	const struct hot_line *a = left, *b = right;
	int order = strcmp(a->source, b->source);

	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	if (!order)
		order = (a->self_us < b->self_us) - (a->self_us > b->self_us);
	return order ? order : (a->function > b->function) - (a->function < b->function);
}

static int compare_times(const void *left, const void *right)
{
	const struct hot_line *a = left, *b = right;

	if (a->self_us != b->self_us)
		return a->self_us < b->self_us ? 1 : -1;
	return compare_places(left, right);
}

static int compare_sources(const void *left, const void *right)
{
	const struct hot_line *a = left, *b = right;

	if (a->source_us != b->source_us)
		return a->source_us < b->source_us ? 1 : -1;
	return compare_places(left, right);
}

/* The lines of all functions that the search leaves. */
static int collect(const struct report *report, struct list *list)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);

	list->lines = calloc((size_t)profile->line_count + 1, sizeof(*list->lines));
	if (!list->lines)
		return -ENOMEM;
	for (uint32_t id = 1; id <= profile->function_count; id++) {
		const struct ls_profile_function *function = &profile->functions[id];
		uint32_t end = function->first_line + function->line_count;

		if (!function->source ||
		    (report->search && !search__matches(report->search, function)))
			continue;
		for (uint32_t at = function->first_line; at < end; at++)
			list->lines[list->count++] =
				(struct hot_line){.source = function->source,
						  .line = profile->lines[at].line,
						  .function = id,
						  .self_us = report->totals->line_self_us[at]};
	}
	return 0;
}

/* Adds up what functions spent in one line, such as those that are defined in it. */
static void join(struct list *list)
{
	size_t count = 0;

	qsort(list->lines, list->count, sizeof(*list->lines), compare_places);
	for (size_t i = 0; i < list->count; i++) {
		struct hot_line *last = count ? &list->lines[count - 1] : NULL;

		if (last && last->line == list->lines[i].line &&
		    !strcmp(last->source, list->lines[i].source))
			last->self_us += list->lines[i].self_us;
		else
			list->lines[count++] = list->lines[i];
	}
	list->count = count;
}

/* Keeps the hottest. */
static void cut(const struct report *report, struct list *list)
{
	uint64_t least_us = report__least_us(report);

	qsort(list->lines, list->count, sizeof(*list->lines), compare_times);
	if (list->count > report->limit)
		list->count = report->limit;
	while (list->count && (!list->lines[list->count - 1].self_us ||
			       list->lines[list->count - 1].self_us < least_us))
		list->count--;
}

static void sum_up_sources(struct list *list)
{
	qsort(list->lines, list->count, sizeof(*list->lines), compare_places);
	for (size_t start = 0, end; start < list->count; start = end) {
		uint64_t us = 0;

		for (end = start; end < list->count &&
				  !strcmp(list->lines[end].source, list->lines[start].source);
		     end++)
			us += list->lines[end].self_us;
		for (size_t i = start; i < end; i++)
			list->lines[i].source_us = us;
	}
}

int hot_lines__list(const struct report *report, struct hot_line **lines, size_t *count)
{
	struct list list = {};
	int error = collect(report, &list);

	if (!error) {
		join(&list);
		cut(report, &list);
		sum_up_sources(&list);
		if (report->order != ROW_ORDER_NAME)
			qsort(list.lines, list.count, sizeof(*list.lines), compare_sources);
	}
	*lines = list.lines;
	*count = list.count;
	return error;
}
