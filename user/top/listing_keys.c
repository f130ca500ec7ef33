/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What keys do to a listing. */
#include <stdio.h>
#include <string.h>

#include "top/listing_internal.h"
#include "top/typed_text.h"

/* Goes to the next or previous row that is found, wrapping around; the cursor's own comes last. */
static enum listing_demand find_next(struct listing *listing, bool is_backward)
{
	uint32_t count = listing->count, step = is_backward ? count - 1 : 1;
	uint32_t at = listing__page_of(listing)->cursor;

	for (uint32_t i = 0; i < count; i++) {
		at = (at + step) % count;
		if (listing__is_found(listing, at)) {
			listing__choose(listing, at);
			return LISTING_NOTHING;
		}
	}
	return *listing__page(listing)->search ? LISTING_NOT_FOUND : LISTING_NOTHING;
}

static void begin_prompt(struct listing *listing, enum listing_prompt prompt)
{
	listing->prompt = prompt;
	snprintf(listing->typed, sizeof(listing->typed), "%s",
		 prompt == LISTING_FILTER ? listing__page_of(listing)->filter : "");
}

static enum listing_demand answer(struct listing *listing)
{
	enum listing_prompt prompt = listing->prompt;
	struct listing_page *page = listing__page_of(listing);

	listing->prompt = LISTING_NO_PROMPT;
	memcpy(prompt == LISTING_FILTER ? page->filter : page->search, listing->typed,
	       sizeof(listing->typed));
	if (prompt == LISTING_FILTER)
		return LISTING_NOTHING;
	/* A cursor at the top stays there if that row is found. */
	if (listing->count && !page->cursor && listing__is_found(listing, 0))
		return LISTING_NOTHING;
	return find_next(listing, false);
}

static enum listing_demand press_in_prompt(struct listing *listing, uint32_t key)
{
	if (key == LISTING_ENTER)
		return answer(listing);
	if (key == LISTING_ESCAPE)
		listing->prompt = LISTING_NO_PROMPT;
	else if (key == LISTING_ERASE)
		typed_text__erase(listing->typed);
	else if (key < LISTING_UP)
		typed_text__add(listing->typed, sizeof(listing->typed), key);
	return LISTING_NOTHING;
}

/* Whether the key moves `at`, which is at most `last`. */
static bool moves(const struct listing *listing, uint32_t key, uint32_t last, uint32_t *at)
{
	uint32_t page = listing->height > 1 ? listing->height - 1 : 1;
	uint32_t from = *at < last ? *at : last;

	switch (key) {
	case LISTING_UP:
	case 'k':
		*at = from - (from > 0);
		return true;
	case LISTING_DOWN:
	case 'j':
		*at = from + (from < last);
		return true;
	case LISTING_PAGE_UP:
		*at = from - (from < page ? from : page);
		return true;
	case LISTING_PAGE_DOWN:
		*at = last - from < page ? last : from + page;
		return true;
	case LISTING_HOME:
		*at = 0;
		return true;
	case LISTING_END:
		*at = last;
		return true;
	}
	return false;
}

static void move(struct listing *listing, uint32_t key)
{
	uint32_t cursor = listing__page_of(listing)->cursor;

	if (moves(listing, key, listing->count ? listing->count - 1 : 0, &cursor))
		listing__choose(listing, cursor);
}

static enum listing_demand arrange(struct listing *listing, uint32_t key)
{
	struct listing_page *page = listing__page_of(listing);

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
		return find_next(listing, key == 'N');
	else
		move(listing, key);
	return LISTING_NOTHING;
}

/* Shows the functions of the process that the cursor is on, from the top. */
static void enter_process(struct listing *listing)
{
	const struct listing_page *functions = &listing->pages[LISTING_FUNCTIONS];

	listing->one = listing__process(listing, listing__page_of(listing)->cursor)->id;
	listing->behind = listing->view;
	listing->view = LISTING_ONE_PROCESS;
	listing->pages[LISTING_ONE_PROCESS] = (struct listing_page){
		.column = functions->column, .is_reversed = functions->is_reversed};
}

/*
 * Shows callers and callees of the function that the cursor is on, in the process of its row, with
 * the cursor on it.
 */
static enum listing_demand enter_function(struct listing *listing)
{
	const struct stats_row *row = listing__row(listing, listing__page_of(listing)->cursor);
	struct listing_step step = {
		.function = row->function,
		.is_plugin = row->is_plugin,
		.page = {.column = LISTING_SELF,
			 .chosen_process = STATS_CHOSEN + 1,
			 .chosen = listing__function_at(listing, listing__page_of(listing)->cursor),
			 .is_new = true},
	};

