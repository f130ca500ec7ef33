/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which format a file has: the table, endings, '--format'; for record and for convert. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/format.h"
#include "output/output_name.h"
#include "parsing.h"
#include "stage.h"

static const char *name_of(const char *path)
{
	const struct format *format;

	if (format__of_path(path, &format))
		return "refused";
	return format ? format->name : "none";
}

static void an_ending_tells_the_format(void **state)
{
	static const struct {
		const char *path, *format;
	} cases[] = {
		{"out.json", "scriptprofiler"},
		{"a.svg/x.JSON", "scriptprofiler"},
		{"x.svg.json", "scriptprofiler"},
		{"out.speedscope.json", "speedscope"},
		{"x.SVG", "flamegraph"},
		{"x.pb.gz", "pprof"},
		{"x.folded", "folded"},
		{"x.txt", "folded"},
		{"x.cpuprofile", "cpuprofile"},
		{"x.firefox.json", "firefox"},
		{"x.perf", "perf"},
		{"x.callgrind", "callgrind"},
		{"x.gprof", "gprof"},
		{"x.trace.json", "trace"},
		{"x.trace", "trace"},
		{"x.devtools.json", "devtools"},
		{"x.lua", "lua"},
		{"out", "none"},
		{"svg", "none"},
		{"-", "none"},
		{"a.svg/out", "none"},
		{".hidden", "none"},
		{"/dev/fd/63", "none"},
		{"/proc/self/fd/3", "none"},
		{"/dev/shm/x.svg", "flamegraph"},
		{"x.gz", "refused"},
		{"x.pb", "refused"},
		{"x.jsn", "refused"},
		{"redis-6.0", "refused"},
		{"/dev/shm/x.png", "refused"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(name_of(cases[i].path), cases[i].format);
}

static void a_stem_is_a_path_without_its_ending(void **state)
{
	(void)state;
	assert_int_equal(format__stem_length("a/x.speedscope.json"), 3);
	assert_int_equal(format__stem_length("x.pb.gz"), 1);
	assert_int_equal(format__stem_length("x.tar.gz"), 5);
	assert_int_equal(format__stem_length("a.b/x"), 5);
	assert_int_equal(format__stem_length(".json"), 5);
}

/* Names are what options, help and completion are made of. */
static void every_row_can_be_found(void **state)
{
	const struct format *format, *found;
	char path[64], list[FORMAT_LIST_SIZE];
	size_t count = 0;

	(void)state;
	format__list(list, sizeof(list));
	assert_in_range(strlen(list), 1, sizeof(list) - 2);
	for (; (format = format__at(count)); count++) {
		assert_ptr_equal(format__by_name(format->name), format);
		assert_non_null(strstr(list, format->name));
		assert_non_null(format->endings[0]);
		for (const char *const *ending = format->endings; *ending; ending++) {
			assert_in_range(strlen(*ending), 2, OUTPUT_NAME_ENDING_MAX);
			snprintf(path, sizeof(path), "x%s", *ending);
			assert_int_equal(format__of_path(path, &found), 0);
			assert_ptr_equal(found, format);
		}
	}
	assert_null(format__by_name("svg"));
	assert_string_equal(format__at(0)->name, "scriptprofiler");
}

/* The README's table has a row for each: "| `.a` | title | use |". */
static void the_readme_has_the_same_table(void **state)
{
	const struct format *format;
	char row[512], *text = read_file("README.md", NULL);

	(void)state;
	for (size_t i = 0; (format = format__at(i)); i++) {
		snprintf(row, sizeof(row), "\n| `%s` | %s | %s |\n", format->endings[0],
			 format->title, format->use);
		if (!strstr(text, row))
			fail_msg("README.md lacks this row:%s", row);
	}
	free(text);
}

/* That of the recipes has all endings: "| `name` | `.a` `.b` | title |". */
static void the_recipes_have_the_same_table(void **state)
{
	const struct format *format;
	char row[512], *text = read_file("user/share/doc/recipes.md", NULL);

	(void)state;
	for (size_t i = 0; (format = format__at(i)); i++) {
		int length = snprintf(row, sizeof(row), "\n| `%s` |", format->name);

		for (const char *const *ending = format->endings; *ending; ending++)
			length += snprintf(row + length, sizeof(row) - (size_t)length, " `%s`",
					   *ending);
		snprintf(row + length, sizeof(row) - (size_t)length, " | %s |\n", format->title);
		if (!strstr(text, row))
			fail_msg("user/share/doc/recipes.md lacks this row:%s", row);
	}
	free(text);
}

#define LIST format__list((char[FORMAT_LIST_SIZE]){""}, FORMAT_LIST_SIZE)

/* The complaint about these words, which is of formats and so may be long. */
#define assert_complains(message, ...)                                                             \
	do {                                                                                       \
		struct options parsed;                                                             \
		char *out, *err;                                                                   \
		assert_int_equal(parsing__run(&parsed, &out, &err, __VA_ARGS__, NULL),             \
				 OPTIONS_WRONG);                                                   \
		assert_string_equal(err, message);                                                 \
		free(out);                                                                         \
		free(err);                                                                         \
	} while (0)

static void assert_refused_path(const char *path)
{
	char expected[FORMAT_LIST_SIZE + 256];

	snprintf(expected, sizeof(expected),
		 "luaspy: cannot write '%s': no format has the ending of that name "
		 "(accepted: %s; or name one with '--format')\n",
		 path, LIST);
	assert_complains(expected, "record", "-p1", "-o", path);
	assert_complains(expected, "convert", "in.json", "-o", path);
}

static void refuses_an_ending_that_no_format_has(void **state)
{
	static const char *const refused[] = {
		"x.pb", "x.data", "x.etl", "x.png", "out.svgz", "callgrind.out", "callgrind.out.7"};
	struct options options;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_refused_path(refused[i]);
		assert_runs(&options, "record", "-p1", "-o", refused[i], "-f", "callgrind");
		assert_string_equal(options.record.outputs.files[0].format->name, "callgrind");
	}
}

static void takes_several_files_with_a_format_each(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1", "-o", "a.json", "-o", "b.svg", "-o", "-");
	assert_int_equal(options.record.outputs.count, 3);
	assert_string_equal(options.record.outputs.files[0].format->name, "scriptprofiler");
	assert_string_equal(options.record.outputs.files[1].format->name, "flamegraph");
	assert_string_equal(options.record.outputs.files[2].format->name, "scriptprofiler");
	assert_false(options.record.timeline);
	assert_runs(&options, "convert", "-f", "pprof", "-o", "a", "in.json", "-o", "b.folded");
	assert_string_equal(options.convert.input, "in.json");
	assert_string_equal(options.convert.outputs.files[0].format->name, "pprof");
	assert_string_equal(options.convert.outputs.files[1].format->name, "folded");
	assert_wrong("'--output a.svg' is given twice: a file has one format", "record", "-p1",
		     "-o", "a.svg", "-o", "a.svg");
}

static void a_name_and_a_format_that_differ_are_refused(void **state)
{
	char expected[FORMAT_LIST_SIZE + 64];

	(void)state;
	assert_wrong("cannot write 'a.svg': its name is that of flamegraph, not of '--format "
		     "folded'",
		     "record", "-p1", "-o", "a.svg", "-f", "folded");
	assert_wrong("unknown format 'svg' (did you mean 'flamegraph'?)", "record", "-p1",
		     "--format=svg");
	assert_wrong("unknown format 'raw' (did you mean 'folded'?)", "record", "-p1", "-f", "raw");
	assert_wrong("unknown format '10000' (did you mean '--frequency=10000'?)", "record", "-p1",
		     "-f", "10000");
	snprintf(expected, sizeof(expected), "luaspy: unknown format 'elf' (accepted: %s)\n", LIST);
	assert_complains(expected, "record", "-p1", "--format=elf");
	assert_complains(expected, "convert", "x", "-o", "y", "--format=elf");
}

static void a_name_may_be_that_of_the_syntax(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1", "-f", "speedscope", "-o", "a.json");
	assert_string_equal(options.record.outputs.files[0].format->name, "speedscope");
	assert_runs(&options, "convert", "b.json", "-f", "cpuprofile", "-o", "a.JSON");
	assert_string_equal(options.convert.outputs.files[0].format->name, "cpuprofile");
	assert_wrong("cannot write 'a.json': its name is that of scriptprofiler, not of '--format "
		     "flamegraph'",
		     "record", "-p1", "-f", "flamegraph", "-o", "a.json");
}

static void a_format_is_for_each_file_or_refused(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "convert", "x", "-f", "speedscope", "-o", "a.json", "-o", "b.svg",
		    "-o", "-");
	assert_string_equal(options.convert.outputs.files[0].format->name, "speedscope");
	assert_string_equal(options.convert.outputs.files[1].format->name, "flamegraph");
	assert_string_equal(options.convert.outputs.files[2].format->name, "speedscope");
	assert_runs(&options, "record", "-p1", "-f", "folded", "-o", "a.folded", "-o", "b.txt");
	assert_wrong("cannot write 'b.svg': its name is that of flamegraph, not of '--format "
		     "folded'",
		     "record", "-p1", "-f", "folded", "-o", "a.folded", "-o", "b.svg");
	assert_wrong("cannot write 'a.json': its name is that of scriptprofiler, not of '--format "
		     "folded'",
		     "convert", "x", "-o", "a.json", "-o", "b.svg", "-f", "folded");
}

