/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The C functions that the scripts of one process call. */
#ifndef LS_C_CALLEES_H
#define LS_C_CALLEES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpreter/inspection.h"
#include "profile/functions.h"
#include "record.h"
#include "symbols/c_function_names.h"

struct c_callees;

/*
 * NULL when out of memory. `functions` and `inspector` are the caller's and must outlive it;
 * `program` is functions__program(). c_callees__free() takes NULL.
 */
struct c_callees *c_callees__new(pid_t pid, struct inspector *inspector,
				 struct functions *functions, uint32_t program);
void c_callees__free(struct c_callees *callees);

/* A C function has the name that the VM keeps, unless there are too many. 0 or -ENOMEM. */
int c_callees__define(struct c_callees *callees, const struct ls_function *function);

struct c_callee {
	uint32_t function;
	bool is_nameless;   /* it has only a symbol or a place, so its callers may name it */
	bool has_forgotten; /* others were forgotten, to make room */
};

/* The function that a frame of this VM runs. The inspector keeps mappings for it. 0 or -ENOMEM. */
int c_callees__find(struct c_callees *callees, const struct layout *layout, uint64_t state,
		    const struct ls_frame *frame, struct c_callee *callee);

/* Tries once more to name them, now that all modules are loaded. */
void c_callees__finish(struct c_callees *callees, const struct layout *layout, uint64_t state);

/* What the program keeps functions as, those of scripts, too. Valid until it is freed. */
const struct c_function_names *c_callees__names(const struct c_callees *callees);

/* Sets used[id] of the functions that c_callees__find() may return again. */
void c_callees__mark(struct c_callees *callees, uint8_t *used);

#endif
