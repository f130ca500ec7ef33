/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "screen.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int screen__set_up(void **state, const struct top_view *top_view)
{
	struct screen *screen = calloc(1, sizeof(*screen));

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

int screen__tear_down(void **state)
{
	struct screen *screen = *state;

	setlocale(LC_CTYPE, "C");
	listing__free(&screen->listing);
	function_stats__free(screen->stats);
	free(screen);
	return 0;
}

void screen__show(struct screen *screen, const struct shown_function *functions, uint32_t count,
		  int processes)
{
	function_stats__free(screen->stats);
	screen->stats = showing__stats(functions, count, processes);
	screen->top_view.stats = screen->stats;
}

static void paint(void *context, enum top_view_style style, const char *text)
{
	struct screen *screen = context;

	assert_in_range(screen->count, 0, SCREEN_LINES_MAX - 1);
	snprintf(screen->lines[screen->count], SCREEN_LINE_SIZE, "%s", text);
	screen->styles[screen->count++] = style;
}

void screen__draw(struct screen *screen)
{
	const struct top_view *top_view = &screen->top_view;

	memset(screen->lines, 0, sizeof(screen->lines));
	screen->count = 0;
	assert_int_equal(listing__update(&screen->listing, screen->stats, top_view__rows(top_view)),
			 0);
	top_view__draw(top_view, paint, screen);
}

void screen__assert_line(const struct screen *screen, unsigned at, const char *text)
{
	char line[SCREEN_LINE_SIZE];
	size_t length = strlen(screen->lines[at]);

	while (length && screen->lines[at][length - 1] == ' ')
		length--;
	snprintf(line, sizeof(line), "%.*s", (int)length, screen->lines[at]);
	assert_string_equal(line, text);
}
