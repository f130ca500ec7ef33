/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "listing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_SIZE 640 /* a chunk name of LS_SOURCE_LEN bytes and a line */

void listing__init(struct listing *listing, enum listing_column column)
{
	*listing = (struct listing){.column = column};
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

const char *listing__name(const struct tally_row *row)
{
	return row->name && *row->name ? row->name : "<anonymous>";
}

void listing__place(const struct tally_row *row, char *to, size_t size)
{
	if (row->line)
		snprintf(to, size, "%s:%" PRIu32, row->source ? row->source : "", row->line);
	else
		snprintf(to, size, "%s", row->source ? row->source : "");
}

static bool fits(const char *pattern, const struct tally_row *row)
{
	char place[PLACE_SIZE];

	if (strcasestr(listing__name(row), pattern))
		return true;
	listing__place(row, place, sizeof(place));
	return strcasestr(place, pattern) != NULL;
}

bool listing__is_found(const struct listing *listing, const struct tally_row *row)
{
	return *listing->search && fits(listing->search, row);
}

static uint64_t value(const struct tally_row *row, enum listing_column column)
{
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

static int by_name(const struct tally_row *a, const struct tally_row *b)
{
	int order = strcmp(listing__name(a), listing__name(b));

	if (!order)
		order = strcmp(a->source ? a->source : "", b->source ? b->source : "");
	if (!order)
		order = a->line < b->line ? -1 : a->line > b->line;
	return order;
}

/* What is equal in the column goes by the others, so that rows do not change places for nothing. */
static int compare(const void *a, const void *b, void *context)
{
	static const enum listing_column others[] = {LISTING_RECENT_SELF, LISTING_SELF,
						     LISTING_RECENT_TOTAL, LISTING_TOTAL};
	const struct listing *listing = context;
	const struct tally_row *left = &listing->rows[*(const uint32_t *)a];
	const struct tally_row *right = &listing->rows[*(const uint32_t *)b];
	uint64_t x = value(left, listing->column), y = value(right, listing->column);
	int order = x < y ? 1 : -(x > y);

	if (!order && listing->column == LISTING_NAME)
		order = by_name(left, right);
	if (order)
		return listing->is_reversed ? -order : order;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !order; i++) {
		x = value(left, others[i]);
		y = value(right, others[i]);
		order = x < y ? 1 : -(x > y);
	}
	if (!order)
		order = by_name(left, right);
	if (!order)
		order = left->pid != right->pid ? (left->pid < right->pid ? -1 : 1)
						: (left->function < right->function ? -1 : 1);
	return order;
}

/* The cursor stays on the screen, and the screen on the rows. */
static void scroll(struct listing *listing)
{
	uint32_t height = listing->height ? listing->height : 1;

	if (listing->cursor >= listing->count)
		listing->cursor = listing->count ? listing->count - 1 : 0;
	if (listing->cursor < listing->first)
		listing->first = listing->cursor;
	if (listing->cursor - listing->first >= height)
		listing->first = listing->cursor - height + 1;
	if (listing->first + height > listing->count)
		listing->first = listing->count > height ? listing->count - height : 0;
}

static void choose(struct listing *listing, uint32_t cursor)
{
	const struct tally_row *row;

	listing->cursor = cursor;
	scroll(listing);
	listing->chosen = 0;
	if (!listing->cursor || listing->cursor >= listing->count)
		return;
	row = &listing->rows[listing->order[listing->cursor]];
	listing->chosen = row->function;
	listing->chosen_pid = row->pid;
}

/* Where the function went that the cursor is on; one that has gone leaves it where it was. */
static void follow_chosen(struct listing *listing)
{
	for (uint32_t at = 0; at < listing->count && listing->chosen; at++) {
		const struct tally_row *row = &listing->rows[listing->order[at]];

		if (row->function == listing->chosen && row->pid == listing->chosen_pid) {
			listing->cursor = at;
			break;
		}
	}
	scroll(listing);
}

int listing__update(struct listing *listing, const struct tally *tally, uint32_t height)
{
	size_t count;

	listing->rows = tally__rows(tally, &count);
	listing->row_count = (uint32_t)count;
	listing->height = height;
	if (count > listing->room) {
		uint32_t *order = reallocarray(listing->order, count, sizeof(*order));

		if (!order)
			return -ENOMEM;
		listing->order = order;
		listing->room = (uint32_t)count;
	}
	listing->count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!*listing->filter || fits(listing->filter, &listing->rows[i]))
			listing->order[listing->count++] = i;
	if (listing->count)
		qsort_r(listing->order, listing->count, sizeof(*listing->order), compare, listing);
	follow_chosen(listing);
	return 0;
}

/* The next row, or the one before, that is found, round the ends; the cursor's own comes last. */
static void find_next(struct listing *listing, bool is_backward)
{
	uint32_t count = listing->count, step = is_backward ? count - 1 : 1;
	uint32_t at = listing->cursor;

	for (uint32_t i = 0; i < count; i++) {
		at = (at + step) % count;
		if (listing__is_found(listing, &listing->rows[listing->order[at]])) {
			choose(listing, at);
			return;
		}
	}
}

static void begin_prompt(struct listing *listing, enum listing_prompt prompt)
{
	listing->prompt = prompt;
	snprintf(listing->typed, sizeof(listing->typed), "%s",
		 prompt == LISTING_FILTER ? listing->filter : "");
}

/* Controls are no part of a name as it is shown. */
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

	/* With all bytes of a character. */
	while (length && (listing->typed[--length] & 0xc0) == 0x80)
		;
	listing->typed[length] = '\0';
}

static void answer(struct listing *listing)
{
	enum listing_prompt prompt = listing->prompt;

	listing->prompt = LISTING_NO_PROMPT;
	memcpy(prompt == LISTING_FILTER ? listing->filter : listing->search, listing->typed,
	       sizeof(listing->typed));
	if (prompt == LISTING_FILTER || !listing->count)
		return;
	/* From the top, as long as the cursor was not moved from there. */
	if (listing->cursor || !listing__is_found(listing, &listing->rows[listing->order[0]]))
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
	uint32_t cursor = listing->cursor, last = listing->count ? listing->count - 1 : 0;

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
	if (key >= '1' && key < '1' + LISTING_COLUMNS)
		listing->column = (enum listing_column)(key - '1');
	else if (key == '>')
		listing->column = (listing->column + 1) % LISTING_COLUMNS;
	else if (key == '<')
		listing->column = (listing->column + LISTING_COLUMNS - 1) % LISTING_COLUMNS;
	else if (key == 'i')
		listing->is_reversed = !listing->is_reversed;
	else if (key == '/')
		begin_prompt(listing, LISTING_SEARCH);
	else if (key == 'f')
		begin_prompt(listing, LISTING_FILTER);
	else if (key == 'n' || key == 'N')
		find_next(listing, key == 'N');
	else if (key == LISTING_ESCAPE)
		listing->search[0] = listing->filter[0] = '\0';
	else
		move(listing, key);
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
	}
	arrange(listing, key);
	return LISTING_NOTHING;
}
