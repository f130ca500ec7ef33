/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a walked stack is the true one. */
#ifndef TEST_COMPARISON_H
#define TEST_COMPARISON_H

#include <stdint.h>
#include <stdio.h>

#include "record.h"
#include "truth.h"

enum outcome {
	OUTCOME_RIGHT,  /* the published stack */
	OUTCOME_WINDOW, /* what it is about to become, or with a helper that begins or ends */
	OUTCOME_TORN,   /* the product says so, and its frames are the root's side of the truth */
	OUTCOME_TRUNCATED,  /* likewise; both ends are true */
	OUTCOME_UNREADABLE, /* the product says so */
	OUTCOME_HOST,       /* it says that no script runs */
	OUTCOME_WRONG,
	OUTCOME_COUNT,
};

/* Lua functions that the product has defined. */
struct functions_sent;

struct functions_sent *functions_sent__new(void);
void functions_sent__free(struct functions_sent *definitions);

/* 0 or -ENOMEM. */
int functions_sent__add(struct functions_sent *definitions, const struct ls_function *function);

/* The word of a frame (truth.h), if the function is one of a workload. */
uint64_t functions_sent__word(const struct functions_sent *definitions,
			      const struct ls_frame *frame);

enum outcome compare(const struct truth *truth, const struct functions_sent *definitions,
		     const struct ls_sample *sample, const struct ls_frame *frames);

/* Both stacks and what is known of the sample, in several lines. */
void describe(FILE *to, const struct truth_record *record, const struct functions_sent *definitions,
	      const struct ls_sample *sample, const struct ls_frame *frames);

#endif
