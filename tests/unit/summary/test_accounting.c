/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "summary_fixture.h"

static void prints_the_whole_accounting_like_this(void **state)
{
	struct fixture *fixture = *state;

	fixture->all = true;
	assert_shows(fixture, "samples whole; script 90.0% of CPU time\n"
			      "\n"
			      "  layout       5.4.0-5.4.6\n"
			      "  CPU share    50.0% of the wall clock\n"
			      "\n"
			      "Samples\n"
			      "  complete     9,000   90.0%\n"
			      "  host         1,000   10.0%  no script is on the thread's stack\n"
			      "  --------------------------\n"
			      "  all         10,000  100.0%\n"
			      "\n"
			      "CPU time\n"
			      "  script      9.00 s   90.0%\n"
			      "  host        1.00 s   10.0%  no script is on the stack\n"
			      "  --------------------------\n"
			      "  all         10.0 s  100.0%\n");
}

/* The accounting does not repeat what was logged already. */
static void shows_the_layout_only_where_the_log_does_not(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	assert_hides(fixture, "layout");
	fixture->all = true;
	recorder->layout = "5.4.3-5.4.9, agreed on by 8 of 8 samples, no sample fits another";
	assert_hides(fixture, "layout");
	recorder->layout = "5.4.3-5.4.9, forced: 812 of 813 samples fit";
	assert_shows(fixture, "  layout       5.4.3-5.4.9, forced: 812");
	fixture->all = false;
	recorder->layout = NULL;
	assert_shows(fixture, "whole; script 90.0% of CPU time\n\n  layout       undecided\n");
}

static void tells_what_it_cost_where_that_was_limited(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_overhead *overhead = &fixture->profile.recorder.overhead;

	assert_hides(fixture, "cost");
	*overhead = (struct ls_profile_overhead){.limit_ppm = 10000,
						 .interrupts_ns = 30000000,
						 .bpf_ns = 20000000,
						 .own_ns = 10000000};
	assert_shows(fixture, "script 90.0% of CPU time; luaspy cost 0.6%\n");
	assert_hides(fixture, "overhead");
	fixture->all = true;
	assert_shows(fixture,
		     "  overhead     interrupts 0.3%, BPF 0.2%, luaspy 0.1% of CPU time\n");
	fixture->all = false;
	overhead->lowered_ns = 12000000000;
	overhead->period_most_ns = 4000000;
	assert_shows(fixture,
		     "\n  frequency    lowered for 12.0 s, down to 250 Hz, to keep to 1%\n");
	assert_shows(fixture, " in 20.0 s, 250 to 1,000 Hz\n");
	overhead->own_ns = 500000000;
	assert_shows(fixture,
		     "luaspy cost 5.5%\ninstead of 1%: a lower frequency does not reduce its own "
		     "work (5.0%)\n");
}

static void shows_the_collectors_share_or_that_it_is_not_known(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	assert_hides(fixture, "GC");
	recorder->gc_unknown = "the file has no unwind tables";
	assert_shows(fixture, "of CPU time; GC unknown\n");
	assert_shows(fixture, "\nCPU time\n  GC: unknown (the file has no unwind tables)\n");
	recorder->gc = "by its code";
	assert_shows(fixture, "of CPU time; GC 0.0% (unknown for\nsome)\n");
	assert_shows(fixture, "  GC: unknown for some (the file has no unwind tables)\n");
	recorder->gc_unknown = NULL;
	assert_shows(fixture, "of CPU time; GC 0.0%\n");
	assert_hides(fixture, "unknown");
	set_function(fixture, ANONYMOUS, "GC", "GC", 0);
	assert_shows(fixture, "of CPU time; GC 20.0%\n");
}

static void splits_the_time_of_scripts_if_some_is_compiled(void **state)
{
	struct fixture *fixture = *state;

	assert_hides(fixture, "interpreted");
	fixture->functions[FIB].flags = LS_FUNCTION_NATIVE;
	assert_shows(fixture, "interpreted ");
	assert_shows(fixture, "compiled ");
	assert_hides(fixture, "JIT compiler");
	assert_hides(fixture, "trace exit");
	set_function(fixture, ANONYMOUS, "JIT compiler", "JIT compiler", 0);
	fixture->functions[FIB].flags = 0;
	assert_shows(fixture, "compiled 0.0%");
	assert_shows(fixture, "JIT compiler 20.0%");
	set_function(fixture, ANONYMOUS, "trace exit", "trace exit", 0);
	assert_hides(fixture, "interpreted");
}

