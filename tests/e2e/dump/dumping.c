/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dumping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE     (getenv("LUASPY_EMULATED") ? 60 : 20) /* seconds */
#define WORK_SECONDS 0.05

const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void put_away(void *json)
{
	json_decref(json);
}

struct child *run_dump(struct stage *stage, pid_t pid, int status, const char *first,
		       const char *second)
{
	char number[16];
	struct child *spy;

	snprintf(number, sizeof(number), "%d", pid);
	spy = start(stage, luaspy_program(), "dump", "--no-source", "-p", number, first, second);
	if (child__wait(spy, PATIENCE) != status)
		fail_msg("exit status %d: %s", spy->status, child__errors(stage, spy));
	return spy;
}

const json_t *dump_json(struct stage *stage, pid_t pid, int status, const char *word)
{
	const struct child *spy = run_dump(stage, pid, status, "--json", word);
	json_error_t error;
	json_t *json;

	json = json_loads(child__output(stage, spy), JSON_REJECT_DUPLICATES, &error);
	if (!json)
		fail_msg("%s at %d: %s", error.text, error.position, child__output(stage, spy));
	return stage__own(stage, json, put_away);
}

const char *dump_text(struct stage *stage, pid_t pid, int status, const char *word)
{
	return child__output(stage, run_dump(stage, pid, status, word, NULL));
}

const json_t *thread_of(const json_t *dump, const char *name)
{
	const json_t *threads = json_object_get(dump, "Threads");

	for (size_t i = 0; i < json_array_size(threads); i++)
		if (!strcmp(text_of(json_array_get(threads, i), "Name"), name))
			return json_array_get(threads, i);
	fail_msg("no thread '%s'", name);
	return NULL;
}

const json_t *frame_of(const json_t *thread, size_t at)
{
	return json_array_get(json_array_get(json_object_get(thread, "Stacks"), 0), at);
}

/* "FRAME what|name|source|line defined|current line", as the target says it. */
struct said {
	char what[8], name[64], source[256];
	int line_defined, line;
};

/* Takes the line at *at; false: it tells of no frame. */
static bool take_said(const char **at, struct said *said)
{
	const char *end = strchr(*at, '\n');
	int taken = 0;

	*said = (struct said){};
	if (!end || strncmp(*at, "FRAME ", 6) != 0)
		return false;
	if (sscanf(*at, "FRAME %7[^|]|%n", said->what, &taken) != 1)
		fail_msg("odd line '%.40s'", *at);
	*at += taken;
	if (sscanf(*at, "%63[^|]|%n", said->name, &taken) != 1)
		taken = 1; /* no name */
	*at += taken;
	if (sscanf(*at, "%255[^|]|%d|%d", said->source, &said->line_defined, &said->line) != 3)
		fail_msg("odd line '%.40s'", *at);
	*at = end + 1;
	return true;
}

static void compare_frame(const json_t *frame, const struct said *said)
{
	assert_non_null(frame);
	assert_string_equal(text_of(frame, "Source"), said->source);
	if (strcmp(said->what, "C") == 0)
		return;
	assert_string_equal(text_of(frame, "Name"), said->name);
	assert_int_equal(number_of(frame, "CurrentLine"), said->line);
	assert_int_equal(number_of(frame, "Line"), said->line_defined);
}

const char *compare_stack(const json_t *stack, const char *at, const char *leaf)
{
	struct said said;
	size_t count = 1;

	assert_string_equal(text_of(json_array_get(stack, 0), "Name"), leaf);
	for (; take_said(&at, &said); count++)
		compare_frame(json_array_get(stack, count), &said);
	assert_int_equal(json_array_size(stack), count);
	return at;
}

const char *expect_word(const char *at, const char *word)
{
	assert_memory_equal(at, word, strlen(word));
	return at + strlen(word);
}

static void compare_coroutines(const json_t *dump, const char *at)
{
	const json_t *coroutines = json_object_get(dump, "Coroutines");
	size_t count = 0;

	for (; strncmp(at, "ready", 5) != 0; count++) {
		const json_t *coroutine = json_array_get(coroutines, count);

		at = compare_stack(json_array_get(json_object_get(coroutine, "Stacks"), 0),
				   expect_word(at, "SUSPENDED\n"), "coroutine.yield");
	}
	assert_int_equal(count, 4);
	assert_int_equal(json_array_size(coroutines), count);
	assert_int_equal(number_of(json_object_get(dump, "Counts"), "ActiveCoroutines"), 2);
	assert_int_equal(number_of(json_object_get(dump, "Counts"), "CoroutinesNotStarted"), 1);
	assert_null(json_object_get(json_object_get(dump, "Counts"), "RanMeanwhile"));
}

