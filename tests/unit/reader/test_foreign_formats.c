/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of other programs as recordings: what they say is kept, and what is wrong is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/log.h"
#include "reading.h"

#define FRAME(name, script, url, line)                                                             \
	"\"callFrame\":{\"functionName\":\"" name "\",\"scriptId\":\"" script "\",\"url\":\"" url  \
	"\",\"lineNumber\":" line ",\"columnNumber\":-1}"
#define ROOT "{\"nodes\":[{\"id\":1," FRAME("(root)", "0", "", "-1")

/*
 * As V8 writes it: samples out of order, idle time, which is none of the CPU, and the collector
 * below the root, whose time belongs to the function that was sampled before.
 */
static const char v8[] = ROOT
	",\"children\":[2,3,4,5]},"
	"{\"id\":2," FRAME(
		"(program)", "0", "",
		"-1") "},"
		      "{\"id\":3," FRAME(
			      "(idle)", "0", "",
			      "-1") "},"
				    "{\"id\":4," FRAME(
					    "", "7", "file:///a.js",
					    "0") ",\"children\":[6]},"
						 "{\"id\":5," FRAME(
							 "(garbage collector)", "0", "",
							 "-1") "},"
							       "{\"id\":6," FRAME(
								       "work", "7", "file:///a.js",
								       "9") "}],"
									    "\"startTime\":1000,\"endTime\":9000,\"samples\":[2,4,6,5,3,6,4],"
									    "\"timeDeltas\":[100,1000,1000,2000,1000,-500,1500]}";

static void reads_what_v8_wrote(void **state)
{
	static const char stacks[] =
		"(root);(program) 1000\n"
		"(root);<anonymous> (file:///a.js:1) 2900\n"
		"(root);<anonymous> (file:///a.js:1);work (file:///a.js:10) 2500\n"
		"(root);<anonymous> (file:///a.js:1);work (file:///a.js:10);GC (GC) 500\n";
	struct loaded_profile loaded;
	const struct ls_profile *profile = reading__read(v8, strlen(v8), &loaded);
	char *found = reading__stacks(profile);

	(void)state;
	assert_string_equal(found, stacks);
	assert_int_equal(profile->recorder.duration_ns, 8000000);
	assert_int_equal(profile->recorder.cpu_ns, 6900000);
	assert_int_equal(profile->sample_count, 6);
	assert_int_equal(profile->samples[0].time_ns, 100000);
	assert_int_equal(profile->samples[5].time_ns, 6100000);
	free(found);
	loaded_profile__clear(&loaded);
}

static void hits_share_the_time_where_there_are_no_samples(void **state)
{
	static const char text[] =
		ROOT ",\"children\":[3,2]},"
		     "{\"id\":2,\"hitCount\":3," FRAME(
			     "f", "1", "u", "4") "},"
						 "{\"id\":3,\"hitCount\":1," FRAME(
							 "g", "1", "u",
							 "-1") "}],"
							       "\"startTime\":5,\"endTime\":105}";
	struct loaded_profile loaded;
	char *found = reading__stacks(reading__read(text, strlen(text), &loaded));

	(void)state;
	assert_string_equal(found, "(root);f (u:5) 75\n(root);g (u) 25\n");
	free(found);
	loaded_profile__clear(&loaded);
}

/* perf's and py-spy's: a program or a function comes first, and names have blanks and brackets. */
static void reads_folded_stacks_of_others(void **state)
{
	static const char perf[] =
		"# a comment\r\nlua5.4;[unknown];operator new(int) 3\n\nlua5.4 2";
	static const char py_spy[] = "<module> (app.py:1);work (app.py:12) 40\n";
	struct loaded_profile loaded;
	const struct ls_profile *profile = reading__read(perf, strlen(perf), &loaded);
	char *found;

	(void)state;
	assert_int_equal(profile->category_count, 1);
	assert_string_equal(profile->categories[0].name, "lua5.4");
	assert_int_equal(profile->nodes[profile->categories[0].node].self_ns, 2000);
	found = reading__stacks(profile);
	assert_string_equal(found, "lua5.4 2\nlua5.4;[unknown];operator new(int) 3\n");
	free(found);
	loaded_profile__clear(&loaded);
	profile = reading__read(py_spy, strlen(py_spy), &loaded);
	assert_string_equal(profile->categories[0].name, "(root)");
	assert_int_equal(profile->function_count, 2);
	assert_string_equal(profile->functions[2].source, "app.py");
	assert_int_equal(profile->functions[2].line, 12);
	loaded_profile__clear(&loaded);
}

