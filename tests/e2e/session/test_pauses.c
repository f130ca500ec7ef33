/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is recorded of a session that pauses, and what is not. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "control_helpers.h"

/* Works in three phases, records the second, and prints how long that one took. */
static const char phases_script[] =
	"local function tell(text)\n"
	"	local fifo = assert(io.open('fifo', 'r+'))\n"
	"	fifo:write(text, '\\n')\n"
	"	fifo:close()\n"
	"end\n"
	"local function spin(seconds)\n"
	"	local begin = os.clock()\n"
	"	while os.clock() < begin + seconds do for i = 1, 1000 do end end\n"
	"	return os.clock() - begin\n"
	"end\n"
	"local function before() return (spin(0.5)) end\n"
	"local function wanted() return (spin(2)) end\n"
	"local function after() return (spin(0.5)) end\n"
	"before()\n"
	"tell('resume')\n"
	"local took = wanted()\n"
	"tell('pause')\n"
	"after()\n"
	"print(string.format('took %.0f', took * 1e6))\n";

static void records_the_phase_that_a_program_brackets(void **state)
{
	struct scriptprofile *profile;
	const char *said;
	struct child *spy;
	double took_us;

	need_lua();
	write_file(in_folder(*state, "phases.lua"), phases_script, strlen(phases_script));
	spy = start(*state, luaspy_program(), "record", "--paused", "--control", "fifo", "-o",
		    "profile.json", "--no-command-lines", "--", "lua5.4", "phases.lua");
	spying__finish(*state, spy);
	profile = spying__read(*state, in_folder(*state, "profile.json"));
	said = strstr(child__output(*state, spy), "took ");
	assert_non_null(said);
	assert_int_equal(sscanf(said, "took %lf", &took_us), 1);
	/* A command takes effect when luaspy gets a processor, for which others may compete. */
	assert_true(fabs((double)profile->all_us - took_us) <= 0.2 * took_us);
	assert_true((double)scriptprofile__total_us(profile, "*", "wanted", -1) >= 0.8 * took_us);
	assert_true(scriptprofile__total_us(profile, "*", "before", -1) <= 150000);
	assert_true(scriptprofile__total_us(profile, "*", "after", -1) <= 150000);
	assert_int_equal(json_array_size(events(profile)), 3);
	assert_string_equal(event_text(profile, 1, "Kind"), "resume");
	assert_true(event_seconds(profile, 2) - event_seconds(profile, 1) >= 0.8 * took_us / 1e6);
	assert_non_null(strstr(child__errors(*state, spy), " s, paused for "));
	assert_int_not_equal(access(in_folder(*state, "fifo"), F_OK), 0);
}

/*
 * Bounds of the target's CPU time while it was recorded. The lower runs from the report that
 * sampling resumed to the command to pause, the upper from the command to resume to the report that
 * it paused.
 */
struct account {
	struct stage *stage;
	struct child *target, *spy; /* luaspy runs with -v */
	double least_s, most_s, began_at_most_s, began_at_least_s;
	int pauses, resumes;
};

/* Sends a command, or the signal if it is NULL, and waits until it has taken effect. */
static void let_switch(const struct account *account, const char *command, const char *said,
		       int times)
{
	double end = now_seconds() + PATIENCE;

	if (command)
		tell(account->stage, command);
	else
		kill(account->spy->pid, SIGUSR1);
	while (count(child__errors(account->stage, account->spy), said) < times) {
		if (now_seconds() > end)
			fail_msg("not %s: %s", said, child__errors(account->stage, account->spy));
		sleep_seconds(0.02);
	}
}

static void let_resume(struct account *account, const char *command)
{
	account->began_at_least_s = child__cpu_seconds(account->target);
	let_switch(account, command, "debug: resumed", ++account->resumes);
	account->began_at_most_s = child__cpu_seconds(account->target);
}

static void let_pause(struct account *account, const char *command)
{
	account->least_s += child__cpu_seconds(account->target) - account->began_at_most_s;
	let_switch(account, command, "debug: paused", ++account->pauses);
	account->most_s += child__cpu_seconds(account->target) - account->began_at_least_s;
}

static void let_end(struct account *account, const char *command, int status)
{
	account->least_s += child__cpu_seconds(account->target) - account->began_at_most_s;
	if (command)
		tell(account->stage, command);
	else
		kill(account->spy->pid, SIGINT);
	if (child__wait(account->spy, PATIENCE) != status)
		fail_msg("exit status %d: %s", account->spy->status,
			 child__errors(account->stage, account->spy));
	account->most_s += child__cpu_seconds(account->target) - account->began_at_least_s;
}

