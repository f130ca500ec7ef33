/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts and names the processes whose interpreter is recognised but not supported. */
#ifndef LS_UNSUPPORTED_H
#define LS_UNSUPPORTED_H

#include <stddef.h>
#include <sys/types.h>

struct unsupported;

/* NULL when out of memory. Free with unsupported__free(), which takes NULL. */
struct unsupported *unsupported__new(void);
void unsupported__free(struct unsupported *unsupported);

/*
 * Notes that a process, which messages call `title`, holds `interpreter` and none that is
 * supported. Counts a process once, and warns of the first with each interpreter.
 */
void unsupported__note(struct unsupported *unsupported, pid_t pid, const char *title,
		       const char *interpreter);

size_t unsupported__count(const struct unsupported *unsupported);

/*
 * "app (pid 42) ran NAME, which is not supported"; of several "3 processes ran NAME, which
 * is not supported, such as app (pid 42)"; "": none. Valid until the next call.
 */
const char *unsupported__text(struct unsupported *unsupported);

#endif