/* They would be nothing but categories otherwise, without a function to show. */
static void stacks_of_one_frame_are_functions(void **state)
{
	static const char text[] = "a 100000\nb 300000\na 100000\n";
	struct loaded_profile loaded;
	const struct ls_profile *profile = reading__read(text, strlen(text), &loaded);
	char *found = reading__stacks(profile);

	(void)state;
	assert_string_equal(found, "(root);a 200000\n(root);b 300000\n");
	free(found);
	loaded_profile__clear(&loaded);
}

#define NAMES                                                                                      \
	"\x32\x00\x32\x03"                                                                         \
	"cpu"                                                                                      \
	"\x32\x02ns"                                                                               \
	"\x32\x01"                                                                                 \
	"f"                                                                                        \
	"\x32\x01"                                                                                 \
	"g"                                                                                        \
	"\x32\x04"                                                                                 \
	"a.go"
#define TYPE "\x0a\x04\x08\x01\x10\x02"
#define FS                                                                                         \
	"\x2a\x08\x08\x01\x10\x03\x20\x05\x28\x04"                                                 \
	"\x2a\x06\x08\x02\x10\x04\x20\x05"

/*
 * As a writer of another language does it: numbers that are not packed, g inlined into f at a
 * location, a location without a function, and what things are behind the samples.
 */
static const char inlined[] = TYPE "\x12\x06\x08\x07\x08\x09\x10\x1e" /* stack 7 below 9: 30 ns */
				   "\x12\x05\x0a\x01\x09\x10\x0c"     /* packed: 12 ns */
				   "\x22\x0c\x08\x07\x22\x04\x08\x02\x10\x06\x22\x02\x08\x01"
				   "\x22\x04\x08\x09\x18\x10" FS NAMES;

static void reads_pprof_of_others(void **state)
{
	struct loaded_profile loaded;
	const struct ls_profile *profile = reading__read(inlined, sizeof(inlined) - 1, &loaded);

	(void)state;
	assert_int_equal(profile->node_count, 4);
	assert_string_equal(profile->categories[0].name, "(root)");
	assert_string_equal(profile->functions[profile->nodes[2].function].name, "0x10");
	assert_int_equal(profile->nodes[2].self_ns, 12);
	assert_string_equal(profile->functions[profile->nodes[3].function].name, "f");
	assert_int_equal(profile->functions[profile->nodes[3].function].line, 4);
	assert_string_equal(profile->functions[profile->nodes[4].function].name, "g");
	assert_string_equal(profile->functions[profile->nodes[4].function].source, "a.go");
	assert_int_equal(profile->nodes[4].parent, 3);
	assert_int_equal(profile->nodes[4].self_ns, 30);
	assert_int_equal(profile->line_count, 1);
	assert_int_equal(profile->lines[0].line, 6);
	loaded_profile__clear(&loaded);
}