static void check_account(const struct account *account, const struct scriptprofile *profile,
			  double least_sampled)
{
	double all_s = (double)profile->all_us / 1e6;
	double recorded_s = (double)scriptprofile__recorded(profile, "CpuDuration") / 1e6;
	double unsampled_s = (double)scriptprofile__recorded(profile, "Unsampled") / 1e6;

	print_message("charged while on %.4f to %.4f s, categories %.4f s, recorder %.4f s, "
		      "unsampled %.4f s\n",
		      account->least_s, account->most_s, all_s, recorded_s, unsampled_s);
	assert_true(account->least_s > 0.1);
	assert_true(all_s >= 0.99 * account->least_s);
	assert_true(all_s <= 1.01 * account->most_s);
	assert_true(fabs(recorded_s / all_s - 1) <= 0.01);
	assert_true(unsampled_s <= (1 - least_sampled) * all_s);
}

static void counts_nothing_while_a_busy_loop_is_paused(void **state)
{
	struct scriptprofile *profile;
	struct account account = {.stage = *state};
	const char *said;

	need_lua();
	account.target = start_busy(*state);
	account.spy =
		start_record(*state, account.target->pid, "--paused", "-v", "-o", "profile.json");
	spying__await_timers(*state, account.spy);
	for (int i = 0; i < 3; i++) {
		let_resume(&account, NULL);
		child__let_work(account.target, 0.8);
		let_pause(&account, NULL);
		child__let_work(account.target, 0.4);
	}
	let_resume(&account, NULL);
	child__let_work(account.target, 0.8);
	let_end(&account, NULL, 0);
	profile = spying__read(*state, in_folder(*state, "profile.json"));
	check_account(&account, profile, 0.99);
	assert_true((double)scriptprofile__total_us(profile, "*", "work", -1) >=
		    0.98 * (double)profile->all_us);
	assert_int_equal(json_array_size(events(profile)), 8);
	/* The timers were paused, too. */
	said = strstr(child__errors(*state, account.spy), " ticks, ");
	assert_non_null(said);
	while (said[-1] != ' ')
		said--;
	assert_in_range(atoi(said), 1, scriptprofile__samples(profile, "total") + 20);
	assert_true(scriptprofile__recorded(profile, "PausedDuration") >= 1200000);
}

/* The time of the category with this name. */
static double category_s(const struct scriptprofile *profile, const char *name)
{
	const json_t *categories = json_object_get(profile->document, "Categories");

	for (size_t i = 0; i < json_array_size(categories); i++) {
		const json_t *category = json_array_get(categories, i);

		if (!strcmp(json_string_value(json_object_get(category, "Name")), name))
			return (double)profile->node_total_us[json_integer_value(
				       json_object_get(category, "NodeId"))] /
			       1e6;
	}
	return 0;
}

/* Starts a paused session on a target that has not started its threads. */
static struct account watch_threads(struct stage *stage)
{
	struct account account = {.stage = stage};
	struct child *target = start(stage, built_program("threads-5.4"), "3");

	child__await_output(stage, target, "ready");
	account.target = target;
	account.spy = start_record(stage, target->pid, "-v", "--paused", "--control", "fifo", "-F",
				   "10khz", "-o", "profile.json");
	spying__await_timers(stage, account.spy);
	return account;
}

/*
 * The target has two threads at a time, of a few milliseconds each, and a busy one that outlives
 * them. Here the busy one is born while paused and still runs while recorded.
 */
static void samples_threads_that_were_born_while_paused(void **state)
{
	struct scriptprofile *profile;
	struct account account;

	need_to_record();
	account = watch_threads(*state);
	child__tell(account.target, "go");
	child__let_work(account.target, 0.6);
	let_resume(&account, NULL);
	child__await_output(*state, account.target, "done ");
	let_end(&account, NULL, 0);
	profile = spying__read(*state, in_folder(*state, "profile.json"));
	check_account(&account, profile, 0.95);
	/* Its timer was enabled with the others. */
	assert_true((double)scriptprofile__self_us(profile, "", "(host)", -1) / 1e6 >=
		    0.97 * category_s(profile, "busy"));
	assert_true(scriptprofile__stack_us(profile, "main chunk > second > brief") > 0);
}

static void forgets_threads_that_die_while_paused(void **state)
{
	struct scriptprofile *profile;
	struct account account;

	need_to_record();
	account = watch_threads(*state);
	let_resume(&account, "resume");
	child__tell(account.target, "go");
	for (int i = 0; i < 2; i++) {
		child__let_work(account.target, 0.6);
		let_pause(&account, "pause");
		child__let_work(account.target, 0.1);
		let_resume(&account, "resume");
	}
	child__let_work(account.target, 0.3);
	let_pause(&account, "pause");
	child__await_output(*state, account.target, "done ");
	tell(*state, "stop");
	spying__finish(*state, account.spy);
	profile = spying__read(*state, in_folder(*state, "profile.json"));
	check_account(&account, profile, 0.95);
}

