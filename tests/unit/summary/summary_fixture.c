/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <locale.h>

#include <cmocka.h>

#include "base/terminal.h"
#include "summary_fixture.h"

void set_function(struct fixture *fixture, uint32_t id, const char *name, const char *source,
		  uint32_t line)
{
	fixture->functions[id] =
		(struct ls_profile_function){.name = name, .source = source, .line = line};
	if (fixture->profile.function_count < id)
		fixture->profile.function_count = id;
}

void set_time(struct fixture *fixture, uint32_t id, uint64_t self_us, uint64_t total_us)
{
	fixture->totals.all_us += self_us - fixture->self_us[id];
	fixture->self_us[id] = self_us;
	fixture->total_us[id] = total_us;
}

int summary_fixture__set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct ls_profile_recorder *recorder;

	if (!fixture)
		return -1;
	*state = fixture;
	unsetenv("COLUMNS");
	fixture->profile.functions = fixture->functions;
	fixture->totals.function_self_us = fixture->self_us;
	fixture->totals.function_total_us = fixture->total_us;
	set_function(fixture, HOST, "(host)", NULL, 0);
	set_function(fixture, UNREADABLE, "(unreadable)", NULL, 0);
	set_function(fixture, UNSAMPLED, "(unsampled)", NULL, 0);
	set_function(fixture, FIB, "fib", "bench/fib.lua", 3);
	set_function(fixture, ANONYMOUS, NULL, "bench/fib.lua", 12);
	set_function(fixture, GSUB, "string.gsub", "[C]", 0);
	set_time(fixture, HOST, 1000000, 1000000);
	set_time(fixture, FIB, 6000000, 9000000);
	set_time(fixture, ANONYMOUS, 2000000, 9000000);
	set_time(fixture, GSUB, 1000000, 1000000);

	recorder = &fixture->profile.recorder;
	recorder->target = "lua5.4 (pid 42)";
	recorder->interpreter = "Lua 5.4.4 in /usr/bin/lua5.4";
	recorder->layout = "5.4.0-5.4.6";
	recorder->period_ns = 1000000;
	recorder->duration_ns = 20004000000;
	recorder->cpu_ns = 10000000400;
	recorder->samples = 10000;
	recorder->classes[LS_SAMPLE_COMPLETE] = 9000;
	recorder->classes[LS_SAMPLE_HOST] = 1000;
	recorder->errors[LS_WALK_NO_SCRIPT] = 1000;
	return 0;
}

int summary_fixture__tear_down(void **state)
{
	struct fixture *fixture = *state;

	setlocale(LC_CTYPE, "C");
	unsetenv("COLUMNS");
	free(fixture->text);
	free(fixture);
	return 0;
}

const char *print(struct fixture *fixture)
{
	const struct summary_options plain = {
		.words = category_words__of(CATEGORY_PROCESS, GROUPING_NONE)};
	size_t size;
	FILE *stream;

	free(fixture->text);
	fixture->text = NULL;
	stream = open_memstream(&fixture->text, &size);
	assert_non_null(stream);
	summary__print(&fixture->profile, &fixture->totals, &plain, stream);
	summary__print_accounting(&fixture->profile, &fixture->totals, fixture->all, stream);
	fclose(stream);
	assert_non_null(fixture->text);
	return fixture->text;
}

void assert_shows(struct fixture *fixture, const char *lines)
{
	if (!strstr(print(fixture), lines))
		fail_msg("missing:\n%s\nin:\n%s", lines, fixture->text);
}

void assert_hides(struct fixture *fixture, const char *text)
{
	if (strstr(print(fixture), text))
		fail_msg("unexpected:\n%s\nin:\n%s", text, fixture->text);
}

void assert_width(char *text, unsigned columns)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned taken;

		terminal__fit(line, 10000, &taken);
		if (taken > columns)
			fail_msg("%u columns: %s", taken, line);
		for (const char *c = line; *c; c++)
			assert_in_range((unsigned char)*c, 0x20, 0xff);
	}
}
