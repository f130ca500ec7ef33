/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/top_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "base/units.h"
#include "top/row_writer.h"
#include "top/table.h"
#include "walk_error.h"

#define NS_PER_S UINT64_C(1000000000)

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

/* What virtual machines did that compile. */
struct split {
	uint64_t recent_weight_ns;
	struct script_split recent, all;
};

/* Of the process whose functions are shown, or of all. */
static struct split shown_split(const struct top_view *top_view)
{
	const struct stats_sums *recent = function_stats__recent(top_view->stats);
	const struct stats_process *one;

	if (!listing__is_of_one(top_view->listing))
		return (struct split){recent->weight_ns, recent->split,
				      function_stats__all(top_view->stats)->split};
	one = listing__one(top_view->listing, top_view->stats);
	return one ? (struct split){one->recent_weight_ns, one->recent_split, one->all_split}
		   : (struct split){};
}

/*
 * The line stays once something was compiled, so that the table does not move whenever a second has
 * none of it. The help needs the room.
 */
static bool has_split(const struct top_view *top_view)
{
	const struct split split = shown_split(top_view);

	return !top_view->listing->shows_help && script_split__has_compiled(&split.all);
}

/* If the limit is shown, less important parts need a screen that is one line higher. */
static bool has(const struct top_view *top_view, enum part part)
{
	bool is_limited = top_view->limit.ppm != 0;

	if ((part == LIMIT && !is_limited) || (part == SPLIT && !has_split(top_view)))
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

/* The processes, or which of them is shown, and how many of these there are. */
static void describe_processes(const struct top_view *top_view, char *to, size_t size)
{
	const char *target = top_view->target ? top_view->target : "";
	const struct stats_process *one;
	size_t living = function_stats__living(top_view->stats),
	       ended = function_stats__ended(top_view->stats);
	char counts[64] = "";
	int used = 0;

	if (!function_stats__is_of_many(top_view->stats)) {
		snprintf(to, size, "%s", target);
		return;
	}
	if (listing__is_of_one(top_view->listing)) {
		one = listing__one(top_view->listing, top_view->stats);
		used = snprintf(to, size, "%s%s of ", one ? one->name : STATS_ENDED_EARLIER,
				!one || one->has_ended ? ", ended," : "");
	}
	if (used < 0 || (size_t)used >= size)
		return;
	if (living || !ended)
		snprintf(counts, sizeof(counts), "%zu process%s%s", living, living == 1 ? "" : "es",
			 ended ? ", " : "");
	if (ended)
		snprintf(counts + strlen(counts), sizeof(counts) - strlen(counts), "%zu ended",
			 ended);
	snprintf(to + used, size - (size_t)used, "%s: %s", target, counts);
}

/* Also the function whose callers and callees are shown. */
static void describe_target(const struct top_view *top_view, char *to, size_t size)
{
	const struct stats_row *function = function_calls__chosen(top_view->stats);
	size_t used;

	to[0] = '\0';
	if (top_view->listing->view == LISTING_CALLS && function)
		snprintf(to, size, "%s%s in ", listing__name(function),
			 function->is_plugin ? " <plugin>" : "");
	used = strlen(to);
	describe_processes(top_view, to + used, size - used);
}

static void draw_title(const struct row_writer *writer)
{
	static const char *const states[] = {"", "[paused] ", "[ended] "};
	const struct top_view *top_view = writer->top_view;
	unsigned width = row_writer__width(writer), right_width;
	char clock[UNITS_SIZE], right[64], left[PEN_TEXT_SIZE + 16], target[PEN_TEXT_SIZE];
	char raw[PEN_TEXT_SIZE];
	char cell[PEN_LINE_SIZE], line[PEN_LINE_SIZE + 64];

	units__format_clock(function_stats__all(top_view->stats)->elapsed_ns, clock, sizeof(clock));
	clock[strcspn(clock, ".")] = '\0';
	snprintf(right, sizeof(right), " %s%s", states[top_view->state], clock);
	right_width = terminal__width(right);
	describe_target(top_view, raw, sizeof(raw));
	row_writer__make_printable(writer, raw, target, sizeof(target));
	snprintf(left, sizeof(left), "luaspy top: %s", target);
	terminal__cell(left, width > right_width + 2 ? width - right_width : 2, false,
		       top_view->is_utf8, cell, sizeof(cell));
	snprintf(line, sizeof(line), "%s%s", cell, right);
	row_writer__put(writer, PICTURE_TITLE, line);
}

static void draw_fact(const struct row_writer *writer, const char *label, const char *fact,
		      const char *none)
{
	char text[PEN_TEXT_SIZE], line[PEN_TEXT_SIZE + 16];

	row_writer__make_printable(writer, fact ? fact : none, text, sizeof(text));
	snprintf(line, sizeof(line), "%s%s", label, text);
	row_writer__put(writer, PICTURE_PLAIN, line);
}

/* What the processes did since the last update. */
static void draw_work(const struct row_writer *writer)
{
	const struct stats_sums *recent = function_stats__recent(writer->top_view->stats);
	char cpu[UNITS_SIZE], script[UNITS_SIZE], gc[UNITS_SIZE] = "?", rate[UNITS_SIZE] = "-";
	char full[256], brief[256], when[32] = "now   ";
	uint64_t elapsed_ns = recent->elapsed_ns;

	units__format_share(recent->cpu_ns, recent->elapsed_ns, cpu, sizeof(cpu));
	units__format_share(recent->script_ns, recent->weight_ns, script, sizeof(script));
	if (writer->top_view->gc_is_known)
		units__format_share(recent->gc_ns, recent->weight_ns, gc, sizeof(gc));
	if (elapsed_ns)
		units__format_count(
			(uint64_t)((unsigned __int128)recent->samples * NS_PER_S / elapsed_ns),
			rate, sizeof(rate));
	if (elapsed_ns > 3 * NS_PER_S / 2)
		snprintf(when, sizeof(when), "last %" PRIu64 " s  ",
			 (elapsed_ns + NS_PER_S / 2) / NS_PER_S);
	snprintf(full, sizeof(full), "%sCPU %s of a processor: script %s, GC %s; %s samples/s",
		 when, cpu, script, gc, rate);
	snprintf(brief, sizeof(brief), "CPU %s script %s GC %s %s/s", cpu, script, gc, rate);
	row_writer__put_either(writer, PICTURE_PLAIN, full, brief);
}

/* A share that is cut off would be another one, so the brief line has whole parts only. */
static void draw_split(const struct row_writer *writer)
{
	const struct split split = shown_split(writer->top_view);
	unsigned width = row_writer__width(writer);
	char parts[SCRIPT_SPLIT_SIZE], full[SCRIPT_SPLIT_SIZE + 8], brief[SCRIPT_SPLIT_SIZE];

	script_split__describe(&split.recent, split.recent_weight_ns, parts, sizeof(parts));
	snprintf(full, sizeof(full), "code  %s", parts);
	script_split__describe_briefly(&split.recent, split.recent_weight_ns, brief,
				       width < sizeof(brief) ? width + 1 : sizeof(brief));
	row_writer__put_either(writer, PICTURE_PLAIN, full, brief);
}

static void draw_losses(const struct row_writer *writer)
{
	const struct stats_sums *all = function_stats__all(writer->top_view->stats);
	char dropped[UNITS_SIZE], unreadable[UNITS_SIZE], torn[UNITS_SIZE], truncated[UNITS_SIZE];
	char samples[UNITS_SIZE], not_kept[UNITS_SIZE], more[64] = "", full[384], brief[320];
	char missed[64] = "", short_missed[64] = "";

	units__format_count(all->classes[LS_SAMPLE_DROPPED], dropped, sizeof(dropped));
	units__format_count(all->classes[LS_SAMPLE_UNREADABLE], unreadable, sizeof(unreadable));
	units__format_count(all->classes[LS_SAMPLE_TORN], torn, sizeof(torn));
	units__format_count(all->classes[LS_SAMPLE_TRUNCATED], truncated, sizeof(truncated));
	units__format_count(all->samples, samples, sizeof(samples));
	if (all->not_kept)
		snprintf(more, sizeof(more), ", not kept %s",
			 units__format_count(all->not_kept, not_kept, sizeof(not_kept)));
	if (all->missed) {
		snprintf(missed, sizeof(missed), "processes %" PRIu64 ", ", all->missed);
		snprintf(short_missed, sizeof(short_missed), "procs %" PRIu64 " ", all->missed);
	}
	snprintf(full, sizeof(full),
		 "lost  %sdropped %s, unreadable %s, torn %s, truncated %s%s of %s", missed,
		 dropped, unreadable, torn, truncated, more, samples);
	snprintf(brief, sizeof(brief), "%sdrop %s unread %s torn %s trunc %s%s", short_missed,
		 dropped, unreadable, torn, truncated, more);
	row_writer__put_either(writer, PICTURE_PLAIN, full, brief);
}

static void draw_cost(const struct row_writer *writer)
{
	const struct top_view *top_view = writer->top_view;
	uint64_t elapsed_ns = function_stats__recent(top_view->stats)->elapsed_ns;
	char own[UNITS_SIZE], bpf[UNITS_SIZE], bpf_cost[64] = "", full[256], brief[256];
	const char *plural = top_view->warnings == 1 ? "" : "s";

	units__format_share(top_view->own_cpu_ns, elapsed_ns, own, sizeof(own));
	if (top_view->bpf_ns)
		snprintf(bpf_cost, sizeof(bpf_cost), ", BPF %s",
			 units__format_share(top_view->bpf_ns, elapsed_ns, bpf, sizeof(bpf)));
	snprintf(full, sizeof(full), "cost  luaspy %s%s of a processor; %" PRIu64 " warning%s", own,
		 bpf_cost, top_view->warnings, plural);
	snprintf(brief, sizeof(brief), "luaspy %s%s %" PRIu64 " warning%s", own, bpf_cost,
		 top_view->warnings, plural);
	row_writer__put_either(writer, PICTURE_PLAIN, full, brief);
}

/* The cost compared with --max-overhead, and the frequency that results. */
static void draw_limit(const struct row_writer *writer)
{
	const struct top_view_limit *limit = &writer->top_view->limit;
	char allowed[UNITS_SIZE], now[UNITS_SIZE], all[UNITS_SIZE];
	char frequency[UNITS_SIZE], asked[UNITS_SIZE], instead[UNITS_SIZE + 8] = "";
	char full[256], brief[256];

	units__format_percent(limit->ppm, allowed, sizeof(allowed));
	units__format_share(limit->recent_ns,
			    function_stats__recent(writer->top_view->stats)->cpu_ns, now,
			    sizeof(now));
	units__format_share(limit->all_ns, limit->all_cpu_ns, all, sizeof(all));
	units__format_frequency(limit->period_ns, frequency, sizeof(frequency));
	units__format_frequency(limit->asked_period_ns, asked, sizeof(asked));
	if (limit->period_ns != limit->asked_period_ns)
		snprintf(instead, sizeof(instead), ", not %s", asked);
	snprintf(full, sizeof(full), "limit %s of targets' CPU: %s now, %s in all; at %s%s",
		 allowed, now, all, frequency, instead);
	snprintf(brief, sizeof(brief), "%s %s of %s, all %s", frequency, now, allowed, all);
	row_writer__put_either(writer, PICTURE_PLAIN, full, brief);
}

uint32_t top_view__help_last(const struct top_view *top_view)
{
	uint32_t height = top_view__rows(top_view), count = table__help_lines(top_view->width);

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
		 table__help_lines(top_view->width));
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
	char text[PEN_TEXT_SIZE];

	row_writer__make_printable(writer, note, text, sizeof(text));
	for (uint32_t i = 0; i < height; i++) {
		if (page->first + i < listing->count)
			table__draw_row(writer, page->first + i);
		else
			row_writer__put(writer, PICTURE_PLAIN, !i ? text : "");
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
	char raw[PEN_TEXT_SIZE], line[PEN_TEXT_SIZE], *text;
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
	else if (top_view->state == PICTURE_PAUSED)
		snprintf(text, room, "paused: it is still sampled, p shows it again");
	else if (top_view->state == PICTURE_ENDED)
		snprintf(text, room, "ended: this is the last picture, q quits");
	else
		describe_rows(top_view, text, room);
	row_writer__make_printable(writer, raw, line, sizeof(line));
	row_writer__put(writer, PICTURE_PLAIN, line);
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
	row_writer__put(writer, PICTURE_KEYS, lines[at]);
}

static void draw_part(const struct row_writer *writer, enum part part)
{
	const struct top_view *top_view = writer->top_view;

	switch (part) {
	case TITLE:
		draw_title(writer);
		break;
	case INTERPRETER:
		draw_fact(writer, "", top_view->interpreter, "no interpreter found yet");
		break;
	case LAYOUT:
		draw_fact(writer, "layout ", top_view->layout, "undecided");
		break;
	case WORK:
		draw_work(writer);
		break;
	case SPLIT:
		draw_split(writer);
		break;
	case LOSSES:
		draw_losses(writer);
		break;
	case COST:
		draw_cost(writer);
		break;
	case LIMIT:
		draw_limit(writer);
		break;
	case HEAD:
		table__draw_head(writer);
		break;
	case ROWS:
		if (top_view->listing->shows_help)
			table__draw_help(writer, first_of_help(top_view), top_view__rows(top_view));
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
