/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Luau's calls: what kinds there are, which state runs, and what is lost by a broken one. */
#include "luau_fixture.h"

#include <string.h>

#define FIELD(name) offsetof(struct ls_luau_state, name)

#define LUAU_NUMBER 3 /* LUA_TNUMBER, lua.h */

#define BESIDES 12 /* reads for the states and the windows of calls and values */

static void put_field(struct fixture *fixture, size_t thread, size_t offset, uint64_t word,
		      size_t size)
{
	memory__put(&fixture->image.memory, fixture->image.threads[thread].address + offset, word,
		    size);
}

static void expect_main(struct fixture *fixture, uint8_t class)
{
	luau_walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, class, IMAGE_MAIN);
}

static void tells_the_kinds_of_functions_apart(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	luau_fixture__main(fixture);
	luau_image__call(image, IMAGE_MAIN, fixture->builtin, 4);
	luau_image__call(image, IMAGE_MAIN, fixture->closures[2], 0);
	luau_image__run(image, IMAGE_MAIN, 21);
	expect_main(fixture, LS_SAMPLE_COMPLETE);
	luau_image__run_native(image, IMAGE_MAIN, 22);
	expect_main(fixture, LS_SAMPLE_COMPLETE);
	luau_image__call(image, IMAGE_MAIN, fixture->builtin, 4);
	image->threads[IMAGE_MAIN].calls[3].pc = 4;
	luau_image__run(image, IMAGE_MAIN, 0);
	expect_main(fixture, LS_SAMPLE_COMPLETE);
}

static const struct ls_function *definition_of(const struct walker *walker, uint64_t proto)
{
	for (uint32_t i = 0; i < walker->definition_count; i++)
		if (walker->definitions[i].function == proto)
			return &walker->definitions[i];
	fail_msg("no definition of %#llx", (unsigned long long)proto);
	return NULL;
}

static void defines_functions(struct fixture *fixture)
{
	const struct ls_function *chunk, *function;

	luau_fixture__main(fixture);
	luau_image__run(&fixture->image, IMAGE_MAIN, 9);
	expect_main(fixture, LS_SAMPLE_COMPLETE);
	chunk = definition_of(&fixture->walker, fixture->protos[0]);
	function = definition_of(&fixture->walker, fixture->protos[1]);
	assert_int_equal(chunk->line_defined, 0);
	assert_string_equal(chunk->text, "=main");
	assert_int_equal(chunk->name_length, 0);
	assert_int_equal(function->line_defined, 10);
	assert_string_equal(function->text, "@body.luau");
	assert_string_equal(function->text + function->source_length + 1, "body");
}

static void joins_coroutines_with_their_resumers(struct fixture *fixture)
{
	size_t running = luau_fixture__chain(fixture, 3);

	luau_image__run(&fixture->image, running, 2);
	for (int i = 0; i < 3; i++) {
		luau_walker__sample(&fixture->walker, &fixture->image);
		expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 3, 2, 1, 0);
	}
}

static void keeps_both_ends_of_a_deep_stack(struct fixture *fixture)
{
	const struct image_thread *thread = &fixture->image.threads[IMAGE_MAIN];
	struct walker *walker = &fixture->walker;

	luau_fixture__main(fixture);
	luau_fixture__nest(fixture, IMAGE_MAIN, 600);
	luau_image__run(&fixture->image, IMAGE_MAIN, 12);
	walker->max_depth = 100;
	luau_walker__sample(walker, &fixture->image);
	assert_int_equal(walker->class, LS_SAMPLE_TRUNCATED);
	assert_int_equal(luau_walker__count(walker), 100);
	assert_true(luau_walker__is_call(walker, 0, &thread->calls[thread->call_count - 1]));
	assert_true(luau_walker__is_call(walker, 99, &thread->calls[0]));
}