/* Timers are inherited from a thread that has ended since and from one that was paused itself. */
static void resumes_the_descendants_of_threads_that_ended(void **state)
{
	struct scriptprofile *profile;
	struct account account = {.stage = *state};
	struct child *target;

	need_to_record();
	target = start(*state, built_program("lineage"));
	account.target = target;
	child__await_output(*state, target, "ready");
	account.spy = start_record(*state, target->pid, "-v", "--wait", "--control", "fifo", "-o",
				   "profile.json");
	spying__await_timers(*state, account.spy);
	child__tell(target, "one");
	child__await_output(*state, target, "2 ahead");
	let_pause(&account, "pause");
	child__tell(target, "two");
	child__await_output(*state, target, "1 ahead");
	child__tell(target, "three");
	child__let_work(target, 0.3);
	account.least_s = account.most_s = 0;
	let_resume(&account, "resume");
	child__let_work(target, 0.8);
	let_end(&account, "stop", 3);
	profile = spying__read(*state, in_folder(*state, "profile.json"));
	check_account(&account, profile, 0.95);
	assert_true(category_s(profile, "youngest") >= 0.97 * account.least_s);
}

static void counts_pauses_for_the_duration(void **state)
{
	struct child *target, *spy;
	double begin;

	need_lua();
	target = start_busy(*state);
	begin = now_seconds();
	spy = start_record(*state, target->pid, "-d", "700ms", "--paused", "-o", "profile.json");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	assert_true(now_seconds() - begin < 5);
	assert_non_null(
		strstr(child__errors(*state, spy),
		       "it was paused and never resumed (SIGUSR1 or --control resumes it)"));
	assert_int_not_equal(access(in_folder(*state, "profile.json"), F_OK), 0);
}

static void writes_the_profile_so_far_and_continues(void **state)
{
	struct scriptprofile *early, *late;
	struct account account = {.stage = *state};
	char path[128];

	need_lua();
	account.target = start_busy(*state);
	account.spy = start_record(*state, account.target->pid, "-v", "--paused", "--control",
				   "fifo", "-o", "profile.json");
	spying__await_timers(*state, account.spy);
	let_resume(&account, "resume");
	child__let_work(account.target, 0.5);
	tell(*state, "write");
	stage__await_file(*state, account.spy, "profile.json");
	snprintf(path, sizeof(path), "%s", in_folder(*state, "early.json"));
	rename(in_folder(*state, "profile.json"), path);
	/* Neither writes nor pauses may change what is counted. */
	for (int i = 0; i < 20; i++) {
		child__let_work(account.target, 0.05);
		tell(*state, "write");
	}
	let_pause(&account, "pause");
	tell(*state, "write");
	let_resume(&account, "resume");
	child__let_work(account.target, 0.5);
	let_end(&account, "stop", 0);
	early = spying__read(*state, path);
	late = spying__read(*state, in_folder(*state, "profile.json"));
	assert_true(scriptprofile__total_us(early, "*", "work", -1) > 400000);
	assert_int_equal(json_array_size(events(early)), 3);
	check_account(&account, late, 0.99);
	assert_int_equal(json_array_size(events(late)), 26);
	assert_string_equal(event_text(late, 2, "Kind"), "write");
	assert_int_equal(count_files(((struct stage *)*state)->folder),
			 2 + 2 * ((struct stage *)*state)->count);
}

static void writes_nothing_from_before_it_was_resumed(void **state)
{
	struct scriptprofile *profile;
	struct child *target, *spy;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "--paused", "--control", "fifo", "-o",
			   "profile.json");
	spying__await_timers(*state, spy);
	tell(*state, "write");
	tell(*state, "stop");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	profile = spying__read(*state, in_folder(*state, "profile.json"));
	assert_int_equal(profile->all_us, 0);
	assert_int_equal(scriptprofile__recorded(profile, "CpuDuration"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(records_the_phase_that_a_program_brackets),
		staged(counts_nothing_while_a_busy_loop_is_paused),
		staged(samples_threads_that_were_born_while_paused),
		staged(forgets_threads_that_die_while_paused),
		staged(resumes_the_descendants_of_threads_that_ended),
		staged(counts_pauses_for_the_duration),
		staged(writes_the_profile_so_far_and_continues),
		staged(writes_nothing_from_before_it_was_resumed),
	};

	return cmocka_run_group_tests_name("pauses", tests, NULL, NULL);
}
