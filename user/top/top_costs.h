/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the live view costs, from one update to the next. */
#ifndef LS_TOP_COSTS_H
#define LS_TOP_COSTS_H

#include <stdint.h>

#include "profile/profile.h"
#include "top/top_view.h"

struct top_costs {
	uint64_t own_cpu_ns, bpf_ns; /* at the last update */
};

/* From here on, luaspy's own CPU time is the live view's. */
void top_costs__begin(struct top_costs *costs);

/* Sets what `top_view` shows of luaspy's costs, which are those since the last call. */
void top_costs__take(struct top_costs *costs, uint64_t bpf_ns,
		     const struct ls_profile_recorder *recorder, struct top_view *top_view);

#endif
