/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Real interpreters run corpus.lua, which writes what debug.getinfo says of its own stacks and then
 * waits. The names that are read from outside must be the same, frame by frame, except for those of
 * iterators, of which the corpus says itself what made them.
 *
 * Debian's interpreters are looked at, and every release that tests/hosts builds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lua_frames.h"
#include "puc/call_site_puc.h"
#include "puc/layout_puc.h"
#include "skip.h"

#define CORPUS          "tests/names/corpus.lua"
#define FRAMES_MAX      1024
#define STEPS_AT_A_TIME 40
#define FRAMES_NEEDED   300 /* of each minor version */

/* A frame as debug.getinfo described it. */
struct expected {
	char what[8];
	char kind[16];
	char name[256];
};

struct stack {
	struct expected frames[FRAMES_MAX];
	size_t count;
};

struct target {
	pid_t pid;
	FILE *input, *output;
	uint64_t thread;
	unsigned int step_count;
	struct stack outer, inner;
};

struct interpreter {
	const char *program;
	int minor, patch;
};

static const char *const kinds[] = {
	[CALL_SITE_UNKNOWN] = "",
	[CALL_SITE_GLOBAL] = "global",
	[CALL_SITE_LOCAL] = "local",
	[CALL_SITE_METHOD] = "method",
	[CALL_SITE_FIELD] = "field",
	[CALL_SITE_UPVALUE] = "upvalue",
	[CALL_SITE_CONSTANT] = "constant",
	[CALL_SITE_METAMETHOD] = "metamethod",
	[CALL_SITE_ITERATOR] = "for iterator",
	[CALL_SITE_HOOK] = "hook",
};

static const struct ls_puc_layout *find_layout(const struct interpreter *interpreter)
{
	size_t i;

	for (i = 0; i < layouts_puc_count; i++)
		if (layouts_puc[i].minor == interpreter->minor &&
		    layouts_puc[i].first_patch <= interpreter->patch &&
		    layouts_puc[i].last_patch >= interpreter->patch)
			return &layouts_puc[i].offsets;
	return NULL;
}

static void start(struct target *target, const char *program, unsigned int first,
		  unsigned int count)
{
	char first_text[16], count_text[16];
	int input[2], output[2];

	snprintf(first_text, sizeof(first_text), "%u", first);
	snprintf(count_text, sizeof(count_text), "%u", count);
	assert_int_equal(pipe(input), 0);
	assert_int_equal(pipe(output), 0);
	target->pid = fork();
	assert_int_not_equal(target->pid, -1);
	if (target->pid == 0) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		close(input[0]);
		close(input[1]);
		close(output[0]);
		close(output[1]);
		execlp(program, program, CORPUS, first_text, count_text, NULL);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	target->input = fdopen(input[1], "w");
	target->output = fdopen(output[0], "r");
	assert_non_null(target->input);
	assert_non_null(target->output);
}

static void stop(struct target *target)
{
	fclose(target->input);
	fclose(target->output);
	kill(target->pid, SIGKILL);
	waitpid(target->pid, NULL, 0);
}

/* "frame", outer or inner, what, line, kind, name: which may hold tabs, or nothing */
static void read_frame(struct target *target, char *line)
{
	struct stack *stack;
	struct expected *frame;
	const char *which;

	strsep(&line, "\t");
	which = strsep(&line, "\t");
	stack = strcmp(which, "outer") == 0 ? &target->outer : &target->inner;
	assert_in_range(stack->count, 0, FRAMES_MAX - 1);
	frame = &stack->frames[stack->count++];
	snprintf(frame->what, sizeof(frame->what), "%s", strsep(&line, "\t"));
	strsep(&line, "\t");
	snprintf(frame->kind, sizeof(frame->kind), "%s", strsep(&line, "\t"));
	assert_non_null(line);
	snprintf(frame->name, sizeof(frame->name), "%s", line);
}

static void read_until_ready(struct target *target)
{
	char line[4096];

	while (fgets(line, sizeof(line), target->output)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "ready") == 0)
			return;
		if (strncmp(line, "steps\t", 6) == 0)
			target->step_count = (unsigned int)strtoul(line + 6, NULL, 10);
		else if (strncmp(line, "thread\t", 7) == 0)
			target->thread = strtoull(line + 7, NULL, 16);
		else if (strncmp(line, "frame\t", 6) == 0)
			read_frame(target, line);
		else
			fail_msg("the corpus failed: %s", line);
	}
}

/* What early releases of a minor version have less to say of; names are those of the last. */
static bool is_said_less(const struct ls_puc_layout *layout, const struct expected *expected,
			 const struct call_site *site)
{
	/* to 5.4.2, whose layouts are other ones: "order", or nothing for comparisons with
	 * constants */
	if (layout->minor == 4 && !layout->relocates_stack && site->kind == CALL_SITE_METAMETHOD &&
	    (!*expected->kind || strcmp(expected->name, "order") == 0))
		return strcmp(site->name, "lt") == 0 || strcmp(site->name, "le") == 0;
	/* 5.5.0: an index of a vararg table */
	return layout->minor == 5 && !*expected->kind && site->kind == CALL_SITE_FIELD &&
	       strcmp(site->name, "?") == 0;
}

