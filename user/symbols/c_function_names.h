/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names by which a VM knows its C functions: "string.format" from package.loaded (as lauxlib's
 * pushglobalfuncname finds it), then from the tables among its globals ("redis.call"), then from
 * the metatables in its registry ("FILE*:read"). Also the names of script functions next to them,
 * and of those that the program keeps in its registry by name, which are the ones it calls itself.
 * An interpreter family reads its tables and adds the names in them; which of several names wins is
 * decided here.
 */
#ifndef LS_C_FUNCTION_NAMES_H
#define LS_C_FUNCTION_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/message.h"

#define C_FUNCTION_NAME_SIZE 128 /* including the NUL; longer names are cut off */

/* The source of a name. Of several names of a function, the one of the lowest rank wins. */
enum name_rank {
	RANK_KNOWN, /* from an earlier call */
	RANK_LOADED,
	RANK_LIBRARY, /* a table among the globals that has no script functions: "redis.call" */
	RANK_GLOBAL,
	RANK_METATABLE,
	RANK_REGISTRY, /* script functions that the program keeps by name: "f_<sha>" in Redis */
	RANK_OBSOLETE,
};

struct function_name {
	uint64_t function; /* address; of a script function, that of its prototype */
	uint64_t instance; /* the closure, if it has upvalues */
	enum name_rank rank;
	bool is_given; /* the program or a module gave this name, not a script */
	char *text;    /* NULL: ambiguous */
};

struct c_function_names {
	/* Ordered by address of the function, but new names are at the end until the merge. */
	struct function_name *items;
	size_t count, room;
};

/* NULL when out of memory. Free with c_function_names__free(), which takes NULL. */
struct c_function_names *c_function_names__new(void);
void c_function_names__free(struct c_function_names *names);

/* Appends a copy of `name`. 0; -E2BIG: there are 65,536 names already, the limit; -ENOMEM. */
int c_function_names__add(struct c_function_names *names, const struct function_name *name);

/* Adds the name that the VM itself keeps of a function; NULL: none. 0; -E2BIG, -ENOMEM. */
int c_function_names__give(struct c_function_names *names, uint64_t function, const char *text);

/*
 * Keeps one name per function, ordered by address: the one from an earlier reading, else the one of
 * the lowest rank, then the shortest, then the first in the alphabet. A function that several
 * closures share under different names (a binding library's trampoline) has none.
 */
void c_function_names__merge(struct c_function_names *names);

/*
 * c_function_names__put() appends the names to a message. c_function_names__take() adds the names
 * in a message from an untrusted process, for functions that have none yet; the message must end
 * with them. 0; -EBADMSG, -ENOMEM: some are missing.
 */
void c_function_names__put(const struct c_function_names *names, struct message *message);
int c_function_names__take(struct c_function_names *names, struct message *message);

/*
 * "print", "string.format", "FILE*:read", "FILE*.__gc": the target's bytes, not escaped. `function`
 * is the address of a C function or of a prototype. NULL: unknown or ambiguous. Valid until names
 * are added.
 */
const char *c_function_names__get(const struct c_function_names *names, uint64_t function);

/* Whether it is known that closures share the function under different names. */
bool c_function_names__is_ambiguous(const struct c_function_names *names, uint64_t function);

/* Whether the program or a module gave the name, not a script that merely stored the function. */
bool c_function_names__is_given(const struct c_function_names *names, uint64_t function);

#endif
