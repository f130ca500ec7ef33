/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy report: recordings of a real program and of another profiler, on a terminal and off. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 30

/* As Roblox writes it: main 100 ms, of which work 70, which calls itself, and GC 15 of that. */
static const char foreign[] =
	"{\"Version\":2,\"SessionStartTime\":1000,\"SessionEndTime\":3000,"
	"\"Categories\":[{\"Name\":\"Heartbeat\",\"NodeId\":1}],\"Nodes\":["
	"{\"TotalDuration\":100000,\"FunctionIds\":[1],\"NodeIds\":[2]},"
	"{\"TotalDuration\":100000,\"FunctionIds\":[2],\"NodeIds\":[3]},"
	"{\"TotalDuration\":70000,\"FunctionIds\":[2,3],\"NodeIds\":[4,5]},"
	"{\"TotalDuration\":40000},{\"TotalDuration\":15000}],\"Functions\":["
	"{\"Source\":\"Game.Script\",\"Name\":\"main\",\"Line\":1,\"TotalDuration\":100000},"
	"{\"Source\":\"Game.Script\",\"Name\":\"work\",\"Line\":5,\"TotalDuration\":70000},"
	"{\"Source\":\"GC\",\"Name\":\"GC\",\"TotalDuration\":15000}]}\n";

static const char script[] = "local function work()\n"
			     "\tlocal s = 0\n"
			     "\tfor i = 1, 1e5 do s = s + i % 7 end -- hot\n"
			     "\treturn s\n"
			     "end\n"
			     "local stop = os.clock() + 0.6\n"
			     "while os.clock() < stop do work() end\n";

/* Its output; it has to succeed without a word on standard error. */
static const char *report_with(struct stage *stage, const char *const *words)
{
	struct child *child = stage__start(stage, words);

	if (child__wait(child, PATIENCE) || *child__errors(stage, child))
		fail_msg("status %d:\n%s%s", child->status, child__output(stage, child),
			 child__errors(stage, child));
	return child__output(stage, child);
}
#define report(stage, ...)                                                                         \
	report_with(stage, (const char *const[]){luaspy_program(), "report", __VA_ARGS__, NULL})

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static json_t *json_of(const char *text)
{
	json_error_t error;
	json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!document)
		fail_msg("%s in:\n%s", error.text, text);
	return document;
}

/* A number of the function of that name. */
static json_int_t number_of(json_t *document, const char *name, const char *key)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(document, "Functions"), i, row)
	{
		const char *text = json_string_value(json_object_get(row, "Name"));

		if (text && !strcmp(text, name))
			return json_integer_value(json_object_get(row, key));
	}
	fail_msg("no function '%s'", name);
	return 0;
}

/* As many as a day of intervals of a minute has. */
static void sums_up_any_number_of_files(struct stage *stage)
{
	enum { FILES = 1440 };
	const char *words[FILES + 5] = {luaspy_program(), "report", "--sort", "total"};

	for (int i = 0; i < FILES; i++)
		words[4 + i] = "in.json";
	assert_has(report_with(stage, words), "1440 recordings: 2 min 24 s in ");
}

static void reads_what_another_program_wrote(void **state)
{
	struct stage *stage = *state;
	const char *text;
	json_t *document;

	write_text(stage, "in.json", foreign);
	text = report(stage, "in.json", "--sort", "total");
	assert_has(text, "100 ms in 2.00 s\n");
	assert_has(text, "\n   1   30.0%   100 ms  100.0%  ########  main");
	assert_has(text, "\n   2   55.0%  70.0 ms   70.0%");
	document = json_of(report(stage, "in.json", "--json", "--no-gc"));
	assert_int_equal(number_of(document, "work", "TotalUs"), 55000);
	assert_int_equal(number_of(document, "work", "SelfUs"), 55000);
	assert_int_equal(number_of(document, "main", "TotalUs"), 85000);
	json_decref(document);
	sums_up_any_number_of_files(stage);
	/* Per second of two. */
	assert_has(report(stage, "in.json", "--average"), " 27.5 ms ");
	assert_has(report(stage, "--average", "1s", "in.json"), " 27.5 ms ");
	assert_has(report(stage, "in.json", "in.json", "--sort", "total"), "   200 ms ");
}