void compare_all(struct stage *stage, const char *program)
{
	const json_t *dump, *thread, *stacks;
	struct child *target;
	const char *at;

	target = start(stage, program, program_source("stacks.lua"));
	child__await_output(stage, target, "ready\n");
	child__await_asleep(stage, target, 0);
	at = child__output(stage, target);
	dump = dump_json(stage, target->pid, 0, "--all");
	thread = json_array_get(json_object_get(dump, "Threads"), 0);
	assert_string_equal(text_of(thread, "Status"), "idle");
	assert_string_equal(text_of(thread, "SystemCall"), "read");
	stacks = json_object_get(thread, "Stacks");
	assert_int_equal(json_array_size(stacks), 3);
	for (size_t j = 0; j < 3; j++)
		at = compare_stack(json_array_get(stacks, j), expect_word(at, "STACK\n"),
				   j ? "coroutine.resume" : "io.read");
	compare_coroutines(dump, at);
	print_message("%s: equal; layout %s\n", program, text_of(dump, "Layout"));
	child__kill(target);
}

struct child *start_working(struct stage *stage, const char *interpreter, const char *script)
{
	struct child *target = start(stage, interpreter, "-e", script);

	child__await_output(stage, target, "up");
	child__let_work(target, WORK_SECONDS);
	return target;
}

bool has_name(const json_t *frame, const char *name)
{
	return !strcmp(text_of(frame, "Name"), name);
}

void expect_leaf(const json_t *dump, const char *thread, const char *status, const char *first,
		 const char *second)
{
	const json_t *found = thread_of(dump, thread);

	assert_string_equal(text_of(found, "Status"), status);
	if (!has_name(frame_of(found, 0), first) || !has_name(frame_of(found, 1), second))
		fail_msg("'%s' is not in '%s', called by '%s'", thread, first, second);
	assert_null(json_object_get(found, "Problem"));
}

void expect_coroutine(const json_t *coroutines, const char *first, const char *second)
{
	for (size_t i = 0; i < json_array_size(coroutines); i++) {
		const json_t *one = json_array_get(coroutines, i);

		if (has_name(frame_of(one, 0), first) && has_name(frame_of(one, 1), second))
			return;
	}
	fail_msg("no coroutine is in '%s', called by '%s'", first, second);
}

size_t check_yielders(const json_t *coroutines, const char *leaf)
{
	size_t count = json_array_size(coroutines);

	for (size_t i = 0; i < count; i++) {
		const json_t *one = json_array_get(coroutines, i);
		json_int_t line = number_of(frame_of(one, 1), "CurrentLine");

		assert_null(frame_of(one, 4));
		assert_non_null(frame_of(one, 3));
		assert_string_equal(text_of(frame_of(one, 0), "Name"), leaf);
		assert_in_range(line, 5, 6);
		assert_string_equal(text_of(frame_of(one, 1), "Name"), line == 5 ? "one" : "two");
		assert_int_equal(number_of(frame_of(one, 2), "CurrentLine"), line + 4);
		assert_null(json_object_get(one, "Problem"));
	}
	return count;
}

void tell_threads_apart(struct stage *stage, const char *program)
{
	const json_t *dump, *coroutines;
	struct child *target = start(stage, program);

	child__await_output(stage, target, "ready\n");
	child__await_asleep(stage, target, 1);
	dump = dump_json(stage, target->pid, 0, "--all");
	expect_leaf(dump, "pcalled", "idle", "wait", "pcalled");
	expect_leaf(dump, "called", "idle", "wait", "called");
	expect_leaf(dump, "napping", "idle", "nap", "napping");
	expect_leaf(dump, "held", "idle", "wait", "held");
	expect_leaf(dump, "busy", "active", "busy", "");
	expect_leaf(dump, "parked", "idle", "", "");
	expect_leaf(dump, "none", "idle", "", "");
	coroutines = json_object_get(dump, "Coroutines");
	assert_int_equal(json_array_size(coroutines), 2);
	expect_coroutine(coroutines, "coroutine.yield", "rest");
	/* Not "print", on which lua_yieldk leaves it. */
	expect_coroutine(coroutines, "hold", "");
	child__kill(target);
}

void find_parked_coroutines(struct stage *stage, const char *program)
{
	struct child *target = start(stage, program, "parked");
	const json_t *dump;

	child__await_output(stage, target, "ready\n");
	child__await_asleep(stage, target, 0);
	dump = dump_json(stage, target->pid, 0, "--all");
	expect_leaf(dump, "parked", "idle", "", "");
	assert_int_equal(json_array_size(json_object_get(dump, "Coroutines")), 1);
	expect_coroutine(json_object_get(dump, "Coroutines"), "coroutine.yield", "rest");
	assert_non_null(strstr(text_of(dump, "Layout"), "provisionally, by 1 of 1"));
	child__kill(target);
}