/* For one reason each, but for those that are torn. */
static void lose_some(struct ls_profile_recorder *recorder)
{
	recorder->classes[LS_SAMPLE_COMPLETE] = 8700;
	recorder->classes[LS_SAMPLE_TRUNCATED] = 250;
	recorder->classes[LS_SAMPLE_TORN] = 5;
	recorder->classes[LS_SAMPLE_UNREADABLE] = 40;
	recorder->classes[LS_SAMPLE_DROPPED] = 5;
	recorder->errors[LS_WALK_DEPTH] = 250;
	recorder->errors[LS_WALK_FRAME_MEMORY] = 2;
	recorder->errors[LS_WALK_FRAME_PROTO] = 3;
	recorder->errors[LS_WALK_STATE_MEMORY] = 40;
}

static void accounts_for_every_sample(void **state)
{
	struct fixture *fixture = *state;

	fixture->all = true;
	lose_some(&fixture->profile.recorder);
	assert_shows(fixture, "\n97.0% of 10,000 samples whole; ");
	assert_shows(fixture,
		     "  complete     8,700   87.0%\n"
		     "  host         1,000   10.0%  no script is on the thread's stack\n"
		     "  truncated      250    2.5%  the stack is deeper than --max-depth\n"
		     "  torn             5    0.1%\n"
		     "                   2          a frame could not be read\n"
		     "                   3          a frame's prototype does not fit its program\n"
		     "                              counter\n"
		     "  unreadable      40    0.4%  the state of a VM could not be read\n"
		     "  dropped          5    0.1%  no room in the ring buffer\n"
		     "  --------------------------\n"
		     "  all         10,000  100.0%\n");
	assert_hides(fixture, "add up");
}

static void tells_of_samples_that_are_not_whole_if_they_are_many(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	lose_some(recorder);
	assert_shows(fixture, "\nSamples\n"
			      "  truncated      250    2.5%  the stack is deeper than --max-depth\n"
			      "  torn             5    0.1%\n");
	assert_hides(fixture, "  all ");
	assert_hides(fixture, "complete");
	recorder->classes[LS_SAMPLE_TRUNCATED] = 50;
	recorder->classes[LS_SAMPLE_COMPLETE] = 8900;
	assert_hides(fixture, "Samples");
	recorder->samples++;
	assert_shows(fixture, "\nSamples\n  the classes add up to 10,000 samples");
}

static void names_every_reason_of_the_walkers(void **state)
{
	static const char *const sentences[] = {
#define X(code, class, counter, sentence) sentence,
		LS_WALK_ERRORS(X)
#undef X
	};
	struct fixture *fixture = *state;

	fixture->all = true;
	for (int error = LS_WALK_NONE + 1; error < LS_WALK_ERROR_COUNT; error++) {
		char first_words[24];

		snprintf(first_words, sizeof(first_words), "%s", sentences[error]);
		fixture->profile.recorder.errors[error] = 7;
		assert_shows(fixture, first_words);
	}
	fixture->profile.recorder.errors[LS_WALK_NONE] = 8321;
	assert_hides(fixture, "8,321");
}

static void says_when_the_classes_do_not_add_up(void **state)
{
	struct fixture *fixture = *state;

	fixture->profile.recorder.samples = 10001;
	assert_shows(fixture, "  the classes add up to 10,000 samples: please report this\n");
}

static void accounts_for_the_cpu_time(void **state)
{
	struct fixture *fixture = *state;

	fixture->all = true;
	set_time(fixture, UNREADABLE, 500000, 500000);
	set_time(fixture, UNSAMPLED, 1, 1);
	set_time(fixture, FIB, 5499999, 9000000);
	assert_shows(fixture, "  script       8.50 s   85.0%\n"
			      "  host         1.00 s   10.0%  no script is on the stack\n"
			      "  unreadable   500 ms    5.0%  the stack could not be read\n"
			      "  unsampled   1.00 us   <0.1%  covered by no sample\n"
			      "  ---------------------------\n"
			      "  all          10.0 s  100.0%\n");
	fixture->all = false;
	assert_shows(fixture, "\nCPU time\n"
			      "  unreadable   500 ms    5.0%  the stack could not be read\n");
	assert_hides(fixture, "unsampled");
	assert_hides(fixture, "  all ");
}

