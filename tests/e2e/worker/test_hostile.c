/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A target that forges a VM and keeps changing its lies (tests/programs/hostile): luaspy ends in
 * time, stays small, and prints no byte that is not text.
 */
#include <errno.h>
#include <math.h>
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
#include <jansson.h>

#include "spying.h"

#define PATIENCE 20
#define DURATION 4 /* seconds, "-d 4" */

/* Limits of luaspy's cost, in seconds and KiB; a busy machine gives it a fifth of a processor. */
#define LATE_SECONDS 2
#define BUSY         5
#define CPU_SECONDS  (0.6 * DURATION)
#define RSS_KB       (100 * 1024)
#define RSS_KB_10KHZ (300 * 1024) /* enough to keep a million nodes of the call tree */

/* A folder and a program whose names would move a cursor, set a title, or end a script element. */
static const char odd_folder[] = "a\x1b]0;dir\x07\n<";
static const char odd_path[] =
	"a\x1b]0;dir\x07\n</script>\xe2\x80\xae\xe2\x80\x8f\xef\xbb\xbf\xff\xc2\x9b.lua";

static struct child *start_hostile(struct stage *stage, const char *version)
{
	char name[32], path[256];
	char *program;
	size_t size;

	snprintf(name, sizeof(name), "hostile-%s", version);
	program = read_file(built_program(name), &size);
	stage__own(stage, program, free);
	assert_return_code(mkdir(in_folder(stage, odd_folder), 0755), errno);
	snprintf(path, sizeof(path), "%s", in_folder(stage, odd_path));
	write_file(path, program, size);
	assert_return_code(chmod(path, 0755), errno);
	return start(stage, path);
}

/*
 * The text is printable ASCII and valid UTF-8, without C1 controls, direction marks and overrides,
 * separators and invisible characters.
 */
