/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "log.h"
#include "terminal.h"
#include "units.h"
#include "walk_error.h"

#define NS_PER_S    UINT64_C(1000000000)
#define TEXT_SIZE   2560 /* a chunk name of LS_SOURCE_LEN bytes, all escaped, and a line */
#define LINE_SIZE   8192 /* a screen of WIDTH_MAX, with marks on every character */
#define WIDTH_MAX   512
#define WIDTH_TIMES 64 /* below it, the table has only what it is sorted by */
#define MARKS_MAX   2  /* on one character, which has a column: a name may have hundreds */

/* Parts of the screen, and the least height of one that has them. */
enum part { TITLE, INTERPRETER, LAYOUT, WORK, LOSSES, COST, HEAD, ROWS, STATUS, KEYS, PARTS };

static const unsigned heights[PARTS] = {
	[TITLE] = 8, [INTERPRETER] = 14, [LAYOUT] = 14, [WORK] = 6,   [LOSSES] = 1,
	[COST] = 3,  [HEAD] = 5,         [ROWS] = 4,    [STATUS] = 2, [KEYS] = 7,
};

struct pen {
	const struct picture *picture;
	void (*paint)(void *context, enum picture_style style, const char *text);
	void *context;
};

uint32_t picture__rows(unsigned height)
{
	uint32_t others = 0;

	for (int part = 0; part < PARTS; part++)
		others += part != ROWS && height >= heights[part];
	return height > others ? height - others : 0;
}

static unsigned width_of(const struct picture *picture)
{
	return picture->width < WIDTH_MAX ? picture->width : WIDTH_MAX;
}

/*
 * As log__printable(), and what this terminal cannot show, or shows as one on top of the other, is
 * escaped too.
 */
static void make_printable(const struct picture *picture, const char *text, char *to, size_t size)
{
	char safe[TEXT_SIZE];
	unsigned marks = 0;
	size_t used = 0;

	log__printable(text, safe, sizeof(safe));
	for (const char *from = safe; *from && used + 17 < size;) {
		uint32_t character = 0;
		size_t length = terminal__decode(from, &character);
		int width = character < 0x80 ? 1 : wcwidth((wchar_t)character);

		length = length ? length : 1;
		marks = width ? 0 : marks + 1;
		if (character < 0x80 || (picture->is_utf8 && width >= 0 && marks <= MARKS_MAX)) {
			memcpy(to + used, from, length);
			used += length;
		} else {
			for (size_t i = 0; i < length; i++)
				used += (size_t)snprintf(to + used, size - used, "\\x%02x",
							 (unsigned char)from[i]);
		}
		from += length;
	}
	to[used] = '\0';
}

/* Every line goes through here, so none is wider than the screen. */
static void put(const struct pen *pen, enum picture_style style, const char *line)
{
	char text[LINE_SIZE];
	size_t bytes = terminal__fit(line, width_of(pen->picture), NULL);

	snprintf(text, sizeof(text), "%.*s", (int)bytes, line);
	pen->paint(pen->context, style, text);
}

/* The longer of two ways to say it that fits. */
static void put_either(const struct pen *pen, enum picture_style style, const char *full,
		       const char *brief)
{
	put(pen, style, terminal__width(full) <= width_of(pen->picture) ? full : brief);
}

static void draw_title(const struct pen *pen)
{
	static const char *const states[] = {"", "[paused] ", "[ended] "};
	const struct picture *picture = pen->picture;
	unsigned width = width_of(picture), right_width;
	char clock[UNITS_SIZE], right[64], left[TEXT_SIZE + 16], target[TEXT_SIZE];
	char cell[LINE_SIZE], line[LINE_SIZE + 64];

	units__format_clock(tally__all(picture->tally)->elapsed_ns, clock, sizeof(clock));
	clock[strcspn(clock, ".")] = '\0';
	snprintf(right, sizeof(right), " %s%s", states[picture->state], clock);
	right_width = terminal__width(right);
	make_printable(picture, picture->target, target, sizeof(target));
	snprintf(left, sizeof(left), "luaspy top: %s", target);
	terminal__cell(left, width > right_width + 2 ? width - right_width : 2, false,
		       picture->is_utf8, cell, sizeof(cell));
	snprintf(line, sizeof(line), "%s%s", cell, right);
	put(pen, PICTURE_TITLE, line);
}

static void draw_fact(const struct pen *pen, const char *label, const char *fact, const char *none)
{
	char text[TEXT_SIZE], line[TEXT_SIZE + 16];

	make_printable(pen->picture, fact ? fact : none, text, sizeof(text));
	snprintf(line, sizeof(line), "%s%s", label, text);
	put(pen, PICTURE_PLAIN, line);
}

