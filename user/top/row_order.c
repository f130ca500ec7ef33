/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/row_order.h"

#include <string.h>

static uint64_t process_value(const struct stats_process *process, enum listing_column column)
{
	switch (column) {
	case LISTING_RECENT_SELF:
		return process->recent_ns;
	case LISTING_RECENT_TOTAL:
		return process->weight_ns ? (uint64_t)((unsigned __int128)process->script_ns *
						       1000000 / process->weight_ns)
					  : 0;
	case LISTING_SELF:
		return process->all_ns;
	case LISTING_TOTAL:
		return process->samples;
	default:
		return 0;
	}
}

/* Both a time and its share are in the order of the time. */
static uint64_t call_value(const struct stats_row *row, enum listing_column column)
{
	switch (column) {
	case LISTING_RECENT_SELF:
	case LISTING_RECENT_TOTAL:
		return row->recent.total;
	case LISTING_SELF:
	case LISTING_TOTAL:
		return row->all.total;
	default:
		return 0;
	}
}

static uint64_t value(const struct listing *listing, uint32_t index, enum listing_column column)
{
	const struct stats_row *row;

	if (listing->view == LISTING_PROCESSES)
		return process_value(&listing->processes[index], column);
	row = &listing->rows[index];
	if (listing->view == LISTING_CALLS)
		return call_value(row, column);
	switch (column) {
	case LISTING_RECENT_SELF:
		return row->recent.self;
	case LISTING_RECENT_TOTAL:
		return row->recent.total;
	case LISTING_SELF:
		return row->all.self;
	case LISTING_TOTAL:
		return row->all.total;
	default:
		return 0;
	}
}

static int by_process(const struct stats_process *a, const struct stats_process *b)
{
	int order = strcmp(listing__process_name(a), listing__process_name(b));

	return order ? order : (a->id > b->id) - (a->id < b->id);
}

static int by_name(const struct listing *listing, uint32_t left, uint32_t right)
{
	const struct stats_row *a, *b;
	int order;

	if (listing->view == LISTING_PROCESSES)
		return by_process(&listing->processes[left], &listing->processes[right]);
	a = &listing->rows[left];
	b = &listing->rows[right];
	order = strcmp(listing__name(a), listing__name(b));
	if (!order)
		order = strcmp(a->source ? a->source : "", b->source ? b->source : "");
	if (!order)
		order = a->line < b->line ? -1 : a->line > b->line;
	return order;
}

/* Orders rows that look the same. */
static int by_identity(const struct listing *listing, uint32_t left, uint32_t right)
{
	const struct stats_row *a, *b;
	int order;

	if (listing->view == LISTING_PROCESSES)
		return 0;
	a = &listing->rows[left];
	b = &listing->rows[right];
	order = a->process == b->process ? 0
					 : by_process(&listing->processes[a->process],
						      &listing->processes[b->process]);
	if (!order)
		order = (a->function > b->function) - (a->function < b->function);
	return order ? order : a->is_plugin - b->is_plugin;
}

/* Callers are above the function, and callees below it. */
static int by_role(const struct listing *listing, uint32_t left, uint32_t right)
{
	if (listing->view != LISTING_CALLS)
		return 0;
	return (int)listing->rows[left].role - (int)listing->rows[right].role;
}

/* Rows that are equal in the column are ordered by others, so that they do not swap needlessly. */
int row_order__compare(const void *a, const void *b, void *context)
{
	static const enum listing_column others[] = {LISTING_RECENT_SELF, LISTING_SELF,
						     LISTING_RECENT_TOTAL, LISTING_TOTAL};
	const struct listing *listing = context;
	const struct listing_page *page = listing__page(listing);
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint64_t x = value(listing, left, page->column), y = value(listing, right, page->column);
	int order = by_role(listing, left, right);

	if (order)
		return order;
	order = x < y ? 1 : -(x > y);
	if (!order && page->column == LISTING_NAME)
		order = by_name(listing, left, right);
	if (order)
		return page->is_reversed ? -order : order;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !order; i++) {
		x = value(listing, left, others[i]);
		y = value(listing, right, others[i]);
		order = x < y ? 1 : -(x > y);
	}
	if (!order)
		order = by_name(listing, left, right);
	return order ? order : by_identity(listing, left, right);
}
