/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy dump of Luau: what it shows of programs that say themselves where they are. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "dumping.h"

#define DUMPS_MAX 60
#define SHOWN_MIN 80 /* of a hundred coroutines that hardly ever stand still, in all dumps */

/*
 * As tests/hosts/rules.mk has them built: each way in which a function was seen to be laid out, and
 * forks, whose functions tell how they are.
 */
static const char *const releases[] = {"516-gcc", "577-gcc",     "635-gcc",   "727-longjmp",
				       "736-gcc", "736-vector4", "736-grown", "736-moved-proto"};

#define RELEASE_COUNT (sizeof(releases) / sizeof(releases[0]))

static const char *host(const char *build)
{
	static char program[128];

	snprintf(program, sizeof(program), "../../hosts/luau_%s", build);
	return built_program(program);
}

#define need_luau(build)                                                                           \
	do {                                                                                       \
		need_to_record();                                                                  \
		need_host(host(build));                                                            \
	} while (0)

static struct child *start_script(struct stage *stage, const char *build, const char *script)
{
	struct child *target;

	write_text(stage, "app.luau", script);
	target = start(stage, host(build), "app.luau");
	child__await_output(stage, target, "ready\n");
	return target;
}

static const json_t *coroutine_stack(const json_t *dump, size_t at)
{
	const json_t *coroutine = json_array_get(json_object_get(dump, "Coroutines"), at);

	return json_array_get(json_object_get(coroutine, "Stacks"), 0);
}

static json_int_t count_of(const json_t *dump, const char *name)
{
	return number_of(json_object_get(dump, "Counts"), name);
}

/* Compares `count` suspended coroutines with what the program says at `at`. */
static void compare_suspended(const json_t *dump, const char *at, size_t count)
{
	assert_int_equal(json_array_size(json_object_get(dump, "Coroutines")), count);
	for (size_t i = 0; i < count; i++)
		at = compare_stack(coroutine_stack(dump, i), expect_word(at, "SUSPENDED\n"),
				   "yield");
	expect_word(at, "ready");
	assert_int_equal(count_of(dump, "Vms"), 1);
	assert_int_equal(count_of(dump, "FinishedCoroutines"), 1);
	assert_int_equal(count_of(dump, "FailedCoroutines"), 1);
	assert_int_equal(count_of(dump, "LeftOut"), 0);
}

static void shows_what_the_program_says_of_itself(void **state)
{
	struct stage *stage = *state;

	for (size_t i = 0; i < RELEASE_COUNT; i++) {
		const json_t *dump, *thread, *stacks;
		struct child *target;
		const char *at;

		need_luau(releases[i]);
		target = start(stage, host(releases[i]), program_source("stacks.luau"));
		child__await_output(stage, target, "ready\n");
		child__await_state(stage, target, 'S');
		at = child__output(stage, target);
		dump = dump_json(stage, target->pid, 0, "--all");
		thread = json_array_get(json_object_get(dump, "Threads"), 0);
		assert_string_equal(text_of(thread, "Status"), "idle");
		assert_string_equal(text_of(thread, "SystemCall"), "pause");
		stacks = json_object_get(thread, "Stacks");
		assert_int_equal(json_array_size(stacks), 3);
		for (size_t j = 0; j < 3; j++)
			at = compare_stack(json_array_get(stacks, j), expect_word(at, "STACK\n"),
					   j ? "resume" : "wait");
		compare_suspended(dump, at, 4);
		assert_int_equal(count_of(dump, "ActiveCoroutines"), 3);
		assert_int_equal(count_of(dump, "CoroutinesNotStarted"), 1);
		print_message("%s: equal; layout %s\n", releases[i], text_of(dump, "Layout"));
		child__kill(target);
	}
}

/* No stack of a thread leads to the VM, nor tells its layout: its functions do. */
static void shows_coroutines_of_a_vm_that_does_not_run(void **state)
{
	struct stage *stage = *state;

	for (size_t i = 0; i < RELEASE_COUNT; i++) {
		const json_t *dump, *thread;
		struct child *target;

		need_luau(releases[i]);
		target = start(stage, host(releases[i]), program_source("stacks.luau"), "yields");
		child__await_output(stage, target, "ready\n");
		child__await_state(stage, target, 'S');
		dump = dump_json(stage, target->pid, 0, "--all");
		thread = json_array_get(json_object_get(dump, "Threads"), 0);
		assert_string_equal(text_of(thread, "Status"), "idle");
		assert_null(frame_of(thread, 0));
		compare_suspended(dump, child__output(stage, target), 5);
		assert_int_equal(count_of(dump, "ActiveCoroutines"), 0);
		assert_int_equal(count_of(dump, "CoroutinesNotStarted"), 3);
		assert_non_null(strstr(text_of(dump, "Layout"), "provisionally, by 5 of 5"));
		child__kill(target);
	}
}

