/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For each format, a program that somebody else wrote reads what luaspy converts a recording to,
 * and finds the functions, the own and the total times of the recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "skip.h"
#include "spying.h"

#define PATIENCE 400 /* go compiles its pprof first */
#define SEEDS    3

/* The path of a file among these tests. The stage owns it. */
static const char *script(struct stage *stage, const char *name)
{
	char folder[4096], *path;

	assert_non_null(getcwd(folder, sizeof(folder)));
	assert_true(asprintf(&path, "%s/tests/formats/%s", folder, name) > 0);
	return stage__own(stage, path, free);
}

/* What is in a folder next to this program. NULL: it is not there. */
static const char *beside(struct stage *stage, const char *folder, const char *name)
{
	char self[4096], *path;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_in_range(length, 1, sizeof(self) - 1);
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	assert_true(asprintf(&path, "%s/%s/%s", self, folder, name) > 0);
	stage__own(stage, path, free);
	return access(path, R_OK) ? NULL : path;
}

/* The folder of a package of npm's. */
static const char *package(struct stage *stage, const char *name)
{
	return beside(stage, "node_modules", name);
}

#define SPEEDSCOPE   "speedscope"
#define PROFILER_CLI "@firefox-devtools/profiler-cli"
#define PUPPETEER    "puppeteer-core"

#define need_package(stage, name)                                                                  \
	do {                                                                                       \
		need_program("node", "nodejs");                                                    \
		if (!package(stage, name))                                                         \
			lacks_package("npm");                                                      \
	} while (0)

/* Runs it to its end; its output has to be there, and its status 0. */
static const char *run_to_end(struct stage *stage, struct child *child)
{
	if (child__wait(child, PATIENCE))
		fail_msg("status %d:\n%s%s", child->status, child__output(stage, child),
			 child__errors(stage, child));
	return child__output(stage, child);
}

static void make_recording(struct stage *stage, int seed)
{
	char number[16];
	const char *text;

	snprintf(number, sizeof(number), "%d", seed);
	text = run_to_end(stage,
			  start(stage, "python3", script(stage, "make_recording.py"), number));
	write_text(stage, "in.json", text);
}

#define need_python_packages(stage)                                                                \
	do {                                                                                       \
		if (!beside(stage, "python", "ready"))                                             \
			lacks_package("python3-pip");                                              \
	} while (0)

/*
 * Converts a recording to a file of that name, which is the format's, and has it read; `reader` is
 * what check_format.py wants to know.
 */
static void check_recording(struct stage *stage, int seed, const char *format, const char *name,
			    const char *reader)
{
	make_recording(stage, seed);
	run_to_end(stage, start(stage, luaspy_program(), "convert", "in.json", "-o", name));
	print_message("%s",
		      run_to_end(stage, start(stage, "python3", script(stage, "check_format.py"),
					      format, "in.json", name, reader ? reader : "")));
}

static void check_with(struct stage *stage, const char *format, const char *name,
		       const char *reader)
{
	for (int seed = 1; seed <= SEEDS; seed++)
		check_recording(stage, seed, format, name, reader);
}

static void check_format(struct stage *stage, const char *format, const char *name)
{
	check_with(stage, format, name, package(stage, SPEEDSCOPE));
}

static void speedscope_reads_folded_stacks(void **state)
{
	need_package(*state, SPEEDSCOPE);
	check_format(*state, "folded", "out.folded");
}

static void speedscope_reads_its_own_format(void **state)
{
	need_package(*state, SPEEDSCOPE);
	check_format(*state, "speedscope", "out.speedscope.json");
}

static void speedscope_reads_a_cpuprofile_in_the_order_of_samples(void **state)
{
	need_package(*state, SPEEDSCOPE);
	check_format(*state, "cpuprofile", "out.cpuprofile");
}

/* Processes and threads apart, and time where it was spent. */
static void firefox_profiler_reads_its_own_format(void **state)
{
	need_package(*state, PROFILER_CLI);
	check_with(*state, "firefox", "out.firefox.json", package(*state, PROFILER_CLI));
}

static void firefox_profiler_reads_the_text_of_perf(void **state)
{
	need_package(*state, PROFILER_CLI);
	check_with(*state, "perf", "out.perf", package(*state, PROFILER_CLI));
}

static void pprof_reads_its_own_format(void **state)
{
	need_program("go", "golang-go");
	check_format(*state, "pprof", "out.pb.gz");
}

static void pprof_keeps_counts_of_more_than_32_bits(void **state)
{
	struct stage *stage = *state;
	const char *text;
	size_t size;

	write_text(stage, "in.json",
		   "{\"Version\":2,\"Categories\":[{\"Name\":\"main\",\"NodeId\":1}],"
		   "\"Nodes\":[{\"TotalDuration\":5,\"FunctionIds\":[1],\"NodeIds\":[2]},"
		   "{\"TotalDuration\":5,\"Samples\":5000000001}],"
		   "\"Functions\":[{\"Source\":\"a.lua\",\"Name\":\"f\",\"Line\":1,"
		   "\"TotalDuration\":5}],\"Recorder\":{\"Tool\":\"luaspy\"}}");
	run_to_end(stage, start(stage, luaspy_program(), "convert", "in.json", "-o", "a.pb.gz"));
	run_to_end(stage, start(stage, luaspy_program(), "convert", "a.pb.gz", "-o", "b.json"));
	text = stage__own(stage, read_file(in_folder(stage, "b.json"), &size), free);
	assert_non_null(strstr(text, "\"Samples\":5000000001"));
}

