/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recognises the main thread of a PUC Lua VM: lua_newstate (lstate.c) allocates it and its
 * global_State as one block, and each points to the other (in 5.5, only the thread does).
 */
#ifndef LS_MAIN_THREAD_PUC_H
#define LS_MAIN_THREAD_PUC_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/target_memory.h"

/* As walker_ops.find_main_thread(). */
bool main_thread_puc__find(const struct target_memory *memory, uint16_t layouts,
			   const uint8_t *bytes, uint64_t size, uint64_t address, uint64_t *at,
			   uint32_t *slot);

#endif
