/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why the kernel does not take the BPF programs, in one line and at full length. */
#ifndef LS_LOAD_FAILURE_H
#define LS_LOAD_FAILURE_H

#include <stddef.h>

/*
 * From here on all that libbpf and the kernel's verifier say is shown line by line at log level
 * debug, and the verifier's reason is kept for load_failure__explain(). To be called before each
 * load, by one thread at a time.
 */
void load_failure__listen(void);

/*
 * What stands in the way of loading, which failed with `error` (-errno) just now: found out by
 * trying, not by the kernel's release. Writes a clause such as "this kernel lacks bpf_loop (...)"
 * with a hint in parentheses, and returns `to`.
 */
char *load_failure__explain(int error, char *to, size_t size);

/* Whether so few more files may be opened that a load fails. */
int load_failure__lacks_files(void);

#endif
