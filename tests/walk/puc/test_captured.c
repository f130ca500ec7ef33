/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Debian's interpreters, stopped in a loop: the stack must be the one that the script printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "puc/prototype_puc.h"
#include "skip.h"
#include "walker.h"

#define SCRIPT "tests/walk/puc/script.lua"
#define STOPS  10

struct interpreter {
	const char *program; /* and Debian's package */
	const char *layout;
	const struct layout_puc *row;
	struct capture capture;
	uint32_t frames;
	uint64_t reads;      /* of a sample whose content was proven by earlier ones */
	char expected[8192]; /* a line for each frame, leaf first */
};

static const struct ls_function *definition_of(const struct walker *walker,
					       const struct ls_frame *frame)
{
	for (size_t i = 0; i < walker->definition_count; i++)
		if (walker->definitions[i].function == frame->function &&
		    walker->definitions[i].fingerprint == frame->fingerprint)
			return &walker->definitions[i];
	fail_msg("no definition was sent for %#llx", (unsigned long long)frame->function);
	return NULL;
}

/* Writes the frames of a first sample as the script writes them. */
static void write_frames(const struct walker *walker, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	assert_in_range(walker->definition_count, 1, WALKER_DEFINITION_MAX);
	for (uint32_t i = 0; i < walker__count(walker); i++) {
		const struct ls_frame *frame = &walker->scratch->frames[i];
		const struct ls_function *function;

		if (frame->kind == LS_FRAME_LUA) {
			function = definition_of(walker, frame);
			length += (size_t)snprintf(text + length, size - length, "%.*s:%u\n",
						   (int)function->source_length, function->text,
						   function->line_defined);
		} else {
			length += (size_t)snprintf(text + length, size - length, "C\n");
		}
		assert_in_range(length, 0, size - 1);
	}
}

/* Reads what the script prints, up to "ready". */
static void read_expected(struct interpreter *interpreter)
{
	size_t length = 0;

	while (!strstr(interpreter->expected, "ready\n")) {
		ssize_t count = read(interpreter->capture.output, interpreter->expected + length,
				     sizeof(interpreter->expected) - 1 - length);

		if (count <= 0)
			fail_msg("'%s' ended early", interpreter->program);
		length += (size_t)count;
		interpreter->expected[length] = '\0';
	}
	*strstr(interpreter->expected, "ready\n") = '\0';
}

static void expect_same_stack(struct interpreter *interpreter, struct walker *walker,
			      struct image *image)
{
	char text[8192];

	walker__forget(walker);
	walker->is_undecided = true;
	walker__sample(walker, image);
	walker->is_undecided = false;
	write_frames(walker, text, sizeof(text));
	assert_string_equal(text, interpreter->expected);
	assert_int_equal(walker->class, LS_SAMPLE_COMPLETE);
	assert_int_equal(walker->is_evidence, 1);
	walker__sample(walker, image);
	assert_int_equal(walker->class, LS_SAMPLE_COMPLETE);
	assert_int_equal(walker__chunks(walker), 0);
	interpreter->frames = walker__count(walker);
}

/* What earlier samples have proven is not read again. */
static void count_reads(struct interpreter *interpreter, struct walker *walker, struct image *image)
{
	for (int i = 0; i < 100; i++)
		walker__sample(walker, image);
	walker->step_ns = 1000;
	walker__sample(walker, image);
	walker->step_ns = 1000000;
	interpreter->reads = walker->reads;
	assert_in_range(walker->reads, 1, 3 * interpreter->frames + 12);
}

static void expect_no_other_layout(struct interpreter *interpreter, struct walker *walker,
				   struct image *image)
{
	for (size_t i = 0; i < layouts_puc_count; i++) {
		walker__forget(walker);
		walker__sample_as(walker, image, &layouts_puc[i].offsets);
		assert_int_equal(walker->is_evidence, &layouts_puc[i] == interpreter->row);
	}
}

/* User space computes the same fingerprints from the process itself. */
static void expect_same_fingerprints(struct interpreter *interpreter, struct walker *walker,
				     struct image *image)
{
	struct target_memory memory = {.pid = interpreter->capture.pid};

	walker__forget(walker);
	walker__sample(walker, image);
	for (size_t i = 0; i < walker->definition_count; i++) {
		uint64_t fingerprint = 0;

		assert_int_equal(prototype_puc__fingerprint(&memory, image->layout,
							    walker->definitions[i].function,
							    &fingerprint),
				 0);
		assert_int_equal(fingerprint, walker->definitions[i].fingerprint);
	}
}

static void is_walked_as_the_script_says(void **state)
{
	struct interpreter *interpreter = *state;
	struct walker walker;
	struct image image;

	if (!has_program(interpreter->program)) {
		if (skips_are_failures())
			fail_msg("package '%s' is missing", interpreter->program);
		skip_because("the interpreter is missing");
	}
	for (size_t i = 0; i < layouts_puc_count; i++)
		if (!strcmp(layouts_puc[i].name, interpreter->layout))
			interpreter->row = &layouts_puc[i];
	assert_non_null(interpreter->row);
	assert_int_equal(capture__start(&interpreter->capture, interpreter->program, SCRIPT), 0);
	read_expected(interpreter);
	walker__start(&walker);
	for (int i = 0; i < STOPS; i++) {
		assert_int_equal(capture__stop(&interpreter->capture), 0);
		capture__take(&interpreter->capture, &interpreter->row->offsets, &image);
		expect_same_stack(interpreter, &walker, &image);
		count_reads(interpreter, &walker, &image);
		expect_no_other_layout(interpreter, &walker, &image);
		expect_same_fingerprints(interpreter, &walker, &image);
		image__end(&image);
	}
	walker__end(&walker);
	print_message("%s: %u frames, %u reads when warm\n", interpreter->program,
		      interpreter->frames, (unsigned)interpreter->reads);
}

static int end_capture(void **state)
{
	struct interpreter *interpreter = *state;

	if (interpreter->capture.pid)
		capture__end(&interpreter->capture);
	return 0;
}

int main(void)
{
	static struct interpreter interpreters[] = {
		{.program = "lua5.1", .layout = "5.1-5.1.5"},
		{.program = "lua5.2", .layout = "5.2.1-5.2.4"},
		{.program = "lua5.3", .layout = "5.3.2-5.3.6"},
		{.program = "lua5.4", .layout = "5.4.3-5.4.9"},
	};
	const struct CMUnitTest tests[] = {
		{"lua5.1_is_walked_as_the_script_says", is_walked_as_the_script_says, NULL,
		 end_capture, &interpreters[0]},
		{"lua5.2_is_walked_as_the_script_says", is_walked_as_the_script_says, NULL,
		 end_capture, &interpreters[1]},
		{"lua5.3_is_walked_as_the_script_says", is_walked_as_the_script_says, NULL,
		 end_capture, &interpreters[2]},
		{"lua5.4_is_walked_as_the_script_says", is_walked_as_the_script_says, NULL,
		 end_capture, &interpreters[3]},
	};

	return cmocka_run_group_tests_name("captured", tests, NULL, NULL);
}