/* No layout has lines where these functions have them, and they are too few to derive one. */
static void shows_nothing_that_is_not_proven(void **state)
{
	struct stage *stage = *state;
	const json_t *dump;
	struct child *target;

	need_luau("736-moved-lines");
	target = start_script(stage, "736-moved-lines",
			      "local co = coroutine.create(function() coroutine.yield() end)\n"
			      "coroutine.resume(co) print 'ready' coroutine.yield()\n");
	child__await_state(stage, target, 'S');
	dump = dump_json(stage, target->pid, 3, "--all");
	assert_int_equal(json_array_size(json_object_get(dump, "Coroutines")), 0);
	assert_int_equal(count_of(dump, "LeftOut"), 1);
	child__kill(target);
}

static void samples_what_runs(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	const json_t *thread;

	need_luau("736-gcc");
	target = start_script(stage, "736-gcc",
			      "local function hot() while true do end end\n"
			      "local co = coroutine.create(function() hot() end)\n"
			      "print 'ready' coroutine.resume(co)\n");
	child__let_work(target, 0.05);
	thread = json_array_get(
		json_object_get(dump_json(stage, target->pid, 0, "--all"), "Threads"), 0);
	assert_string_equal(text_of(thread, "Status"), "active");
	assert_string_equal(text_of(frame_of(thread, 0), "Name"), "hot");
	assert_int_equal(number_of(frame_of(thread, 1), "CurrentLine"), 2);
	assert_int_equal(json_array_size(json_object_get(thread, "Stacks")), 2);
	child__kill(target);
}

/* The line is where the VM last stored one. */
static void shows_a_stopped_process(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	const char *text;

	need_luau("736-gcc");
	target = start_script(
		stage, "736-gcc",
		"local function make() local t = {} for i = 1, 9 do t[i] = {} end end\n"
		"local function hot()\n"
		"	while true do make() end\n"
		"end print 'ready' hot()\n");
	kill(target->pid, SIGSTOP);
	child__await_state(stage, target, 'T');
	text = dump_text(stage, target->pid, 0, NULL);
	assert_non_null(strstr(text, "(stopped)\n"));
	assert_non_null(strstr(text, "    hot (app.luau:"));
	assert_non_null(strstr(text, "    main chunk (app.luau:4)\n"));
	child__kill(target);
}

/* A task library's coroutine waits in C: nothing tells it from what resumed it. */
static void says_where_it_cannot_tell_which_state_runs(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	const json_t *dump;

	need_luau("736-gcc");
	target = start_script(
		stage, "736-gcc",
		"local rests = coroutine.create(function() coroutine.yield() end)\n"
		"coroutine.resume(rests) print 'ready' spawn(function() wait() end)\n");
	child__await_state(stage, target, 'S');
	dump = dump_json(stage, target->pid, 0, "--all");
	assert_string_equal(text_of(json_array_get(json_object_get(dump, "Threads"), 0), "Problem"),
			    "a state is active, but perhaps on another stack");
	assert_int_equal(json_array_size(json_object_get(dump, "Coroutines")), 1);
	expect_coroutine(json_object_get(dump, "Coroutines"), "yield", "");
	assert_int_equal(count_of(dump, "ActiveCoroutines"), 2);
	child__kill(target);
}