/* The text may leave out what is small, data may not, unless it is told to. */
static void leaves_nothing_out_of_json_unasked(void **state)
{
	struct stage *stage = *state;
	static const char *const views[] = {"tree", "bottom-up"};

	write_text(stage, "in.cpuprofile",
		   "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},"
		   "\"children\":[2,3]},"
		   "{\"id\":2,\"callFrame\":{\"functionName\":\"hot\",\"url\":\"app.js\"}},"
		   "{\"id\":3,\"callFrame\":{\"functionName\":\"rare\",\"url\":\"app.js\"}}],"
		   "\"startTime\":0,\"endTime\":100010,\"samples\":[2,3],"
		   "\"timeDeltas\":[0,100000]}");
	for (int i = 0; i < 2; i++) {
		const char *text = report(stage, "in.cpuprofile", "--view", views[i], "--json");

		assert_has(text, "\"rare\"");
		text = report(stage, "in.cpuprofile", "--view", views[i], "--json", "--min=1%");
		assert_null(strstr(text, "\"rare\""));
		text = report(stage, "in.cpuprofile", "--view", views[i]);
		assert_null(strstr(text, "rare"));
	}
}

/* Our own, with what the file says. */
static void prints_what_was_recorded(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	const char *text;
	json_t *document;
	char words[300];

	need_lua();
	write_text(stage, "app.lua", script);
	spying__finish(stage, start(stage, luaspy_program(), "record", "-o", "a.json", "--",
				    "lua5.4", "app.lua"));
	profile = spying__read(stage, in_folder(stage, "a.json"));
	document = json_of(report(stage, "a.json", "--json"));
	assert_int_equal(number_of(document, "work", "SelfUs"),
			 scriptprofile__self_us(profile, NULL, "work", -1));
	assert_int_equal(number_of(document, "work", "TotalUs"),
			 scriptprofile__total_us(profile, NULL, "work", -1));
	json_decref(document);
	text = report(stage, "a.json", "--view", "lines");
	assert_has(text, "       3          for i = 1, 1e5 do s = s + i % 7 end -- hot\n");
	text = report(stage, "a.json", "--view", "tree", "--focus", "work");
	assert_has(text, "calls of work\n");
	assert_has(text, "\n  100.0%  ");
	/* The summary is the one that record prints. */
	text = report(stage, "a.json", "--view", "summary");
	assert_has(text, "\nHottest functions, by self time\n");
	assert_has(text, "\nHottest path, by total time\n");
	/* jq takes what is written for scripts. */
	snprintf(words, sizeof(words), "%s report a.json --json | jq -e '.Functions[0].SelfUs > 0'",
		 luaspy_program());
	if (child__wait(start(stage, "sh", "-c", "command -v jq"), PATIENCE) == 0)
		assert_int_equal(child__wait(start(stage, "sh", "-c", words), PATIENCE), 0);
}

/* A file that is newer than the recording may have other lines. */
static void shows_no_text_that_may_be_another(void **state)
{
	struct stage *stage = *state;
	const char *text;

	need_lua();
	write_text(stage, "app.lua", script);
	spying__finish(stage, start(stage, luaspy_program(), "record", "-o", "a.json", "--",
				    "lua5.4", "app.lua"));
	sleep_seconds(1.1);
	write_text(stage, "app.lua", script);
	text = report(stage, "a.json", "--view", "lines");
	assert_has(text, "  (no text: the file has changed since it was recorded)\n");
	assert_null(strstr(text, "-- hot"));
	assert_has(text, "       3  in work\n");
	assert_int_equal(remove(in_folder(stage, "app.lua")), 0);
	assert_has(report(stage, "a.json", "--view", "lines"), "there is no such file here");
	/* What is no file must not hold luaspy. */
	assert_int_equal(mkfifo(in_folder(stage, "app.lua"), 0600), 0);
	assert_has(report(stage, "a.json", "--view", "lines"), "not a regular file");
}