static void what_needs_order_turns_the_timeline_on(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1", "-o", "a.svg", "-o", "b.cpuprofile");
	assert_true(options.record.timeline);
	assert_runs(&options, "record", "-p1", "-f", "cpuprofile", "--output-dir", "x");
	assert_true(options.record.timeline);
	assert_runs(&options, "record", "-p1", "-f", "pprof");
	assert_false(options.record.timeline);
}

static void convert_needs_one_input_and_an_output(void **state)
{
	(void)state;
	assert_wrong("missing file: which recording? (try 'luaspy convert profile.json -o "
		     "profile.svg')",
		     "convert");
	assert_wrong("missing option '--output': into which file? (accepted: a file name, or - for "
		     "standard output, whose ending chooses the format)",
		     "convert", "a.json");
	assert_wrong(
		"unexpected argument 'b.json' after 'luaspy convert' (see 'luaspy help convert')",
		"convert", "a.json", "b.json", "-o", "x.svg");
	assert_wrong("out of range: value '777' of option '--mode' (accepted: an octal number such "
		     "as 600, 640 or 664)",
		     "convert", "a.json", "--mode=777", "-o", "x.svg");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ending_tells_the_format),
		cmocka_unit_test(a_stem_is_a_path_without_its_ending),
		cmocka_unit_test(every_row_can_be_found),
		cmocka_unit_test(the_readme_has_the_same_table),
		cmocka_unit_test(the_recipes_have_the_same_table),
		cmocka_unit_test(refuses_an_ending_that_no_format_has),
		cmocka_unit_test(takes_several_files_with_a_format_each),
		cmocka_unit_test(a_name_and_a_format_that_differ_are_refused),
		cmocka_unit_test(a_name_may_be_that_of_the_syntax),
		cmocka_unit_test(a_format_is_for_each_file_or_refused),
		cmocka_unit_test(what_needs_order_turns_the_timeline_on),
		cmocka_unit_test(convert_needs_one_input_and_an_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