static void takes_no_script_function_for_the_host(void **state)
{
	struct fixture *fixture = *state;

	fixture->all = true;
	set_function(fixture, FIB, "(host)", "evil.lua", 1);
	assert_shows(fixture, "  host        1.00 s   10.0%  no script is on the stack\n");
	assert_shows(fixture, "(host)       evil.lua:1\n");
}

static void mentions_only_what_was_counted(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	fixture->all = true;
	assert_hides(fixture, "Also counted");
	recorder->unnamed_calls = 1304;
	assert_shows(fixture, "\nAlso counted\n"
			      "  1,304  calls whose name could not be read\n");
	recorder->collected = 12;
	recorder->unkept_lines = 5;
	recorder->vma_busy = 3;
	recorder->evicted_samples = 50;
	recorder->evicted_functions = 4;
	recorder->lost_records = 1;
	recorder->ignored_samples = 7;
	recorder->untimed_samples = 8;
	recorder->missed_processes = 2;
	assert_shows(fixture,
		     "     12  samples with a function that was collected before it could be read\n"
		     "  1,304  calls whose name could not be read\n"
		     "      5  samples whose line the VM does not keep, as in machine code\n"
		     "      3  look-ups of stack bounds that the kernel refused (EBUSY)\n"
		     "     50  samples in (other) or below\n"
		     "      4  functions, too rare to be kept apart, that went into (other)\n"
		     "      7  samples in ignored functions, charged to their callers\n"
		     "      8  samples, the last ones, that found no room in the timeline\n"
		     "      1  record besides samples that found no room in the ring buffer\n"
		     "      2  processes that could not be inspected or sampled\n");
	recorder->untimed_samples = 1;
	recorder->missed_processes = 1;
	assert_shows(fixture,
		     "      1  sample, the last one, that found no room in the timeline\n");
	assert_shows(fixture, "      1  process that could not be inspected or sampled\n");
}

static void counts_of_itself_only_what_went_wrong(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	recorder->unnamed_calls = 1304;
	recorder->unkept_lines = 6000;
	recorder->vma_busy = 3;
	recorder->ignored_samples = 7000;
	recorder->collected = 100;
	recorder->unknown_lines = 100;
	assert_hides(fixture, "Also counted");
	recorder->collected = 101;
	recorder->missed_processes = 2;
	assert_shows(fixture,
		     "\nAlso counted\n"
		     "  101  samples with a function that was collected before it could be read\n"
		     "    2  processes that could not be inspected or sampled\n");
	assert_hides(fixture, "1,304");
	recorder->unknown_lines = 101;
	recorder->lost_records = 1;
	recorder->evicted_functions = 4;
	assert_shows(fixture,
		     "  101  samples whose line could not be read\n"
		     "    4  functions, too rare to be kept apart, that went into (other)\n"
		     "    1  record besides samples");
}

static void says_how_long_it_was_paused(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	assert_hides(fixture, "pause");
	recorder->paused_ns = 4004000000;
	assert_shows(fixture, "10.0 s of CPU time in 20.0 s, paused for 4.00 s,\n1,000 Hz\n");
	recorder->events_left_out = 12;
	assert_shows(fixture, "  12  marks and pauses beyond the limit\n");
	fixture->all = true;
	assert_shows(fixture, "  CPU share    62.5% of the wall clock without pauses\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_summary(prints_the_whole_accounting_like_this),
		with_summary(shows_the_layout_only_where_the_log_does_not),
		with_summary(tells_what_it_cost_where_that_was_limited),
		with_summary(accounts_for_every_sample),
		with_summary(tells_of_samples_that_are_not_whole_if_they_are_many),
		with_summary(shows_the_collectors_share_or_that_it_is_not_known),
		with_summary(splits_the_time_of_scripts_if_some_is_compiled),
		with_summary(names_every_reason_of_the_walkers),
		with_summary(says_when_the_classes_do_not_add_up),
		with_summary(accounts_for_the_cpu_time),
		with_summary(takes_no_script_function_for_the_host),
		with_summary(mentions_only_what_was_counted),
		with_summary(counts_of_itself_only_what_went_wrong),
		with_summary(says_how_long_it_was_paused),
	};

	return cmocka_run_group_tests_name("accounting", tests, NULL, NULL);
}
