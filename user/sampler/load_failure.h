/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Explains why the kernel refuses the BPF programs, in one line and at full length. */
#ifndef LS_LOAD_FAILURE_H
#define LS_LOAD_FAILURE_H

#include <stddef.h>

/*
 * From here on, all messages of libbpf and the kernel's verifier are logged line by line at level
 * debug, and the verifier's reason is kept for load_failure__explain(). To be called before each
 * load, by one thread at a time.
 */
void load_failure__listen(void);

/* Of the longest explanation, with its end. */
#define LOAD_FAILURE_SIZE 512

/*
 * Explains why loading has just failed with `error` (-errno), by trying what the kernel can do, not
 * by its release. Writes a clause such as "this kernel lacks bpf_loop (...)" with a hint in
 * parentheses to `to`, and returns `to`.
 */
char *load_failure__explain(int error, char *to, size_t size);

#endif
