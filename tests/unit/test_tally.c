/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "call_tree.h"
#include "functions.h"
#include "tally.h"

#define S UINT64_C(1000000000)

/* A process as a recording has it, and the tally that looks at it. */
struct fixture {
	struct functions *functions;
	struct call_tree *tree;
	struct tally *tally;
	uint64_t time_ns, cpu_ns;
	uint64_t complete, dropped, evicted;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	fixture->functions = functions__new();
	fixture->tree = call_tree__new();
	fixture->tally = tally__new(false);
	fixture->time_ns = 100 * S;
	return fixture->functions && fixture->tree && fixture->tally ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	tally__free(fixture->tally);
	functions__free(fixture->functions);
	call_tree__free(fixture->tree);
	free(fixture);
	return 0;
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static uint32_t script(struct fixture *fixture, const char *source, uint32_t line, uint64_t shape)
{
	const struct function_identity identity = {source, line, line + 1, shape};
	uint32_t function = functions__script(fixture->functions, &identity);

	assert_int_not_equal(function, 0);
	return function;
}

/* Samples of a stack, whose functions end with 0. */
static void sample(struct fixture *fixture, uint64_t count, const uint32_t *stack)
{
	uint32_t node = call_tree__category(fixture->tree, "main");

	for (; *stack; stack++)
		node = call_tree__child(fixture->tree, node, *stack);
	call_tree__add(fixture->tree, node, count, 0);
	fixture->complete += count;
}

#define sample_stack(fixture, count, ...) sample(fixture, count, (const uint32_t[]){__VA_ARGS__, 0})

static void export(struct fixture *fixture, struct ls_profile *profile)
{
	*profile = (struct ls_profile){.recorder.cpu_ns = fixture->cpu_ns};
	call_tree__export(fixture->tree, profile);
	functions__export(fixture->functions, profile);
	profile->recorder.classes[LS_SAMPLE_COMPLETE] = fixture->complete;
	profile->recorder.classes[LS_SAMPLE_DROPPED] = fixture->dropped;
	profile->recorder.evicted_samples = fixture->evicted;
}

/* A second later. */
static void look(struct fixture *fixture)
{
	struct ls_profile profile;

	export(fixture, &profile);
	fixture->time_ns += S;
	assert_int_equal(tally__begin(fixture->tally, fixture->time_ns, &profile), 0);
	assert_int_equal(tally__end(fixture->tally), 0);
}

/* NULL: there is none. */
static const struct tally_row *row_of(const struct fixture *fixture, uint32_t function)
{
	size_t count;
	const struct tally_row *rows = tally__rows(fixture->tally, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].function == function)
			return &rows[i];
	return NULL;
}

static void assert_counts(const struct fixture *fixture, uint32_t function, uint64_t recent_self,
			  uint64_t recent_total, uint64_t self, uint64_t total)
{
	const struct tally_row *row = row_of(fixture, function);

	assert_non_null(row);
	assert_int_equal(row->recent.self, recent_self);
	assert_int_equal(row->recent.total, recent_total);
	assert_int_equal(row->all.self, self);
	assert_int_equal(row->all.total, total);
}

static void is_empty_at_first(void **state)
{
	struct fixture *fixture = *state;
	size_t count = 77;

	tally__rows(fixture->tally, &count);
	assert_int_equal(count, 0);
	look(fixture);
	tally__rows(fixture->tally, &count);
	assert_int_equal(count, 0);
	assert_int_equal(tally__ns(tally__recent(fixture->tally), 5), 0);
}

static void tells_the_last_look_from_all(void **state)
{
	struct fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1, 0), b = script(fixture, "a.lua", 9, 0);

	look(fixture);
	sample_stack(fixture, 10, a, b);
	sample_stack(fixture, 5, a);
	look(fixture);
	assert_counts(fixture, a, 5, 15, 5, 15);
	assert_counts(fixture, b, 10, 10, 10, 10);
	sample_stack(fixture, 3, a);
	look(fixture);
	assert_counts(fixture, a, 3, 3, 8, 18);
	assert_counts(fixture, b, 0, 0, 10, 10);
	assert_int_equal(tally__recent(fixture->tally)->samples, 3);
	assert_int_equal(tally__recent(fixture->tally)->elapsed_ns, S);
	assert_int_equal(tally__all(fixture->tally)->samples, 18);
	assert_int_equal(tally__all(fixture->tally)->elapsed_ns, 2 * S);
}

static void counts_recursion_once(void **state)
{
	struct fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1, 0), b = script(fixture, "a.lua", 9, 0);

	look(fixture);
	sample_stack(fixture, 4, a, b, a, b, a);
	sample_stack(fixture, 1, b, b);
	look(fixture);
	assert_counts(fixture, a, 4, 4, 4, 4);
	assert_counts(fixture, b, 1, 5, 1, 5);
}

static void a_function_at_its_lines_is_one(void **state)
{
	struct fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1, 0);
	uint32_t second = functions__at_line(fixture->functions, a, 2);
	uint32_t third = functions__at_line(fixture->functions, a, 3);

	look(fixture);
	sample_stack(fixture, 4, second);
	sample_stack(fixture, 2, second, third);
	look(fixture);
	assert_counts(fixture, a, 6, 6, 6, 6);
	assert_null(row_of(fixture, second));
	assert_null(row_of(fixture, third));
}

