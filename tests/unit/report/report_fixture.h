/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording by hand, in ms of self time, 100 in all. Include it after cmocka.h.
 *
 *	main (a thread)
 *	    main chunk      app.lua       10
 *	        work        app.lua:3     20
 *	            work                   5
 *	                GC                15
 *	            leaf    app.lua:20    26
 *	        plug        plugin.lua:1  12, a plugin
 *	            concat  [C]            8, of the plugin
 *	        leaf                       4
 *
 * The function "wrap" is for tests that charge it.
 */
#ifndef TEST_REPORT_FIXTURE_H
#define TEST_REPORT_FIXTURE_H

#include "profile/call_tree.h"
#include "profile/profile.h"
#include "report/report.h"

enum { MAIN = 1, WORK, GC, LEAF, PLUG, CONCAT, AT_LINE, WRAP, LAST = WRAP };

#define NS_PER_MS UINT64_C(1000000)

struct fixture {
	struct ls_profile_function functions[LAST + 1];
	struct ls_profile_line lines[4];
	struct ls_profile profile;
	struct call_tree *tree;
	uint32_t category;
	struct selected_profile *selected;
	struct ls_totals totals;
	struct report report; /* of what was selected; for each test to bend */
	char *text;           /* what was printed last */
};

int report_fixture__set_up(void **state);
int report_fixture__tear_down(void **state);

#define with_recording(test)                                                                       \
	cmocka_unit_test_setup_teardown(test, report_fixture__set_up, report_fixture__tear_down)

/* Charges so many ms to a stack below the category. */
#define charge(fixture, ms, ...) charge_stack(fixture, ms, (const uint32_t[]){__VA_ARGS__, 0})
void charge_stack(struct fixture *fixture, uint64_t ms, const uint32_t *stack);

/* Selects it, `count` times the same recording, and computes totals. */
void select_from(struct fixture *fixture, size_t count, struct selection selection);

/* The id of a function of what was selected; 0: it has none. */
uint32_t id_of(const struct fixture *fixture, const char *name, const char *source);

/* Its total and self time there, in ms; 0 if there is no such function. */
uint64_t total_ms(const struct fixture *fixture, const char *name, const char *source);
uint64_t self_ms(const struct fixture *fixture, const char *name, const char *source);

/* Prints the fixture's report for that width. */
const char *print(struct fixture *fixture, unsigned width, bool has_color);

#endif