static void walks_while_values_are_being_moved(struct fixture *fixture)
{
	luau_fixture__main(fixture);
	luau_fixture__nest(fixture, IMAGE_MAIN, 8);
	luau_image__run(&fixture->image, IMAGE_MAIN, 12);
	luau_image__move_values(&fixture->image, IMAGE_MAIN);
	expect_main(fixture, LS_SAMPLE_COMPLETE);
}

/* Up to 2022, stack_last was one value further from the end. */
static void walks_while_values_of_an_older_release_are_being_moved(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_thread *thread = &image->threads[IMAGE_MAIN];
	uint64_t at = thread->address + FIELD(stack_last);

	luau_fixture__main(fixture);
	memory__put(&image->memory, at, memory__get(&image->memory, at, 8) - image->build.value, 8);
	luau_fixture__nest(fixture, IMAGE_MAIN, 8);
	luau_image__run(image, IMAGE_MAIN, 12);
	expect_main(fixture, LS_SAMPLE_COMPLETE);
	luau_image__move_values(image, IMAGE_MAIN);
	expect_main(fixture, LS_SAMPLE_COMPLETE);
}

/* The walker drops a call that contradicts itself, with its callees, and says so. */
static void drops_a_broken_call_with_its_callees(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	struct image_thread *thread = &image->threads[IMAGE_MAIN];

	luau_fixture__main(fixture);
	luau_fixture__nest(fixture, IMAGE_MAIN, 8);
	luau_image__run(image, IMAGE_MAIN, 12);
	memory__put(&image->memory, thread->calls[6].func, 0x4045000000000000, 8);
	thread->call_count = 6;
	expect_main(fixture, LS_SAMPLE_TORN);
}

/* The walker takes no state that contradicts itself, and does not follow what it claims. */
static void refuses_what_contradicts_itself(struct fixture *fixture)
{
	const struct {
		size_t offset;
		uint64_t word;
		size_t size;
	} claims[] = {
		{FIELD(ci_count), 0xffffffff, 4},
		{FIELD(ci_count), 0, 4},
		{FIELD(ci_count), 1 << 24, 4},
		{FIELD(stack_size), 0xffffffff, 4},
		{FIELD(stack_size), 3, 4},
		{FIELD(end_ci), ~7ULL, 8},
		{FIELD(base_ci), 8, 8},
		{FIELD(ci), ~7ULL, 8},
		{FIELD(stack), 1, 8},
		{FIELD(base), ~0ULL, 8},
		{FIELD(global), 0x1000, 8},
		{FIELD(global), fixture->image.threads[IMAGE_MAIN].stack, 8},
	};
	struct image *image = &fixture->image;
	uint64_t at, before;

	luau_fixture__main(fixture);
	luau_image__run(image, IMAGE_MAIN, 12);
	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		at = image->threads[IMAGE_MAIN].address + claims[i].offset;
		before = memory__get(&image->memory, at, claims[i].size);
		put_field(fixture, IMAGE_MAIN, claims[i].offset, claims[i].word, claims[i].size);
		luau_walker__sample(&fixture->walker, image);
		assert_int_not_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
		assert_in_range(fixture->walker.reads, 1, 200);
		put_field(fixture, IMAGE_MAIN, claims[i].offset, before, claims[i].size);
	}
	expect_main(fixture, LS_SAMPLE_COMPLETE);
}

/* Two states that hold each other, so that each seems to have resumed the other one. */
static void follows_no_circle_of_resumers(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running = luau_fixture__chain(fixture, 2);

	luau_image__call(image, running, fixture->builtin, 4);
	luau_image__hold(image, running, 1);
	luau_image__run(image, running, 0);
	luau_walker__sample(&fixture->walker, image);
	assert_int_equal(luau_walker__error(&fixture->walker), LS_WALK_STACK_OWNER);
	assert_in_range(fixture->walker.reads, 1, 200);
}