/* As yielders.lua, but for the library that Luau lacks. */
static void shows_no_coroutine_between_two_places(void **state)
{
	static const char script[] =
		"\n\n\n\n"
		"local function one() coroutine.yield({}) return nil end\n"
		"local function two() coroutine.yield({}) return nil end\n"
		"local function turn()\n"
		"\n"
		"	one()\n"
		"	two()\n"
		"	return nil\n"
		"end\n"
		"local coroutines = {}\n"
		"for i = 1, 100 do\n"
		"	coroutines[i] = coroutine.wrap(function() while true do turn() end end)\n"
		"	coroutines[i]()\n"
		"end\n"
		"print 'ready'\n"
		"while true do for i = 1, #coroutines do coroutines[i]() end end\n";
	struct stage *stage = *state;
	struct child *target;
	size_t shown = 0;
	int dumps = 0;

	need_luau("736-gcc");
	target = start_script(stage, "736-gcc", script);
	for (; dumps < DUMPS_MAX && shown < SHOWN_MIN; dumps++)
		shown += check_yielders(
			json_object_get(dump_json(stage, target->pid, 0, "--all"), "Coroutines"),
			"yield");
	print_message("%zu of %d coroutines stood still\n", shown, dumps * 100);
	assert_in_range(shown, SHOWN_MIN, DUMPS_MAX * 100);
	child__kill(target);
}

/* The function has called nothing: its host's callback made it yield. */
static void shows_a_function_that_was_made_to_yield(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	const json_t *stack;
	int line;

	need_luau("736-gcc");
	target = start_script(stage, "736-gcc",
			      "local function hot()\n"
			      "	interrupt()\n"
			      "	while true do end\n"
			      "end\n"
			      "local co = coroutine.create(function() hot() end)\n"
			      "coroutine.resume(co)\n"
			      "print('line ' .. debug.info(co, 0, 'l')) print 'ready' wait()\n");
	child__await_state(stage, target, 'S');
	assert_int_equal(sscanf(child__output(stage, target), "line %d", &line), 1);
	stack = coroutine_stack(dump_json(stage, target->pid, 0, "--all"), 0);
	assert_string_equal(text_of(json_array_get(stack, 0), "Name"), "hot");
	assert_int_equal(number_of(json_array_get(stack, 0), "CurrentLine"), line);
	assert_int_equal(number_of(json_array_get(stack, 1), "CurrentLine"), 5);
	assert_int_equal(json_array_size(stack), 2);
	child__kill(target);
}

/* Each of three VMs has a thread: one waits in a call, one works, one has no call. */
static void tells_vms_apart(void **state)
{
	struct stage *stage = *state;
	const json_t *dump, *threads;
	struct child *target;
	size_t found = 0;

	need_luau("736-gcc");
	write_text(stage, "works.luau",
		   "local function busy() while true do end end\n"
		   "coroutine.resume(coroutine.create(function() coroutine.yield() end)) busy()\n");
	write_text(stage, "rests.luau", "local function rest() coroutine.yield() end rest()\n");
	target = start_script(stage, "736-gcc",
			      "start('works.luau') start('rests.luau')\n"
			      "local function nap() wait() end print 'ready' nap()\n");
	child__let_work(target, 0.1);
	dump = dump_json(stage, target->pid, 0, "--all");
	threads = json_object_get(dump, "Threads");
	assert_int_equal(json_array_size(threads), 3);
	for (size_t i = 0; i < 3; i++) {
		const json_t *thread = json_array_get(threads, i);
		bool is_nap = has_name(frame_of(thread, 1), "nap");
		bool is_busy = has_name(frame_of(thread, 0), "busy");

		found += (size_t)(is_nap + is_busy + !frame_of(thread, 0));
		assert_null(json_object_get(thread, "Problem"));
		assert_string_equal(text_of(thread, "Status"), is_busy ? "active" : "idle");
	}
	assert_int_equal(found, 3);
	assert_int_equal(count_of(dump, "Vms"), 3);
	assert_int_equal(json_array_size(json_object_get(dump, "Coroutines")), 2);
	expect_coroutine(json_object_get(dump, "Coroutines"), "yield", "rest");
	expect_coroutine(json_object_get(dump, "Coroutines"), "yield", "");
	child__kill(target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_what_the_program_says_of_itself),
		staged(shows_coroutines_of_a_vm_that_does_not_run),
		staged(shows_nothing_that_is_not_proven),
		staged(samples_what_runs),
		staged(shows_a_stopped_process),
		staged(says_where_it_cannot_tell_which_state_runs),
		staged(shows_no_coroutine_between_two_places),
		staged(shows_a_function_that_was_made_to_yield),
		staged(tells_vms_apart),
	};

	return cmocka_run_group_tests_name("dump of Luau", tests, NULL, NULL);
}
