/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "field.h"

/*
 * A hypervisor that stops this machine charges the time to whoever runs, and on a busy one the
 * program and those who ask it hardly do.
 */
#define SAMPLES_GOOD 3000
#define SAMPLES_FEW  800
static const char *const durations[] = {"700ms", "2s", "5s"};

const char *field__write(struct stage *stage, const char *name, const char *text)
{
	const char *path = in_folder(stage, name);

	write_file(path, text, strlen(text));
	return path;
}

void field__require(const struct scriptprofile *profile, bool condition, const char *what)
{
	if (condition)
		return;
	scriptprofile__print(profile);
	fail_msg("not so: %s", what);
}

/* In points: five standard deviations, and two for what the timer does at wake-ups. */
static double tolerance(const struct scriptprofile *profile)
{
	return 2 + 500 * sqrt(0.75 * 0.25 / (double)scriptprofile__samples(profile, "complete"));
}

/* hot()'s share of both in percent, by this profile. */
static double hot_percent(const struct scriptprofile *profile, const char *source)
{
	int64_t hot = scriptprofile__total_us(profile, source, "hot", 1);
	int64_t warm = scriptprofile__total_us(profile, source, "warm", 2);

	return hot + warm ? 100 * (double)hot / (double)(hot + warm) : 0;
}

static void check(const struct scriptprofile *profile, const char *source)
{
	int64_t script =
		scriptprofile__samples(profile, "total") - scriptprofile__samples(profile, "host");
	int64_t hot = scriptprofile__total_us(profile, source, "hot", 1);
	int64_t warm = scriptprofile__total_us(profile, source, "warm", 2);

	require_of(profile, profile->all_us == scriptprofile__recorded(profile, "CpuDuration"));
	require_of(profile, script > 0);
	require_of(profile, scriptprofile__samples(profile, "complete") * 100 > script * 97);
	require_of(profile, fabs(hot_percent(profile, source) - 75) < tolerance(profile));
	require_of(profile, scriptprofile__stack_us(profile, "work > hot") == hot);
	require_of(profile, scriptprofile__stack_us(profile, "work > warm") == warm);
	require_of(profile, scriptprofile__total_us(profile, NULL, "hot", -1) == hot);
	require_of(profile, scriptprofile__total_us(profile, source, "work", 3) >= hot + warm);
}

struct scriptprofile *field__record(struct stage *stage, const struct child *program,
				    const char *source)
{
	struct scriptprofile *profile = NULL;
	int64_t complete = 0;

	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		profile = record(stage, program->pid, "-d", durations[i], "-F", "10khz");
		complete = scriptprofile__samples(profile, "complete");
		if (complete >= SAMPLES_GOOD &&
		    fabs(hot_percent(profile, source) - 75) < tolerance(profile))
			break;
	}
	if (complete < SAMPLES_FEW)
		skip_because("this machine is too busy to load a program");
	check(profile, source);
	return profile;
}

bool field__has_stack(const struct scriptprofile *profile, const char *stack)
{
	return scriptprofile__stack_us(profile, stack) > 0;
}

bool field__has_c_function(const struct scriptprofile *profile, const char *name)
{
	return scriptprofile__total_us(profile, "\\[C]", name, -1) > 0;
}

int field__host_percent(const struct scriptprofile *profile)
{
	return (int)(100 * scriptprofile__total_us(profile, "", "(host)", -1) / profile->all_us);
}

struct child *field__ask(struct stage *stage, const char *socket, const char *path)
{
	struct child *client;
	char program[512];

	assert_non_null(getcwd(program, sizeof(program) - 32));
	strcat(program, "/tests/field/ask.py");
	client = start(stage, "python3", program, in_folder(stage, socket), path);
	child__await_output(stage, client, "answered");
	return client;
}
