/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* On which native stack a state runs, if several lie side by side or no protected call tells. */
#include "fixture.h"

#include "machine.bpf.h"

/*
 * A coroutine that waits in a C function, on a stack of its own above SP; below `unused` bytes of
 * it begins another stack.
 */
static size_t wait_on_another_stack(struct fixture *fixture, uint64_t unused)
{
	struct image *image = &fixture->image;
	size_t waiting = image__coroutine(image);

	image->own_stack = false;
	image__protect(image, waiting);
	image__call_lua(image, waiting, fixture->protos[0], 2, 8);
	image__execute(image, waiting);
	image__call_light(image, waiting, IMAGE_C_FUNCTION, 4);
	image__native_frame(image, 0x80);
	image__native_word(image, 0x18, image->threads[waiting].address);
	image__native_frame(image, unused);
	return waiting;
}

static size_t run_here(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running = image__coroutine(image);

	image__protect(image, running);
	image__call_lua(image, running, fixture->protos[1], 2, 8);
	image__execute(image, running);
	return running;
}

static void expect_error(struct fixture *fixture, uint8_t error)
{
	for (int i = 0; i < 3; i++) {
		walker__sample(&fixture->walker, &fixture->image);
		assert_int_equal(walker__error(&fixture->walker), error);
	}
}

static void leaves_the_states_of_other_stacks_out(struct fixture *fixture)
{
	size_t running;

	wait_on_another_stack(fixture, LS_FAR_BYTES);
	running = run_here(fixture);
	for (int i = 0; i < 3; i++) {
		walker__sample(&fixture->walker, &fixture->image);
		expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, running);
	}
}

/*
 * Its C function holds the running coroutine, as one that switches to it does, but is no resumer.
 */
static void takes_no_proof_from_afar(struct fixture *fixture)
{
	size_t waiting = wait_on_another_stack(fixture, LS_FAR_BYTES), running;

	running = run_here(fixture);
	fixture__hold(fixture, waiting, running);
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, running);
}

static void counts_what_may_be_a_resumer(struct fixture *fixture)
{
	size_t running;

	wait_on_another_stack(fixture, LS_NEAR_BYTES);
	running = run_here(fixture);
	for (int i = 0; i < 3; i++) {
		walker__sample(&fixture->walker, &fixture->image);
		expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_TORN, running);
		assert_int_equal(walker__error(&fixture->walker), LS_WALK_RESUMERS);
	}
}

static void sees_no_script_below_a_stack_that_waits(struct fixture *fixture)
{
	size_t waiting = wait_on_another_stack(fixture, 2 * LS_FAR_BYTES);

	expect_error(fixture, LS_WALK_NO_SCRIPT);
	/* A stale register proves nothing. */
	fixture->image.registers[9] = fixture->image.threads[waiting].address;
	expect_error(fixture, LS_WALK_NO_SCRIPT);
}

static void does_not_guess_close_below_a_stack_that_waits(struct fixture *fixture)
{
	wait_on_another_stack(fixture, LS_FAR_BYTES / 2);
	expect_error(fixture, LS_WALK_STACK_OWNER);
}

/* The cached chain is unchanged, but its Lua thread now runs on another system thread. */
static void forgets_a_state_that_runs_elsewhere(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running;

	image->own_stack = false;
	running = run_here(fixture);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, running);
	image__native_frame(image, 2 * LS_FAR_BYTES);
	expect_error(fixture, LS_WALK_NO_SCRIPT);
}

/* A thread waits for its turn with a VM that another runs by lua_call, without protection. */
static void does_not_take_a_holder_of_a_state_for_its_runner(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 2, 8);
	image__native_frame(image, 0x100);
	image__native_word(image, 0x40, image->threads[IMAGE_MAIN].address);
	image->registers[3] = image->threads[IMAGE_MAIN].address;
	expect_error(fixture, LS_WALK_NO_SCRIPT);
	image__execute(image, IMAGE_MAIN);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, IMAGE_MAIN);
	image__native_frame(image, 0x100);
	image__native_word(image, 0x40, image->threads[IMAGE_MAIN].address);
	memory__put(&image->memory, image->sp + 0x100 + 0x18, 0, 8);
	expect_error(fixture, LS_WALK_NO_SCRIPT);
}

/* Returns the first register that calls preserve, or the first that they do not. */
static uint32_t first_register(bool is_preserved)
{
	uint32_t i = 0;

	while (!is_callee_saved(i) == is_preserved)
		i++;
	return i;
}

