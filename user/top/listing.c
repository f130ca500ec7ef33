/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static struct listing_page *page_of(struct listing *listing)
{
	return &listing->pages[listing->view];
}

static bool shows_processes(const struct listing *listing)
{
	return listing->view == LISTING_PROCESSES;
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

static const char *process_name(const struct stats_process *process)
{
	return process->name ? process->name : "";
}

/* Whether the row or process at that index contains `pattern`, in any case. */
static bool fits(const struct listing *listing, uint32_t index, const char *pattern)
{
	const struct stats_row *row;
	char place[PLACE_SIZE];

	if (shows_processes(listing))
		return strcasestr(process_name(&listing->processes[index]), pattern) != NULL;
	row = &listing->rows[index];
	if (strcasestr(listing__name(row), pattern))
		return true;
	if (listing->view == LISTING_FUNCTIONS &&
	    strcasestr(process_name(&listing->processes[row->process]), pattern))
		return true;
	listing__place(row, place, sizeof(place));
	return strcasestr(place, pattern) != NULL;
}

bool listing__is_found(const struct listing *listing, uint32_t at)
{
	const char *search = listing__page(listing)->search;

	return *search && fits(listing, listing->order[at], search);
}

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

static uint64_t value(const struct listing *listing, uint32_t index, enum listing_column column)
{
	const struct stats_row *row;

	if (shows_processes(listing))
		return process_value(&listing->processes[index], column);
	row = &listing->rows[index];
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
	int order = strcmp(process_name(a), process_name(b));

	return order ? order : (a->id > b->id) - (a->id < b->id);
}

static int by_name(const struct listing *listing, uint32_t left, uint32_t right)
{
	const struct stats_row *a, *b;
	int order;

	if (shows_processes(listing))
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

	if (shows_processes(listing))
		return 0;
	a = &listing->rows[left];
	b = &listing->rows[right];
	order = a->process == b->process ? 0
					 : by_process(&listing->processes[a->process],
						      &listing->processes[b->process]);
	return order ? order : (a->function > b->function) - (a->function < b->function);
}

/* Rows that are equal in the column are ordered by others, so that they do not swap needlessly. */
static int compare(const void *a, const void *b, void *context)
{
	static const enum listing_column others[] = {LISTING_RECENT_SELF, LISTING_SELF,
						     LISTING_RECENT_TOTAL, LISTING_TOTAL};
	const struct listing *listing = context;
	const struct listing_page *page = listing__page(listing);
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint64_t x = value(listing, left, page->column), y = value(listing, right, page->column);
	int order = x < y ? 1 : -(x > y);

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

/* Keeps the cursor on the screen, and the screen on the rows. */
static void scroll(struct listing *listing)
{
	struct listing_page *page = page_of(listing);
	uint32_t height = listing->height ? listing->height : 1;

	if (page->cursor >= listing->count)
		page->cursor = listing->count ? listing->count - 1 : 0;
	if (page->cursor < page->first)
		page->first = page->cursor;
	if (page->cursor - page->first >= height)
		page->first = page->cursor - height + 1;
	if (page->first + height > listing->count)
		page->first = listing->count > height ? listing->count - height : 0;
}

static uint32_t function_at(const struct listing *listing, uint32_t at)
{
	return shows_processes(listing) ? 0 : listing__row(listing, at)->function;
}

static void choose(struct listing *listing, uint32_t cursor)
{
	struct listing_page *page = page_of(listing);

	page->cursor = cursor;
	scroll(listing);
	page->chosen_process = 0;
	if (!page->cursor || page->cursor >= listing->count)
		return;
	page->chosen = function_at(listing, page->cursor);
	page->chosen_process = listing__process(listing, page->cursor)->id;
}

/* Moves the cursor to where its row went; if the row is gone, the cursor stays where it was. */
static void follow_chosen(struct listing *listing)
{
	struct listing_page *page = page_of(listing);

	for (uint32_t at = 0; at < listing->count && page->chosen_process; at++)
		if (listing__process(listing, at)->id == page->chosen_process &&
		    function_at(listing, at) == page->chosen) {
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

int listing__update(struct listing *listing, const struct function_stats *stats, uint32_t height)
{
	const struct listing_page *page = listing__page(listing);
	size_t row_count, process_count, count;

	listing->is_of_many = function_stats__is_of_many(stats);
	listing->rows = function_stats__rows(stats, &row_count);
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
		if (!*page->filter || fits(listing, i, page->filter))
			listing->order[listing->count++] = i;
	}
	if (listing->count)
		qsort_r(listing->order, listing->count, sizeof(*listing->order), compare, listing);
	follow_chosen(listing);
	return 0;
}

/* Goes to the next or previous row that is found, wrapping around; the cursor's own comes last. */
static void find_next(struct listing *listing, bool is_backward)
{
	uint32_t count = listing->count, step = is_backward ? count - 1 : 1;
	uint32_t at = page_of(listing)->cursor;

	for (uint32_t i = 0; i < count; i++) {
		at = (at + step) % count;
		if (listing__is_found(listing, at)) {
			choose(listing, at);
			return;
		}
	}
}

static void begin_prompt(struct listing *listing, enum listing_prompt prompt)
{
	listing->prompt = prompt;
	snprintf(listing->typed, sizeof(listing->typed), "%s",
		 prompt == LISTING_FILTER ? page_of(listing)->filter : "");
}

/* Ignores control characters: names are shown without them. */
static void type(struct listing *listing, uint32_t character)
{
	size_t length = strlen(listing->typed);
	unsigned char *to = (unsigned char *)listing->typed + length;

	if (character < 0x20 || character == 0x7f || length + 5 > sizeof(listing->typed))
		return;
	if (character < 0x80) {
		*to++ = (unsigned char)character;
	} else if (character < 0x800) {
		*to++ = (unsigned char)(0xc0 | character >> 6);
		*to++ = (unsigned char)(0x80 | (character & 0x3f));
	} else if (character < 0x10000) {
		*to++ = (unsigned char)(0xe0 | character >> 12);
		*to++ = (unsigned char)(0x80 | (character >> 6 & 0x3f));
		*to++ = (unsigned char)(0x80 | (character & 0x3f));
	} else {
		*to++ = (unsigned char)(0xf0 | character >> 18);
		*to++ = (unsigned char)(0x80 | (character >> 12 & 0x3f));
		*to++ = (unsigned char)(0x80 | (character >> 6 & 0x3f));
		*to++ = (unsigned char)(0x80 | (character & 0x3f));
	}
	*to = '\0';
}

static void erase(struct listing *listing)
{
	size_t length = strlen(listing->typed);

	/* Remove all bytes of a character. */
	while (length && (listing->typed[--length] & 0xc0) == 0x80)
		;
	listing->typed[length] = '\0';
}

static void answer(struct listing *listing)
{
	enum listing_prompt prompt = listing->prompt;
	struct listing_page *page = page_of(listing);

	listing->prompt = LISTING_NO_PROMPT;
	memcpy(prompt == LISTING_FILTER ? page->filter : page->search, listing->typed,
	       sizeof(listing->typed));
	if (prompt == LISTING_FILTER || !listing->count)
		return;
	/* A cursor at the top stays there if that row is found. */
	if (page->cursor || !listing__is_found(listing, 0))
		find_next(listing, false);
}

static void press_in_prompt(struct listing *listing, uint32_t key)
{
	if (key == LISTING_ENTER)
		answer(listing);
	else if (key == LISTING_ESCAPE)
		listing->prompt = LISTING_NO_PROMPT;
	else if (key == LISTING_ERASE)
		erase(listing);
	else if (key < LISTING_UP)
		type(listing, key);
}

static void move(struct listing *listing, uint32_t key)
{
	uint32_t page = listing->height > 1 ? listing->height - 1 : 1;
	uint32_t cursor = page_of(listing)->cursor, last = listing->count ? listing->count - 1 : 0;

	switch (key) {
	case LISTING_UP:
	case 'k':
		cursor -= cursor > 0;
		break;
	case LISTING_DOWN:
	case 'j':
		cursor += cursor < last;
		break;
	case LISTING_PAGE_UP:
		cursor -= cursor < page ? cursor : page;
		break;
	case LISTING_PAGE_DOWN:
		cursor = last - cursor < page ? last : cursor + page;
		break;
	case LISTING_HOME:
		cursor = 0;
		break;
	case LISTING_END:
		cursor = last;
		break;
	default:
		return;
	}
	choose(listing, cursor);
}

static void arrange(struct listing *listing, uint32_t key)
{
	struct listing_page *page = page_of(listing);

	if (key >= '1' && key < '1' + LISTING_COLUMNS)
		page->column = (enum listing_column)(key - '1');
	else if (key == '>')
		page->column = (page->column + 1) % LISTING_COLUMNS;
	else if (key == '<')
		page->column = (page->column + LISTING_COLUMNS - 1) % LISTING_COLUMNS;
	else if (key == 'i')
		page->is_reversed = !page->is_reversed;
	else if (key == '/')
		begin_prompt(listing, LISTING_SEARCH);
	else if (key == 'f')
		begin_prompt(listing, LISTING_FILTER);
	else if (key == 'n' || key == 'N')
		find_next(listing, key == 'N');
	else
		move(listing, key);
}

/* Shows the functions of the process that the cursor is on, from the top. */
static void enter(struct listing *listing)
{
	const struct listing_page *functions = &listing->pages[LISTING_FUNCTIONS];
	uint32_t at = page_of(listing)->cursor;

	if (!listing->is_of_many || listing->view == LISTING_ONE_PROCESS || at >= listing->count)
		return;
	listing->one = listing__process(listing, at)->id;
	listing->behind = listing->view;
	listing->view = LISTING_ONE_PROCESS;
	listing->pages[LISTING_ONE_PROCESS] = (struct listing_page){
		.column = functions->column, .is_reversed = functions->is_reversed};
}

/* Clears search and filter; if there were none, leaves the one process. */
static void leave(struct listing *listing)
{
	struct listing_page *page = page_of(listing);

	if (!*page->search && !*page->filter && listing->view == LISTING_ONE_PROCESS)
		listing->view = listing->behind;
	page->search[0] = page->filter[0] = '\0';
}

static void change_view(struct listing *listing)
{
	if (listing->is_of_many)
		listing->view =
			listing->view == LISTING_PROCESSES ? LISTING_FUNCTIONS : LISTING_PROCESSES;
}

enum listing_demand listing__press(struct listing *listing, uint32_t key)
{
	if (listing->prompt) {
		press_in_prompt(listing, key);
		return LISTING_NOTHING;
	}
	if (listing->shows_help && key != 'q') {
		listing->shows_help = false;
		return LISTING_NOTHING;
	}
	switch (key) {
	case 'h':
	case '?':
		listing->shows_help = true;
		return LISTING_NOTHING;
	case 'q':
		return LISTING_QUIT;
	case 'p':
	case ' ':
		return LISTING_PAUSE;
	case 'r':
		return LISTING_RESET;
	case 'w':
		return LISTING_WRITE;
	case 'v':
	case '\t':
		change_view(listing);
		return LISTING_NOTHING;
	case LISTING_ENTER:
		enter(listing);
		return LISTING_NOTHING;
	case LISTING_ESCAPE:
		leave(listing);
		return LISTING_NOTHING;
	}
	arrange(listing, key);
	return LISTING_NOTHING;
}
