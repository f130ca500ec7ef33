/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/top_costs.h"

#include <sys/resource.h>

#define NS_PER_S UINT64_C(1000000000)

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static void take_limit(struct top_view_limit *limit, const struct ls_profile_recorder *recorder)
{
	const struct ls_profile_overhead *overhead = &recorder->overhead;
	uint64_t all_ns = overhead->interrupts_ns + overhead->bpf_ns + overhead->own_ns;

	*limit = (struct top_view_limit){.ppm = overhead->limit_ppm,
					 .period_ns = overhead->period_ns,
					 .asked_period_ns = recorder->period_ns,
					 .recent_ns = all_ns - limit->all_ns,
					 .all_ns = all_ns,
					 .all_cpu_ns = recorder->cpu_ns};
}

void top_costs__begin(struct top_costs *costs)
{
	costs->own_cpu_ns = own_cpu_ns();
}

void top_costs__take(struct top_costs *costs, uint64_t bpf_ns,
		     const struct ls_profile_recorder *recorder, struct top_view *top_view)
{
	uint64_t cpu_ns = own_cpu_ns();

	top_view->own_cpu_ns = cpu_ns - costs->own_cpu_ns;
	top_view->bpf_ns = bpf_ns > costs->bpf_ns ? bpf_ns - costs->bpf_ns : 0;
	costs->own_cpu_ns = cpu_ns;
	costs->bpf_ns = bpf_ns;
	take_limit(&top_view->limit, recorder);
}
