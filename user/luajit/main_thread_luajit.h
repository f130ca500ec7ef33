/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recognises the main thread of a LuaJIT VM: lua_newstate (lj_state.c) allocates it and its
 * global_State as one block, GG_State, and each points to the other.
 */
#ifndef LS_MAIN_THREAD_LUAJIT_H
#define LS_MAIN_THREAD_LUAJIT_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/target_memory.h"

/* As walker_ops.find_main_thread(). */
bool main_thread_luajit__find(const struct target_memory *memory, uint16_t layouts,
			      const uint8_t *bytes, uint64_t size, uint64_t address, uint64_t *at,
			      uint32_t *slot);

#endif
