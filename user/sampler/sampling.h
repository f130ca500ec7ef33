/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How often and how deep to sample: from the command line to the BPF programs. */
#ifndef LS_SAMPLING_H
#define LS_SAMPLING_H

#include <stdint.h>

struct sampling {
	uint64_t period_ns;        /* 1 s to 50 us: 1 Hz to 20 kHz */
	uint32_t max_depth;        /* frames, 1 to LS_DEPTH_MAX */
	uint32_t max_overhead_ppm; /* of the targets' CPU time; 0: no limit */
};

#endif
