/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names by which callers call their callees. A call site is read once, when it first occurs in
 * a sample; its caller may be dead by then. The fingerprint proves what it covers. The rest of a
 * dead caller may be intact, too, while the one string that names the call already belongs to
 * something else. Such a name counts from the first sample taken after it was read: the caller runs
 * in that sample, so it was alive in between.
 */
#ifndef LS_CALL_NAMES_H
#define LS_CALL_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpreter/inspection.h"
#include "profile/functions.h"
#include "record.h"

struct call_names;

/* NULL when out of memory. `inspector` and `functions` are borrowed and must outlive it. */
struct call_names *call_names__new(pid_t pid, struct inspector *inspector,
				   struct functions *functions);
void call_names__free(struct call_names *names);

/*
 * The name that debug.getinfo would give to frames[0], whose caller is frames[1] if count > 1;
 * NULL: none, or none that can be read. It is not proven. Valid until the next call.
 */
const char *call_names__name(struct call_names *names, const struct layout *layout,
			     const struct ls_frame *frames, uint32_t count);

/*
 * Takes in a sample taken at `time_ns` (CLOCK_MONOTONIC) with these frames, the first of which is
 * `function`: votes for the function's name, if that is proven. Sets *name to that name; NULL:
 * none, or not proven. It is valid until the next call. 0 or -ENOMEM.
 */
int call_names__vote(struct call_names *names, const struct layout *layout,
		     const struct ls_frame *frames, uint32_t count, uint64_t time_ns,
		     uint32_t function, const char **name);

/*
 * call_names__inquire() sets *inquiry to what must be read to name frames[0]. Returns 1; 0: nothing
 * must be, or it was read already; -ENOMEM. call_names__learn() takes in the answer: 0 or -ENOMEM.
 */
int call_names__inquire(struct call_names *names, const struct ls_frame *frames, uint32_t count,
			struct prototype_inquiry *inquiry);
int call_names__learn(struct call_names *names, const struct prototype_inquiry *inquiry);

/*
 * Suggests names that were never proven for functions that have no other, such as those that ran
 * in one sample only. Does nothing for a program whose functions were seen to come and go.
 */
void call_names__suggest(struct call_names *names);

/* Whether names that were never proven may be those of others: functions come and go. */
bool call_names__needs_proof(const struct call_names *names);

/* Prototypes or function ids come and go: from now on, call_names__suggest() does nothing. */
void call_names__require_proof(struct call_names *names);

/* The number of call sites that were never read successfully. */
uint64_t call_names__unread(const struct call_names *names);

#endif
