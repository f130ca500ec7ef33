/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "top/listing_internal.h"
#include "top/row_order.h"

#define NS_PER_S   UINT64_C(1000000000)
#define PLACE_SIZE 640 /* a chunk name of LS_SOURCE_LEN bytes and a line */

void listing__init(struct listing *listing, enum listing_column column)
{
	*listing = (struct listing){.view = LISTING_FUNCTIONS};
	listing->pages[LISTING_FUNCTIONS].column = column;
	listing->pages[LISTING_PROCESSES].column =
		column == LISTING_NAME ? LISTING_RECENT_SELF : column;
}

void listing__free(struct listing *listing)
{
	free(listing->order);
	listing->order = NULL;
}

int listing__find_column(const char *name)
{
	static const char *const names[LISTING_COLUMNS] = {"self", "total", "all-self", "all-total",
							   "name"};

	for (int column = 0; column < LISTING_COLUMNS; column++)
		if (!strcmp(names[column], name))
			return column;
	return -EINVAL;
}

int listing__find_average(const char *text)
{
	uint64_t ns;

	if (units__parse_duration(text, &ns))
		return -EINVAL;
	for (size_t i = 1; i < LISTING_SPANS; i++)
		if (ns == listing_spans[i] * NS_PER_S)
			return (int)listing_spans[i];
	return -EINVAL;
}

const char *listing__format_average(const struct listing *listing, const char *before, char *to,
				    size_t size)
{
	uint32_t seconds = listing->average_s;

	to[0] = '\0';
	if (seconds)
		snprintf(to, size, "%s%" PRIu32 "%c", before, seconds < 60 ? seconds : seconds / 60,
			 seconds < 60 ? 's' : 'm');
	return to;
}

const char *listing__name(const struct stats_row *row)
{
	return row->name && *row->name ? row->name : "<anonymous>";
}

void listing__place(const struct stats_row *row, char *to, size_t size)
{
	if (row->line)
		snprintf(to, size, "%s:%" PRIu32, row->source ? row->source : "", row->line);
	else
		snprintf(to, size, "%s", row->source ? row->source : "");
}

struct listing_page *listing__page_of(struct listing *listing)
{
	return listing->view == LISTING_CALLS ? &listing->steps[listing->step_count - 1].page
					      : &listing->pages[listing->view];
}

const struct stats_row *listing__row(const struct listing *listing, uint32_t at)
{
	return &listing->rows[listing->order[at]];
}

const struct stats_process *listing__process(const struct listing *listing, uint32_t at)
{
	uint32_t index = listing->order[at];

	return &listing->processes[shows_processes(listing) ? index : listing->rows[index].process];
}

const struct stats_process *listing__one(const struct listing *listing,
					 const struct function_stats *stats)
{
	size_t count;
	const struct stats_process *processes = function_stats__processes(stats, &count);

	for (size_t i = 0; i < count; i++)
		if (processes[i].id == listing->one)
			return &processes[i];
	return NULL;
}

struct calls_choice listing__choice(const struct listing *listing)
{
	const struct listing_step *step = &listing->steps[listing->step_count - 1];

	return (struct calls_choice){.function = step->function,
				     .is_plugin = step->is_plugin,
				     .process = listing__is_of_one(listing) ? listing->one : 0};
}

bool listing__is_of_one(const struct listing *listing)
{
	return listing->view == LISTING_ONE_PROCESS ||
	       (listing->view == LISTING_CALLS && listing->is_of_many);
}

void listing__follow(struct listing *listing, const struct function_stats *stats)
{
	for (uint32_t i = 0; i < listing->step_count; i++)
		if (function_calls__is_reused(stats, listing->steps[i].function))
			listing->steps[i].function = 0;
}

const char *listing__process_name(const struct stats_process *process)
{
	return process->name ? process->name : "";
}

/* Whether the row or process at that index contains `pattern`, in any case. */
static bool fits(const struct listing *listing, uint32_t index, const char *pattern)
{
	const struct stats_row *row;
	char place[PLACE_SIZE];

	if (shows_processes(listing))
		return strcasestr(listing__process_name(&listing->processes[index]), pattern) !=
		       NULL;
	row = &listing->rows[index];
	if (strcasestr(listing__name(row), pattern))
		return true;
	if (listing->view == LISTING_FUNCTIONS &&
	    strcasestr(listing__process_name(&listing->processes[row->process]), pattern))
		return true;
	listing__place(row, place, sizeof(place));
	return strcasestr(place, pattern) != NULL;
}

