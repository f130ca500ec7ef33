/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view_fixture.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct shown_function view_program[VIEW_PROGRAM_FUNCTIONS] = {
	{"@/srv/app/main.lua", "main chunk", 0, 0, 0, NULL},
	{"@/srv/app/main.lua", "hot", 10, 100, 600, "main chunk"},
	{"@/srv/app/json.lua", NULL, 5, 50, 300, "main chunk"},
	{"[C]", "string.rep", 0, 1, 100, "hot"},
};

int view_fixture__set_up(void **state, const struct top_view *top_view)
{
	struct view_fixture *screen = calloc(1, sizeof(*screen));

	*state = screen;
	if (!screen || !setlocale(LC_CTYPE, "C.UTF-8"))
		return -1;
	listing__init(&screen->listing, LISTING_RECENT_SELF);
	screen->top_view = *top_view;
	screen->top_view.width = 80;
	screen->top_view.height = 24;
	screen->top_view.is_utf8 = true;
	screen->top_view.listing = &screen->listing;
	return 0;
}

int view_fixture__tear_down(void **state)
{
	struct view_fixture *screen = *state;

	setlocale(LC_CTYPE, "C");
	listing__free(&screen->listing);
	function_stats__free(screen->stats);
	free(screen);
	return 0;
}

void view_fixture__show(struct view_fixture *screen, const struct shown_function *functions,
			uint32_t count, int processes)
{
	function_stats__free(screen->stats);
	screen->stats = showing__stats(functions, count, processes);
	screen->top_view.stats = screen->stats;
}

int view_fixture__set_up_program(void **state)
{
	const struct top_view top_view = {
		.target = "lua5.4 (pid 42)",
		.interpreter = "Lua 5.4.4 in /usr/bin/lua5.4, static, stripped",
		.layout = "5.4.3-5.4.9, agreed on by 8 of 8 samples, no sample fits another",
		.gc_is_known = true,
		.own_cpu_ns = 19000000,
	};

	if (view_fixture__set_up(state, &top_view))
		return -1;
	view_fixture__show(*state, view_program, VIEW_PROGRAM_FUNCTIONS, 1);
	return 0;
}

static void paint(void *context, enum top_view_style style, const char *text)
{
	struct view_fixture *screen = context;

	assert_in_range(screen->count, 0, VIEW_LINES_MAX - 1);
	snprintf(screen->lines[screen->count], VIEW_LINE_SIZE, "%s", text);
	screen->styles[screen->count++] = style;
}

void view_fixture__draw(struct view_fixture *screen)
{
	const struct top_view *top_view = &screen->top_view;

	memset(screen->lines, 0, sizeof(screen->lines));
	screen->count = 0;
	screen->listing.help_last = top_view__help_last(top_view);
	assert_int_equal(listing__update(&screen->listing, screen->stats, top_view__rows(top_view)),
			 0);
	top_view__draw(top_view, paint, screen);
}

void view_fixture__assert_line(const struct view_fixture *screen, unsigned at, const char *text)
{
	char line[VIEW_LINE_SIZE];
	size_t length = strlen(screen->lines[at]);

	while (length && screen->lines[at][length - 1] == ' ')
		length--;
	snprintf(line, sizeof(line), "%.*s", (int)length, screen->lines[at]);
	assert_string_equal(line, text);
}

bool view_fixture__holds(const struct view_fixture *screen, const char *text)
{
	for (unsigned i = 0; i < screen->count; i++)
		if (strstr(screen->lines[i], text))
			return true;
	return false;
}
