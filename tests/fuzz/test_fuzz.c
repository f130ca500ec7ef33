/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every fuzzer, for some seconds: first the inputs in tests/fuzz/corpus, among them all that ever
 * broke something, then new ones. `make fuzz` gives them more time.
 */
#include <errno.h>
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

#include "skip.h"
#include "stage.h"

#define SECONDS  5
#define PATIENCE 180 /* the corpus is slow where the machine is busy */

/* The path of the fuzzer, next to this program. */
static void find_fuzzer(const char *name, char *path, size_t size)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_in_range(length, 1, sizeof(self) - 1);
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	assert_in_range(snprintf(path, size, "%s/fuzz_%s", self, name), 1, size - 1);
}

/* The fuzzer's output from the line on that says what is wrong. */
static const char *complaint(const char *errors)
{
	static const char *const signs[] = {"does not hold", "runtime error", "ERROR: "};
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs) && !found; i++)
		found = strstr(errors, signs[i]);
	if (!found)
		return errors;
	while (found > errors && found[-1] != '\n')
		found--;
	return found;
}

/* The fuzzer begins with the inputs of tests/fuzz/corpus/INPUTS. */
static void run_fuzzer_with(struct stage *stage, const char *name, const char *inputs)
{
	char program[4200], corpus[4200], seconds[32], artifacts[4300], folder[4096];
	struct child *child;
	const char *done, *wrong;
	char *errors;
	int status;

	find_fuzzer(name, program, sizeof(program));
	if (!has_program(program))
		lacks_package("libclang-rt-dev");
	assert_non_null(getcwd(folder, sizeof(folder)));
	snprintf(corpus, sizeof(corpus), "%s/tests/fuzz/corpus/%s", folder, inputs);
	assert_return_code(access(corpus, R_OK), errno);
	assert_return_code(mkdir(in_folder(stage, "new"), 0755), errno);
	/* What breaks something outlives the stage. */
	snprintf(artifacts, sizeof(artifacts), "-artifact_prefix=%s-", program);
	snprintf(seconds, sizeof(seconds), "-max_total_time=%d", SECONDS);
	child = start(stage, program, seconds, "-timeout=20", "-rss_limit_mb=2048", artifacts,
		      in_folder(stage, "new"), corpus);
	status = child__wait(child, PATIENCE);
	errors = child__errors(stage, child);
	done = strstr(errors, "\nDone ");
	if (status || !done) {
		wrong = complaint(errors);
		/* cmocka cuts longer messages off, with their last newline. */
		printf("%.6000s\n", wrong);
		fail_msg("exit status %d (what broke it: %s-*): %.*s", status, program,
			 (int)strcspn(wrong, "\n"), wrong);
	}
	print_message("%s: %.*s\n", name, (int)strcspn(done + 1, "\n"), done + 1);
}

static void run_fuzzer(struct stage *stage, const char *name)
{
	run_fuzzer_with(stage, name, name);
}

static void walks_whatever_memory_holds(void **state)
{
	run_fuzzer(*state, "walk");
}

static void walks_whatever_memory_of_luau_holds(void **state)
{
	run_fuzzer(*state, "walk_luau");
}

static void walks_whatever_memory_of_luajit_holds(void **state)
{
	run_fuzzer(*state, "walk_luajit");
}

static void walks_it_where_references_have_32_bits(void **state)
{
	run_fuzzer_with(*state, "walk_luajit32", "walk_luajit");
}

static void opens_whatever_a_file_holds(void **state)
{
	run_fuzzer(*state, "elf");
}

static void names_whatever_memory_holds(void **state)
{
	run_fuzzer(*state, "symbols");
}

static void writes_whatever_records_hold(void **state)
{
	run_fuzzer(*state, "records");
}

static void takes_whatever_a_worker_answers_and_is_asked(void **state)
{
	run_fuzzer(*state, "worker");
}

static void parses_whatever_source_text_holds(void **state)
{
	run_fuzzer(*state, "source");
}

static void reads_whatever_a_recording_holds(void **state)
{
	run_fuzzer(*state, "profile");
}

static void reads_whatever_a_foreign_file_holds(void **state)
{
	run_fuzzer(*state, "input");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(walks_whatever_memory_holds),
		staged(walks_whatever_memory_of_luajit_holds),
		staged(walks_it_where_references_have_32_bits),
		staged(walks_whatever_memory_of_luau_holds),
		staged(opens_whatever_a_file_holds),
		staged(names_whatever_memory_holds),
		staged(writes_whatever_records_hold),
		staged(takes_whatever_a_worker_answers_and_is_asked),
		staged(parses_whatever_source_text_holds),
		staged(reads_whatever_a_recording_holds),
		staged(reads_whatever_a_foreign_file_holds),
	};

	return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
