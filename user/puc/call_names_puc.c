/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "call_names_puc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "call_site_puc.h"
#include "clock.h"
#include "generations.h"
#include "prototype_puc.h"

/* How many are kept, twice as many at most: those that are dropped are only read again. */
#define SITES_MOST 32768

struct site_key {
	struct prototype_key caller;
	uint64_t pc;
};

/* A call instruction, and what it calls its callee. */
struct site {
	char *name; /* NULL: nothing */
	bool is_read;
	uint64_t proven_ns; /* by samples that were taken later than this, CLOCK_MONOTONIC */
	uint32_t unproven;  /* a function that it called before then; 0: none */
};

struct call_names_puc {
	const struct target_memory *memory;
	struct time_budget *budget;
	struct functions *functions;
	struct generations *sites; /* struct site by struct site_key */
	uint64_t unread;
	bool needs_proof;
};

static void drop_site(void *value)
{
	free(((struct site *)value)->name);
}

struct call_names_puc *call_names_puc__new(const struct target_memory *memory,
					   struct time_budget *budget, struct functions *functions)
{
	struct call_names_puc *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->memory = memory;
	names->budget = budget;
	names->functions = functions;
	names->sites = generations__new(sizeof(struct site_key), sizeof(struct site), drop_site);
	if (names->sites)
		return names;
	call_names_puc__free(names);
	return NULL;
}

void call_names_puc__free(struct call_names_puc *names)
{
	if (!names)
		return;
	generations__free(names->sites);
	free(names);
}

/* Whatever came of reading: a caller that is gone says what kind of program this is. */
static int read_site(struct call_names_puc *names, const struct ls_puc_layout *layout,
		     const struct site_key *key, struct site *site)
{
	struct call_site call = {};
	int error, stale;

	site->is_read = true;
	error = call_site_puc__read(names->memory, layout, key->caller.address, (uint32_t)key->pc,
				    &call);
	stale = prototype_puc__check(names->memory, layout, &key->caller);
	if (stale == -ESTALE)
		names->needs_proof = true;
	if (error || stale)
		return error ? error : stale;
	if (call.kind == CALL_SITE_UNKNOWN || !call.name[0])
		return 0;
	site->name = strdup(call.name);
	site->proven_ns = call.is_covered ? 0 : clock_ns(CLOCK_MONOTONIC);
	return site->name ? 0 : -ENOMEM;
}

/*
 * The site, which is read at first sight; one that the budget did not allow to be read is tried
 * again at the next, and counts as unread until then. NULL when out of memory.
 */
static struct site *find_site(struct call_names_puc *names, const struct ls_puc_layout *layout,
			      const struct ls_frame *caller)
{
	struct site_key key = {{caller->function, caller->fingerprint}, caller->pc};
	struct site *site = generations__find(names->sites, &key);

	if (!site) {
		if (generations__young(names->sites) >= SITES_MOST)
			generations__age(names->sites);
		site = generations__add(names->sites, &key);
		if (!site)
			return NULL;
		names->unread++;
	}
	if (!site->is_read && time_budget__begin(names->budget)) {
		if (!read_site(names, layout, &key, site))
			names->unread--;
		time_budget__end(names->budget);
	}
	return site;
}

/*
 * What debug.getinfo would call it where no call instruction does. Lua 5.3 marks the finalizer's
 * own CallInfo, 5.4 the one that was interrupted by it (ldebug.c, funcnamefromcall).
 */
static const char *name_without_site(const struct ls_puc_layout *layout,
				     const struct ls_frame *frames, uint32_t count)
{
	if (layout->minor == 3 && frames->flags & LS_FRAME_FINALIZER)
		return "__gc";
	if (frames->flags & (LS_FRAME_TAIL_CALLED | LS_FRAME_STATE_ROOT) || count < 2)
		return NULL;
	if (frames[1].flags & LS_FRAME_HOOKED)
		return "hook";
	if (layout->minor >= 4 && frames[1].flags & LS_FRAME_FINALIZER)
		return "__gc";
	return NULL;
}

static bool has_site(const struct ls_frame *frames, uint32_t count)
{
	return count > 1 && frames[1].kind == LS_FRAME_LUA &&
	       !(frames->flags & (LS_FRAME_TAIL_CALLED | LS_FRAME_STATE_ROOT));
}

const char *call_names_puc__name(struct call_names_puc *names, const struct ls_puc_layout *layout,
				 const struct ls_frame *frames, uint32_t count)
{
	const char *name = name_without_site(layout, frames, count);
	const struct site *site;

	if (name || !has_site(frames, count))
		return name;
	site = find_site(names, layout, &frames[1]);
	return site ? site->name : NULL;
}

int call_names_puc__vote(struct call_names_puc *names, const struct ls_puc_layout *layout,
			 const struct ls_frame *frames, uint32_t count, uint64_t time_ns,
			 uint32_t function)
{
	const char *name = name_without_site(layout, frames, count);
	struct site *site;

	if (name)
		return functions__vote(names->functions, function, name);
	if (!has_site(frames, count))
		return 0;
	site = find_site(names, layout, &frames[1]);
	if (!site)
		return -ENOMEM;
	if (!site->name)
		return 0;
	if (time_ns > site->proven_ns)
		return functions__vote(names->functions, function, site->name);
	site->unproven = function;
	return 0;
}

static void suggest(void *context, void *value)
{
	const struct site *site = value;

	if (site->unproven)
		functions__suggest(context, site->unproven, site->name);
}

void call_names_puc__suggest(struct call_names_puc *names)
{
	if (!names->needs_proof)
		generations__visit(names->sites, suggest, names->functions);
}

void call_names_puc__require_proof(struct call_names_puc *names)
{
	names->needs_proof = true;
}

uint64_t call_names_puc__unread(const struct call_names_puc *names)
{
	return names->unread;
}