static size_t text_length(const uint8_t *at)
{
	size_t length = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;

	if (*at < 0x80)
		return (*at >= ' ' && *at != 0x7f) || *at == '\n' || *at == '\t' ? 1 : 0;
	if (*at < 0xc2 || *at > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if (*at == 0xc2 && at[1] < 0xa0)
		return 0;
	if (*at == 0xe2 && at[1] == 0x80 &&
	    ((at[2] >= 0xa8 && at[2] <= 0xae) || (at[2] >= 0x8b && at[2] <= 0x8f)))
		return 0;
	if (*at == 0xef && at[1] == 0xbb && at[2] == 0xbf)
		return 0;
	return *at == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9 ? 0 : length;
}

/*
 * The output is only text. On a terminal, luaspy's progress line may return to its start and be
 * cleared, and the terminal adds a carriage return before each newline.
 */
static void assert_text(const char *text, size_t size, bool is_terminal)
{
	static const char clear[] = "\x1b[K";
	size_t at = 0;

	while (at < size) {
		size_t length = text_length((const uint8_t *)text + at);

		if (is_terminal && text[at] == '\r')
			length = 1;
		if (is_terminal && !strncmp(text + at, clear, strlen(clear)))
			length = strlen(clear);
		if (!length)
			fail_msg("byte %#x at %zu is no text, after '%.*s'", (uint8_t)text[at], at,
				 (int)(at < 60 ? at : 60), text + at - (at < 60 ? at : 60));
		at += length;
	}
}

static double cpu_seconds(const struct child *child)
{
	const struct rusage *usage = &child->usage;

	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/* luaspy finds the VM like an honest one; then it begins to lie. */
static void let_go_mad(struct stage *stage, struct child *target, const struct child *spy)
{
	child__await_errors(stage, spy, "agreed on by");
	child__tell(target, "now");
	child__await_output(stage, target, "mad");
}

static void check_file(struct stage *stage, const char *name)
{
	struct scriptprofile *profile = spying__read(stage, in_folder(stage, name));
	size_t size;
	char *text = read_file(in_folder(stage, name), &size);

	stage__own(stage, text, free);
	assert_text(text, size, false);
	assert_null(strstr(text, "</"));
	assert_null(strstr(text, "<!"));
	/* Most of the time the calls can be walked, so the output must have more than refusals. */
	assert_true(scriptprofile__samples(profile, "complete") > 100);
	assert_true(profile->function_count > 100);
	print_message("%lld samples, %lld complete, %d functions, %d nodes\n",
		      (long long)scriptprofile__samples(profile, "total"),
		      (long long)scriptprofile__samples(profile, "complete"),
		      profile->function_count, profile->node_count);
}

static void survive(struct stage *stage, const char *version, const char *frequency, long rss_kb)
{
	struct child *target, *spy;
	double begin, seconds;
	char *errors;

	target = start_hostile(stage, version);
	child__await_output(stage, target, "honest");
	spy = start_record(stage, target->pid, "-d", "4", "-F", frequency, "-o", "x.json");
	let_go_mad(stage, target, spy);
	begin = now_seconds();
	if (child__wait(spy, PATIENCE) != 0)
		fail_msg("exit status %d: %s", spy->status, child__errors(stage, spy));
	seconds = now_seconds() - begin;
	print_message("%s at %s: %.1f s, %.2f s of CPU time, %ld KiB\n", version, frequency,
		      seconds, cpu_seconds(spy), spy->usage.ru_maxrss);
	assert_true(seconds < DURATION + LATE_SECONDS + BUSY * cpu_seconds(spy));
	assert_true(cpu_seconds(spy) < CPU_SECONDS);
	assert_in_range(spy->usage.ru_maxrss, 1, rss_kb);
	errors = child__errors(stage, spy);
	assert_text(errors, strlen(errors), false);
	assert_non_null(strstr(errors, "\\x1b]0;"));
	assert_int_equal(child__output_size(stage, spy), 0);
	check_file(stage, "x.json");
	/* The target must not be affected. */
	assert_false(target->is_over);
}

static void survives_lies_about_an_array_of_calls(void **state)
{
	need_to_record();
	survive(*state, "5.1", "1khz", RSS_KB);
}

static void survives_lies_about_a_list_of_calls(void **state)
{
	need_to_record();
	survive(*state, "5.4", "1khz", RSS_KB);
}

static void survives_lies_at_full_speed(void **state)
{
	need_to_record();
	survive(*state, "5.4", "10khz", RSS_KB_10KHZ);
}

static void check_json(const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, 0, &error);

	if (!json)
		fail_msg("%s at %d", error.text, error.position);
	json_decref(json);
}

#define DUMPS        20
#define DUMP_SECONDS 10 /* two of inspection, on a machine that other programs keep busy */

/* Whatever the target claims meanwhile, dump ends in time and prints text or JSON. */
static void dump_lies(struct stage *stage, const char *version)
{
	struct child *target = start_hostile(stage, version), *spy;
	double longest = 0, cpu = 0;
	int statuses[4] = {};
	char number[16], layout[32];

	snprintf(layout, sizeof(layout), "--layout=%s.4", version);
	child__await_output(stage, target, "honest");
	snprintf(number, sizeof(number), "%d", target->pid);
	spy = start(stage, luaspy_program(), "dump", "-p", number);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	child__tell(target, "now");
	child__await_output(stage, target, "mad");
	for (int i = 0; i < DUMPS; i++) {
		double begin = now_seconds();
		size_t size;

		/* A forced layout needs no evidence, so the lies pass that check. */
		spy = start(stage, luaspy_program(), "dump", "-p", number, "--all", layout,
			    i % 2 ? "--json" : NULL);
		child__wait(spy, PATIENCE);
		assert_in_range(spy->status, 0, 3);
		statuses[spy->status]++;
		longest = fmax(longest, now_seconds() - begin);
		cpu = fmax(cpu, cpu_seconds(spy));
		assert_in_range(spy->usage.ru_maxrss, 1, RSS_KB);
		size = child__output_size(stage, spy);
		assert_text(child__output(stage, spy), size, false);
		assert_text(child__errors(stage, spy), strlen(child__errors(stage, spy)), false);
		if (i % 2 && !spy->status)
			check_json(child__output(stage, spy));
	}
	print_message("%s: %d dumps shown, %d failed, %d with nothing, at most %.1f s, %.2f s of "
		      "CPU time\n",
		      version, statuses[0], statuses[1], statuses[3], longest, cpu);
	assert_true(cpu < CPU_SECONDS);
	assert_true(longest < DUMP_SECONDS + BUSY * cpu);
	assert_int_equal(statuses[2], 0);
	assert_true(statuses[0] > 0);
	assert_false(target->is_over);
}

static void dumps_lies_about_an_array_of_calls(void **state)
{
	need_to_record();
	dump_lies(*state, "5.1");
}

static void dumps_lies_about_a_list_of_calls(void **state)
{
	need_to_record();
	dump_lies(*state, "5.4");
}

/* Three texts come from the target's names: the default file name, the countdown, the summary. */
static void shows_lies_on_a_terminal_as_text(void **state)
{
	struct child *target, *spy;
	char command[256], *shown;

	need_to_record();
	need_program("script", "bsdutils");
	target = start_hostile(*state, "5.4");
	child__await_output(*state, target, "honest");
	snprintf(command, sizeof(command), "%s record -p %d -d 3 -v", luaspy_program(),
		 target->pid);
	spy = start(*state, "script", "-qefc", command, "/dev/null");
	child__await_output(*state, spy, "agreed on by");
	child__tell(target, "now");
	if (child__wait(spy, PATIENCE) != 0)
		fail_msg("exit status %d: %s", spy->status, child__output(*state, spy));
	shown = child__output(*state, spy);
	assert_non_null(strstr(shown, "Hottest functions"));
	assert_non_null(strstr(shown, "wrote "));
	assert_text(shown, strlen(shown), true);
}

int main(void)
{
	/* The peak of a program is at least that of this one, which started it. */
	const struct CMUnitTest tests[] = {
		staged(dumps_lies_about_an_array_of_calls),
		staged(dumps_lies_about_a_list_of_calls),
		staged(survives_lies_about_an_array_of_calls),
		staged(survives_lies_about_a_list_of_calls),
		staged(survives_lies_at_full_speed),
		staged(shows_lies_on_a_terminal_as_text),
	};

	return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
