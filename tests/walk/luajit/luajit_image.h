/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a process that runs LuaJIT, for any layout: a VM with coroutines, their stacks of
 * values, the C frames of the VM on the native stack, machine code, and registers. Compiled twice,
 * as the walker is: tests/walk/luajit32/ has references of 32 bits.
 */
#ifndef TEST_LUAJIT_IMAGE_H
#define TEST_LUAJIT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "luajit/layout_luajit.h"
#include "memory.h"
#include "offsets_luajit.h"
#include "record.h"

#define IMAGE_THREAD_MAX 20
#define IMAGE_CALL_MAX   1100
#define IMAGE_MAIN       0  /* index of the main thread */
#define IMAGE_CODE       64 /* instructions of each prototype; instruction i is a call */

#define IMAGE_SLOT       8                      /* bytes, of a value */
#define IMAGE_SLOT_COUNT 30000                  /* of each stack of values */
#define IMAGE_FRAME_LINK LS_LUAJIT_BYTES(16, 8) /* bytes: a function and a link */
#define IMAGE_REF        sizeof(ls_luajit_ref_t)

/* What an object of that type has in its upper bits as a value. */
#define IMAGE_TAGGED(gct) (~(uint64_t)(gct) << LS_LUAJIT_TYPE_SHIFT)

#define IMAGE_C_FUNCTION   0x555555401000ULL
#define IMAGE_MACHINE_CODE 0x7f1200000000ULL
#define IMAGE_TRACE_BYTES  1024 /* of machine code, of each trace */
#define IMAGE_TRACE_MAX    32
#define IMAGE_SNAPSHOTS    16 /* of each trace, one every 64 bytes of machine code */
#define IMAGE_SPADJUST     48 /* bytes of native stack that each trace takes */

struct image_call {
	uint64_t base;     /* on the stack of values */
	uint64_t code;     /* of its prototype; 0: not a Lua function */
	uint64_t function; /* as in struct ls_frame */
	uint32_t pc;
	uint8_t kind;
	bool is_native;
};

struct image_thread {
	uint64_t address;
	uint64_t stack; /* of values */
	uint64_t cframe;
	struct image_call *calls; /* outermost first */
	size_t call_count;
};

struct image {
	const struct ls_luajit_layout *layout;
	struct memory memory;
	uint32_t tgid;
	uint64_t heap; /* next free byte */
	uint64_t global;
	uint64_t traces; /* the array of them */
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
void luajit_image__start(struct image *image, const struct ls_luajit_layout *layout);
void luajit_image__end(struct image *image);

/* Writes a number of that size anywhere in the image's memory. */
void luajit_image__put(struct image *image, uint64_t address, uint64_t number, size_t size);

/* Allocates zeroed memory in the image's heap. */
uint64_t luajit_image__allocate(struct image *image, size_t size);

/* Writes the function and the link below `base`. */
void luajit_image__put_frame(struct image *image, uint64_t base, uint64_t closure, uint64_t link);

/* Make objects. Return their addresses. */
uint64_t luajit_image__string(struct image *image, const char *text);
uint64_t luajit_image__proto(struct image *image, const char *source, uint32_t line);
uint64_t luajit_image__closure(struct image *image, uint64_t proto);
uint64_t luajit_image__c_closure(struct image *image, uint64_t function);
uint64_t luajit_image__builtin(struct image *image, uint64_t function, uint8_t number);

/* Adds a coroutine that has not started. Returns its index. */
size_t luajit_image__coroutine(struct image *image);

/* Puts a C frame of the VM that runs the thread onto the native stack. */
void luajit_image__enter(struct image *image, size_t thread);

/* Moves SP down by `size`, a multiple of 8; the new words are zero. */
void luajit_image__native_frame(struct image *image, uint64_t size);

/* Fields of the VM's global_State. */
void luajit_image__set_global(struct image *image, size_t offset, uint64_t number, size_t size);

/* A trace runs on this thread, and began in the function with that base; 0: none runs. */
void luajit_image__set_trace_base(struct image *image, size_t thread, uint64_t base);

/* Sets what the VM does, as releases number it (LS_LUAJIT_IN_*); forks number it otherwise. */
void luajit_image__set_vm_state(struct image *image, int32_t vm_state);

#endif