/* The main thread is in a C function of the host, which resumes a coroutine that only it knows. */
static size_t run_hidden_task(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t task;

	luau_fixture__main(fixture);
	luau_image__call(image, IMAGE_MAIN, fixture->builtin, 4);
	task = luau_image__coroutine(image);
	luau_image__enter(image, task);
	luau_image__call(image, task, fixture->closures[1], 0);
	return task;
}

/*
 * The task is about to call a C function: L->ci shows that call, L->base does not yet. What the
 * task's own registers hold, it has not resumed.
 */
static void tells_a_call_that_begins_from_one_that_runs(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running = run_hidden_task(fixture);
	struct image_thread *task = &image->threads[running];

	luau_image__hold(image, running, IMAGE_MAIN);
	luau_image__call(image, running, fixture->builtin, 4);
	luau_image__run(image, running, 0);
	put_field(fixture, running, FIELD(base), task->calls[0].func + image->build.value, 8);
	task->call_count--;
	luau_walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, running, IMAGE_MAIN);
}

/* A number that happens to be a state's address, or remains of a coroutine, resume nothing. */
static void takes_no_bare_word_for_a_coroutine(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running = run_hidden_task(fixture);
	uint64_t type;

	luau_image__call(image, running, fixture->builtin, 4);
	luau_image__hold(image, running, IMAGE_MAIN);
	type = luau_image__top(image, running)->func + image->build.value +
	       ls_luau_type_at(image->build.value);
	memory__put(&image->memory, type, LUAU_NUMBER, 4);
	put_field(fixture, running, FIELD(c_calls), 1, 2);
	put_field(fixture, running, FIELD(base_c_calls), 1, 2);
	luau_image__run(image, running, 0);
	luau_walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, running, IMAGE_MAIN);
}

/* No other layout passes for the one that the process has, unless it reads the same. */
static void is_evidence_for_its_own_layout(struct fixture *fixture)
{
	const struct walker *walker = &fixture->walker;
	struct image *image = &fixture->image;

	luau_fixture__main(fixture);
	luau_image__run(image, IMAGE_MAIN, 12);
	fixture->walker.is_undecided = true;
	for (size_t i = 0; i < luau_fixture__rows(); i++) {
		const struct ls_luau_layout *layout = luau_fixture__layout(i);

		luau_walker__forget(&fixture->walker);
		luau_walker__sample_as(&fixture->walker, image, layout);
		assert_int_equal(walker->is_evidence, layout == image->layout);
	}
}

/* Whether the main thread's stack is evidence for the layout as long as that is undecided. */
static bool is_evidence(struct fixture *fixture)
{
	fixture->walker.is_undecided = true;
	luau_walker__forget(&fixture->walker);
	luau_walker__sample(&fixture->walker, &fixture->image);
	return fixture->walker.is_evidence;
}

/* A fork may have nresults in the place of the flags: it is -1 where a host calls. */
static void is_no_evidence_if_flags_are_none(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const uint8_t native = image->layout->proto_native;
	uint64_t flags;

	luau_fixture__main(fixture);
	luau_image__run(image, IMAGE_MAIN, 12);
	flags = image->threads[IMAGE_MAIN].calls[0].ci + image->build.ci - LS_LUAU_CI_FROM_FLAGS;
	assert_true(is_evidence(fixture));
	memory__put(&image->memory, flags, ~0U, 4);
	assert_false(is_evidence(fixture));
	memory__put(&image->memory, flags, LS_LUAU_FLAG_NATIVE, 4);
	assert_int_equal(is_evidence(fixture), !native);
	if (native)
		memory__put(&image->memory, fixture->protos[0] + native, 0x7f0000001000, 8);
	assert_true(is_evidence(fixture));
}

