/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PUC Lua has no names of functions: a function is called what the instruction that called it
 * calls it, as debug.getinfo(f, "n") finds it out (ldebug.c, funcnamefromcode and getobjname).
 */
#ifndef LS_CALL_SITE_PUC_H
#define LS_CALL_SITE_PUC_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"
#include "target_memory.h"

enum call_site_kind {
	CALL_SITE_UNKNOWN, /* no name: called through an expression */
	CALL_SITE_GLOBAL,
	CALL_SITE_LOCAL,
	CALL_SITE_METHOD,
	CALL_SITE_FIELD,
	CALL_SITE_UPVALUE,
	CALL_SITE_CONSTANT,
	CALL_SITE_METAMETHOD,
	CALL_SITE_ITERATOR,
	CALL_SITE_HOOK,
};

struct call_site {
	enum call_site_kind kind;
	char name[256];  /* bytes as in the target, cut off at 255; "" for UNKNOWN */
	bool is_covered; /* by the fingerprint: all that was read to know it */
};

/*
 * Reads how the prototype at `caller` calls at instruction `pc`. The caller checks before and
 * after, with the fingerprint, that the prototype is still the one that was sampled.
 * 0; -ENOMEM; -EFAULT: cannot be read; -EINVAL: it does not make sense (torn, hostile).
 */
int call_site_puc__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			uint64_t caller, uint32_t pc, struct call_site *site);

#endif