/* Compresses; the caller frees. */
static void *compress_text(const char *text, size_t *size)
{
	unsigned char *to = malloc(1000);
	z_stream zlib = {.next_in = (unsigned char *)text,
			 .avail_in = (uInt)strlen(text),
			 .next_out = to,
			 .avail_out = 1000};

	assert_int_equal(deflateInit2(&zlib, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
	*size = 1000 - zlib.avail_out;
	deflateEnd(&zlib);
	return to;
}

/* Any format may be compressed, also in pieces; one that is cut off is not taken. */
static void reads_what_is_compressed(void **state)
{
	size_t size, half;
	char reason[INPUT_REASON_SIZE], *both, *first = compress_text("c;f 1\n", &half);
	char *second = compress_text("c;g 2\n", &size);
	struct loaded_profile loaded;
	char *found;

	(void)state;
	both = malloc(half + size);
	assert_non_null(both);
	memcpy(both, first, half);
	memcpy(both + half, second, size);
	found = reading__stacks(reading__read(both, half + size, &loaded));
	assert_string_equal(found, "c;f 1\nc;g 2\n");
	loaded_profile__clear(&loaded);
	for (size_t cut = 3; cut < half; cut++) {
		assert_int_equal(reading__try(first, cut, &loaded, reason), -EBADMSG);
		assert_non_null(strstr(reason, "damaged or cut off"));
	}
	first[half - 6] ^= 1; /* of the checksum */
	assert_int_equal(reading__try(first, half, &loaded, reason), -EBADMSG);
	free(both);
	free(first);
	free(second);
	free(found);
}

/* More than a gigabyte, compressed to some megabytes, ends at the limit. */
static void a_file_that_never_ends_is_refused(void **state)
{
	struct loaded_profile loaded;
	char reason[INPUT_REASON_SIZE], *zeros = calloc(1, 1 << 20);
	unsigned char *to = malloc(8 << 20);
	z_stream zlib = {.next_out = to, .avail_out = 8 << 20};

	(void)state;
	/* A field with the number 100, which is skipped, of all bytes but its head. */
	memcpy(zeros, "\xa2\x06\xfb\xff\x3f", 5);
	assert_int_equal(deflateInit2(&zlib, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	for (int i = 0; i < 1030; i++) {
		zlib.next_in = (unsigned char *)zeros;
		zlib.avail_in = 1 << 20;
		assert_int_equal(deflate(&zlib, Z_NO_FLUSH), Z_OK);
		assert_int_equal(zlib.avail_in, 0);
	}
	assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
	assert_int_equal(reading__try(to, (8 << 20) - zlib.avail_out, &loaded, reason), -EFBIG);
	assert_string_equal(reason, "it has more than 1 GiB");
	deflateEnd(&zlib);
	free(zeros);
	free(to);
}

#define BYTES(text) text, sizeof(text) - 1

#define NO_FORMAT                                                                                  \
	"it is in no format that luaspy reads (accepted: ScriptProfiler JSON of version 2 or 1, "  \
	"V8 .cpuprofile, pprof profile.proto, folded stacks)"

static const struct {
	const char *bytes;
	size_t size;
	const char *reason;
} wrong[] = {
	{BYTES(""), "it is empty"},
	{BYTES("[1]"), NO_FORMAT},
	{BYTES("{\"traceEvents\":[]}"), NO_FORMAT},
	{BYTES("<?xml version=\"1.0\"?>\n<svg>\n</svg>\n"), NO_FORMAT},
	{BYTES("<svg style=\"fill:red;stroke:none\">\n</svg>\n"), NO_FORMAT},
	{BYTES("<!doctype html>\n<p>a;b 1</p>\n"), NO_FORMAT},
	{BYTES("-- A profile by luaspy: CPU time in microseconds.\nlocal a = 1\n"), NO_FORMAT},
	{BYTES("Flat profile:\n\n"), NO_FORMAT},
	{BYTES("# a comment\nlua 12/12 0.001000:    1000000 cpu-clock:\n"), NO_FORMAT},
	{BYTES("# callgrind format\nversion: 1\n"), NO_FORMAT},
	{BYTES("a;b 1\nno count\n"), "expected a whole number behind the stack, in line 2"},
	{BYTES("a;b\n"), "expected 'frame;frame COUNT', in line 1"},
	{BYTES("a 1\n 7\n"), "expected 'frame;frame COUNT', in line 2"},
	{BYTES("a;b 1.5\n"), "expected a whole number behind the stack, in line 1"},
	{BYTES("a 9007199254740991\nb 1\n"), "the counts are too large together, in line 2"},
	{BYTES("{\"nodes\":[]}"), "no .cpuprofile: it has no nodes"},
	{BYTES("{\"nodes\":[{\"id\":1}]}"), "the node at byte 10 has no callFrame"},
	{BYTES("{\"nodes\":[{\"id\":1,"), "the text ends here, at byte 18"},
	{BYTES("{\"nodes\":[{" FRAME("f", "0", "", "-1") "}]}"), "the node at byte 10 has no id"},
	{BYTES(ROOT ",\"children\":[2]}]}"), "node 1 has the child 2, but there is no such node"},
	{BYTES(ROOT ",\"children\":[1]}]}"), "node 1 has a parent, but is the root"},
	{BYTES(ROOT ",\"children\":[2,2]},{\"id\":2," FRAME("f", "0", "", "1") "}]}"),
	 "node 2 has two parents"},
	{BYTES(ROOT "},{\"id\":2,\"children\":[3]," FRAME(
		 "f", "0", "", "1") "},{\"id\":3,\"children\":[2]," FRAME("f", "0", "", "1") "}]}"),
	 "2 of 3 nodes are not below the root"},
	{BYTES(ROOT "},{\"id\":1," FRAME("f", "0", "", "1") "}]}"),
	 "there are two nodes with the id 1, at byte 115"},
	{BYTES(ROOT "}],\"samples\":[1,1],\"timeDeltas\":[1]}"),
	 "it has 2 samples, but 1 timeDeltas"},
	{BYTES(ROOT "}],\"samples\":[8],\"timeDeltas\":[1]}"),
	 "sample 1 is of node 8, but there is no such node"},
	{BYTES(ROOT "}],\"samples\":[1,1],\"timeDeltas\":[4503599627370495,1]}"),
	 "the time of sample 2 is out of range"},
	{BYTES(TYPE NAMES), "it has no samples"},
	{BYTES(TYPE "\x12\x05\x0a\x01"), "it is cut off, in front of byte 10 of its content"},
	{BYTES("\x0b"), "a field is not valid, in front of byte 1 of its content"},
	{BYTES(TYPE "\x12\xff\xff\xff\xff\x7f"),
	 "a field is larger than 16 MiB, in front of byte 12 of its content"},
	{BYTES(TYPE "\x12\x04\x08\x09\x10\x0c" NAMES),
	 "a sample has location 9, but there is no such location"},
	{BYTES(TYPE "\x12\x04\x08\x09\x10\x0c\x22\x06\x08\x09\x22\x02\x08\x05" NAMES),
	 "a location is in function 5, but there is no such function"},
	{BYTES(TYPE "\x12\x04\x08\x09\x10\x0c\x12\x02\x08\x09" NAMES),
	 "sample 2 has another number of values than the first one, or none"},
	{BYTES(TYPE TYPE "\x12\x04\x08\x09\x10\x0c" NAMES),
	 "its samples have 1 values, but there are 2 sample types"},
	{BYTES(TYPE "\x12\x0d\x08\x09\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" NAMES),
	 "sample 1 has a value below 0: profiles that are differences are not read"},
	{BYTES("\x0a\x04\x08\x01\x10\x03\x12\x04\x08\x09\x10\x0c" NAMES),
	 "none of its values is a time: the first is 'cpu' in 'f'"},
	{BYTES(TYPE "\x32\x02g\x00"), "a string has a NUL, in front of byte 10 of its content"},
};

static void says_where_and_why_a_file_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char reason[INPUT_REASON_SIZE];
		struct loaded_profile loaded;

		assert_int_equal(reading__try(wrong[i].bytes, wrong[i].size, &loaded, reason),
				 -EINVAL);
		assert_string_equal(reason, wrong[i].reason);
		assert_null(loaded.text);
		assert_null(loaded.builder);
	}
}

/* A pprof file ends where a message does, so a part of one may be whole: but not most. */
static void no_prefix_of_a_cpuprofile_is_one(void **state)
{
	char reason[INPUT_REASON_SIZE];
	struct loaded_profile loaded;

	(void)state;
	for (size_t cut = 0; cut < sizeof(v8) - 1; cut++)
		assert_int_equal(reading__try(v8, cut, &loaded, reason), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_v8_wrote),
		cmocka_unit_test(hits_share_the_time_where_there_are_no_samples),
		cmocka_unit_test(reads_folded_stacks_of_others),
		cmocka_unit_test(stacks_of_one_frame_are_functions),
		cmocka_unit_test(reads_pprof_of_others),
		cmocka_unit_test(reads_what_is_compressed),
		cmocka_unit_test(a_file_that_never_ends_is_refused),
		cmocka_unit_test(says_where_and_why_a_file_is_refused),
		cmocka_unit_test(no_prefix_of_a_cpuprofile_is_one),
	};

	log__set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
