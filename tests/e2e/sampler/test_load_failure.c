/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The messages when the kernel refuses a BPF program. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <bpf/libbpf.h>

#include "base/log.h"
#include "sampler/load_failure.h"
#include "system/kernel.h"
#include "spying.h"

#define PATIENCE 20

struct heard {
	char text[1024 * 1024];
	size_t length;
};

static void hear(void *context, enum log_level level, const char *line)
{
	struct heard *heard = context;

	assert_int_equal(level, LOG_DEBUG);
	assert_null(strchr(line, '\n'));
	assert_true(heard->length + strlen(line) + 2 < sizeof(heard->text));
	heard->length += sprintf(heard->text + heard->length, "%s\n", line);
}

/* Loads a program that is refused, and returns the error. */
static int load(struct heard *heard, enum log_level level)
{
	struct bpf_object *object;
	int error;

	log__set_level(level);
	log__divert(hear, heard);
	load_failure__listen();
	object = bpf_object__open(built_program("../e2e/refused.bpf.o"));
	assert_non_null(object);
	error = bpf_object__load(object);
	bpf_object__close(object);
	log__divert(NULL, NULL);
	log__set_level(LOG_INFO);
	assert_in_range(-error, 1, 4095);
	return error;
}

static void shows_the_whole_verifier_log(void **state)
{
	struct heard *heard = calloc(1, sizeof(*heard));

	need_root();
	assert_non_null(heard);
	stage__own(*state, heard, free);
	load(heard, LOG_DEBUG);
	assert_in_range(heard->length, 2048, sizeof(heard->text));
	/* The log runs from the first instruction to the sum at the end, with every step. */
	assert_non_null(strstr(heard->text, "\n0: ("));
	for (int i = 1; i < 4 * 64; i++) {
		char step[16];

		snprintf(step, sizeof(step), "\n%d: (", i);
		assert_non_null(strstr(heard->text, step));
	}
	assert_non_null(strstr(heard->text, "\ninvalid bpf_context access off=4096 size=8\n"));
	assert_non_null(strstr(heard->text, "\nprocessed "));
}

static void puts_the_verifiers_reason_into_the_message(void **state)
{
	static struct heard heard;
	char why[512];
	int error;

	(void)state;
	need_root();
	error = load(&heard, LOG_INFO);
	assert_string_equal(load_failure__explain(error, why, sizeof(why)),
			    "the kernel's verifier refuses it: invalid bpf_context access off=4096 "
			    "size=8 ('luaspy check -v' shows all it said)");
	assert_int_equal(heard.length, 0);
}

/* The next load must not repeat an old reason. */
static void a_reason_is_not_kept_for_the_next_load(void **state)
{
	static struct heard heard;
	char why[512];

	(void)state;
	need_root();
	load(&heard, LOG_INFO);
	load_failure__listen();
	load_failure__explain(-EINVAL, why, sizeof(why));
	assert_string_equal(why, "Invalid argument ('luaspy check -v' shows what the kernel said)");
}

static void reports_too_few_open_files(void **state)
{
	static const char *const limits[] = {"12", "16", "20", "24"};

	need_to_record();
	for (size_t i = 0; i < 4; i++) {
		char command[256];
		struct child *spy;

		snprintf(command, sizeof(command), "ulimit -n %s; exec '%s' check", limits[i],
			 luaspy_program());
		spy = start(*state, "sh", "-c", command);
		assert_int_equal(child__wait(spy, PATIENCE), 1);
		assert_non_null(strstr(child__output(*state, spy), "FAIL  BPF programs"));
		assert_non_null(strstr(child__errors(*state, spy),
				       ": too many open files (try a higher 'ulimit -n')\n"));
	}
}

static void finds_nothing_missing_in_this_kernel(void **state)
{
	char lacking[160];

	(void)state;
	need_root();
	assert_string_equal(kernel__lacks(lacking, sizeof(lacking)), "");
	assert_int_equal(kernel__try_reading(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_the_whole_verifier_log),
		staged(puts_the_verifiers_reason_into_the_message),
		staged(a_reason_is_not_kept_for_the_next_load),
		staged(reports_too_few_open_files),
		staged(finds_nothing_missing_in_this_kernel),
	};

	return cmocka_run_group_tests_name("load failure", tests, NULL, NULL);
}
