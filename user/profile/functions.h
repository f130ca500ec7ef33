/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of a profile. A script function is known by where it is defined, not by its name:
 * callers may call it anything, and what most of them call it becomes its name.
 */
#ifndef LS_FUNCTIONS_H
#define LS_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

struct functions;

/* NULL when out of memory. Free with functions__free(), which takes NULL. */
struct functions *functions__new(void);
void functions__free(struct functions *functions);

/* What tells one script function from another. */
struct function_identity {
	const char *source; /* as shown; copied */
	uint32_t line;
	uint32_t last_line;
	uint64_t shape; /* of its code: two functions may be defined on one line */
};

/* What tells one C function from another. */
struct c_function_identity {
	uint64_t file;    /* what it is, whichever process has mapped it; not read where ... */
	uint64_t place;   /* in the file, or in the memory of the program */
	uint32_t program; /* functions__program(): ... it is in no file but there; else 0 */
	const char *name; /* what it is called as far as is known, or its place; copied */
};

/* Ids, made at first sight; 0 when out of memory. Strings are copied. */
uint32_t functions__script(struct functions *functions, const struct function_identity *identity);
uint32_t functions__c(struct functions *functions, const struct c_function_identity *identity);
uint32_t functions__pseudo(struct functions *functions, const char *name);
uint32_t functions__collector(struct functions *functions);

/*
 * The function while it is at that line, which has an id of its own but no name; line 0: `function`
 * itself.
 */
uint32_t functions__at_line(struct functions *functions, uint32_t function, uint32_t line);

/* A number that no program of any process had before, nor will have. */
uint32_t functions__program(struct functions *functions);

/* How many there are; the highest id of one. */
uint32_t functions__count(const struct functions *functions);
uint32_t functions__highest(const struct functions *functions);

/*
 * Drops the functions whose used[id] is 0, except pseudo functions; their ids are given to others
 * later. A function is used while one of its lines is, and marked so. Returns how many.
 */
uint32_t functions__evict(struct functions *functions, uint8_t *used);

/* Where a script function, at whatever line, is defined; NULL: it is none. Good until a change. */
const char *functions__source(const struct functions *functions, uint32_t function);

/* A name for a script function; later ones win, and over any votes. 0 or -ENOMEM. */
int functions__rename(struct functions *functions, uint32_t function, const char *name);

/*
 * A process has found a better name for a C function than the one in its identity. Where processes
 * differ it has none, for its calls are not told apart; but what the program or a module gave it
 * counts more than what a script calls it. 0 or -ENOMEM.
 */
int functions__rename_c(struct functions *functions, uint32_t function, const char *name,
			bool is_given);

/*
 * One caller called it so. The name with the most votes is shown; of hundreds of names, one that
 * got more than every eighth vote. Of a C function it is shown beside that of its identity, if all
 * callers that have a name for it agree: "for iterator (liblua5.3.so+0x293e0)". 0 or -ENOMEM.
 */
int functions__vote(struct functions *functions, uint32_t function, const char *name);

/* A name for it where no caller has one. 0 or -ENOMEM. */
int functions__suggest(struct functions *functions, uint32_t function, const char *name);

/*
 * Points the profile's functions at the table's own: valid until it is changed or freed. Those that
 * were evicted have neither source nor name.
 */
void functions__export(struct functions *functions, struct ls_profile *profile);

#endif
