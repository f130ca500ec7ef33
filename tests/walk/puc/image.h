/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a process that runs PUC Lua, for any layout: a VM with coroutines and their calls,
 * the native stack that runs them, and registers. What a layout does not describe holds what it
 * holds in a real process, or noise of that kind.
 */
#ifndef TEST_IMAGE_H
#define TEST_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "offsets_puc.h"
#include "memory.h"
#include "puc/layout_puc.h"
#include "puc/scratch_puc.bpf.h"

#define IMAGE_THREAD_MAX 40
#define IMAGE_MAIN       0 /* index of the main thread */
#define IMAGE_VALUE_SIZE 16

/* An arbitrary address in the program's code. */
#define IMAGE_C_FUNCTION 0x555555401000ULL

struct image_call {
	uint64_t ci;
	uint64_t value;    /* address of its function on the value stack */
	uint64_t closure;  /* 0: a light C function */
	uint64_t function; /* as in struct ls_frame */
	uint32_t pc;
	uint8_t kind;
};

struct image_thread {
	uint64_t address;
	uint64_t stack; /* the value stack */
	uint64_t stack_last;
	uint64_t base_ci;
	uint64_t next_value;
	struct image_call *calls; /* outermost first */
	size_t call_count;
	size_t call_room;
};

struct image {
	const struct ls_puc_layout *layout;
	struct memory memory;
	uint32_t tgid;
	uint64_t heap; /* next free byte */
	uint64_t heap_end;
	uint64_t global;
	uint64_t upvalue; /* of every closure */
	struct image_thread threads[IMAGE_THREAD_MAX];
	size_t thread_count;

	uint64_t stack_low; /* native */
	uint64_t stack_high;
	uint64_t sp;
	bool own_stack;
	uint64_t registers[LS_REGISTER_MAX];
	uint32_t register_count;
};

/* A VM with a main thread that does nothing, and a native stack that is almost empty. */
void image__start(struct image *image, const struct ls_puc_layout *layout);
void image__end(struct image *image);

/* Allocates zeroed memory in the image's heap. */
uint64_t image__allocate(struct image *image, size_t size);

/* Write a number of that size, and read a word, anywhere in the image's memory. */
void image__put(struct image *image, uint64_t address, uint64_t number, size_t size);
uint64_t image__get(const struct image *image, uint64_t address);

/* Writes a value with its tag: a slot of the value stack, or a constant. */
void image__put_value(struct image *image, uint64_t at, uint64_t value, uint8_t tag);

/* Adds a coroutine that has not started. Returns its index. */
size_t image__coroutine(struct image *image);

/*
 * Add a call that becomes the running one of its thread and takes `slots` slots of the value stack.
 */
void image__call_lua(struct image *image, size_t thread, uint64_t proto, uint32_t pc,
		     uint32_t slots);
/* The running call of the thread, of a Lua function, calls itself. */
void image__recurse(struct image *image, size_t thread, uint32_t pc, uint32_t slots);
void image__call_c(struct image *image, size_t thread, uint64_t function, uint32_t slots);
void image__call_light(struct image *image, size_t thread, uint64_t function, uint32_t slots);
void image__return(struct image *image, size_t thread);

/*
 * Makes the current instruction of `call`, of a Lua function, a call of the function that lies
 * `distance` values above its own. No other instruction is a call.
 */
void image__set_call(struct image *image, const struct image_call *call, uint32_t distance);

/* Returns the thread's last call. */
struct image_call *image__top(struct image *image, size_t thread);

/* Moves SP down by `size`, a multiple of 8; the new words are zero. */
void image__native_frame(struct image *image, uint64_t size);

/* Puts a word onto the native stack, `offset` bytes above SP. */
void image__native_word(struct image *image, uint64_t offset, uint64_t word);

/*
 * luaD_rawrunprotected() for a thread: puts a lua_longjmp onto the native stack and, below it, the
 * frame of a function that holds the thread's address.
 */
void image__protect(struct image *image, size_t thread);

/* The same without that frame: nothing on the stack points to the thread. */
void image__protect_hidden(struct image *image, size_t thread);

/* Adds luaV_execute()'s frame, which holds the thread and the function of its last call. */
void image__execute(struct image *image, size_t thread);

void image__set_error_jump(struct image *image, size_t thread, uint64_t address);
void image__set_status(struct image *image, size_t thread, uint8_t status);

/* Makes the thread one that has yielded: its calls stay, its errorJmp is gone. */
void image__suspend(struct image *image, size_t thread);

/* Fields of a thread, by their offset in the layout. */
uint64_t image__field(const struct image *image, size_t thread, size_t offset);
void image__set_field(struct image *image, size_t thread, size_t offset, uint64_t number,
		      size_t size);

#endif