bool listing__is_found(const struct listing *listing, uint32_t at)
{
	const char *search = listing__page(listing)->search;

	return *search && fits(listing, listing->order[at], search);
}

bool listing__finds_nothing(const struct listing *listing)
{
	uint32_t at = 0;

	while (at < listing->count && !listing__is_found(listing, at))
		at++;
	return *listing__page(listing)->search && at == listing->count;
}

/* Keeps the cursor on the screen, and the screen on the rows. */
static void scroll(struct listing *listing)
{
	struct listing_page *page = listing__page_of(listing);
	uint32_t height = listing->height ? listing->height : 1;

	if (page->cursor >= listing->count)
		page->cursor = listing->count ? listing->count - 1 : 0;
	if (page->is_new && listing->count) {
		page->first =
			page->cursor - (page->cursor < height / 2 ? page->cursor : height / 2);
		page->is_new = false;
	}
	if (page->cursor < page->first)
		page->first = page->cursor;
	if (page->cursor - page->first >= height)
		page->first = page->cursor - height + 1;
	if (page->first + height > listing->count)
		page->first = listing->count > height ? listing->count - height : 0;
}

uint32_t listing__function_at(const struct listing *listing, uint32_t at)
{
	const struct stats_row *row;

	if (shows_processes(listing))
		return 0;
	row = listing__row(listing, at);
	return 2 * row->function + row->is_plugin;
}

/* The process, or the role + 1. */
static uint32_t process_at(const struct listing *listing, uint32_t at)
{
	return listing->view == LISTING_CALLS ? listing__row(listing, at)->role + 1U
					      : listing__process(listing, at)->id;
}

void listing__pin(struct listing *listing)
{
	struct listing_page *page = listing__page_of(listing);

	page->chosen = listing__function_at(listing, page->cursor);
	page->chosen_process = process_at(listing, page->cursor);
}

void listing__choose(struct listing *listing, uint32_t cursor)
{
	struct listing_page *page = listing__page_of(listing);

	page->cursor = cursor;
	scroll(listing);
	page->chosen_process = 0;
	if (page->cursor && page->cursor < listing->count)
		listing__pin(listing);
}

/* Moves the cursor to where its row went; if the row is gone, the cursor stays where it was. */
static void follow_chosen(struct listing *listing)
{
	struct listing_page *page = listing__page_of(listing);

	for (uint32_t at = 0; at < listing->count && page->chosen_process; at++)
		if (process_at(listing, at) == page->chosen_process &&
		    listing__function_at(listing, at) == page->chosen) {
			page->cursor = at;
			break;
		}
	scroll(listing);
}

/* Whether the view includes the row or process at that index. */
static bool is_shown(const struct listing *listing, uint32_t index)
{
	return listing->view != LISTING_ONE_PROCESS ||
	       listing->processes[listing->rows[index].process].id == listing->one;
}

/* A filter is for callers and callees, not for the function that has them. */
static bool passes(const struct listing *listing, uint32_t index)
{
	const char *filter = listing__page(listing)->filter;

	if (listing->view == LISTING_CALLS && listing->rows[index].role == STATS_CHOSEN)
		return true;
	return !*filter || fits(listing, index, filter);
}

int listing__update(struct listing *listing, const struct function_stats *stats, uint32_t height)
{
	size_t row_count, process_count, count;

	listing->is_of_many = function_stats__is_of_many(stats);
	listing->rows = listing->view == LISTING_CALLS ? function_calls__rows(stats, &row_count)
						       : function_stats__rows(stats, &row_count);
	listing->processes = function_stats__processes(stats, &process_count);
	listing->height = height;
	count = shows_processes(listing) ? process_count : row_count;
	if (count > listing->room) {
		uint32_t *order = reallocarray(listing->order, count, sizeof(*order));

		if (!order)
			return -ENOMEM;
		listing->order = order;
		listing->room = (uint32_t)count;
	}
	listing->count = listing->row_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!is_shown(listing, i))
			continue;
		listing->row_count++;
		if (passes(listing, i))
			listing->order[listing->count++] = i;
	}
	if (listing->count)
		qsort_r(listing->order, listing->count, sizeof(*listing->order), row_order__compare,
			listing);
	follow_chosen(listing);
	return 0;
}
