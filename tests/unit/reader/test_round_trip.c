/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests what luaspy keeps of profiles in other programs' formats when it reads them back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "random_profile.h"
#include "reading.h"

static uint64_t samples_of(const struct ls_profile *profile)
{
	uint64_t samples = 0;

	for (uint32_t id = 1; id <= profile->node_count; id++)
		samples += profile->nodes[id].samples;
	return samples;
}

static uint64_t time_of(const struct ls_profile *profile)
{
	uint64_t ns = 0;

	for (uint32_t id = 1; id <= profile->node_count; id++)
		ns += profile->nodes[id].self_ns;
	return ns;
}

/* Shows the first line that differs, not all of them. */
static void assert_lines_equal(const char *found, const char *expected)
{
	size_t begin = 0, i = 0;

	for (; found[i] && found[i] == expected[i]; i++)
		if (found[i] == '\n')
			begin = i + 1;
	if (found[i] != expected[i])
		fail_msg("'%.*s' instead of '%.*s'", (int)strcspn(found + begin, "\n"),
			 found + begin, (int)strcspn(expected + begin, "\n"), expected + begin);
}

/* Written and read, every stack has its time. */
static void keeps_stacks(const char *format, const struct ls_profile *profile)
{
	size_t size;
	char *bytes = reading__write(format, profile, &size);
	char *expected = reading__stacks(profile), *found;
	struct loaded_profile loaded;
	const struct ls_profile *read = reading__read(bytes, size, &loaded);

	found = reading__stacks(read);
	assert_lines_equal(found, expected);
	if (!strcmp(format, "pprof"))
		assert_int_equal(samples_of(read), samples_of(profile));
	loaded_profile__clear(&loaded);
	free(bytes);
	free(expected);
	free(found);
}

static void for_random_trees(void (*check)(const struct ls_profile *profile))
{
	static const uint32_t depths[] = {1, 3, 10, 100, 1000};

	for (uint32_t seed = 1; seed <= 10; seed++) {
		struct random_profile_options options = {.seed = seed,
							 .nodes = 50 * seed + 1100,
							 .depth = depths[seed % 5],
							 .has_timeline = true};
		struct random_profile *random = random_profile__new(&options);

		check(random_profile__profile(random));
		random_profile__free(random);
	}
}

static void check_sums(const struct ls_profile *profile)
{
	keeps_stacks("folded", profile);
	keeps_stacks("pprof", profile);
}

static void folded_and_pprof_keep_every_stack(void **state)
{
	(void)state;
	for_random_trees(check_sums);
}

/* Times are multiples of 125 us there: the stacks are the same, and all time but one grain. */
static void check_order(const struct ls_profile *profile)
{
	size_t size;
	char *bytes = reading__write("cpuprofile", profile, &size);
	char *expected = reading__stacks(profile), *found, *rest, *line;
	struct loaded_profile loaded;
	const struct ls_profile *read = reading__read(bytes, size, &loaded);

	rest = found = reading__stacks(read);
	assert_in_range(time_of(read), time_of(profile) - 126000, time_of(profile) + 126000);
	assert_true(read->sample_count >= profile->sample_count);
	assert_int_equal(samples_of(read), read->sample_count);
	while ((line = strsep(&rest, "\n")) && *line) {
		/* In JSON, luaspy takes the name "\\x5cx41" for an escaped "\\x41". */
		if (strstr(line, "\\x41"))
			continue;
		*strrchr(line, ' ') = '\0';
		if (!strstr(expected, line))
			fail_msg("'%s' is no stack of the profile", line);
	}
	loaded_profile__clear(&loaded);
	free(bytes);
	free(expected);
	free(found);
}

static void cpuprofile_keeps_stacks_and_order(void **state)
{
	(void)state;
	for_random_trees(check_order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_and_pprof_keep_every_stack),
		cmocka_unit_test(cpuprofile_keeps_stacks_and_order),
	};

	log__set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
