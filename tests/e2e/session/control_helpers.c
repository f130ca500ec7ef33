/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "control_helpers.h"

void tell(struct stage *stage, const char *line)
{
	int fd = open(in_folder(stage, "fifo"), O_WRONLY | O_NONBLOCK);

	assert_return_code(fd, errno);
	assert_int_equal(write(fd, line, strlen(line)), strlen(line));
	assert_int_equal(write(fd, "\n", 1), 1);
	close(fd);
}

const json_t *events(const struct scriptprofile *profile)
{
	return json_object_get(json_object_get(profile->document, "Recorder"), "Events");
}

const char *event_text(const struct scriptprofile *profile, size_t at, const char *key)
{
	const char *text =
		json_string_value(json_object_get(json_array_get(events(profile), at), key));

	return text ? text : "";
}

double event_seconds(const struct scriptprofile *profile, size_t at)
{
	return (double)json_integer_value(
		       json_object_get(json_array_get(events(profile), at), "TimeUs")) /
	       1e6;
}

int count(const char *text, const char *what)
{
	int found = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		found++;
	}
	return found;
}
