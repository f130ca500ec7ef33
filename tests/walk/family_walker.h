/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A walker that was built for this host, and what it makes of an image. The includer has included
 * the scratch of its family.
 */
#ifndef TEST_FAMILY_WALKER_H
#define TEST_FAMILY_WALKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "walk_error.h"

#define WALKER_DEFINITION_MAX 64

struct walker {
	struct ls_scratch *scratch; /* as of one CPU */
	struct ls_thread thread;
	uint32_t max_depth;
	uint64_t now_ns; /* advances by step_ns before each sample */
	uint64_t step_ns;
	bool is_undecided; /* samples have to prove their layout */

	/* of the last sample */
	bool is_evidence;
	uint8_t class;
	uint64_t reads;
	uint32_t definition_count;
	struct ls_function definitions[WALKER_DEFINITION_MAX]; /* the first of them */
};

#endif
