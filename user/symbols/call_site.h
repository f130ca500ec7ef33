/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The name that a call instruction uses for its callee, as debug.getinfo(f, "n") returns it. */
#ifndef LS_CALL_SITE_H
#define LS_CALL_SITE_H

#include <stdbool.h>

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
	bool is_covered; /* the fingerprint covers everything that was read to find it */
};

#endif
