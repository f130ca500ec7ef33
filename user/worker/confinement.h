/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Confines a process that parses what targets control. It can still open files for reading, read
 * the memory of other processes and answer luaspy: a target that takes it over gains nothing else.
 */
#ifndef LS_CONFINEMENT_H
#define LS_CONFINEMENT_H

#include <stdint.h>

/*
 * Drops root, all capabilities that reading does not need, core dumps and the right to gain
 * privileges; limits the address space to `memory` bytes beyond what is mapped now; and filters
 * system calls. 0, or -errno of the first step that failed; the others were taken.
 */
int confinement__begin(uint64_t memory);

/* Has SIGPROF kill the calling process after `ns` more of CPU time. A new call replaces the limit.
 */
void confinement__limit_cpu(uint64_t ns);

#endif
