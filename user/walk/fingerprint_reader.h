/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How fingerprints of prototypes are read outside of BPF. A family's file includes this before the
 * family's header of include/ that says what is read, in BPF as here.
 */
#ifndef LS_FINGERPRINT_READER_H
#define LS_FINGERPRINT_READER_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "memory/target_memory.h"

typedef const struct target_memory *ls_reader_t;

static long read_bytes(ls_reader_t memory, void *to, size_t size, uint64_t address)
{
	return target_memory__read(memory, address, to, size);
}

/* Like bpf_probe_read_user_str(): the count includes the NUL, which also ends a full buffer. */
static long read_string(ls_reader_t memory, char *to, size_t size, uint64_t address)
{
	ssize_t count = target_memory__read_some(memory, address, to, size);
	size_t length;

	if (count <= 0)
		return count ? count : -EFAULT;
	length = strnlen(to, (size_t)count);
	if (length == (size_t)count && length < size)
		return -EFAULT;
	if (length == size)
		to[--length] = '\0';
	return (long)length + 1;
}

/* The counterpart of bpf_loop(). */
static void repeat(uint32_t count, long (*step)(uint32_t i, void *context), void *context)
{
	for (uint32_t i = 0; i < count; i++)
		if (step(i, context))
			return;
}

#define LS_READ(reader, to, size, address)        read_bytes(reader, to, size, address)
#define LS_READ_STRING(reader, to, size, address) read_string(reader, to, size, address)
#define LS_REPEAT(count, step, context)           repeat(count, step, context)
#define LS_STEP(step)                             _Static_assert(1, "a loop needs no more")

#endif
