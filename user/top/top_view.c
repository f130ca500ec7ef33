/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/top_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "top/facts.h"
#include "top/row_writer.h"
#include "top/table.h"
#include "top/top_help.h"

/* Parts of the screen, and the least height of one that has them. */
enum part {
	TITLE,
	INTERPRETER,
	LAYOUT,
	WORK,
	SPLIT,
	LOSSES,
	COST,
	LIMIT,
	HEAD,
	ROWS,
	STATUS,
	KEYS,
	PARTS
};

static const unsigned heights[PARTS] = {
	[TITLE] = 8, [INTERPRETER] = 14, [LAYOUT] = 14, [WORK] = 6, [SPLIT] = 10, [LOSSES] = 1,
	[COST] = 3,  [LIMIT] = 4,        [HEAD] = 5,    [ROWS] = 4, [STATUS] = 2, [KEYS] = 7,
};

/* If the limit is shown, less important parts need a screen that is one line higher. */
static bool has(const struct top_view *top_view, enum part part)
{
	bool is_limited = top_view->limit.ppm != 0;

	if ((part == LIMIT && !is_limited) || (part == SPLIT && !facts__have_split(top_view)))
		return false;
	return top_view->height >=
	       heights[part] + (is_limited && heights[part] >= heights[LIMIT] && part != LIMIT);
}

uint32_t top_view__rows(const struct top_view *top_view)
{
	uint32_t others = 0;

	for (enum part part = 0; part < PARTS; part++)
		others += part != ROWS && has(top_view, part);
	return top_view->height > others ? top_view->height - others : 0;
}

uint32_t top_view__help_last(const struct top_view *top_view)
{
	uint32_t height = top_view__rows(top_view), count = top_help__lines(top_view->width);

	return height && count > height ? count - height : 0;
}

static uint32_t first_of_help(const struct top_view *top_view)
{
	uint32_t first = top_view->listing->help_first, last = top_view__help_last(top_view);

	return first < last ? first : last;
}

/* Which part of the help is shown. */
static void describe_help(const struct top_view *top_view, char *to, size_t size)
{
	uint32_t first = first_of_help(top_view), height = top_view__rows(top_view);

	snprintf(to, size, "help: %u-%u of %u (arrows, PgDn)", first + 1, first + height,
		 top_help__lines(top_view->width));
}

static const char *why_no_calls(const struct top_view *top_view)
{
	if (!listing__choice(top_view->listing).function)
		return "it had too few samples to be kept (Esc goes back)";
	return "it is hidden (G or P shows it, Esc goes back)";
}

static const char *why_no_rows(const struct top_view *top_view)
{
	const struct listing *listing = top_view->listing;

	if (*listing__page(listing)->filter && listing->row_count)
		return listing->view == LISTING_PROCESSES
			       ? "no process fits the filter (Esc shows all)"
			       : "no function fits the filter (Esc shows all)";
	if (listing->view == LISTING_CALLS)
		return why_no_calls(top_view);
	if (listing->hidden && function_stats__all(top_view->stats)->samples)
		return "all of it is hidden (G or P shows it)";
	if (listing->view != LISTING_ONE_PROCESS)
		return top_view->why_empty;
	return listing__one(listing, top_view->stats)
		       ? "no samples of it"
		       : "it ended long ago: see '" STATS_ENDED_EARLIER "' (Esc goes back)";
}

static void draw_rows(const struct row_writer *writer, uint32_t height)
{
	const struct listing *listing = writer->top_view->listing;
	const struct listing_page *page = listing__page(listing);
	const char *note = why_no_rows(writer->top_view);
	char text[ROW_TEXT_SIZE];

	row_writer__make_printable(writer, note, text, sizeof(text));
	for (uint32_t i = 0; i < height; i++) {
		if (page->first + i < listing->count)
			table__draw_row(writer, page->first + i);
		else
			row_writer__put(writer, STYLE_PLAIN, !i ? text : "");
	}
}

/* How many rows are shown. */
static void count_rows(const struct listing *listing, char *to, size_t size)
{
	const struct listing_page *page = listing__page(listing);
	uint32_t last = page->first + listing->height, counts[STATS_CALLEE + 1] = {0};

	if (listing->view != LISTING_CALLS) {
		last = last < listing->count ? last : listing->count;
		snprintf(to, size, "%u-%u of %u", listing->count ? page->first + 1 : 0, last,
			 listing->count);
		return;
	}
	for (uint32_t at = 0; at < listing->count; at++)
		counts[listing__row(listing, at)->role]++;
	snprintf(to, size, "%u caller%s, %u callee%s", counts[STATS_CALLER],
		 counts[STATS_CALLER] == 1 ? "" : "s", counts[STATS_CALLEE],
		 counts[STATS_CALLEE] == 1 ? "" : "s");
}

