/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words of an image are written over at random: nothing but the sample's class may change. */
#include "fixture.h"

#define ROUNDS 1500

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
		return thread->calls[(number >> 32) % thread->call_count].ci;
	}
}

/* One of the words that the walker looks at. */
static uint64_t some_address(struct fixture *fixture, uint64_t *seed)
{
	const struct image *image = &fixture->image;
	uint64_t number = next_number(seed), at = (number >> 40) * 8;
	const struct image_thread *thread = &image->threads[number / 16 % image->thread_count];
	const struct image_call *call = &thread->calls[(number >> 20) % thread->call_count];

	switch (number % 6) {
	case 0:
		return thread->address + at % image->layout->state_size;
	case 1:
		return call->ci + at % image->layout->ci_size;
	case 2:
		return call->value + at % 16;
	case 3:
		return call->closure ? call->closure + at % 40 : call->value;
	case 4:
		return fixture->protos[number / 16 % 3] + at % image->layout->proto_size;
	default:
		return image->global + at % 512;
	}
}

static void take_some_samples(struct fixture *fixture, uint64_t number)
{
	struct walker *walker = &fixture->walker;
	const struct ls_puc_layout *layout = &layouts_puc[number % layouts_puc_count].offsets;
	uint32_t rounds = walker->max_depth + 2 * LS_CHAIN_MAX;

	for (int i = 0; i < 3; i++) {
		walker__sample_as(walker, &fixture->image, i < 2 ? fixture->image.layout : layout);
		assert_in_range(walker__count(walker), 0, walker->max_depth);
		assert_in_range(walker->reads, 0, 2 * rounds * 15 + 64 * 256);
	}
}

static void survives_words_written_at_random(struct fixture *fixture)
{
	struct memory *memory = &fixture->image.memory;
	uint64_t seed = 0x9e3779b97f4a7c15, addresses[4], before[4];

	fixture__chain(fixture, 3);
	fixture__nest(fixture, 3, 20, 9);
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
	walker__forget(&fixture->walker);
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 3, 2, 1, 0);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(survives_words_written_at_random),
	};

	return fixture__run("random", tests, sizeof(tests) / sizeof(tests[0]));
}