/* What the process did since the last look. */
static void draw_work(const struct pen *pen)
{
	const struct tally_sums *recent = tally__recent(pen->picture->tally);
	char cpu[UNITS_SIZE], script[UNITS_SIZE], collector[UNITS_SIZE] = "?", rate[UNITS_SIZE];
	char full[256], brief[256], when[32] = "now   ";
	uint64_t elapsed_ns = recent->elapsed_ns ? recent->elapsed_ns : 1;

	units__format_share(recent->cpu_ns, elapsed_ns, cpu, sizeof(cpu));
	units__format_share(recent->script, recent->samples, script, sizeof(script));
	if (pen->picture->collector_is_known)
		units__format_share(recent->collector, recent->samples, collector,
				    sizeof(collector));
	units__format_count((uint64_t)((unsigned __int128)recent->samples * NS_PER_S / elapsed_ns),
			    rate, sizeof(rate));
	if (elapsed_ns > 3 * NS_PER_S / 2)
		snprintf(when, sizeof(when), "last %" PRIu64 " s  ",
			 (elapsed_ns + NS_PER_S / 2) / NS_PER_S);
	snprintf(full, sizeof(full), "%sCPU %s of a processor: script %s, GC %s; %s samples/s",
		 when, cpu, script, collector, rate);
	snprintf(brief, sizeof(brief), "CPU %s script %s GC %s %s/s", cpu, script, collector, rate);
	put_either(pen, PICTURE_PLAIN, full, brief);
}

static void draw_losses(const struct pen *pen)
{
	const struct tally_sums *all = tally__all(pen->picture->tally);
	char dropped[UNITS_SIZE], unreadable[UNITS_SIZE], torn[UNITS_SIZE], truncated[UNITS_SIZE];
	char samples[UNITS_SIZE], not_kept[UNITS_SIZE], more[64] = "", full[384], brief[256];

	units__format_count(all->classes[LS_SAMPLE_DROPPED], dropped, sizeof(dropped));
	units__format_count(all->classes[LS_SAMPLE_UNREADABLE], unreadable, sizeof(unreadable));
	units__format_count(all->classes[LS_SAMPLE_TORN], torn, sizeof(torn));
	units__format_count(all->classes[LS_SAMPLE_TRUNCATED], truncated, sizeof(truncated));
	units__format_count(all->samples, samples, sizeof(samples));
	if (all->not_kept)
		snprintf(more, sizeof(more), ", not kept %s",
			 units__format_count(all->not_kept, not_kept, sizeof(not_kept)));
	snprintf(full, sizeof(full),
		 "lost  dropped %s, unreadable %s, torn %s, truncated %s%s of %s", dropped,
		 unreadable, torn, truncated, more, samples);
	snprintf(brief, sizeof(brief), "drop %s unread %s torn %s trunc %s%s", dropped, unreadable,
		 torn, truncated, more);
	put_either(pen, PICTURE_PLAIN, full, brief);
}

static void draw_cost(const struct pen *pen)
{
	const struct picture *picture = pen->picture;
	uint64_t elapsed_ns = tally__recent(picture->tally)->elapsed_ns;
	char own[UNITS_SIZE], bpf[UNITS_SIZE], bpf_cost[64] = "", full[256], brief[256];
	const char *plural = picture->warnings == 1 ? "" : "s";

	units__format_share(picture->own_cpu_ns, elapsed_ns, own, sizeof(own));
	if (picture->bpf_ns)
		snprintf(bpf_cost, sizeof(bpf_cost), ", BPF %s",
			 units__format_share(picture->bpf_ns, elapsed_ns, bpf, sizeof(bpf)));
	snprintf(full, sizeof(full), "cost  luaspy %s%s of a processor; %" PRIu64 " warning%s", own,
		 bpf_cost, picture->warnings, plural);
	snprintf(brief, sizeof(brief), "luaspy %s%s %" PRIu64 " warning%s", own, bpf_cost,
		 picture->warnings, plural);
	put_either(pen, PICTURE_PLAIN, full, brief);
}

/* "123.45s", "123m05s", "123h05m": eight columns. */
static const char *format_time(uint64_t ns, char *to, size_t size)
{
	uint64_t hundredths = (ns + NS_PER_S / 200) / (NS_PER_S / 100);
	uint64_t seconds = (ns + NS_PER_S / 2) / NS_PER_S;

	if (hundredths < 100000)
		snprintf(to, size, "%" PRIu64 ".%02us", hundredths / 100,
			 (unsigned)(hundredths % 100));
	else if (seconds < 60000)
		snprintf(to, size, "%" PRIu64 "m%02us", seconds / 60, (unsigned)(seconds % 60));
	else
		snprintf(to, size, "%" PRIu64 "h%02um", seconds / 3600,
			 (unsigned)(seconds / 60 % 60));
	return to;
}