	if (listing->view == LISTING_CALLS &&
	    (!row->function || row->role == STATS_CHOSEN || row->role == STATS_ITSELF))
		return LISTING_NOTHING;
	if (listing->view == LISTING_FUNCTIONS)
		listing->one = listing__process(listing, listing__page_of(listing)->cursor)->id;
	/* On return, the cursor is at this function, even if it was the first. */
	listing__pin(listing);
	if (listing->view != LISTING_CALLS)
		listing->behind_calls = listing->view;
	if (listing->step_count == LISTING_STEPS)
		memmove(listing->steps, listing->steps + 1,
			--listing->step_count * sizeof(*listing->steps));
	listing->steps[listing->step_count++] = step;
	listing->view = LISTING_CALLS;
	return LISTING_COUNT;
}

static enum listing_demand enter(struct listing *listing)
{
	if (listing__page_of(listing)->cursor >= listing->count)
		return LISTING_NOTHING;
	if (!shows_processes(listing))
		return enter_function(listing);
	enter_process(listing);
	return LISTING_NOTHING;
}

/* From a function that is shown with others: only those of its process. */
static void enter_process_of_function(struct listing *listing)
{
	if (listing->is_of_many && listing->view != LISTING_ONE_PROCESS &&
	    listing->view != LISTING_CALLS && listing__page_of(listing)->cursor < listing->count)
		enter_process(listing);
}

/* Clears search and filter; if there were none, goes back to the view before. */
static enum listing_demand leave(struct listing *listing)
{
	struct listing_page *page = listing__page_of(listing);
	bool is_clear = !*page->search && !*page->filter;

	page->search[0] = page->filter[0] = '\0';
	if (!is_clear)
		return LISTING_NOTHING;
	if (listing->view == LISTING_ONE_PROCESS)
		listing->view = listing->behind;
	if (listing->view != LISTING_CALLS)
		return LISTING_NOTHING;
	if (--listing->step_count)
		return LISTING_COUNT;
	listing->view = listing->behind_calls;
	return LISTING_NOTHING;
}

static void change_view(struct listing *listing)
{
	if (!listing->is_of_many)
		return;
	listing->step_count = 0;
	listing->view = listing->view == LISTING_PROCESSES ? LISTING_FUNCTIONS : LISTING_PROCESSES;
}

static void change_average(struct listing *listing)
{
	size_t at = 0;

	while (at < LISTING_SPANS - 1 && listing_spans[at] != listing->average_s)
		at++;
	listing->average_s = listing_spans[(at + 1) % LISTING_SPANS];
}

static enum listing_demand hide(struct listing *listing, enum stats_hidden what)
{
	if (what == STATS_HIDDEN_PLUGINS && !listing->has_plugins)
		return LISTING_NO_PLUGINS;
	listing->hidden ^= what;
	return LISTING_HIDE;
}

/* Keys that change what is shown. */
static enum listing_demand change(struct listing *listing, uint32_t key)
{
	switch (key) {
	case 'v':
	case '\t':
		change_view(listing);
		return LISTING_NOTHING;
	case 'o':
		enter_process_of_function(listing);
		return LISTING_NOTHING;
	case 'a':
		change_average(listing);
		return LISTING_NOTHING;
	case 'g':
	case 'G':
		return hide(listing, STATS_HIDDEN_GC);
	case 'P':
		return hide(listing, STATS_HIDDEN_PLUGINS);
	case LISTING_ENTER:
		return enter(listing);
	case LISTING_ESCAPE:
		return leave(listing);
	}
	return arrange(listing, key);
}

/* Moves in a help that is longer than the screen; all other keys close it. */
static void press_in_help(struct listing *listing, uint32_t key)
{
	uint32_t last = listing->help_last;

	listing->shows_help = last && moves(listing, key, last, &listing->help_first);
}

enum listing_demand listing__press(struct listing *listing, uint32_t key)
{
	if (listing->prompt)
		return press_in_prompt(listing, key);
	if (listing->shows_help && key != 'q') {
		press_in_help(listing, key);
		return LISTING_NOTHING;
	}
	switch (key) {
	case 'h':
	case '?':
		listing->shows_help = true;
		listing->help_first = 0;
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
	return change(listing, key);
}
