/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A profile by hand, and the summary of it as text. Include it after cmocka.h. */
#ifndef TEST_SUMMARY_FIXTURE_H
#define TEST_SUMMARY_FIXTURE_H

#include <stdbool.h>

#include "summary/summary.h"

enum { HOST = 1, UNREADABLE, UNSAMPLED, FIB, ANONYMOUS, GSUB, LAST = 20 };

/* For each test to bend. */
struct fixture {
	struct ls_profile_function functions[LAST + 1];
	uint64_t self_us[LAST + 1], total_us[LAST + 1];
	struct ls_profile profile;
	struct ls_totals totals;
	bool all;   /* of the accounting */
	char *text; /* what was printed last */
};

int summary_fixture__set_up(void **state);
int summary_fixture__tear_down(void **state);

#define with_summary(test)                                                                         \
	cmocka_unit_test_setup_teardown(test, summary_fixture__set_up, summary_fixture__tear_down)

void set_function(struct fixture *fixture, uint32_t id, const char *name, const char *source,
		  uint32_t line);
void set_time(struct fixture *fixture, uint32_t id, uint64_t self_us, uint64_t total_us);

/* Prints the summary, then the accounting. */
const char *print(struct fixture *fixture);

/* Prints them; they have these lines, or do not. */
void assert_shows(struct fixture *fixture, const char *lines);
void assert_hides(struct fixture *fixture, const char *text);

/* No line of `text`, which is cut up, is wider, and none has a control character. */
void assert_width(char *text, unsigned columns);

#endif
