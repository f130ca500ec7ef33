/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds a Lua whose garbage collector says when it runs; collector.sed puts this into lgc.c. */
#ifndef TEST_COLLECTOR_H
#define TEST_COLLECTOR_H

#ifdef __cplusplus
#define _Static_assert static_assert
#endif

#include "truth.h"

extern volatile struct truth published;

static inline void collector_leaves(const int *entered)
{
	(void)entered;
	published.collector--;
}

/* The collector runs until the end of the block. */
#define COLLECTOR_RUNS                                                                             \
	int entered __attribute__((cleanup(collector_leaves), unused)) = published.collector++ != 0

/* The collector waits while `call` runs. Evaluates to its value. */
#define COLLECTOR_WAITS(call)                                                                      \
	({                                                                                         \
		__u64 depth = published.collector;                                                 \
		int result;                                                                        \
                                                                                                   \
		published.collector = 0;                                                           \
		result = (call);                                                                   \
		published.collector = depth;                                                       \
		result;                                                                            \
	})

#endif
