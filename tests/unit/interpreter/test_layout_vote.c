/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "interpreter/family.h"
#include "interpreter/layout_vote.h"
#include "puc/layout_puc.h"
#include "walk_error.h"

#define PUC (&family_puc)

extern const struct family family_puc;

static void add_evidence(struct layout_vote *vote, uint8_t layout, uint16_t others, int times)
{
	struct ls_sample sample = {.layout = layout, .verified = 1, .other_layouts = others};

	while (times-- > 0)
		layout_vote__add(vote, &sample);
}

static void add_misfits(struct layout_vote *vote, uint8_t error, int times)
{
	struct ls_sample sample = {
		.error = error,
		.flags = error == LS_WALK_UNDECIDED ? LS_SAMPLE_MISFIT : 0,
		.period_ns = 1000000,
	};

	while (times-- > 0)
		layout_vote__add(vote, &sample);
}

static void assert_described(const struct layout_vote *vote, const char *expected)
{
	char text[256];

	layout_vote__describe(vote, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void is_undecided_without_script(void **state)
{
	struct layout_vote vote = {.family = PUC};

	(void)state;
	add_misfits(&vote, LS_WALK_NO_SCRIPT, 100);
	assert_int_equal(vote.has_evidence, 0);
	assert_int_equal(vote.misfits, 0);
	assert_described(&vote, "undecided: no sample had script on its stack");
}

static void decides_after_eight(void **state)
{
	struct layout_vote vote = {.family = PUC};

	(void)state;
	add_evidence(&vote, 2, 0, 7);
	assert_int_equal(vote.is_decided, 0);
	assert_int_equal(vote.has_evidence, 1);
	assert_int_equal(vote.layout, 2);
	assert_described(&vote, "5.2.1-5.2.4, provisionally, by 7 of 7 samples");
	add_evidence(&vote, 2, 0, 1);
	assert_int_equal(vote.is_decided, 1);
	assert_described(&vote, "5.2.1-5.2.4, agreed on by 8 of 8 samples, no sample fits another");
}

/* As of an interpreter that has moved what the main chunk does not tell, and other functions do. */
static void does_not_decide_by_what_fits_now_and_then(void **state)
{
	struct layout_vote vote = {.family = PUC};

	(void)state;
	add_misfits(&vote, LS_WALK_UNDECIDED, 35);
	add_evidence(&vote, 2, 0, 8);
	assert_int_equal(vote.is_decided, 1);
	vote = (struct layout_vote){.family = PUC};
	add_misfits(&vote, LS_WALK_UNDECIDED, 1000);
	add_evidence(&vote, 2, 0, 100);
	assert_int_equal(vote.is_decided, 0);
	assert_false(layout_vote__has_evidence(&vote));
	add_evidence(&vote, 2, 0, 150);
	assert_true(layout_vote__has_evidence(&vote));
	assert_int_equal(vote.is_decided, 1);
	add_misfits(&vote, LS_WALK_UNDECIDED, 10000);
	assert_int_equal(vote.is_decided, 1);
	assert_true(layout_vote__has_evidence(&vote));
}

/* As where stacks of C coroutines lie side by side: that is no reason to refuse the layout. */
static void decides_although_most_samples_are_unsure(void **state)
{
	struct ls_sample unsure = {.error = LS_WALK_UNDECIDED,
				   .flags = LS_SAMPLE_MISFIT | LS_SAMPLE_UNSURE};
	struct layout_vote vote = {.family = PUC};

	(void)state;
	for (int i = 0; i < 1000; i++)
		layout_vote__add(&vote, &unsure);
	assert_false(layout_vote__has_evidence(&vote));
	assert_int_equal(vote.misfits, 1000);
	add_misfits(&vote, LS_WALK_UNDECIDED, 36);
	add_evidence(&vote, 2, 0, 8);
	assert_int_equal(vote.is_decided, 0);
	add_evidence(&vote, 2, 0, 1);
	assert_int_equal(vote.is_decided, 1);
	assert_true(layout_vote__has_evidence(&vote));
}

static void has_evidence_until_there_are_enough_misfits(void **state)
{
	struct layout_vote vote = {.family = PUC};

	(void)state;
	assert_false(layout_vote__has_evidence(&vote));
	add_evidence(&vote, 2, 0, 1);
	add_misfits(&vote, LS_WALK_UNDECIDED, 63);
	assert_true(layout_vote__has_evidence(&vote));
	add_misfits(&vote, LS_WALK_UNDECIDED, 1);
	assert_false(layout_vote__has_evidence(&vote));
}

static void stays_with_what_it_decided(void **state)
{
	struct layout_vote vote = {.family = PUC};

	(void)state;
	add_evidence(&vote, 2, 0, 8);
	add_evidence(&vote, 1, 0, 100);
	add_misfits(&vote, LS_WALK_UNDECIDED, 100);
	assert_int_equal(vote.layout, 2);
	assert_int_equal(vote.is_contradicted, 0);
	assert_described(&vote, "5.2.1-5.2.4, agreed on by 8 of 8 samples, no sample fits another");
}

static void counts_only_stacks_that_fitted_nothing_as_misfits(void **state)
{
	struct layout_vote vote = {.family = PUC};

	(void)state;
	add_misfits(&vote, LS_WALK_UNDECIDED, 3);
	add_misfits(&vote, LS_WALK_STACK_MEMORY, 5);
	add_evidence(&vote, 0, 0, 8);
	assert_int_equal(vote.misfits, 3);
	assert_int_equal(vote.misfit_ns, 3000000);
	assert_int_equal(vote.is_decided, 1);
	assert_described(&vote, "5.1-5.1.5, agreed on by 8 of 11 samples, no sample fits another");
}

static void takes_no_sample_that_is_not_verified_for_evidence(void **state)
{
	struct layout_vote vote = {.family = PUC};
	struct ls_sample sample = {.layout = 2, .other_layouts = 1};

	(void)state;
	for (int i = 0; i < 20; i++)
		layout_vote__add(&vote, &sample);
	assert_int_equal(vote.has_evidence, 0);
	assert_int_equal(vote.fits[0], 0);
	assert_int_equal(vote.fits[2], 0);
}

static void never_decides_after_samples_that_disagree(void **state)
{
	struct layout_vote vote = {.family = PUC};

	(void)state;
	add_evidence(&vote, 3, 0, 7);
	add_evidence(&vote, 4, 0, 1);
	assert_int_equal(vote.is_contradicted, 1);
	add_evidence(&vote, 3, 0, 1000);
	assert_int_equal(vote.is_decided, 0);
	assert_described(&vote, "5.3.0: 1007, 5.3.1: 1");
}

static void never_decides_where_one_sample_fits_two(void **state)
{
	struct layout_vote vote = {.family = PUC};

	(void)state;
	add_evidence(&vote, 3, 1 << 4 | 1 << 5, 1);
	assert_int_equal(vote.is_contradicted, 1);
	add_evidence(&vote, 3, 0, 20);
	assert_int_equal(vote.is_decided, 0);
	assert_described(&vote, "5.3.0: 21, 5.3.1: 1, 5.3.2-5.3.6: 1");
}

static void survives_numbers_of_layouts_that_do_not_exist(void **state)
{
	struct layout_vote vote = {.family = PUC};

	(void)state;
	add_evidence(&vote, 255, 0xffff, 3);
	assert_int_equal(vote.fits[LS_LAYOUT_MAX - 1], 0);
	assert_int_equal(vote.has_evidence, 0);
	assert_int_equal(vote.is_decided, 0);
}

/*
 * Tries every size with a buffer of exactly that size, so that the sanitizer sees a write beyond
 * it.
 */
static void describes_into_whatever_room_there_is(void **state)
{
	struct layout_vote votes[4] = {
		{.family = PUC}, {.family = PUC}, {.family = PUC}, {.family = PUC}};

	(void)state;
	add_evidence(&votes[1], 0, 0, 3);
	add_evidence(&votes[2], 0, 0, 8);
	add_evidence(&votes[3], 0, 0xffff, 1);
	for (size_t i = 0; i < LS_LAYOUT_MAX; i++)
		votes[3].fits[i] = UINT64_MAX;
	for (size_t i = 0; i < 4; i++) {
		char whole[1024];

		layout_vote__describe(&votes[i], whole, sizeof(whole));
		assert_in_range(strlen(whole), 1, sizeof(whole) - 2);
		for (size_t size = 1; size <= strlen(whole) + 1; size++) {
			char *text = malloc(size);

			assert_non_null(text);
			memset(text, 'x', size);
			layout_vote__describe(&votes[i], text, size);
			assert_int_equal(strnlen(text, size), size - 1);
			assert_memory_equal(text, whole, size - 1);
			free(text);
		}
	}
}

static void waits_for_as_many_layouts_as_there_are_interpreters(void **state)
{
	struct layout_votes votes = {};

	(void)state;
	layout_votes__expect(&votes, PUC, 1 << 3 | 1 << 4 | 1 << 5);
	layout_votes__expect(&votes, PUC, 1 << 5);
	assert_int_equal(votes.count, 1);
	add_evidence(&votes.items[0], 5, 0, 8);
	assert_int_equal(votes.items[0].decided, 1 << 5);
	assert_int_equal(votes.items[0].is_decided, 0);
	add_evidence(&votes.items[0], 3, 0, 8);
	assert_int_equal(votes.items[0].decided, 1 << 5 | 1 << 3);
	assert_int_equal(votes.items[0].is_decided, 1);
	assert_int_equal(votes.items[0].is_contradicted, 0);
}

static void refuses_more_layouts_than_there_are_interpreters(void **state)
{
	struct layout_votes votes = {};

	(void)state;
	layout_votes__expect(&votes, PUC, 1 << 3 | 1 << 4 | 1 << 5);
	layout_votes__expect(&votes, PUC, 1 << 5 | 1 << 4);
	add_evidence(&votes.items[0], 3, 0, 1);
	add_evidence(&votes.items[0], 4, 0, 1);
	assert_int_equal(votes.items[0].is_contradicted, 0);
	add_evidence(&votes.items[0], 5, 0, 1);
	assert_int_equal(votes.items[0].is_contradicted, 1);
}

static void takes_two_interpreters_of_one_class_for_one_layout(void **state)
{
	struct layout_votes votes = {};

	(void)state;
	layout_votes__expect(&votes, PUC, 1 << 9);
	layout_votes__expect(&votes, PUC, 1 << 9);
	assert_int_equal(votes.count, 1);
	add_evidence(&votes.items[0], 9, 0, 8);
	assert_int_equal(votes.items[0].is_decided, 1);
}

/* One sample may fit both, because one interpreter runs on top of the other. */
static void judges_interpreters_that_share_nothing_apart(void **state)
{
	struct layout_votes votes = {};
	struct ls_sample both = {.layout = 9, .verified = 1, .other_layouts = 1 << 0};
	char text[256];

	(void)state;
	layout_votes__expect(&votes, PUC, 1 << 0);
	layout_votes__expect(&votes, PUC, 1 << 6 | 1 << 9);
	assert_int_equal(votes.count, 2);
	for (int i = 0; i < 8; i++)
		layout_votes__add(&votes, &both);
	assert_int_equal(votes.items[0].decided, 1 << 0);
	assert_int_equal(votes.items[1].decided, 1 << 9);
	layout_votes__describe(&votes, text, sizeof(text));
	assert_string_equal(text,
			    "5.1-5.1.5, agreed on by 8 of 8 samples, no sample fits another; "
			    "5.4.3-5.4.9, agreed on by 8 of 8 samples, no sample fits another");
}

static void keeps_what_was_decided_when_another_interpreter_comes(void **state)
{
	struct layout_votes votes = {};

	(void)state;
	layout_votes__expect(&votes, PUC, 1 << 9);
	add_evidence(&votes.items[0], 9, 0, 8);
	layout_votes__expect(&votes, PUC, 1 << 9 | 1 << 6);
	assert_int_equal(votes.count, 1);
	assert_int_equal(votes.items[0].decided, 1 << 9);
	assert_int_equal(votes.items[0].is_decided, 0);
	layout_votes__expect(&votes, PUC, 1 << 2);
	assert_int_equal(votes.count, 2);
}

static void finds_room_for_every_interpreter(void **state)
{
	struct layout_votes votes = {};

	(void)state;
	for (int i = 0; i < LS_LAYOUT_MAX; i++)
		layout_votes__expect(&votes, PUC, 1 << i);
	assert_int_equal(votes.count, LS_LAYOUT_MAX);
	for (int i = 0; i < LS_LAYOUT_MAX; i++) {
		uint16_t all = 0;

		for (size_t j = 0; j < votes.count; j++)
			all |= votes.items[j].candidates;
		assert_int_equal(all >> i & 1, 1);
	}
}

static void counts_misfits_of_a_forced_layout(void **state)
{
	struct layout_vote vote = {.family = PUC, .is_forced = 1, .layout = 6, .decided = 1 << 6};
	struct ls_sample torn = {.layout = 6, .class = LS_SAMPLE_TORN};
	struct ls_sample host = {.layout = 6, .class = LS_SAMPLE_HOST};

	(void)state;
	add_evidence(&vote, 6, 0, 3);
	layout_vote__add(&vote, &torn);
	layout_vote__add(&vote, &host);
	assert_described(&vote, "5.4.0, forced: 3 of 4 samples fit");
}

static void scores_what_fits_now_and_then(void **state)
{
	struct layout_vote vote = {.family = PUC, .candidates = 1 << 0 | 1 << 6};
	char text[128];

	(void)state;
	add_misfits(&vote, LS_WALK_UNDECIDED, 62);
	add_evidence(&vote, 6, 0, 2);
	layout_vote__score(&vote, text, sizeof(text));
	assert_string_equal(text, "5.4.0 fits 2 of 64 samples, 1 other none");
}

static void counts_candidates_that_do_not_fit(void **state)
{
	struct layout_vote vote = {.family = families__get(LS_FAMILY_LUAU)};
	char text[128];

	(void)state;
	add_misfits(&vote, LS_WALK_UNDECIDED, 64);
	layout_vote__score(&vote, text, sizeof(text));
	assert_string_equal(text, "none of 12 layouts fits any of 64 samples");
	vote.family = PUC;
	vote.candidates = 1 << 6;
	layout_vote__score(&vote, text, sizeof(text));
	assert_string_equal(text, "5.4.0 fits none of 64 samples");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_undecided_without_script),
		cmocka_unit_test(decides_after_eight),
		cmocka_unit_test(does_not_decide_by_what_fits_now_and_then),
		cmocka_unit_test(decides_although_most_samples_are_unsure),
		cmocka_unit_test(has_evidence_until_there_are_enough_misfits),
		cmocka_unit_test(stays_with_what_it_decided),
		cmocka_unit_test(counts_only_stacks_that_fitted_nothing_as_misfits),
		cmocka_unit_test(takes_no_sample_that_is_not_verified_for_evidence),
		cmocka_unit_test(never_decides_after_samples_that_disagree),
		cmocka_unit_test(never_decides_where_one_sample_fits_two),
		cmocka_unit_test(survives_numbers_of_layouts_that_do_not_exist),
		cmocka_unit_test(describes_into_whatever_room_there_is),
		cmocka_unit_test(waits_for_as_many_layouts_as_there_are_interpreters),
		cmocka_unit_test(refuses_more_layouts_than_there_are_interpreters),
		cmocka_unit_test(takes_two_interpreters_of_one_class_for_one_layout),
		cmocka_unit_test(judges_interpreters_that_share_nothing_apart),
		cmocka_unit_test(keeps_what_was_decided_when_another_interpreter_comes),
		cmocka_unit_test(finds_room_for_every_interpreter),
		cmocka_unit_test(counts_misfits_of_a_forced_layout),
		cmocka_unit_test(scores_what_fits_now_and_then),
		cmocka_unit_test(counts_candidates_that_do_not_fit),
	};

	return cmocka_run_group_tests_name("layout vote", tests, NULL, NULL);
}