/* script(1) gives it a terminal; what it prints there. */
static const char *on_terminal(struct stage *stage, const char *environment, const char *command)
{
	char words[600];

	snprintf(words, sizeof(words), "env -u NO_COLOR TERM=xterm %s %s %s", environment,
		 luaspy_program(), command);
	return report_with(stage,
			   (const char *const[]){"script", "-qec", words, "/dev/null", NULL});
}

static void pages_and_colors_on_a_terminal_only(void **state)
{
	struct stage *stage = *state;

	write_text(stage, "in.json", foreign);
	assert_has(on_terminal(stage, "PAGER='sed s/^/paged:/'", "report in.json"), "paged:100 ms");
	assert_has(on_terminal(stage, "PAGER=cat", "report in.json"), "\033[1mFunctions");
	assert_null(strchr(on_terminal(stage, "PAGER=cat NO_COLOR=1", "report in.json"), '\033'));
	assert_null(strstr(on_terminal(stage, "PAGER='sed s/^/paged:/'", "report in.json --json"),
			   "paged:"));
	assert_has(on_terminal(stage, "PAGER=true", "report in.json"), "");
	setenv("PAGER", "sed s/^/paged:/", 1);
	assert_null(strstr(report(stage, "in.json"), "paged:"));
	unsetenv("PAGER");
}

static void is_as_wide_as_columns_says(void **state)
{
	static const char *const views[] = {"functions", "tree",      "bottom-up", "callgraph",
					    "lines",     "processes", "summary"};
	struct stage *stage = *state;

	write_text(stage, "in.json", foreign);
	for (size_t i = 0; i < 14; i++) {
		size_t most = i % 2 ? 200 : 44;

		setenv("COLUMNS", i % 2 ? "200" : "44", 1);
		for (const char *line = report(stage, "in.json", "--view", views[i / 2]); *line;
		     line += strcspn(line, "\n") + 1)
			assert_in_range(strcspn(line, "\n"), 0, most);
	}
	unsetenv("COLUMNS");
}

/* Its message, with that status. */
static void assert_refused(struct stage *stage, int status, const char *message,
			   const char *const *words)
{
	struct child *child = stage__start(stage, words);

	assert_int_equal(child__wait(child, PATIENCE), status);
	assert_has(child__errors(stage, child), message);
	assert_string_equal(child__output(stage, child), "");
}
#define refuses(stage, status, message, ...)                                                       \
	assert_refused(stage, status, message,                                                     \
		       (const char *const[]){luaspy_program(), "report", __VA_ARGS__, NULL})

static void says_what_is_wrong(void **state)
{
	struct stage *stage = *state;

	write_text(stage, "in.json", foreign);
	write_text(stage, "bad.json", "{\"Version\":2,");
	refuses(stage, 2, "missing file: which recording?", "--no-gc");
	refuses(stage, 2, "(accepted: functions, tree, bottom-up,", "in.json", "--view", "flame");
	refuses(stage, 2, "(accepted: self, total or name)", "in.json", "--sort=time");
	refuses(stage, 2, "1 to 10000", "in.json", "--limit", "10001");
	refuses(stage, 2, "0.01 to 100%", "in.json", "--min", "101%");
	refuses(stage, 2, "1s, 1m, 5m or 10m", "in.json", "--average=2s");
	refuses(stage, 2, "'--json' excludes '--average'", "in.json", "--average", "--json");
	refuses(stage, 2, "standard input, '-', is given twice", "-", "-");
	refuses(stage, 1, "cannot read 'bad.json'", "in.json", "bad.json");
	refuses(stage, 1, "cannot focus on 'w\\x1b': no function", "in.json", "--focus", "w\033");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(reads_what_another_program_wrote),
		staged(leaves_nothing_out_of_json_unasked),
		staged(prints_what_was_recorded),
		staged(shows_no_text_that_may_be_another),
		staged(pages_and_colors_on_a_terminal_only),
		staged(is_as_wide_as_columns_says),
		staged(says_what_is_wrong),
	};

	/* Bars are number signs then, and a column is a byte. */
	setenv("LC_ALL", "C", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