/* Where the debug name was, a fork may have the address of the continuation. */
static void reads_no_name_from_code(struct fixture *fixture)
{
	static const char code[] = "\x55\x48\x89\xe5\x48\x83\xec\x10", name[] = "pcall\xc3\xa9";
	struct image *image = &fixture->image;
	uint64_t text = luau_image__allocate(image, 64);
	uint64_t place =
		fixture->builtin + image->layout->closure_function + LS_LUAU_FUNCTION_TO_NAME;
	uint32_t count;

	luau_fixture__main(fixture);
	luau_image__call(image, IMAGE_MAIN, fixture->builtin, 4);
	luau_image__run(image, IMAGE_MAIN, 0);
	memory__put(&image->memory, place, text, 8);
	memory__put_bytes(&image->memory, text, code, sizeof(code));
	assert_false(is_evidence(fixture));
	count = fixture->walker.definition_count;
	memory__put_bytes(&image->memory, text, name, sizeof(name));
	assert_true(is_evidence(fixture));
	assert_string_equal(definition_of(&fixture->walker, IMAGE_C_FUNCTION)->text + 1, name);
	assert_true(fixture->walker.definition_count > count);
}

static uint64_t reads_of_known_stack(struct fixture *fixture)
{
	for (int i = 0; i < 500; i++)
		luau_walker__sample(&fixture->walker, &fixture->image);
	fixture->walker.step_ns = 1000;
	expect_main(fixture, LS_SAMPLE_COMPLETE);
	return fixture->walker.reads;
}

/* A stack that was seen before costs two reads a frame, its closure and its prototype. */
static void reads_little_of_a_known_stack(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;
	uint64_t reads;

	luau_fixture__main(fixture);
	luau_fixture__nest(fixture, IMAGE_MAIN, 8);
	luau_image__run(&fixture->image, IMAGE_MAIN, 12);
	reads = reads_of_known_stack(fixture);
	print_message("%u frames: %u reads\n", luau_walker__count(walker), (unsigned)reads);
	assert_in_range(reads, 1, 2 * 10 + BESIDES);
	luau_fixture__nest(fixture, IMAGE_MAIN, 400);
	luau_image__run(&fixture->image, IMAGE_MAIN, 12);
	reads = reads_of_known_stack(fixture);
	print_message("%u frames: %u reads\n", luau_walker__count(walker), (unsigned)reads);
	assert_in_range(reads, 1, 2 * 410 + BESIDES);
}

/* It may run by the next sample, with the same words on the native stack. */
static void looks_again_at_an_idle_state(struct fixture *fixture)
{
	luau_fixture__main(fixture);
	luau_image__run(&fixture->image, IMAGE_MAIN, 5);
	put_field(fixture, IMAGE_MAIN, FIELD(is_active), 0, 1);
	luau_walker__sample(&fixture->walker, &fixture->image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_HOST);
	put_field(fixture, IMAGE_MAIN, FIELD(is_active), 1, 1);
	memset(fixture->image.registers, 0, sizeof(fixture->image.registers));
	expect_main(fixture, LS_SAMPLE_COMPLETE);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(tells_the_kinds_of_functions_apart),
		TEST(defines_functions),
		TEST(joins_coroutines_with_their_resumers),
		TEST(keeps_both_ends_of_a_deep_stack),
		TEST(walks_while_values_are_being_moved),
		TEST(walks_while_values_of_an_older_release_are_being_moved),
		TEST(drops_a_broken_call_with_its_callees),
		TEST(refuses_what_contradicts_itself),
		TEST(follows_no_circle_of_resumers),
		TEST(tells_a_call_that_begins_from_one_that_runs),
		TEST(takes_no_bare_word_for_a_coroutine),
		TEST(is_evidence_for_its_own_layout),
		TEST(is_no_evidence_if_flags_are_none),
		TEST(reads_no_name_from_code),
		TEST(reads_little_of_a_known_stack),
		TEST(looks_again_at_an_idle_state),
	};

	return luau_fixture__run("calls of Luau", tests, sizeof(tests) / sizeof(tests[0]));
}
