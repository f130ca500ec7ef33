/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whatever is counted for the session is also counted for its subprofile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "local_inspector.h"
#include "recording/recording.h"
#include "recording/subprofiles.h"

/* Above 4,194,304 (PID_MAX_LIMIT), so there is no process to read names from. */
#define ONE    2000000000
#define OTHER  2000000001
#define PERIOD 1000000U

struct fixture {
	struct subprofiles *subprofiles;
	struct recording *recording;
	struct subprofile *one, *other;
};

static int make_fixture(void **state)
{
	static struct fixture fixture;

	*state = &fixture;
	fixture.subprofiles = subprofiles__new();
	fixture.recording = recording__new(CATEGORY_THREAD, 1, local_inspector());
	if (!fixture.subprofiles || !fixture.recording)
		return -1;
	recording__keep_subprofiles(fixture.recording, fixture.subprofiles, 0);
	return recording__add_process(fixture.recording, ONE, "one") ||
	       recording__add_process(fixture.recording, OTHER, "other") ||
	       subprofiles__add_process(fixture.subprofiles, ONE, &fixture.one) ||
	       subprofiles__add_process(fixture.subprofiles, OTHER, &fixture.other);
}

static int free_fixture(void **state)
{
	struct fixture *fixture = *state;

	recording__free(fixture->recording);
	subprofiles__free(fixture->subprofiles);
	return 0;
}

static void take(struct fixture *fixture, pid_t pid, uint64_t runtime_ns, uint32_t dropped)
{
	/* Of which nothing is known. */
	struct ls_frame frame = {.kind = LS_FRAME_LUA, .function = 0x4000};
	struct ls_sample sample = {.type = LS_RECORD_SAMPLE,
				   .tgid = (uint32_t)pid,
				   .tid = (uint32_t)pid,
				   .class = LS_SAMPLE_TORN,
				   .error = LS_WALK_RESUMERS,
				   .comm = "lua",
				   .frame_count = 1,
				   .dropped_before = dropped,
				   .time_ns = runtime_ns,
				   .runtime_ns = runtime_ns,
				   .period_ns = PERIOD};

	assert_int_equal(recording__sample(fixture->recording, &sample, &frame), 0);
}

static void settle(struct fixture *fixture, pid_t pid, uint64_t runtime_ns)
{
	struct recorded_thread thread = {pid, (uint32_t)pid, "lua", runtime_ns};

	assert_int_equal(recording__settle_thread(fixture->recording, &thread), 0);
}

/* The time of the subprofile's categories in ns. */
static uint64_t charged_ns(struct fixture *fixture, uint32_t owner)
{
	struct ls_profile profile = {};
	uint8_t is_own[64] = {0};
	uint64_t sum = 0;

	recording__export(fixture->recording, &profile);
	assert_in_range(profile.node_count, 0, sizeof(is_own) - 1);
	for (uint32_t i = 0; i < profile.category_count; i++)
		is_own[profile.categories[i].node] = profile.categories[i].owner == owner;
	for (uint32_t id = 1; id <= profile.node_count; id++) {
		is_own[id] |= is_own[profile.nodes[id].parent];
		sum += is_own[id] ? profile.nodes[id].self_ns : 0;
	}
	return sum;
}

static void what_is_counted_is_its_subprofiles(void **state)
{
	struct fixture *fixture = *state;
	const struct subprofile_counts *one = &fixture->one->counts,
				       *other = &fixture->other->counts;

	recording__assign(fixture->recording, ONE, fixture->one);
	take(fixture, ONE, PERIOD, 0);
	take(fixture, ONE, 2 * PERIOD, 5);
	take(fixture, OTHER, PERIOD, 7);
	recording__assign(fixture->recording, OTHER, fixture->other);
	take(fixture, OTHER, 2 * PERIOD, 0);
	recording__finish(fixture->recording, ONE, "lua", 9 * PERIOD);
	settle(fixture, OTHER, 2 * PERIOD);
	assert_int_equal(one->classes[LS_SAMPLE_TORN], 2);
	assert_int_equal(one->classes[LS_SAMPLE_DROPPED], 5);
	assert_int_equal(one->errors[LS_WALK_RESUMERS], 2);
	assert_int_equal(one->collected, 2);
	assert_int_equal(one->unknown_lines, 2);
	assert_true(one->unsampled_ns >= 7 * PERIOD);
	assert_int_equal(other->classes[LS_SAMPLE_TORN], 1);
	assert_int_equal(other->classes[LS_SAMPLE_DROPPED], 0);
	assert_int_equal(charged_ns(fixture, fixture->one->id), 9 * PERIOD);
	assert_int_equal(charged_ns(fixture, fixture->other->id) + charged_ns(fixture, 0),
			 2 * PERIOD);
	assert_true(charged_ns(fixture, 0) > 0);
	assert_int_equal(recording__classes(fixture->recording)[LS_SAMPLE_TORN], 4);
}

