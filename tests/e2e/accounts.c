/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "accounts.h"

const char *accounts__own_name(void)
{
	static char name[16];

	snprintf(name, sizeof(name), "own%d", getpid());
	return name;
}

const char *accounts__own_copy(struct stage *stage, const char *program)
{
	const char *path = in_folder(stage, accounts__own_name());
	size_t size;
	char *content = read_file(program, &size);

	write_file(path, content, size);
	free(content);
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

int64_t accounts__ticks(struct stage *stage, const struct child *spy)
{
	const char *end = strstr(child__errors(stage, spy), " ticks,");

	assert_non_null(end);
	while (end[-1] >= '0' && end[-1] <= '9')
		end--;
	return strtoll(end, NULL, 10);
}

void accounts__assert_whole(struct stage *stage, const struct child *spy,
			    const struct scriptprofile *profile)
{
	static const char *const classes[] = {"dropped", "unreadable", "host",
					      "torn",    "truncated",  "complete"};
	int64_t sum = 0, charged_us, short_us;

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		int64_t samples = scriptprofile__samples(profile, classes[i]);

		print_message("%s%s %lld", i ? ", " : "", classes[i], (long long)samples);
		sum += samples;
	}
	print_message(" of %lld samples; %lld records lost, %lld processes missed\n",
		      (long long)sum, (long long)scriptprofile__recorded(profile, "LostRecords"),
		      (long long)scriptprofile__recorded(profile, "MissedProcesses"));
	assert_int_equal(scriptprofile__samples(profile, "total"), sum);
	assert_int_equal(accounts__ticks(stage, spy), sum);
	charged_us = scriptprofile__recorded(profile, "CpuDuration");
	short_us = charged_us - profile->all_us;
	/* 0: the kernel no longer tells the CPU time of a single target that has ended. */
	if (charged_us && (short_us < -5 || short_us > 5))
		fail_msg("%lld us are in no category", (long long)short_us);
}

int64_t accounts__category_us(const struct scriptprofile *profile, const char *name)
{
	json_t *categories = json_object_get(profile->document, "Categories"), *category;
	size_t i;

	json_array_foreach(categories, i, category)
	{
		json_int_t node = json_integer_value(json_object_get(category, "NodeId"));

		if (!strcmp(json_string_value(json_object_get(category, "Name")), name))
			return profile->node_total_us[node];
	}
	return 0;
}

double accounts__charged_us(const struct child *child)
{
	return 1e6 * ((double)child->usage.ru_utime.tv_sec + (double)child->usage.ru_stime.tv_sec) +
	       (double)child->usage.ru_utime.tv_usec + (double)child->usage.ru_stime.tv_usec -
	       child->begun_us;
}

void accounts__assert_near(const char *what, double found_us, double expected_us, double tolerance)
{
	print_message("%s: %.3f s of %.3f (%.2f%%)\n", what, found_us / 1e6, expected_us / 1e6,
		      100 * found_us / expected_us);
	assert_true(found_us >= (1 - tolerance) * expected_us &&
		    found_us <= (1 + tolerance) * expected_us);
}
