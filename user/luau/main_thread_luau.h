/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds VMs of Luau in memory, by their main threads. */
#ifndef LS_MAIN_THREAD_LUAU_H
#define LS_MAIN_THREAD_LUAU_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/target_memory.h"

/*
 * As walker_ops.find_main_thread() in interpreter/walker.h. The layout is the one that the VM's
 * functions fit; it is unknown if the VM has none or they fit several.
 */
bool main_thread_luau__find(const struct target_memory *memory, uint16_t layouts,
			    const uint8_t *bytes, uint64_t size, uint64_t address, uint64_t *at,
			    uint32_t *slot);

#endif