/*
 * Counts start again; samples that are still pending go to the subprofile in which they were taken.
 */
static void a_part_stays_while_time_of_it_is_to_come(void **state)
{
	struct fixture *fixture = *state;
	uint32_t one = fixture->one->id;

	recording__assign(fixture->recording, ONE, fixture->one);
	take(fixture, ONE, PERIOD, 0);
	recording__assign(fixture->recording, ONE, fixture->other);
	subprofiles__release(fixture->one);
	assert_int_equal(recording__restart(fixture->recording), 0);
	assert_int_equal(HASH_COUNT(fixture->subprofiles->items), 2);
	assert_int_equal(fixture->one->counts.classes[LS_SAMPLE_TORN], 0);
	settle(fixture, ONE, PERIOD);
	assert_int_equal(charged_ns(fixture, one), PERIOD);
	assert_int_equal(charged_ns(fixture, fixture->other->id), 0);
	assert_int_equal(recording__restart(fixture->recording), 0);
	assert_int_equal(HASH_COUNT(fixture->subprofiles->items), 1);
	assert_ptr_equal(fixture->subprofiles->items, fixture->other);
}

/* The next sample reports the dropped ones, perhaps in another profile. */
static void what_was_dropped_is_in_one_profile(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t *classes = fixture->one->counts.classes;

	recording__assign(fixture->recording, ONE, fixture->one);
	take(fixture, ONE, PERIOD, 3);
	assert_int_equal(classes[LS_SAMPLE_DROPPED], 3);
	/* BPF knew of ten. */
	fixture->subprofiles->dropped_rest = 7;
	assert_int_equal(recording__restart(fixture->recording), 0);
	take(fixture, ONE, 2 * PERIOD, 4);
	assert_int_equal(classes[LS_SAMPLE_DROPPED], 0);
	take(fixture, ONE, 3 * PERIOD, 5);
	assert_int_equal(classes[LS_SAMPLE_DROPPED], 2);
}

static void processes_of_a_group_are_one_subprofile(void **state)
{
	struct fixture *fixture = *state;
	struct subprofile *first, *second, *third;

	assert_int_equal(subprofiles__of_group(fixture->subprofiles, "/a/b", &first), 0);
	assert_int_equal(subprofiles__of_group(fixture->subprofiles, "/a/b", &second), 0);
	assert_int_equal(subprofiles__of_group(fixture->subprofiles, "/a", &third), 0);
	assert_ptr_equal(first, second);
	assert_ptr_not_equal(first, third);
	assert_string_equal(first->title, "/a/b");
	subprofiles__release(first);
	assert_int_equal(recording__restart(fixture->recording), 0);
	assert_int_equal(HASH_COUNT(fixture->subprofiles->items), 4);
	subprofiles__release(second);
	assert_int_equal(recording__restart(fixture->recording), 0);
	assert_int_equal(HASH_COUNT(fixture->subprofiles->items), 3);
	assert_int_equal(subprofiles__of_group(fixture->subprofiles, "/a/b", &first), 0);
	assert_int_equal(HASH_COUNT(fixture->subprofiles->items), 4);
}

static void those_that_are_too_many_are_the_rest(void **state)
{
	struct fixture *fixture = *state;
	struct subprofile *subprofile = fixture->one;

	for (int i = 2; i < SUBPROFILES_MAX; i++)
		assert_int_equal(subprofiles__add_process(fixture->subprofiles, i, &subprofile), 0);
	assert_non_null(subprofile);
	assert_int_equal(fixture->subprofiles->are_too_many, 0);
	assert_int_equal(subprofiles__add_process(fixture->subprofiles, 1, &subprofile), 0);
	assert_null(subprofile);
	assert_int_equal(fixture->subprofiles->are_too_many, 1);
	assert_int_equal(subprofiles__of_group(fixture->subprofiles, "group", &subprofile), 0);
	assert_null(subprofile);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, make_fixture, free_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(what_is_counted_is_its_subprofiles),
		fresh(a_part_stays_while_time_of_it_is_to_come),
		fresh(what_was_dropped_is_in_one_profile),
		fresh(processes_of_a_group_are_one_subprofile),
		fresh(those_that_are_too_many_are_the_rest),
	};

	return cmocka_run_group_tests_name("subprofiles", tests, NULL, NULL);
}
