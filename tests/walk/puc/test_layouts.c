/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An image of one class of releases is evidence for the layout of that class and for no other. */
#include "fixture.h"

/* What the fields between those of a layout may hold. */
enum noise {
	NOISE_NONE,
	NOISE_OBJECTS,
	NOISE_THREADS,
	NOISE_VALUES,
	NOISE_NATIVE,
	NOISE_SMALL,
	NOISE_COUNT,
};

static uint64_t noise_word(const struct image *image, const struct image_thread *thread,
			   enum noise noise, size_t at)
{
	switch (noise) {
	case NOISE_OBJECTS:
		return memory__get(&image->memory, image->global + 300 * 4, 8);
	case NOISE_THREADS:
		return thread->address;
	case NOISE_VALUES:
		return thread->stack + at * 16;
	case NOISE_NATIVE:
		return image->sp + at;
	case NOISE_SMALL:
		return 0x0000000100000002;
	default:
		return 0;
	}
}

static bool is_field(const struct ls_puc_layout *layout, size_t at)
{
	const uint8_t fields[] = {8,
				  layout->state_status,
				  layout->state_top,
				  layout->state_global,
				  layout->state_ci,
				  layout->state_savedpc,
				  layout->state_stack_last,
				  layout->state_stack,
				  layout->state_error_jump,
				  layout->state_allow_hook};
	size_t end = layout->state_base_ci + (layout->ci_is_array ? 8 : layout->ci_size);

	for (size_t i = 0; i < sizeof(fields); i++)
		if ((fields[i] & ~7U) == at)
			return true;
	return at >= layout->state_base_ci && at < end;
}

static void add_noise(struct image *image, enum noise noise)
{
	for (size_t i = 0; i < image->thread_count; i++)
		for (size_t at = 16; at + 8 <= image->layout->state_size; at += 8)
			if (!is_field(image->layout, at) && !image__field(image, i, at))
				image__set_field(image, i, at,
						 noise_word(image, &image->threads[i], noise, at),
						 8);
}

static void expect_one_class(struct fixture *fixture)
{
	for (size_t i = 0; i < layouts_puc_count; i++) {
		const struct layout_puc *row = &layouts_puc[i];
		bool is_same = fixture__is_same_class(fixture->row, row);

		walker__forget(&fixture->walker);
		fixture->walker.is_undecided = true;
		walker__sample_as(&fixture->walker, &fixture->image, &row->offsets);
		if (fixture->walker.is_evidence != is_same)
			print_message("image of %s as %s\n", fixture->row->name, row->name);
		assert_int_equal(fixture->walker.is_evidence, is_same);
	}
}

static void with_noise(struct fixture *fixture, enum noise noise)
{
	add_noise(&fixture->image, noise);
	for (size_t i = 0; i < fixture->image.thread_count; i++)
		fixture->image.registers[i] = fixture->image.threads[i].address;
	expect_one_class(fixture);
	image__call_c(&fixture->image, fixture->image.thread_count - 1, IMAGE_C_FUNCTION, 5);
	expect_one_class(fixture);
}

static void is_of_one_class(struct fixture *fixture)
{
	fixture__main(fixture);
	with_noise(fixture, NOISE_NONE);
	fixture__resume(fixture, IMAGE_MAIN);
	expect_one_class(fixture);
	fixture__nest(fixture, 1, 50, 9);
	expect_one_class(fixture);
}

static void is_of_one_class_without_protection(struct fixture *fixture)
{
	image__call_lua(&fixture->image, IMAGE_MAIN, fixture->protos[0], 3, 9);
	image__execute(&fixture->image, IMAGE_MAIN);
	with_noise(fixture, NOISE_OBJECTS);
}

static void is_of_one_class_among_objects(struct fixture *fixture)
{
	fixture__chain(fixture, 2);
	with_noise(fixture, NOISE_OBJECTS);
}

static void is_of_one_class_among_threads(struct fixture *fixture)
{
	fixture__chain(fixture, 2);
	with_noise(fixture, NOISE_THREADS);
}

static void is_of_one_class_among_values(struct fixture *fixture)
{
	fixture__chain(fixture, 2);
	with_noise(fixture, NOISE_VALUES);
}

static void is_of_one_class_among_native_pointers(struct fixture *fixture)
{
	fixture__chain(fixture, 2);
	with_noise(fixture, NOISE_NATIVE);
}

static void is_of_one_class_among_numbers(struct fixture *fixture)
{
	fixture__chain(fixture, 2);
	with_noise(fixture, NOISE_SMALL);
}

static void is_no_evidence_without_a_lua_function(struct fixture *fixture)
{
	image__protect(&fixture->image, IMAGE_MAIN);
	image__call_c(&fixture->image, IMAGE_MAIN, IMAGE_C_FUNCTION, 5);
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 0);
	assert_int_equal(fixture->walker.is_evidence, 0);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(is_of_one_class),
		TEST(is_of_one_class_without_protection),
		TEST(is_of_one_class_among_objects),
		TEST(is_of_one_class_among_threads),
		TEST(is_of_one_class_among_values),
		TEST(is_of_one_class_among_native_pointers),
		TEST(is_of_one_class_among_numbers),
		TEST(is_no_evidence_without_a_lua_function),
	};

	return fixture__run("layouts", tests, sizeof(tests) / sizeof(tests[0]));
}
