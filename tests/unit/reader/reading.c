/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "reading.h"

#define LINES_MAX 100000

char *reading__write(const char *format, const struct ls_profile *profile, size_t *size)
{
	struct ls_totals totals;
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);

	assert_non_null(stream);
	assert_int_equal(totals__compute(profile, &totals), 0);
	assert_int_equal(format__by_name(format)->write(profile, &totals, stream), 0);
	assert_int_equal(fclose(stream), 0);
	totals__free(&totals);
	return text;
}

int reading__try(const void *bytes, size_t size, struct loaded_profile *loaded, char *reason)
{
	struct input_stream *stream = input_stream__of_memory(bytes, size);
	int error;

	assert_non_null(stream);
	*loaded = (struct loaded_profile){};
	error = input_format__read(stream, loaded, reason);
	input_stream__free(stream);
	return error;
}

const struct ls_profile *reading__read(const void *bytes, size_t size,
				       struct loaded_profile *loaded)
{
	char reason[INPUT_REASON_SIZE];

	if (reading__try(bytes, size, loaded, reason))
		fail_msg("%s", reason);
	return loaded_profile__profile(loaded);
}

static int compare_lines(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Adds up what has one stack: functions may differ by more than a label tells. */
static void print_sums(FILE *stream, char **lines, size_t count)
{
	unsigned long long us = 0;

	for (size_t i = 0; i < count; i++) {
		char *number = strrchr(lines[i], ' ');
		size_t length = (size_t)(number - lines[i]) + 1;

		us += strtoull(number, NULL, 10);
		if (i + 1 < count && !strncmp(lines[i], lines[i + 1], length) &&
		    strrchr(lines[i + 1], ' ') == lines[i + 1] + length - 1)
			continue;
		fprintf(stream, "%.*s%llu\n", (int)length, lines[i], us);
		us = 0;
	}
}

char *reading__stacks(const struct ls_profile *profile)
{
	static char *lines[LINES_MAX];
	size_t size, count = 0;
	char *text = reading__write("folded", profile, &size), *rest = text, *line, *sorted;
	FILE *stream = open_memstream(&sorted, &size);

	while ((line = strsep(&rest, "\n")) && count < LINES_MAX)
		if (*line)
			lines[count++] = line;
	qsort(lines, count, sizeof(*lines), compare_lines);
	print_sums(stream, lines, count);
	assert_int_equal(fclose(stream), 0);
	free(text);
	return sorted;
}