static bool has_times(const struct picture *picture)
{
	return width_of(picture) >= WIDTH_TIMES;
}

/* Whether the pair of columns is shown: the last second's, or all. */
static bool shows(const struct picture *picture, bool is_recent)
{
	enum listing_column column = picture->listing->column;

	if (has_times(picture))
		return true;
	return is_recent != (column == LISTING_SELF || column == LISTING_TOTAL);
}

/* What stands before the name, in `line`, which is long enough; its columns. */
static unsigned begin_row(const struct picture *picture, const char *pid,
			  const char *const cells[LISTING_NAME], char *line, size_t size)
{
	size_t used = 0;

	line[0] = '\0';
	if (tally__processes(picture->tally) > 1)
		used += (size_t)snprintf(line + used, size - used, "%7s ", pid);
	if (shows(picture, true))
		used += (size_t)snprintf(line + used, size - used, "%7s %7s ",
					 cells[LISTING_RECENT_SELF], cells[LISTING_RECENT_TOTAL]);
	if (shows(picture, false))
		used += (size_t)snprintf(line + used, size - used, "%8s %8s ", cells[LISTING_SELF],
					 cells[LISTING_TOTAL]);
	used += (size_t)snprintf(line + used, size - used, " ");
	return (unsigned)used;
}

/* The name and the place after what begin_row() wrote. */
static void end_row(const struct pen *pen, enum picture_style style, const char *name,
		    const char *place, const char *start, unsigned start_width)
{
	const struct picture *picture = pen->picture;
	unsigned width = width_of(picture);
	unsigned room = width > start_width + 4 ? width - start_width : 4;
	char both[2 * TEXT_SIZE], left[LINE_SIZE / 2], right[LINE_SIZE / 2] = "";
	char line[LINE_SIZE + 256];

	if (!has_times(picture)) {
		snprintf(both, sizeof(both), "%s%s%s", name, *place ? " " : "", place);
		terminal__cell(both, room, false, picture->is_utf8, left, sizeof(left));
	} else {
		unsigned name_width = room * 2 / 5;

		terminal__cell(name, name_width, false, picture->is_utf8, left, sizeof(left));
		terminal__cell(place, room - name_width - 1, true, picture->is_utf8, right,
			       sizeof(right));
	}
	snprintf(line, sizeof(line), "%s%s%s%s", start, left, *right ? " " : "", right);
	put(pen, style, line);
}

static void draw_head(const struct pen *pen)
{
	static const char *const names[LISTING_COLUMNS] = {"self%", "total%", "self", "total",
							   "function"};
	const struct listing *listing = pen->picture->listing;
	char heads[LISTING_COLUMNS][16], line[128];
	const char *cells[LISTING_NAME];
	unsigned width;

	for (unsigned column = 0; column < LISTING_COLUMNS; column++) {
		const char *mark = listing->is_reversed ? "<" : ">";

		snprintf(heads[column], sizeof(heads[column]), "%s%s",
			 column == listing->column ? mark : "", names[column]);
		if (column < LISTING_NAME)
			cells[column] = heads[column];
	}
	width = begin_row(pen->picture, "pid", cells, line, sizeof(line));
	end_row(pen, PICTURE_HEAD, heads[LISTING_NAME], has_times(pen->picture) ? "source" : "",
		line, width);
}

static void draw_row(const struct pen *pen, uint32_t at)
{
	const struct picture *picture = pen->picture;
	const struct listing *listing = picture->listing;
	const struct tally_row *row = &listing->rows[listing->order[at]];
	const struct tally_sums *recent = tally__recent(picture->tally);
	const struct tally_sums *all = tally__all(picture->tally);
	char texts[LISTING_NAME][UNITS_SIZE], pid[16], line[128];
	char raw[TEXT_SIZE], name[TEXT_SIZE], place[TEXT_SIZE];
	const char *const cells[LISTING_NAME] = {texts[0], texts[1], texts[2], texts[3]};
	enum picture_style style = PICTURE_PLAIN;
	unsigned width;

	units__format_share(tally__ns(recent, row->recent.self), recent->elapsed_ns, texts[0],
			    UNITS_SIZE);
	units__format_share(tally__ns(recent, row->recent.total), recent->elapsed_ns, texts[1],
			    UNITS_SIZE);
	format_time(tally__ns(all, row->all.self), texts[2], UNITS_SIZE);
	format_time(tally__ns(all, row->all.total), texts[3], UNITS_SIZE);
	snprintf(pid, sizeof(pid), "%d", row->pid);
	width = begin_row(picture, pid, cells, line, sizeof(line));
	make_printable(picture, listing__name(row), name, sizeof(name));
	listing__place(row, raw, sizeof(raw));
	make_printable(picture, raw, place, sizeof(place));
	if (listing__is_found(listing, row))
		style = PICTURE_FOUND;
	if (at == listing->cursor)
		style = PICTURE_CURSOR;
	end_row(pen, style, name, place, line, width);
}