static void compare_frame(const struct target_memory *memory, const struct ls_puc_layout *layout,
			  const struct lua_frame *caller, const struct expected *expected)
{
	struct call_site site;
	char said[512], read[512];

	assert_int_equal(call_site_puc__read(memory, layout, caller->proto, caller->pc, &site), 0);
	snprintf(said, sizeof(said), "%s '%s'", expected->kind, expected->name);
	snprintf(read, sizeof(read), "%s '%s'", kinds[site.kind], site.name);
	if (!is_said_less(layout, expected, &site))
		assert_string_equal(read, said);
}

/* How many names were compared: those of frames that were called, not tail called, by Lua. */
static size_t compare_stack(const struct target_memory *memory, const struct ls_puc_layout *layout,
			    uint64_t state, const struct stack *expected)
{
	static struct lua_frame frames[FRAMES_MAX];
	size_t count = lua_frames__read(memory, layout, state, frames, FRAMES_MAX);
	size_t compared = 0;
	size_t i;

	assert_in_range(count, expected->count, FRAMES_MAX);
	for (i = 0; i < expected->count; i++) {
		assert_int_equal(frames[i].is_lua, strcmp(expected->frames[i].what, "C") != 0);
		if (i == 0 || frames[i].is_tail_called || !frames[i - 1].is_lua) {
			assert_string_equal(expected->frames[i].kind, "");
			continue;
		}
		compare_frame(memory, layout, &frames[i - 1], &expected->frames[i]);
		compared++;
	}
	return compared;
}

static size_t compare_steps(const struct interpreter *interpreter,
			    const struct ls_puc_layout *layout, unsigned int first,
			    unsigned int *step_count)
{
	static struct target the_target; /* a failed assertion frees nothing */
	struct target *target = &the_target;
	struct target_memory memory = {};
	uint64_t main_thread;
	size_t compared;

	memset(target, 0, sizeof(*target));
	start(target, interpreter->program, first, STEPS_AT_A_TIME);
	read_until_ready(target);
	assert_int_not_equal(target->inner.count, 0);
	memory.pid = target->pid;
	compared = compare_stack(&memory, layout, target->thread, &target->inner);
	main_thread = lua_frames__main_thread(&memory, layout, target->thread);
	compared += compare_stack(&memory, layout, main_thread, &target->outer);
	*step_count = target->step_count;
	stop(target);
	return compared;
}

static size_t compare(const struct interpreter *interpreter)
{
	const struct ls_puc_layout *layout = find_layout(interpreter);
	unsigned int step_count = 1;
	size_t compared = 0;
	unsigned int first;

	assert_non_null(layout);
	for (first = 1; first <= step_count; first += STEPS_AT_A_TIME)
		compared += compare_steps(interpreter, layout, first, &step_count);
	print_message("%s: %zu names compared, from %u kinds of calls\n", interpreter->program,
		      compared, step_count);
	assert_in_range(compared, 2 * step_count, SIZE_MAX);
	return compared;
}

static const char *output_folder(void)
{
	const char *folder = getenv("OUTPUT");

	return folder && *folder ? folder : ".output";
}

/* Every release that there is of a minor version; together they show enough frames. */
static void compare_minor(int minor, const char *program, int debian_patch, const int *patches)
{
	size_t compared = 0;
	char host[256];

	if (program) {
		need_program(program, "lua5.x");
		compared = compare(&(struct interpreter){program, minor, debian_patch});
	}
	for (; *patches >= 0; patches++) {
		snprintf(host, sizeof(host), "%s/hosts/5.%d.%d-gcc", output_folder(), minor,
			 *patches);
		need_host(host);
		compared += compare(&(struct interpreter){host, minor, *patches});
	}
	assert_in_range(compared, FRAMES_NEEDED, SIZE_MAX);
}
#define releases(...) ((const int[]){__VA_ARGS__, -1})

static void names_calls_as_lua_5_1_does(void **state)
{
	(void)state;
	compare_minor(1, "lua5.1", 5, releases(5));
}

static void names_calls_as_lua_5_2_does(void **state)
{
	(void)state;
	compare_minor(2, "lua5.2", 4, releases(4));
}

static void names_calls_as_lua_5_3_does(void **state)
{
	(void)state;
	compare_minor(3, "lua5.3", 6, releases(5, 6));
}

static void names_calls_as_lua_5_4_does(void **state)
{
	(void)state;
	compare_minor(4, "lua5.4", 4, releases(0, 1, 2, 3, 4, 6, 7, 8, 9));
}

static void names_calls_as_lua_5_5_does(void **state)
{
	(void)state;
	compare_minor(5, NULL, 0, releases(0, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_calls_as_lua_5_1_does),
		cmocka_unit_test(names_calls_as_lua_5_2_does),
		cmocka_unit_test(names_calls_as_lua_5_3_does),
		cmocka_unit_test(names_calls_as_lua_5_4_does),
		cmocka_unit_test(names_calls_as_lua_5_5_does),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("call_site_puc", tests, NULL, NULL);
}