static void another_name_is_no_other_function(void **state)
{
	struct fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1, 0);

	look(fixture);
	sample_stack(fixture, 1000, a);
	look(fixture);
	assert_null(row_of(fixture, a)->name);
	assert_int_equal(functions__vote(fixture->functions, a, "work"), 0);
	sample_stack(fixture, 7, a);
	look(fixture);
	assert_counts(fixture, a, 7, 7, 1007, 1007);
	assert_string_equal(row_of(fixture, a)->name, "work");
}

/* As recording's prune() does it: the samples of `gone` go to "(other)", its id to the next. */
static void evict(struct fixture *fixture, uint32_t gone, uint64_t samples, uint32_t other,
		  const uint32_t *kept, uint64_t kept_samples)
{
	uint8_t used[16] = {0};

	assert_in_range(functions__highest(fixture->functions), 1, sizeof(used) - 1);
	memset(used, 1, sizeof(used));
	used[gone] = 0;
	assert_int_equal(functions__evict(fixture->functions, used), 1);
	call_tree__free(fixture->tree);
	fixture->tree = call_tree__new();
	fixture->complete = 0;
	fixture->evicted += samples;
	sample_stack(fixture, samples, other);
	sample(fixture, kept_samples, kept);
}

static void what_was_pruned_is_not_recent(void **state)
{
	struct fixture *fixture = *state;
	uint32_t other = functions__pseudo(fixture->functions, CALL_TREE_OTHER);
	uint32_t kept = script(fixture, "kept.lua", 1, 0), gone = script(fixture, "gone.lua", 1, 0);
	const uint32_t kept_stack[] = {kept, 0};
	uint32_t next;

	look(fixture);
	sample_stack(fixture, 500, gone);
	sample_stack(fixture, 50, kept);
	look(fixture);
	evict(fixture, gone, 500, other, kept_stack, 50);
	next = script(fixture, "next.lua", 5, 0);
	assert_int_equal(next, gone);
	sample_stack(fixture, 3, next);
	sample_stack(fixture, 2, other);
	sample_stack(fixture, 1, kept);
	look(fixture);
	assert_counts(fixture, next, 3, 3, 3, 3);
	assert_string_equal(row_of(fixture, next)->source, "next.lua");
	assert_counts(fixture, other, 2, 2, 502, 502);
	assert_counts(fixture, kept, 1, 1, 51, 51);
}

static void what_was_pruned_after_a_reset_was_before_it(void **state)
{
	struct fixture *fixture = *state;
	uint32_t other = functions__pseudo(fixture->functions, CALL_TREE_OTHER);
	uint32_t kept = script(fixture, "kept.lua", 1, 0), gone = script(fixture, "gone.lua", 1, 0);
	const uint32_t kept_stack[] = {kept, 0};

	look(fixture);
	sample_stack(fixture, 500, gone);
	look(fixture);
	assert_int_equal(tally__reset(fixture->tally), 0);
	sample_stack(fixture, 20, gone);
	look(fixture);
	evict(fixture, gone, 520, other, kept_stack, 8);
	look(fixture);
	assert_null(row_of(fixture, gone));
	assert_counts(fixture, other, 0, 0, 20, 20);
	assert_counts(fixture, kept, 8, 8, 8, 8);
}

static void counts_from_zero_after_a_reset(void **state)
{
	struct fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1, 0), b = script(fixture, "a.lua", 9, 0);
	size_t count;

	look(fixture);
	sample_stack(fixture, 10, a);
	sample_stack(fixture, 10, b);
	look(fixture);
	assert_int_equal(tally__reset(fixture->tally), 0);
	tally__rows(fixture->tally, &count);
	assert_int_equal(count, 0);
	assert_int_equal(tally__all(fixture->tally)->samples, 0);
	sample_stack(fixture, 4, b);
	look(fixture);
	assert_counts(fixture, b, 4, 4, 4, 4);
	assert_null(row_of(fixture, a));
	assert_int_equal(tally__all(fixture->tally)->samples, 4);
	assert_int_equal(tally__all(fixture->tally)->elapsed_ns, S);
}

static void shares_the_charged_time_among_all_samples(void **state)
{
	struct fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1, 0);

	look(fixture);
	sample_stack(fixture, 60, a);
	fixture->dropped = 20;
	fixture->cpu_ns = S / 10;
	look(fixture);
	assert_int_equal(tally__ns(tally__recent(fixture->tally), 60), S / 10 * 3 / 4);
	/* The process has ended: what it was charged is no longer told. */
	fixture->cpu_ns = 0;
	look(fixture);
	assert_int_equal(tally__recent(fixture->tally)->cpu_ns, 0);
	assert_int_equal(tally__all(fixture->tally)->cpu_ns, S / 10);
}

static void knows_the_collector(void **state)
{
	struct fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1, 0);
	uint32_t collector = functions__collector(fixture->functions);

	look(fixture);
	sample_stack(fixture, 6, a);
	sample_stack(fixture, 2, a, collector);
	look(fixture);
	assert_int_equal(tally__recent(fixture->tally)->collector, 2);
	assert_int_equal(tally__recent(fixture->tally)->script, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(is_empty_at_first),
		with_fixture(tells_the_last_look_from_all),
		with_fixture(counts_recursion_once),
		with_fixture(a_function_at_its_lines_is_one),
		with_fixture(another_name_is_no_other_function),
		with_fixture(what_was_pruned_is_not_recent),
		with_fixture(what_was_pruned_after_a_reset_was_before_it),
		with_fixture(counts_from_zero_after_a_reset),
		with_fixture(shares_the_charged_time_among_all_samples),
		with_fixture(knows_the_collector),
	};

	return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
