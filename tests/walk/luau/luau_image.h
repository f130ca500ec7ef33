/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a process that runs Luau, for any layout and build: a VM with coroutines, their
 * values and calls, the frames of the VM on the native stack, and registers.
 */
#ifndef TEST_LUAU_IMAGE_H
#define TEST_LUAU_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "luau/layout_luau.h"
#include "memory.h"
#include "offsets_luau.h"
#include "record.h"

#define IMAGE_THREAD_MAX 20
#define IMAGE_CALL_MAX   1100 /* of each thread */
#define IMAGE_MAIN       0    /* index of the main thread */
#define IMAGE_CODE       64   /* instructions of each prototype */

#define IMAGE_C_FUNCTION 0x555555401000ULL

/* What a host decides on when it builds Luau. */
struct image_build {
	uint32_t value;  /* bytes of a TValue: 16 or 24 */
	uint32_t ci;     /* bytes of a CallInfo: 40 or 48 */
	uint32_t thread; /* LUA_TTHREAD */
};

struct image_call {
	uint64_t ci;
	uint64_t func;     /* on the stack of values */
	uint64_t code;     /* of its prototype; 0: not a Lua function */
	uint64_t function; /* as in struct ls_frame */
	uint32_t pc;
	uint8_t kind;
	bool is_native;
};

struct image_thread {
	uint64_t address;
	uint64_t stack; /* of values */
	uint64_t base_ci;
	struct image_call *calls; /* outermost first */
	size_t call_count;
};

struct image {
	const struct ls_luau_layout *layout;
	struct image_build build;
	struct memory memory;
	uint32_t tgid;
	uint64_t heap; /* next free byte */
	uint64_t global;
	struct image_thread threads[IMAGE_THREAD_MAX];
	size_t thread_count;

	uint64_t stack_low; /* native */
	uint64_t stack_high;
	uint64_t sp;
	uint64_t pc;
	bool own_stack;
	uint64_t registers[32]; /* as in struct pt_regs of x86-64 */
};

/* A VM with a main thread that does nothing, and a native stack that is almost empty. */
void luau_image__start(struct image *image, const struct ls_luau_layout *layout,
		       const struct image_build *build);
void luau_image__end(struct image *image);

/* Allocates zeroed memory in the image's heap. */
uint64_t luau_image__allocate(struct image *image, size_t size);

/* Make objects. Return their addresses. `name` is NULL if the function has none. */
uint64_t luau_image__string(struct image *image, const char *text);
uint64_t luau_image__proto(struct image *image, const char *source, const char *name,
			   uint32_t line);
uint64_t luau_image__closure(struct image *image, uint64_t proto);
uint64_t luau_image__c_closure(struct image *image, uint64_t function);

/* Adds a coroutine that has not started. Returns its index. */
size_t luau_image__coroutine(struct image *image);

/* Instruction `pc` of the thread's running function, or C code, calls the closure. */
void luau_image__call(struct image *image, size_t thread, uint64_t closure, uint32_t pc);

/* The running function, in C, has that thread as its argument. */
void luau_image__hold(struct image *image, size_t thread, size_t held);

/* The thread begins to run: its frame of the VM is on the native stack. */
void luau_image__enter(struct image *image, size_t thread);

/* The thread's last call is at instruction `pc`, if it is of a Lua function; as machine code. */
void luau_image__run(struct image *image, size_t thread, uint32_t pc);
void luau_image__run_native(struct image *image, size_t thread, uint32_t pc);

/*
 * Moves the thread's values, but does not correct what points to them yet: the state that
 * luaD_reallocstack() leaves for a moment (ldo.cpp).
 */
void luau_image__move_values(struct image *image, size_t thread);

/* The thread's last call. */
struct image_call *luau_image__top(struct image *image, size_t thread);

/* Moves SP down by `size`, a multiple of 8; the new words are zero. */
void luau_image__native_frame(struct image *image, uint64_t size);

#endif
