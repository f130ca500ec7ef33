/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls of an image of LuaJIT: those that the VM made, and those that traces have inlined. */
#ifndef TEST_LUAJIT_CALLS_H
#define TEST_LUAJIT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "luajit_image.h"

/* Instruction `pc` of the thread's running Lua function calls the closure. */
void luajit_image__call(struct image *image, size_t thread, uint64_t closure, uint32_t pc);
/* The thread's running function, in C, or nothing, calls it through a new C frame. */
void luajit_image__call_from_c(struct image *image, size_t thread, uint64_t closure);

/*
 * The same while a function of a script is at instruction `pc`, as a finalizer is called; the VM
 * has saved where that is in its C frame.
 */
void luajit_image__interrupt(struct image *image, size_t thread, uint64_t closure, uint32_t pc);
/* The running function, a builtin, is pcall() and calls it. */
void luajit_image__pcall(struct image *image, size_t thread, uint64_t closure);
/* Instruction `pc` of the running Lua function calls it as a metamethod. */
void luajit_image__metamethod(struct image *image, size_t thread, uint64_t closure, uint32_t pc);
/* The running Lua function has variable arguments, and so a second frame. */
void luajit_image__vararg(struct image *image, size_t thread);

/* The thread's last call. */
struct image_call *luajit_image__top(struct image *image, size_t thread);

/* The VM stores the base of the thread's last call, as before it calls C code. */
void luajit_image__save_base(struct image *image, size_t thread);

/* The VM itself runs instruction `pc` of the thread's last call. */
void luajit_image__run_vm(struct image *image, size_t thread, uint32_t pc);
/* The thread's last call, of a C function, runs. */
void luajit_image__run_c(struct image *image, size_t thread);

/* How many entries of a snapshot's map a frame takes. */
#define IMAGE_FRAME_ENTRIES LS_LUAJIT_BYTES(2, 1)

/* Where the array of traces has trace `number`. */
static inline uint64_t luajit_image__trace_place(const struct image *image, uint32_t number)
{
	return image->traces + IMAGE_REF * number;
}

/*
 * Adds trace `number`, compiled from the closures, each of which is called by instruction `pc` + i
 * of the one before, the first by the function that the trace begins in. Snapshot i of
 * IMAGE_SNAPSHOTS has the first i % (count + 1) of them. Returns the address of its header.
 */
uint64_t luajit_image__add_trace(struct image *image, uint32_t number, uint64_t begins_in,
				 const uint64_t *closures, size_t count, uint32_t pc);

/*
 * The trace runs on top of the thread's last call, at the machine code of snapshot `at`; or, if
 * `in_c`, C code that it called there. Inlined calls are added to the thread.
 */
void luajit_image__run_trace(struct image *image, size_t thread, uint32_t number, uint32_t at,
			     bool in_c);

#endif
