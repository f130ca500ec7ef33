/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A ScriptProfiler file, read back for tests: first by the checker that shares nothing with the
 * writer (tests/check_scriptprofiler.py), then by jansson. An invalid file fails the test.
 */
#ifndef TEST_SCRIPTPROFILE_H
#define TEST_SCRIPTPROFILE_H

#include <stdint.h>

#include <jansson.h>

struct scriptprofile_function {
	const char *source, *name; /* "" where there is none */
	int64_t line;              /* 0: none; likewise for the flags */
	int64_t flags;
	int64_t total_us, self_us;
};

struct scriptprofile {
	json_t *document;
	int64_t all_us;     /* sum of the categories */
	int function_count; /* ids go from 1 to this; likewise node_count */
	int node_count;
	struct scriptprofile_function *functions;
	int64_t *node_total_us, *node_self_us;
	int64_t *node_samples;            /* that ended there; 0 for time without samples */
	int *node_function, *node_parent; /* 0: none, a category's node */
};

struct scriptprofile *scriptprofile__read(const char *path);
void scriptprofile__free(struct scriptprofile *profile);

/*
 * Gives all samples the same time; the sum stays. While a virtual machine stands still, the clocks
 * of its threads go on, and the next sample gets all of that time. In a recording of a second,
 * shares of time may then differ widely from shares of work.
 */
void scriptprofile__weigh_alike(struct scriptprofile *profile);

/*
 * Self time, or total time, of functions. `source` and `name` are shell patterns, including
 * extended ones such as "@(this|that)"; NULL and -1 match everything.
 */
int64_t scriptprofile__self_us(const struct scriptprofile *profile, const char *source,
			       const char *name, int line);
int64_t scriptprofile__total_us(const struct scriptprofile *profile, const char *source,
				const char *name, int line);

/*
 * Total time of all stacks whose innermost names are these, outermost first: "main chunk > outer >
 * pcall > inner". A "^" before the first name: it is the outermost of the stack. Names are
 * patterns, too.
 */
int64_t scriptprofile__stack_us(const struct scriptprofile *profile, const char *stack);

/* This time as a share of all, 0 to 1. */
double scriptprofile__share(const struct scriptprofile *profile, int64_t us);

/* Prints a share, and fails the test where it is not within these. */
void scriptprofile__assert_share(const struct scriptprofile *profile, const char *what,
				 double share, double low, double high);

/* The same for the share of these stacks. */
void scriptprofile__assert_stack(const struct scriptprofile *profile, const char *stack, double low,
				 double high);

/* From the Recorder: a number; the number of samples of a class, or of "total". */
int64_t scriptprofile__recorded(const struct scriptprofile *profile, const char *key);
int64_t scriptprofile__samples(const struct scriptprofile *profile, const char *class);

/*
 * For messages of failed tests: prints the stacks with the most self time, and why samples are
 * incomplete.
 */
void scriptprofile__print(const struct scriptprofile *profile);

#endif
