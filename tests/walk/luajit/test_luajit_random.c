/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words of an image are written over at random: nothing but the sample's class may change. */
#include "luajit_fixture.h"

#define ROUNDS 4000

/* xorshift64: the same numbers every time. */
static uint64_t next_number(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* What a word may become: what looks like a pointer is followed furthest. */
static uint64_t wild_word(struct image *image, uint64_t *seed)
{
	uint64_t number = next_number(seed);
	const struct image_thread *thread = &image->threads[number / 16 % image->thread_count];

	switch (number % 8) {
	case 0:
		return number;
	case 1:
		return thread->address;
	case 2:
		return thread->stack + (number >> 32) % 64 * 8;
	case 3:
		return image->sp + (number >> 32) % 256 * 8;
	case 4:
		return image->heap - (number >> 32) % 4096 * 8;
	case 5:
		return number >> 40;
	case 6:
		return ~(number >> 40);
	default:
		return thread->calls[(number >> 32) % thread->call_count].base;
	}
}

/* One of the words that the walker looks at. */
static uint64_t some_address(struct fixture *fixture, uint64_t *seed)
{
	const struct image *image = &fixture->image;
	uint64_t number = next_number(seed), at = (number >> 40) * 8;
	const struct image_thread *thread = &image->threads[number / 16 % image->thread_count];
	const struct image_call *call = &thread->calls[(number >> 20) % thread->call_count];
	uint64_t trace =
		memory__get(&image->memory, luajit_image__trace_place(image, 3), IMAGE_REF);

	switch (number % 8) {
	case 0:
		return thread->address + at % sizeof(struct ls_luajit_state);
	case 1:
		return (call->base ? call->base : thread->stack + 32) - 16 + at % 16;
	case 2:
		return fixture->protos[number / 16 % 3] + at % sizeof(struct ls_luajit_proto);
	case 3:
		return fixture->closures[number / 16 % 3] + at % sizeof(struct ls_luajit_function);
	case 4:
		return image->global + at % 1136;
	case 5:
		return trace + at % sizeof(struct ls_luajit_trace);
	case 6: /* its constants, snapshots and their map */
		return trace + at % 8192;
	default:
		return image->sp + at % 1024;
	}
}

static void take_some_samples(struct fixture *fixture, uint64_t number)
{
	struct walker *walker = &fixture->walker;
	const struct ls_luajit_layout *other =
		&layouts_luajit[number % layouts_luajit_count].offsets;

	walker->is_undecided = number / 64 % 2;
	for (int i = 0; i < 3; i++) {
		luajit_walker__sample_as(walker, &fixture->image,
					 i < 2 ? fixture->image.layout : other);
		assert_in_range(luajit_walker__count(walker), 0, walker->max_depth);
		assert_in_range(walker->reads, 0, 200000);
	}
	walker->is_undecided = false;
}

static void survive(struct fixture *fixture)
{
	struct memory *memory = &fixture->image.memory;
	uint64_t seed = 0x9e3779b97f4a7c15, addresses[4], before[4];

	for (int i = 0; i < ROUNDS; i++) {
		fixture->walker.max_depth = 1 + next_number(&seed) % 64;
		for (size_t j = 0; j < 4; j++) {
			addresses[j] = some_address(fixture, &seed) & ~7ULL;
			before[j] = memory__get(memory, addresses[j], 8);
			memory__put(memory, addresses[j], wild_word(&fixture->image, &seed), 8);
		}
		take_some_samples(fixture, seed);
		for (size_t j = 4; j-- > 0;)
			memory__put(memory, addresses[j], before[j], 8);
	}
	fixture->walker.max_depth = 512;
	luajit_walker__forget(&fixture->walker);
	luajit_walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 2, 1, 0);
}

static void survives_words_written_at_random(struct fixture *fixture)
{
	size_t running = luajit_fixture__chain(fixture, 2);

	luajit_fixture__trace(fixture, 3);
	luajit_fixture__nest(fixture, running, 20);
	luajit_image__run_vm(&fixture->image, running, 12);
	survive(fixture);
}

static void survives_them_while_a_trace_runs(struct fixture *fixture)
{
	size_t running = luajit_fixture__chain(fixture, 2);

	luajit_fixture__trace(fixture, 3);
	luajit_fixture__nest(fixture, running, 21);
	luajit_image__run_trace(&fixture->image, running, 3, 8, true);
	survive(fixture);
}

static void survives_them_in_a_helper_of_the_vm(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running = luajit_fixture__chain(fixture, 2);

	luajit_fixture__trace(fixture, 3);
	luajit_fixture__nest(fixture, running, 20);
	luajit_image__run_vm(image, running, 12);
	luajit_image__native_frame(image, 256);
	memory__put(&image->memory, image->sp + 200, luajit_image__top(image, running)->base, 8);
	survive(fixture);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(survives_words_written_at_random),
		TEST(survives_them_while_a_trace_runs),
		TEST(survives_them_in_a_helper_of_the_vm),
	};

	return luajit_fixture__run("random words of LuaJIT", tests,
				   sizeof(tests) / sizeof(tests[0]));
}