static void callgrind_annotate_reads_its_own_format(void **state)
{
	need_program("callgrind_annotate", "valgrind");
	check_format(*state, "callgrind", "out.callgrind");
}

/* In Chromium. */
static void check_page(struct stage *stage, const char *format, const char *name)
{
	need_program("chromium", "chromium");
	need_package(stage, PUPPETEER);
	need_python_packages(stage);
	check_recording(stage, 1, format, name, beside(stage, ".", ""));
}

/* Each thread's calls in the recording's order, and counters of CPU time. */
static void perfetto_reads_trace_events(void **state)
{
	check_page(*state, "trace", "out.trace.json");
}

/* The panel shows the busiest thread; Perfetto reads the samples of all. */
static void devtools_and_perfetto_read_the_trace_of_devtools(void **state)
{
	check_page(*state, "devtools", "out.devtools.json");
}

/* Also of functions that call each other, which it would not bear undeclared. */
static void gprof2dot_reads_the_report_of_gprof(void **state)
{
	need_python_packages(*state);
	check_with(*state, "gprof", "out.gprof", beside(*state, "python", ""));
}

static void a_flame_graph_is_xml_with_a_frame_for_each_call(void **state)
{
	check_format(*state, "flamegraph", "out.svg");
}

static void every_lua_loads_a_table(void **state)
{
	static const char *const names[] = {"lua5.1", "lua5.2", "lua5.3", "lua5.4"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!has_program(names[i]))
			lacks_package("lua5.1, lua5.2, lua5.3, lua5.4");
		check_with(*state, "lua", "out.lua", names[i]);
	}
}

/* A file that is luaspy's own survives unchanged. */
static void a_scriptprofiler_file_is_the_same_there_and_back(void **state)
{
	struct stage *stage = *state;
	char *first, *second;
	size_t first_size, second_size;

	make_recording(stage, 1);
	run_to_end(stage, start(stage, luaspy_program(), "convert", "in.json", "-o", "a.json"));
	run_to_end(stage, start(stage, luaspy_program(), "convert", "a.json", "-o", "b.json"));
	first = stage__own(stage, read_file(in_folder(stage, "a.json"), &first_size), free);
	second = stage__own(stage, read_file(in_folder(stage, "b.json"), &second_size), free);
	assert_int_equal(first_size, second_size);
	assert_memory_equal(first, second, first_size);
	run_to_end(stage,
		   start(stage, "python3", script(stage, "../check_scriptprofiler.py"), "b.json"));
}

static void refuse(struct stage *stage, int status, const char *complaint, const char *const *words)
{
	struct child *child = stage__start(stage, words);

	assert_int_equal(child__wait(child, PATIENCE), status);
	assert_string_equal(child__errors(stage, child), complaint);
}

#define assert_refused(status, complaint, ...)                                                     \
	refuse(stage, status, "luaspy: " complaint "\n",                                           \
	       (const char *const[]){luaspy_program(), "convert", __VA_ARGS__, NULL})

/* Nothing is left of a conversion that failed. */
static void says_what_is_wrong_with_an_input(void **state)
{
	struct stage *stage = *state;

	write_text(stage, "sums.json",
		   "{\"Version\":2,\"Categories\":[{\"Name\":\"a\",\"NodeId\":1}],"
		   "\"Nodes\":[{\"TotalDuration\":5}],\"Functions\":[]}");
	write_text(stage, "cut.json", "{\"Version\":2,\"Nodes\":[{\"TotalDura");
	assert_refused(1,
		       "cannot write cpuprofile: 'sums.json' has sums, not the order of samples "
		       "(record it with '--timeline')",
		       "sums.json", "-o", "x.cpuprofile");
	assert_refused(1, "cannot read 'cut.json': the text ends in a string, at byte 33",
		       "cut.json", "-o", "x.svg");
	assert_refused(1, "cannot read 'none.json': No such file or directory", "none.json", "-o",
		       "x.svg");
	assert_int_equal(access(in_folder(stage, "x.svg"), F_OK), -1);
	assert_int_equal(access(in_folder(stage, "x.cpuprofile"), F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(speedscope_reads_folded_stacks),
		staged(speedscope_reads_its_own_format),
		staged(speedscope_reads_a_cpuprofile_in_the_order_of_samples),
		staged(firefox_profiler_reads_its_own_format),
		staged(firefox_profiler_reads_the_text_of_perf),
		staged(pprof_reads_its_own_format),
		staged(pprof_keeps_counts_of_more_than_32_bits),
		staged(callgrind_annotate_reads_its_own_format),
		staged(perfetto_reads_trace_events),
		staged(devtools_and_perfetto_read_the_trace_of_devtools),
		staged(gprof2dot_reads_the_report_of_gprof),
		staged(a_flame_graph_is_xml_with_a_frame_for_each_call),
		staged(every_lua_loads_a_table),
		staged(a_scriptprofiler_file_is_the_same_there_and_back),
		staged(says_what_is_wrong_with_an_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
