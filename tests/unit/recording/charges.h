/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CPU time of threads that a test makes up, and to whom cpu_time.h charges it. */
#ifndef TEST_CHARGES_H
#define TEST_CHARGES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recording/cpu_time.h"

#define US     1000ULL
#define PERIOD (100 * US)
#define NODES  8
#define FIRST  77 /* the id of the first thread, where a test does not use another */

struct charges {
	struct cpu_time *time;
	uint64_t nodes[NODES];
	uint64_t unsampled_ns;
	char unsampled_comm[LS_COMM_LEN];
};

/* Setup and teardown of cmocka; *state is a struct charges. */
int make_charges(void **state);
int free_charges(void **state);
#define charging(test) cmocka_unit_test_setup_teardown(test, make_charges, free_charges)

/* A sample of thread 1 and of PERIOD, unless it says another. */
void sample_with(struct charges *charges, struct ls_sample sample, uint32_t node);
void sample_at(struct charges *charges, uint64_t runtime_ns, uint32_t node);

void begin(struct charges *charges, uint32_t tid, uint64_t runtime_ns);
void settle(struct charges *charges, uint32_t tid, uint64_t runtime_ns);
void end(struct charges *charges, uint32_t tid, uint64_t runtime_ns);

#endif
