/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "base/units.h"
#include "walk_error.h"

#define NS_PER_S UINT64_C(1000000000)

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

void facts__draw_title(const struct row_writer *writer)
{
	static const char *const states[] = {"", "[paused] ", "[ended] "};
	const struct top_view *top_view = writer->top_view;
	unsigned width = row_writer__width(writer), right_width;
	char clock[UNITS_SIZE], right[64], left[ROW_TEXT_SIZE + 16], target[ROW_TEXT_SIZE];
	char raw[ROW_TEXT_SIZE];
	char cell[ROW_LINE_SIZE], line[ROW_LINE_SIZE + 64];

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
	row_writer__put(writer, STYLE_TITLE, line);
}

static void draw_fact(const struct row_writer *writer, const char *label, const char *fact,
		      const char *none)
{
	char text[ROW_TEXT_SIZE], line[ROW_TEXT_SIZE + 16];

	row_writer__make_printable(writer, fact ? fact : none, text, sizeof(text));
	snprintf(line, sizeof(line), "%s%s", label, text);
	row_writer__put(writer, STYLE_PLAIN, line);
}

void facts__draw_interpreter(const struct row_writer *writer)
{
	draw_fact(writer, "", writer->top_view->interpreter, "no interpreter found yet");
}

void facts__draw_layout(const struct row_writer *writer)
{
	draw_fact(writer, "layout ", writer->top_view->layout, "undecided");
}

void facts__draw_work(const struct row_writer *writer)
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
	row_writer__put_either(writer, STYLE_PLAIN, full, brief);
}

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

bool facts__have_split(const struct top_view *top_view)
{
	const struct split split = shown_split(top_view);

	return !top_view->listing->shows_help && script_split__has_compiled(&split.all);
}

/* A share that is cut off would be another one, so the brief line has whole parts only. */
void facts__draw_split(const struct row_writer *writer)
{
	const struct split split = shown_split(writer->top_view);
	unsigned width = row_writer__width(writer);
	char parts[SCRIPT_SPLIT_SIZE], full[SCRIPT_SPLIT_SIZE + 8], brief[SCRIPT_SPLIT_SIZE];

	script_split__describe(&split.recent, split.recent_weight_ns, parts, sizeof(parts));
	snprintf(full, sizeof(full), "code  %s", parts);
	script_split__describe_briefly(&split.recent, split.recent_weight_ns, brief,
				       width < sizeof(brief) ? width + 1 : sizeof(brief));
	row_writer__put_either(writer, STYLE_PLAIN, full, brief);
}

void facts__draw_losses(const struct row_writer *writer)
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
	row_writer__put_either(writer, STYLE_PLAIN, full, brief);
}

void facts__draw_cost(const struct row_writer *writer)
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
	row_writer__put_either(writer, STYLE_PLAIN, full, brief);
}

void facts__draw_limit(const struct row_writer *writer)
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
	row_writer__put_either(writer, STYLE_PLAIN, full, brief);
}
