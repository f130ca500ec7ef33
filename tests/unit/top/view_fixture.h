/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What top draws on a screen of 80 by 24, of statistics that a test makes up. */
#ifndef TEST_VIEW_FIXTURE_H
#define TEST_VIEW_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "showing.h"
#include "top/top_view.h"

#define VIEW_LINES_MAX 64
#define VIEW_LINE_SIZE 8192

struct view_fixture {
	struct function_stats *stats;
	struct listing listing;
	struct top_view top_view;
	char lines[VIEW_LINES_MAX][VIEW_LINE_SIZE];
	enum top_view_style styles[VIEW_LINES_MAX];
	unsigned count;
};

/* Makes *state a screen with what `top_view` says of the target. For cmocka: 0 or -1. */
int view_fixture__set_up(void **state, const struct top_view *top_view);
int view_fixture__tear_down(void **state);

/* The same for a process of Lua 5.4 that works in these functions. */
#define VIEW_PROGRAM_FUNCTIONS 4
extern const struct shown_function view_program[VIEW_PROGRAM_FUNCTIONS];
int view_fixture__set_up_program(void **state);

/* Replaces the statistics; see showing__stats(). */
void view_fixture__show(struct view_fixture *screen, const struct shown_function *functions,
			uint32_t count, int processes);

/* Fills in the lines and their styles. */
void view_fixture__draw(struct view_fixture *screen);

/* Fails the test unless the line is `text`, without the spaces at its end. */
void view_fixture__assert_line(const struct view_fixture *screen, unsigned at, const char *text);

/* Returns whether one of the lines contains the text. */
bool view_fixture__holds(const struct view_fixture *screen, const char *text);

#endif
