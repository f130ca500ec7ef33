/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A tally of many processes, each a category of one profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "call_tree.h"
#include "functions.h"
#include "tally.h"

#define S UINT64_C(1000000000)

/* Processes as a recording has them. */
struct fixture {
	struct functions *functions;
	struct call_tree *tree;
	struct tally *tally;
	uint64_t time_ns, samples, evicted;
	uint32_t work, rest, host;
};

static uint32_t script(struct fixture *fixture, const char *source)
{
	const struct function_identity identity = {source, 1, 2, 0};
	uint32_t function = functions__script(fixture->functions, &identity);

	assert_int_not_equal(function, 0);
	return function;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	fixture->functions = functions__new();
	fixture->tree = call_tree__new();
	fixture->tally = tally__new(true);
	fixture->time_ns = 100 * S;
	if (!fixture->functions || !fixture->tree || !fixture->tally)
		return -1;
	fixture->work = script(fixture, "work.lua");
	fixture->rest = script(fixture, "rest.lua");
	fixture->host = functions__pseudo(fixture->functions, PROFILE_HOST);
	return 0;
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

static const char *name_of(int process, char name[32])
{
	snprintf(name, 32, "lua (pid %d)", process);
	return name;
}

/* Of `function` alone, or called by `caller`. */
static void sample(struct fixture *fixture, const char *category, uint64_t count, uint32_t caller,
		   uint32_t function)
{
	uint32_t node = call_tree__category(fixture->tree, category);

	if (caller)
		node = call_tree__child(fixture->tree, node, caller);
	node = call_tree__child(fixture->tree, node, function);
	call_tree__add(fixture->tree, node, count, 0);
	fixture->samples += count;
}

/* A second later, when only these are alive, NULL coming after the last. */
static void look(struct fixture *fixture, const char *const *living)
{
	struct ls_profile profile = {.recorder.evicted_samples = fixture->evicted};

	call_tree__export(fixture->tree, &profile);
	functions__export(fixture->functions, &profile);
	profile.recorder.classes[LS_SAMPLE_COMPLETE] = fixture->samples;
	profile.recorder.cpu_ns = fixture->samples * (S / 1000);
	fixture->time_ns += S;
	assert_int_equal(tally__begin(fixture->tally, fixture->time_ns, &profile), 0);
	while (*living)
		assert_int_equal(tally__see_living(fixture->tally, *living++), 0);
	assert_int_equal(tally__end(fixture->tally), 0);
}

#define look_at(fixture, ...) look(fixture, (const char *const[]){__VA_ARGS__, NULL})

/* NULL: there is none of that name. */
static const struct tally_process *process(const struct fixture *fixture, const char *name)
{
	size_t count;
	const struct tally_process *processes = tally__processes(fixture->tally, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(processes[i].name, name))
			return &processes[i];
	return NULL;
}

static const struct tally_row *row(const struct fixture *fixture, const char *name,
				   uint32_t function)
{
	size_t count, process_count;
	const struct tally_row *rows = tally__rows(fixture->tally, &count);
	const struct tally_process *processes = tally__processes(fixture->tally, &process_count);

	for (size_t i = 0; i < count; i++) {
		assert_in_range(rows[i].process, 0, process_count - 1);
		if (rows[i].function == function && !strcmp(processes[rows[i].process].name, name))
			return &rows[i];
	}
	return NULL;
}

static void assert_counts(const struct fixture *fixture, const char *name, uint32_t function,
			  uint64_t recent_self, uint64_t recent_total, uint64_t self,
			  uint64_t total)
{
	const struct tally_row *found = row(fixture, name, function);

	assert_non_null(found);
	assert_int_equal(found->recent.self, recent_self);
	assert_int_equal(found->recent.total, recent_total);
	assert_int_equal(found->all.self, self);
	assert_int_equal(found->all.total, total);
}

static void keeps_processes_apart(void **state)
{
	struct fixture *fixture = *state;

	sample(fixture, "a", 6, 0, fixture->work);
	sample(fixture, "b", 5, fixture->rest, fixture->work);
	look_at(fixture, "a", "b");
	sample(fixture, "b", 2, 0, fixture->rest);
	look_at(fixture, "a", "b");
	assert_counts(fixture, "a", fixture->work, 0, 0, 6, 6);
	assert_counts(fixture, "b", fixture->work, 0, 0, 5, 5);
	assert_counts(fixture, "b", fixture->rest, 2, 2, 2, 7);
	assert_null(row(fixture, "a", fixture->rest));
	assert_int_equal(process(fixture, "b")->recent_samples, 2);
	assert_int_equal(process(fixture, "b")->all_samples, 7);
	assert_int_equal(process(fixture, "a")->recent_samples, 0);
	assert_int_equal(process(fixture, "a")->all_samples, 6);
	assert_int_equal(tally__all(fixture->tally)->samples, 13);
}

/* Each counts what is new in it, also when another was counted in between. */
static void counts_only_what_has_changed(void **state)
{
	struct fixture *fixture = *state;

	sample(fixture, "a", 6, 0, fixture->work);
	sample(fixture, "b", 5, 0, fixture->work);
	look_at(fixture, "a", "b");
	for (uint64_t i = 1; i < 6; i++) {
		sample(fixture, i % 2 ? "a" : "b", i, 0, fixture->work);
		look_at(fixture, "a", "b");
		assert_counts(fixture, "a", fixture->work, i % 2 ? i : 0, i % 2 ? i : 0,
			      6 + (i + 1) / 2 * ((i + 1) / 2), 6 + (i + 1) / 2 * ((i + 1) / 2));
	}
	assert_int_equal(process(fixture, "a")->recent_samples, 5);
	assert_int_equal(process(fixture, "b")->recent_samples, 0);
}

static void tells_the_share_of_script(void **state)
{
	struct fixture *fixture = *state;
	uint32_t unreadable = functions__pseudo(fixture->functions, PROFILE_UNREADABLE);

	look_at(fixture, "a");
	sample(fixture, "a", 30, fixture->rest, fixture->work);
	sample(fixture, "a", 9, 0, fixture->host);
	sample(fixture, "a", 1, 0, unreadable);
	look_at(fixture, "a");
	assert_int_equal(process(fixture, "a")->all_samples, 40);
	assert_int_equal(process(fixture, "a")->all_script, 30);
	assert_int_equal(process(fixture, "a")->recent_script, 30);
	assert_int_equal(tally__reset(fixture->tally), 0);
	sample(fixture, "a", 4, 0, fixture->host);
	sample(fixture, "a", 1, 0, fixture->work);
	look_at(fixture, "a");
	assert_int_equal(process(fixture, "a")->all_samples, 5);
	assert_int_equal(process(fixture, "a")->all_script, 1);
}

static void who_lives_is_there_without_samples(void **state)
{
	struct fixture *fixture = *state;
	uint32_t id;

	look_at(fixture, "idle", "idle", "busy");
	assert_int_equal(process(fixture, "idle")->living, 2);
	assert_int_equal(process(fixture, "idle")->all_samples, 0);
	assert_int_equal(tally__living(fixture->tally), 3);
	id = process(fixture, "idle")->id;
	sample(fixture, "busy", 6, 0, fixture->work);
	look_at(fixture, "busy", "idle");
	assert_int_equal(process(fixture, "idle")->id, id);
	/* Nothing is left of it that could be shown. */
	look_at(fixture, "busy");
	assert_null(process(fixture, "idle"));
	assert_int_equal(tally__ended(fixture->tally), 0);
}

static void who_has_ended_keeps_what_it_had(void **state)
{
	struct fixture *fixture = *state;

	sample(fixture, "a", 6, 0, fixture->work);
	look_at(fixture, "a");
	assert_false(process(fixture, "a")->has_ended);
	sample(fixture, "a", 2, 0, fixture->work);
	look_at(fixture, "b");
	assert_true(process(fixture, "a")->has_ended);
	assert_counts(fixture, "a", fixture->work, 2, 2, 8, 8);
	look_at(fixture, "b");
	assert_counts(fixture, "a", fixture->work, 0, 0, 8, 8);
	assert_int_equal(tally__ended(fixture->tally), 1);
	assert_int_equal(tally__living(fixture->tally), 1);
	/* One of its name, or of those that are shown as one. */
	look_at(fixture, "a");
	assert_false(process(fixture, "a")->has_ended);
	assert_int_equal(tally__ended(fixture->tally), 0);
}

static void what_is_nobodys_does_not_end(void **state)
{
	struct fixture *fixture = *state;

	sample(fixture, CALL_TREE_OTHER, 6, 0, fixture->work);
	sample(fixture, PROFILE_WITHOUT_LUA, 6, 0, fixture->host);
	look_at(fixture, "a");
	look_at(fixture, "a");
	assert_false(process(fixture, CALL_TREE_OTHER)->has_ended);
	assert_false(process(fixture, PROFILE_WITHOUT_LUA)->has_ended);
	assert_int_equal(tally__ended(fixture->tally), 0);
}

static void those_that_ended_long_ago_are_one(void **state)
{
	struct fixture *fixture = *state;
	const int count = TALLY_ENDED_KEPT + 50;
	size_t processes;
	char name[32];

	for (int i = 0; i < count; i++) {
		sample(fixture, name_of(i, name), 2, fixture->rest, fixture->work);
		look_at(fixture, "survivor");
		if (i < TALLY_ENDED_KEPT)
			assert_null(process(fixture, TALLY_ENDED_EARLIER));
	}
	tally__processes(fixture->tally, &processes);
	assert_int_equal(processes, TALLY_ENDED_KEPT + 2);
	assert_int_equal(tally__ended(fixture->tally), count);
	assert_null(process(fixture, name_of(49, name)));
	assert_non_null(process(fixture, name_of(50, name)));
	assert_true(process(fixture, TALLY_ENDED_EARLIER)->has_ended);
	assert_int_equal(process(fixture, TALLY_ENDED_EARLIER)->all_samples, 100);
	assert_counts(fixture, TALLY_ENDED_EARLIER, fixture->work, 0, 0, 100, 100);
	assert_counts(fixture, TALLY_ENDED_EARLIER, fixture->rest, 0, 0, 0, 100);
	/* Who comes to be of such a category again is of it. */
	sample(fixture, name_of(7, name), 3, 0, fixture->work);
	look_at(fixture, name_of(7, name));
	assert_counts(fixture, TALLY_ENDED_EARLIER, fixture->work, 3, 3, 103, 103);
	assert_false(process(fixture, TALLY_ENDED_EARLIER)->has_ended);
	assert_null(process(fixture, name));
}

/* Ten thousand in one second: what they did in it is there, whoever is kept apart. */
static void what_is_folded_at_once_is_recent(void **state)
{
	struct fixture *fixture = *state;
	size_t count;
	const struct tally_row *rows;
	uint64_t self = 0;
	char name[32];

	look_at(fixture, "survivor");
	for (int i = 0; i < CALL_TREE_CATEGORIES_MAX; i++)
		sample(fixture, name_of(i, name), 1, 0, fixture->work);
	look_at(fixture, "survivor");
	rows = tally__rows(fixture->tally, &count);
	assert_int_equal(count, TALLY_ENDED_KEPT + 1);
	for (size_t i = 0; i < count; i++)
		self += rows[i].recent.self;
	assert_int_equal(self, CALL_TREE_CATEGORIES_MAX);
	look_at(fixture, "survivor");
	assert_counts(fixture, TALLY_ENDED_EARLIER, fixture->work, 0, 0,
		      CALL_TREE_CATEGORIES_MAX - TALLY_ENDED_KEPT,
		      CALL_TREE_CATEGORIES_MAX - TALLY_ENDED_KEPT);
}

/* As recording's prune() does it: what `gone` had is "(other)"'s, its id the next function's. */
static void what_was_pruned_is_not_recent_anywhere(void **state)
{
	struct fixture *fixture = *state;
	uint32_t other = functions__pseudo(fixture->functions, CALL_TREE_OTHER), next;
	uint8_t used[16];

	look_at(fixture, "a", "b");
	sample(fixture, "a", 50, 0, fixture->rest);
	sample(fixture, "b", 70, 0, fixture->rest);
	sample(fixture, "b", 5, 0, fixture->work);
	look_at(fixture, "a", "b");
	memset(used, 1, sizeof(used));
	used[fixture->rest] = 0;
	assert_int_equal(functions__evict(fixture->functions, used), 1);
	call_tree__free(fixture->tree);
	fixture->tree = call_tree__new();
	fixture->samples = 0;
	fixture->evicted = 120;
	sample(fixture, "a", 50, 0, other);
	sample(fixture, "b", 70, 0, other);
	sample(fixture, "b", 5, 0, fixture->work);
	next = script(fixture, "next.lua");
	assert_int_equal(next, fixture->rest);
	sample(fixture, "b", 3, 0, next);
	look_at(fixture, "a", "b");
	/* Also where no new sample came. */
	assert_null(row(fixture, "a", next));
	assert_counts(fixture, "a", other, 0, 0, 50, 50);
	assert_counts(fixture, "b", other, 0, 0, 70, 70);
	assert_counts(fixture, "b", next, 3, 3, 3, 3);
	assert_string_equal(row(fixture, "b", next)->source, "next.lua");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(keeps_processes_apart),
		with_fixture(counts_only_what_has_changed),
		with_fixture(tells_the_share_of_script),
		with_fixture(who_lives_is_there_without_samples),
		with_fixture(who_has_ended_keeps_what_it_had),
		with_fixture(what_is_nobodys_does_not_end),
		with_fixture(those_that_ended_long_ago_are_one),
		with_fixture(what_is_folded_at_once_is_recent),
		with_fixture(what_was_pruned_is_not_recent_anywhere),
	};

	return cmocka_run_group_tests_name("tally of processes", tests, NULL, NULL);
}
