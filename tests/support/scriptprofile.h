/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A ScriptProfiler file, read back for tests to look at, by the checker that shares nothing with
 * the writer and then by jansson. What is wrong with it fails the test.
 */
#ifndef TEST_SCRIPTPROFILE_H
#define TEST_SCRIPTPROFILE_H

#include <stdint.h>

#include <jansson.h>

struct scriptprofile_function {
	const char *source, *name; /* "" where there is none */
	int64_t line;              /* 0 where there is none, and so the flags */
	int64_t flags;
	int64_t total_us, self_us;
};

struct scriptprofile {
	json_t *document;
	int64_t all_us;     /* sum of the categories */
	int function_count; /* from 1 on, and node_count too: as ids are */
	int node_count;
	struct scriptprofile_function *functions;
	int64_t *node_total_us, *node_self_us;
	int *node_function, *node_parent; /* 0: none, a category's node */
};

struct scriptprofile *scriptprofile__read(const char *path);
void scriptprofile__free(struct scriptprofile *profile);

/*
 * Time that functions take themselves, or with what they call. `source` and `name` are patterns as
 * of a shell, "@(this|that)" among them; NULL and -1 fit everything.
 */
int64_t scriptprofile__self_us(const struct scriptprofile *profile, const char *source,
			       const char *name, int line);
int64_t scriptprofile__total_us(const struct scriptprofile *profile, const char *source,
				const char *name, int line);

/*
 * Time below all stacks whose innermost names are these, outermost first: "main chunk > outer >
 * pcall > inner". "^" before the first one: it is the outermost of the stack. Names are patterns,
 * too.
 */
int64_t scriptprofile__stack_us(const struct scriptprofile *profile, const char *stack);

/* Of the Recorder: a number; how many samples are of a class, or "total". */
int64_t scriptprofile__recorded(const struct scriptprofile *profile, const char *key);
int64_t scriptprofile__samples(const struct scriptprofile *profile, const char *class);

/* For messages of failed tests: stacks with their self times, those with most of it. */
void scriptprofile__print(const struct scriptprofile *profile);

#endif