static const char *const help[] = {
	"1 2      sort by self%, total%: of one processor, in the last second",
	"3 4 5    by self, total: CPU time since the start or r; by name",
	"< >  i   sort by the column beside; reverse",
	"arrows, PgUp, PgDn, Home, End: move; the cursor stays with its function",
	"/  n  N  search in names and sources; next, previous",
	"f        show only rows with some text in them",
	"Esc      forget search and filter",
	"p Space  freeze the picture, and go on; it is sampled all the time",
	"r        count from zero (what w writes has all)",
	"w        write the profile so far to NAME-PID-DATE.json",
	"q Ctrl-C quit",
	"self is a function's own, total with all that it calls; samples count",
	"as soon as they are there, and share the CPU time that the kernel charged",
};

static void draw_rows(const struct pen *pen, uint32_t height)
{
	const struct listing *listing = pen->picture->listing;
	const size_t help_count = sizeof(help) / sizeof(help[0]);
	const char *note = pen->picture->why_empty;
	char text[TEXT_SIZE];

	if (*listing->filter && listing->row_count)
		note = "no function fits the filter (Esc shows all)";
	make_printable(pen->picture, note, text, sizeof(text));
	for (uint32_t i = 0; i < height; i++) {
		if (listing->shows_help)
			put(pen, PICTURE_PLAIN, i < help_count ? help[i] : "");
		else if (listing->first + i < listing->count)
			draw_row(pen, listing->first + i);
		else
			put(pen, PICTURE_PLAIN, !i ? text : "");
	}
}

/* Which rows, in what order. */
static void describe_rows(const struct picture *picture, char *to, size_t size)
{
	static const char *const orders[LISTING_COLUMNS] = {"self% of the last second",
							    "total% of the last second",
							    "self in all", "total in all", "name"};
	const struct listing *listing = picture->listing;
	uint32_t last = listing->first + listing->height;

	last = last < listing->count ? last : listing->count;
	snprintf(to, size, "%u-%u of %u, by %s%s%s%s%s%s", listing->count ? listing->first + 1 : 0,
		 last, listing->count, orders[listing->column],
		 listing->is_reversed ? ", reversed" : "", *listing->filter ? ", filter " : "",
		 listing->filter, *listing->search ? ", search " : "", listing->search);
}

static void draw_status(const struct pen *pen)
{
	const struct picture *picture = pen->picture;
	const struct listing *listing = picture->listing;
	char raw[TEXT_SIZE], line[TEXT_SIZE];

	if (listing->prompt)
		snprintf(raw, sizeof(raw), "%s%s_",
			 listing->prompt == LISTING_SEARCH ? "/" : "filter: ", listing->typed);
	else if (picture->message && *picture->message)
		snprintf(raw, sizeof(raw), "%s", picture->message);
	else if (picture->state == PICTURE_PAUSED)
		snprintf(raw, sizeof(raw), "paused: it is still sampled, p shows it again");
	else if (picture->state == PICTURE_ENDED)
		snprintf(raw, sizeof(raw), "ended: this is the last picture, q quits");
	else
		describe_rows(picture, raw, sizeof(raw));
	make_printable(picture, raw, line, sizeof(line));
	put(pen, PICTURE_PLAIN, line);
}

static void draw_part(const struct pen *pen, enum part part)
{
	const struct picture *picture = pen->picture;

	switch (part) {
	case TITLE:
		draw_title(pen);
		break;
	case INTERPRETER:
		draw_fact(pen, "", picture->interpreter, "no Lua found yet");
		break;
	case LAYOUT:
		draw_fact(pen, "layout ", picture->layout, "undecided");
		break;
	case WORK:
		draw_work(pen);
		break;
	case LOSSES:
		draw_losses(pen);
		break;
	case COST:
		draw_cost(pen);
		break;
	case HEAD:
		draw_head(pen);
		break;
	case ROWS:
		draw_rows(pen, picture__rows(picture->height));
		break;
	case STATUS:
		draw_status(pen);
		break;
	default:
		put_either(pen, PICTURE_KEYS,
			   "q:quit h:help 1-5:sort i:reverse /:search f:filter p:pause w:write "
			   "r:reset",
			   "q:quit h:help 1-5:sort /:find p w r");
		break;
	}
}

void picture__draw(const struct picture *picture,
		   void (*paint)(void *context, enum picture_style style, const char *text),
		   void *context)
{
	const struct pen pen = {picture, paint, context};

	for (int part = 0; part < PARTS; part++)
		if (picture->height >= heights[part])
			draw_part(&pen, (enum part)part);
}