/*
 * The stack of a thread that gave the VM to another one may keep the words of its last call; a
 * register that calls preserve does not.
 */
static void takes_no_words_on_a_stack_for_proof_beside_other_threads(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image->memory.target.has_other_threads = true;
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 2, 8);
	image__execute(image, IMAGE_MAIN);
	expect_error(fixture, LS_WALK_STACK_OWNER);
	image->registers[first_register(false)] = image__top(image, IMAGE_MAIN)->ci;
	expect_error(fixture, LS_WALK_STACK_OWNER);
	image->registers[first_register(true)] = image__top(image, IMAGE_MAIN)->ci;
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, IMAGE_MAIN);
}

/* An address after the values in the heap is no value's, nor is one between two values. */
static void takes_no_other_pointers_for_values(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_thread *thread = &image->threads[IMAGE_MAIN];
	uint64_t last = thread->stack + 16ULL * 40, end = last + 16ULL * 5; /* EXTRA_STACK */

	image__set_field(image, IMAGE_MAIN, image->layout->state_stack_last, last, 8);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 2, 8);
	image__native_frame(image, 0x100);
	image__native_word(image, 0x40, thread->address);
	image__native_word(image, 0x48, end);
	image__native_word(image, 0x50, end + 0x100);
	image__native_word(image, 0x58, thread->stack + 0x28);
	expect_error(fixture, LS_WALK_NO_SCRIPT);
	image__native_word(image, 0x58, thread->stack + 0x20);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, IMAGE_MAIN);
}

/*
 * luaV_execute is about to switch from the caller's registers to those of the function just called.
 */
static void takes_the_callers_frame_for_proof(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 2, 8);
	image__execute(image, IMAGE_MAIN);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[1], 0, 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, IMAGE_MAIN);
}

/* luaD_reallocstack: until it has corrected them, CallInfos point to where the values were. */
static void knows_a_call_while_its_values_move(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_call *call;

	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 2, 8);
	image__execute(image, IMAGE_MAIN);
	call = image__top(image, IMAGE_MAIN);
	image__native_word(image, 0x18, call->ci);
	memory__put(&image->memory, call->ci + image->layout->ci_func, image->heap_end - 16, 8);
	walker__sample(&fixture->walker, image);
	assert_int_not_equal(fixture->walker.class, LS_SAMPLE_HOST);
}

/* The main thread of a VM has no resumer, whatever lies close above. */
static void ends_at_the_main_thread(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	wait_on_another_stack(fixture, 0x100);
	image__protect(image, IMAGE_MAIN);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[1], 2, 8);
	image__execute(image, IMAGE_MAIN);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, IMAGE_MAIN);
}

/* lua_longjmp.previous: the resumer's frame lies above the outermost protected call. */
static void finds_a_resumer_above_many_protected_calls(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running = image__coroutine(image);
	uint64_t previous = 0;

	image->own_stack = false;
	fixture__main(fixture);
	image__call_light(image, IMAGE_MAIN, IMAGE_C_FUNCTION, 4);
	fixture__hold(fixture, IMAGE_MAIN, running);
	for (int i = 0; i < 100; i++) {
		uint64_t jump;

		image__protect(image, running);
		jump = image__field(image, running, image->layout->state_error_jump);
		memory__put(&image->memory, jump, previous, 8);
		previous = jump;
	}
	image__call_lua(image, running, fixture->protos[1], 2, 8);
	image__execute(image, running);
	image->registers[2] = image->threads[IMAGE_MAIN].address;
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, running, IMAGE_MAIN);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(leaves_the_states_of_other_stacks_out),
		TEST(takes_no_proof_from_afar),
		TEST(counts_what_may_be_a_resumer),
		TEST(sees_no_script_below_a_stack_that_waits),
		TEST(does_not_guess_close_below_a_stack_that_waits),
		TEST(forgets_a_state_that_runs_elsewhere),
		TEST(does_not_take_a_holder_of_a_state_for_its_runner),
		TEST(takes_no_words_on_a_stack_for_proof_beside_other_threads),
		TEST(takes_no_other_pointers_for_values),
		TEST(takes_the_callers_frame_for_proof),
		TEST(knows_a_call_while_its_values_move),
		TEST(ends_at_the_main_thread),
		TEST(finds_a_resumer_above_many_protected_calls),
	};

	return fixture__run("stack owner", tests, sizeof(tests) / sizeof(tests[0]));
}
