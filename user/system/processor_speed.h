/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How slow this machine is: limits on CPU time that honest files of a server stay far below would
 * refuse the same files on a small board, or under an emulator.
 */
#ifndef LS_PROCESSOR_SPEED_H
#define LS_PROCESSOR_SPEED_H

#include <stdint.h>

#define PROCESSOR_SPEED_SLOWEST 16 /* times as slow: no limit grows by more */

/*
 * CPU time in which this machine does what a server does in `ns`: between `ns` and
 * PROCESSOR_SPEED_SLOWEST times that. The first call measures that, in less than a millisecond on a
 * server; processes that are forked later have its result.
 */
uint64_t processor_speed__scale(uint64_t ns);

#endif
