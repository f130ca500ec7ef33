/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much slower this machine is than a server. A small board or an emulator takes far longer to
 * read the same honest file, so limits on CPU time have to grow by that.
 */
#ifndef LS_PROCESSOR_SPEED_H
#define LS_PROCESSOR_SPEED_H

#include <stdint.h>

#define PROCESSOR_SPEED_SLOWEST 16 /* times as slow: no limit grows by more */

/*
 * CPU time in which this machine does what a server does in `ns`: between `ns` and
 * PROCESSOR_SPEED_SLOWEST times that. The first call measures the speed, which takes less than a
 * millisecond on a server. Processes that are forked after it do not measure again.
 */
uint64_t processor_speed__scale(uint64_t ns);

#endif
