/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A command line, and what luaspy prints about it. Include it after cmocka.h. */
#ifndef TEST_PARSING_H
#define TEST_PARSING_H

#include <stdlib.h>

#include "options/options.h"

/*
 * Parses "luaspy" and these words, which NULL ends. The caller frees what it printed. Words
 * that the options point to stay until the next call.
 */
enum options_verdict parsing__run(struct options *options, char **out, char **err, ...);

#define assert_runs(options, ...)                                                                  \
	do {                                                                                       \
		char *out, *err;                                                                   \
		enum options_verdict vote =                                                        \
			parsing__run((options), &out, &err, __VA_ARGS__, NULL);                    \
                                                                                                   \
		assert_string_equal(err, "");                                                      \
		assert_string_equal(out, "");                                                      \
		assert_int_equal(vote, OPTIONS_RUN);                                               \
		free(out);                                                                         \
		free(err);                                                                         \
	} while (0)

#define assert_wrong(message, ...)                                                                 \
	do {                                                                                       \
		struct options options;                                                            \
		char *out, *err;                                                                   \
		enum options_verdict vote = parsing__run(&options, &out, &err, __VA_ARGS__, NULL); \
                                                                                                   \
		assert_string_equal(err, "luaspy: " message "\n");                                 \
		assert_string_equal(out, "");                                                      \
		assert_int_equal(vote, OPTIONS_WRONG);                                             \
		free(out);                                                                         \
		free(err);                                                                         \
	} while (0)

#endif
