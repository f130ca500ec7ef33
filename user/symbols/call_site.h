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

/*
 * debug.getinfo calls the iterator of every `for` loop "for iterator" or "(for generator)". Here,
 * the iterator in `for word in text:gmatch("%a+")` is an "iterator of gmatch", after the call that
 * made it. If that call has no name, it is a "for iterator".
 */
#define CALL_SITE_ITERATOR_OF  "iterator of "
#define CALL_SITE_ANY_ITERATOR "for iterator"

struct call_site {
	enum call_site_kind kind;
	char name[256];  /* bytes as in the target, cut off at 255; "" for UNKNOWN */
	bool is_covered; /* the fingerprint covers everything that was read to find it */
};

/*
 * Whether the name says anything of the function: debug.getinfo calls a key that is no constant
 * "?" or "integer index", and hidden variables "(for generator)".
 */
bool call_site__has_name(const struct call_site *site);

/*
 * Turns *site into the call of an iterator. On entry, *site has the name, if any, of the call that
 * made the iterator (`is_made`), or of the variable or field that holds it.
 */
void call_site__name_iterator(struct call_site *site, bool is_made);

#endif
