/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much work the kernel's verifier has at each start of luaspy. It gives up at a million
 * instructions, on other kernels earlier, and takes 0.7 us for each here; one search that was
 * written with branches needed ten times as many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "sampler/sampler.h"
#include "skip.h"

#define INSTRUCTIONS_MAX 60000 /* for one program; a walker is the largest */
#define FILES_MAX        256

static int take_sample(void *context, const struct ls_sample *sample, const struct ls_frame *frames)
{
	(void)context;
	(void)sample;
	(void)frames;
	return 0;
}

static bool is_program(int file)
{
	char link[64], kind[64] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	return readlink(link, kind, sizeof(kind) - 1) > 0 && !strcmp(kind, "anon_inode:bpf-prog");
}

/* The highest number of verified instructions among the programs that this process has loaded. */
static uint64_t most_instructions(void)
{
	uint64_t most = 0;

	for (int file = 0; file < FILES_MAX; file++) {
		struct bpf_prog_info info = {};
		uint32_t size = sizeof(info);

		if (!is_program(file) || bpf_obj_get_info_by_fd(file, &info, &size))
			continue;
		print_message("%s: %u instructions, %u verified\n", info.name,
			      info.xlated_prog_len / 8, info.verified_insns);
		most = info.verified_insns > most ? info.verified_insns : most;
	}
	return most;
}

static void verifies_few_instructions(void **state)
{
	const struct sampler_options options = {
		.sampling = {.period_ns = 1000000, .max_depth = 512}};
	const struct sampler_receiver receiver = {.sample = take_sample};
	struct sampler *sampler;
	uint64_t most;

	(void)state;
	need_root();
	assert_int_equal(sampler__open(&options, &receiver, &sampler), 0);
	assert_int_equal(sampler__load_walkers(sampler, false), 0);
	most = most_instructions();
	sampler__close(sampler);
	if (!most)
		skip_because("the kernel does not say what it verified (5.16 and later do)");
	assert_in_range(most, 10000, INSTRUCTIONS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verifies_few_instructions),
	};

	return cmocka_run_group_tests_name("verifier", tests, NULL, NULL);
}
