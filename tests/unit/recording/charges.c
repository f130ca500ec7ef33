/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "charges.h"

#include <stdlib.h>
#include <string.h>

static void take_charge(void *context, uint32_t node, uint64_t ns)
{
	struct charges *charges = context;

	assert_in_range(node, 0, NODES - 1);
	charges->nodes[node] += ns;
}

static void take_unsampled(void *context, const char *comm, uint64_t ns)
{
	struct charges *charges = context;

	charges->unsampled_ns += ns;
	strncpy(charges->unsampled_comm, comm, LS_COMM_LEN - 1);
}

int make_charges(void **state)
{
	struct charges *charges = calloc(1, sizeof(*charges));
	struct cpu_time_receiver receiver = {charges, take_charge, take_unsampled};

	*state = charges;
	if (!charges)
		return -1;
	charges->time = cpu_time__new(FIRST, &receiver);
	return charges->time ? 0 : -1;
}

int free_charges(void **state)
{
	struct charges *charges = *state;

	cpu_time__free(charges->time);
	free(charges);
	return 0;
}

void sample_with(struct charges *charges, struct ls_sample sample, uint32_t node)
{
	sample.tid = sample.tid ? sample.tid : 1;
	sample.period_ns = sample.period_ns ? sample.period_ns : PERIOD;
	strcpy(sample.comm, "lua");
	assert_int_equal(cpu_time__sample(charges->time, &sample, node), 0);
}

void sample_at(struct charges *charges, uint64_t runtime_ns, uint32_t node)
{
	sample_with(charges, (struct ls_sample){.runtime_ns = runtime_ns}, node);
}

void begin(struct charges *charges, uint32_t tid, uint64_t runtime_ns)
{
	assert_int_equal(cpu_time__begin(charges->time, tid, "lua", runtime_ns), 0);
}

void settle(struct charges *charges, uint32_t tid, uint64_t runtime_ns)
{
	assert_int_equal(cpu_time__settle(charges->time, tid, "lua", runtime_ns), 0);
}

void end(struct charges *charges, uint32_t tid, uint64_t runtime_ns)
{
	assert_int_equal(cpu_time__end(charges->time, tid, "lua", runtime_ns), 0);
}
