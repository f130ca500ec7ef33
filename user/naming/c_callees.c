/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "naming/c_callees.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/generations.h"
#include "naming/function_record.h"

#define C_FUNCTIONS_MOST 8192

/* Modules are loaded late: a new C function makes luaspy reread the tables, at most this often. */
#define REREAD_NS 200000000ULL

struct c_function {
	uint64_t key; /* key_of() */
	uint64_t code;
	uint32_t function;
	bool is_given;    /* the program or a module gave it its name */
	bool is_nameless; /* it has only the symbol or the place of its code */
	bool is_symbol;   /* that is a symbol, and no closures are known to share it */
};

struct c_callees {
	pid_t pid;
	struct inspector *inspector;
	struct functions *functions;
	uint32_t program;
	struct generations *c_functions; /* struct c_function by key_of() */
	struct c_function_names *registered;
	uint64_t registered_ns; /* when `registered` was read last */
};

struct c_callees *c_callees__new(pid_t pid, struct inspector *inspector,
				 struct functions *functions, uint32_t program)
{
	struct c_callees *callees = calloc(1, sizeof(*callees));

	if (!callees)
		return NULL;
	callees->pid = pid;
	callees->inspector = inspector;
	callees->functions = functions;
	callees->program = program;
	callees->c_functions = generations__new(sizeof(uint64_t), sizeof(struct c_function), NULL);
	callees->registered = c_function_names__new();
	if (callees->c_functions && callees->registered)
		return callees;
	c_callees__free(callees);
	return NULL;
}

void c_callees__free(struct c_callees *callees)
{
	if (!callees)
		return;
	generations__free(callees->c_functions);
	c_function_names__free(callees->registered);
	free(callees);
}

int c_callees__define(struct c_callees *callees, const struct ls_function *function)
{
	int error = c_function_names__give(callees->registered, function->fingerprint,
					   name_in(function));

	return error == -ENOMEM ? error : 0;
}

/* "lpeg.so+0x3f20" */
#define PLACE_SIZE (NATIVE_PATH_SIZE + 24)

/*
 * The name that the program or its module gave it; else its ELF symbol; else the name under which a
 * script keeps it; else its place, written to `place`.
 */
static const char *name_of(struct c_callees *callees, struct c_function *c_function,
			   const struct native_place *native, char place[PLACE_SIZE])
{
	const char *kept = c_function_names__get(callees->registered, c_function->key);

	c_function->is_given = c_function_names__is_given(callees->registered, c_function->key);
	c_function->is_nameless = true;
	c_function->is_symbol = false;
	if (!c_function->is_given && native->symbol[0]) {
		c_function->is_symbol =
			!c_function_names__is_ambiguous(callees->registered, c_function->key);
		return native->symbol;
	}
	c_function->is_nameless = !kept;
	if (kept)
		return kept;
	if (native->is_mapped)
		snprintf(place, PLACE_SIZE, "%s+0x%" PRIx64, native->name, native->place);
	else
		snprintf(place, PLACE_SIZE, "0x%" PRIx64, c_function->code);
	return place;
}

/* Makes one function for all processes that have its file mapped and name it the same. */
static int identify(struct c_callees *callees, struct c_function *c_function)
{
	struct c_function_identity identity = {};
	struct native_place native;
	char place[PLACE_SIZE];

	if (inspector__native_place(callees->inspector, callees->pid, c_function->code, &native) ==
	    -ENOMEM)
		return -ENOMEM;
	identity.place = native.place;
	if (native.is_mapped)
		identity.file = native.file;
	else
		identity.program = callees->program;
	identity.name = name_of(callees, c_function, &native, place);
	identity.is_symbol = c_function->is_symbol;
	c_function->function = functions__c(callees->functions, &identity);
	return c_function->function ? 0 : -ENOMEM;
}

static int read_registered(struct c_callees *callees, const struct layout *layout, uint64_t state)
{
	return inspector__c_functions(callees->inspector, callees->pid, layout, state,
				      callees->registered);
}

/* What identifies a C function: its name as well, if the VM keeps names, for many share code. */
static uint64_t key_of(const struct ls_frame *frame)
{
	return frame->fingerprint ? frame->fingerprint : frame->function;
}

/* A new entry. NULL when out of memory. */
static struct c_function *add(struct c_callees *callees, uint64_t key, const struct ls_frame *frame,
			      bool *has_forgotten)
{
	struct c_function *c_function;

	if (generations__young(callees->c_functions) >= C_FUNCTIONS_MOST) {
		generations__age(callees->c_functions);
		*has_forgotten = true;
	}
	c_function = generations__add(callees->c_functions, &key);
	if (!c_function)
		return NULL;
	c_function->key = key;
	c_function->code = frame->function & LS_CODE_ADDRESS;
	return c_function;
}

/* Reads what the program keeps functions as, unless it was read a moment ago. */
static void refresh(struct c_callees *callees, const struct layout *layout, uint64_t state)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns - callees->registered_ns > REREAD_NS &&
	    !inspector__is_later(read_registered(callees, layout, state)))
		callees->registered_ns = now_ns;
}

int c_callees__find(struct c_callees *callees, const struct layout *layout, uint64_t state,
		    const struct ls_frame *frame, struct c_callee *callee)
{
	uint64_t key = key_of(frame);
	struct c_function *c_function = generations__find(callees->c_functions, &key);

	*callee = (struct c_callee){};
	if (!c_function) {
		c_function = add(callees, key, frame, &callee->has_forgotten);
		if (!c_function)
			return -ENOMEM;
		if (!c_function_names__get(callees->registered, key))
			refresh(callees, layout, state);
		if (identify(callees, c_function))
			return -ENOMEM;
	}
	callee->function = c_function->function;
	callee->is_nameless = c_function->is_nameless;
	return c_function->function ? 0 : -ENOMEM;
}

static void name_again(void *context, void *value)
{
	struct c_callees *callees = context;
	struct c_function *c_function = value;
	struct native_place native;
	char place[PLACE_SIZE];

	if (!c_function->function || c_function->is_given ||
	    inspector__native_place(callees->inspector, callees->pid, c_function->code, &native))
		return;
	functions__rename_c(callees->functions, c_function->function,
			    name_of(callees, c_function, &native, place), c_function->is_given);
}

void c_callees__finish(struct c_callees *callees, const struct layout *layout, uint64_t state)
{
	read_registered(callees, layout, state);
	generations__visit(callees->c_functions, name_again, callees);
}

const struct c_function_names *c_callees__names(const struct c_callees *callees)
{
	return callees->registered;
}

static void mark_c_function(void *used, void *value)
{
	((uint8_t *)used)[((const struct c_function *)value)->function] = 1;
}

void c_callees__mark(struct c_callees *callees, uint8_t *used)
{
	generations__visit(callees->c_functions, mark_c_function, used);
}