/* Which rows are shown, and in what order. */
static void describe_rows(const struct top_view *top_view, char *to, size_t size)
{
	static const char *const functions[LISTING_COLUMNS] = {
		"self% of the last second", "total% of the last second", "self in all",
		"total in all", "name"};
	static const char *const processes[LISTING_COLUMNS] = {"CPU of the last second",
							       "share of script", "CPU time in all",
							       "samples in all", "name"};
	static const char *const calls[LISTING_COLUMNS] = {"CPU of the last second",
							   "share of the last second",
							   "time in all", "share in all", "name"};
	const struct listing *listing = top_view->listing;
	const struct listing_page *page = listing__page(listing);
	const char *const *orders = listing->view == LISTING_PROCESSES ? processes
				    : listing->view == LISTING_CALLS   ? calls
								       : functions;
	char counts[64];

	count_rows(listing, counts, sizeof(counts));
	snprintf(to, size, "%s, by %s%s%s%s%s%s%s", counts, orders[page->column],
		 page->is_reversed ? ", reversed" : "", *page->filter ? ", filter " : "",
		 page->filter, *page->search ? ", search " : "", page->search,
		 listing__finds_nothing(listing) ? ": no match" : "");
}

/* What changes the meaning of all rows: it comes first, so that it is on narrow screens, too. */
static void describe_changes(const struct listing *listing, char *to, size_t size)
{
	char average[16];

	listing__format_average(listing, "avg ", average, sizeof(average));
	to[0] = '\0';
	if (!*average && !listing->hidden)
		return;
	snprintf(to, size, "[%s%s%s%s%s] ", average, *average && listing->hidden ? ", " : "",
		 listing->hidden & STATS_HIDDEN_GC ? "no GC" : "",
		 listing->hidden == STATS_HIDDEN_ALL ? ", " : "",
		 listing->hidden & STATS_HIDDEN_PLUGINS ? "no plugins" : "");
}

/* The last one, unless a line of its own says the same. "": none. */
static const char *shown_message(const struct top_view *top_view)
{
	const char *message = top_view->message ? top_view->message : "";

	return has(top_view, LAYOUT) && !strncmp(message, "layout ", 7) ? "" : message;
}

static void draw_status(const struct row_writer *writer)
{
	const struct top_view *top_view = writer->top_view;
	const struct listing *listing = top_view->listing;
	char raw[ROW_TEXT_SIZE], line[ROW_TEXT_SIZE], *text;
	size_t room;

	describe_changes(listing, raw, sizeof(raw));
	text = raw + strlen(raw);
	room = sizeof(raw) - strlen(raw);
	if (listing->prompt)
		snprintf(text, room, "%s%s_",
			 listing->prompt == LISTING_SEARCH ? "/" : "filter: ", listing->typed);
	else if (*shown_message(top_view))
		snprintf(text, room, "%s", shown_message(top_view));
	else if (listing->shows_help && top_view__help_last(top_view))
		describe_help(top_view, text, room);
	else if (top_view->state == TOP_VIEW_PAUSED)
		snprintf(text, room, "paused: it is still sampled, p shows it again");
	else if (top_view->state == TOP_VIEW_ENDED)
		snprintf(text, room, "ended: this is the last picture, q quits");
	else
		describe_rows(top_view, text, room);
	row_writer__make_printable(writer, raw, line, sizeof(line));
	row_writer__put(writer, STYLE_PLAIN, line);
}

/* The first that fits, or the last. */
static void draw_keys(const struct row_writer *writer)
{
	static const char *const of_one[] = {
		("q:quit h:help Enter:callers Esc:back 1-5:sort i:reverse /:search f:filter "
		 "a:average G:GC P:plugins p:pause w:write r:reset"),
		"q:quit h:help Enter:callers 1-5:sort /:search f:filter a:avg G:GC p:pause w r",
		"q:quit h:help 1-5:sort /:find p w r"};
	static const char *const of_many[] = {
		("q:quit h:help v:view o:one Enter:callers Esc:back 1-5:sort i:reverse /:search "
		 "f:filter a:average G:GC P:plugins p:pause w:write r:reset"),
		("q:quit h:help v:view o:one Enter:open Esc:back 1-5:sort /:search f:filter a p "
		 "w"),
		"q:quit h:help v:view Enter:open Esc:back"};
	const char *const *lines =
		function_stats__is_of_many(writer->top_view->stats) ? of_many : of_one;
	unsigned at = 0;

	while (at < 2 && terminal__width(lines[at]) > row_writer__width(writer))
		at++;
	row_writer__put(writer, STYLE_KEYS, lines[at]);
}

static void draw_part(const struct row_writer *writer, enum part part)
{
	const struct top_view *top_view = writer->top_view;

	switch (part) {
	case TITLE:
		facts__draw_title(writer);
		break;
	case INTERPRETER:
		facts__draw_interpreter(writer);
		break;
	case LAYOUT:
		facts__draw_layout(writer);
		break;
	case WORK:
		facts__draw_work(writer);
		break;
	case SPLIT:
		facts__draw_split(writer);
		break;
	case LOSSES:
		facts__draw_losses(writer);
		break;
	case COST:
		facts__draw_cost(writer);
		break;
	case LIMIT:
		facts__draw_limit(writer);
		break;
	case HEAD:
		table__draw_head(writer);
		break;
	case ROWS:
		if (top_view->listing->shows_help)
			top_help__draw(writer, first_of_help(top_view), top_view__rows(top_view));
		else
			draw_rows(writer, top_view__rows(top_view));
		break;
	case STATUS:
		draw_status(writer);
		break;
	default:
		draw_keys(writer);
		break;
	}
}

void top_view__draw(const struct top_view *top_view,
		    void (*paint)(void *context, enum top_view_style style, const char *text),
		    void *context)
{
	const struct row_writer writer = {top_view, paint, context};

	for (enum part part = 0; part < PARTS; part++)
		if (has(top_view, part))
			draw_part(&writer, part);
}
