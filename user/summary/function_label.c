/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/function_label.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/terminal.h"

#define GAP          2
#define NAME_LEAST   6 /* columns; these two of what is shortened */
#define SOURCE_LEAST 8
#define NATIVE       " <native>"
#define PLUGIN       " <plugin>"

void function_label__make(const struct ls_profile_function *function, struct function_label *label)
{
	bool has_name = function->name && *function->name;
	uint32_t line = function->current_line ? function->current_line : function->line;

	log__printable(has_name ? function->name : "<anonymous>", label->name,
		       sizeof(label->name) - sizeof(NATIVE PLUGIN));
	if (function->flags & LS_FUNCTION_NATIVE)
		strcat(label->name, NATIVE);
	if (function->flags & LS_FUNCTION_PLUGIN)
		strcat(label->name, PLUGIN);
	log__printable(function->source, label->source, sizeof(label->source));
	label->line[0] = label->hot_line[0] = '\0';
	if (line)
		snprintf(label->line, sizeof(label->line), ":%" PRIu32, line);
}

void function_label__add_hot_line(const struct ls_profile *profile, const struct ls_totals *totals,
				  uint32_t id, bool utf8, struct function_label *label)
{
	const struct ls_profile_function *function = &profile->functions[id];
	uint32_t hottest = function->first_line;
	char share[UNITS_SIZE];

	if (!function->line_count)
		return;
	for (uint32_t at = hottest; at < function->first_line + function->line_count; at++)
		if (totals->line_self_us[at] > totals->line_self_us[hottest])
			hottest = at;
	units__format_short_share(totals->line_self_us[hottest], totals->function_self_us[id],
				  share, sizeof(share));
	snprintf(label->hot_line, sizeof(label->hot_line), " %s:%" PRIu32 " %s",
		 utf8 ? "\u2192" : "->", profile->lines[hottest].line, share);
}

/* The end of a path from a '/' on, after an ellipsis. NULL: even the last component is too long. */
static const char *end_that_fits(const char *path, unsigned columns)
{
	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (terminal__width(at) <= columns)
			return at;
	return NULL;
}

/* Chunks of text, [string "..."], keep their beginning, files their name. */
static void shorten_source(const char *source, unsigned columns, bool utf8, char *to, size_t size)
{
	const char *dots = utf8 ? "\u2026" : "...";
	unsigned dots_columns = utf8 ? 1 : 3;
	bool is_text = source[0] == '[', fits = terminal__width(source) <= columns;
	const char *slash = is_text ? NULL : strrchr(source, '/');
	const char *end = NULL;
	size_t length;

	if (slash && !fits && columns > dots_columns)
		end = end_that_fits(source, columns - dots_columns);
	if (end) {
		snprintf(to, size, "%s%s", dots, end);
		return;
	}
	if (slash && slash[1] && !fits)
		source = slash + 1;
	if (terminal__width(source) <= columns) {
		snprintf(to, size, "%s", source);
		return;
	}
	terminal__cell(source, columns, !is_text, utf8, to, size);
	for (length = strlen(to); length && to[length - 1] == ' '; length--)
		to[length - 1] = '\0';
}

unsigned function_label__place_width(const struct function_label *label)
{
	return terminal__width(label->source) + terminal__width(label->line) +
	       terminal__width(label->hot_line);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Formats the name alone. */
static char *fit_name(const struct function_label *label, unsigned room, bool utf8, char *to,
		      size_t size)
{
	return terminal__cell(label->name, least(terminal__width(label->name), room), false, utf8,
			      to, size);
}

/* The columns that the source needs at least: for a path, those of its last component. */
static unsigned source_least(const struct function_label *label)
{
	const char *slash = label->source[0] == '[' ? NULL : strrchr(label->source, '/');

	return slash && slash[1] ? terminal__width(slash + 1)
				 : least(terminal__width(label->source), SOURCE_LEAST);
}

/* The columns of the name, where `place` are those of the lines and the gap. */
static unsigned name_width(const struct function_label *label, unsigned room, unsigned place,
			   unsigned name_columns)
{
	unsigned wanted = terminal__width(label->name), end = source_least(label);
	unsigned share = name_columns ? room * 2 / 5 : room * 3 / 5;
	unsigned width = room > place + end ? room - place - end : 0, limit;

	width = width > name_columns ? width : name_columns;
	width = width > share ? width : share;
	end = least(end, SOURCE_LEAST);
	limit = room > place + end ? room - place - end : 1;
	width = least(least(width, limit), wanted > name_columns ? wanted : name_columns);
	return width ? width : 1;
}

char *function_label__fit(const struct function_label *label, unsigned room, unsigned name_columns,
			  bool utf8, char *to, size_t size)
{
	char name[PRINTER_TEXT_SIZE + UNITS_SIZE], source[PRINTER_TEXT_SIZE + UNITS_SIZE];
	unsigned wanted = terminal__width(label->name), source_width;
	unsigned line = terminal__width(label->line), hot = terminal__width(label->hot_line);
	unsigned columns;

	if (!*label->source && !line)
		return fit_name(label, room, utf8, to, size);
	if (least(wanted, NAME_LEAST) + GAP + least(source_least(label), SOURCE_LEAST) + line +
		    hot >
	    room)
		hot = 0;
	columns = name_width(label, room, GAP + line + hot, name_columns);
	terminal__cell(label->name, columns, false, utf8, name, sizeof(name));
	source_width = room > columns + GAP + line + hot ? room - columns - GAP - line - hot : 1;
	shorten_source(label->source, source_width, utf8, source, sizeof(source));
	snprintf(to, size, "%s%*s%s%s%s", name, GAP, "", source, label->line,
		 hot ? label->hot_line : "");
	return to;
}
