/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "naming/call_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/generations.h"

/* Young sites that are kept, and as many old ones. A dropped site is merely read again. */
#define SITES_MOST 32768

struct site_key {
	struct prototype_key caller;
	uint64_t pc;
};

/* A call instruction, and what it calls its callee. */
struct site {
	char *name; /* NULL: nothing */
	bool is_read;
	uint64_t proven_ns; /* samples taken later prove the name; CLOCK_MONOTONIC */
	uint32_t unproven;  /* a function that it called before then; 0: none */
};

struct call_names {
	pid_t pid;
	struct inspector *inspector;
	struct functions *functions;
	struct generations *sites; /* struct site by struct site_key */
	uint64_t unread;
	bool needs_proof;
};

static void drop_site(void *value)
{
	free(((struct site *)value)->name);
}

struct call_names *call_names__new(pid_t pid, struct inspector *inspector,
				   struct functions *functions)
{
	struct call_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->pid = pid;
	names->inspector = inspector;
	names->functions = functions;
	names->sites = generations__new(sizeof(struct site_key), sizeof(struct site), drop_site);
	if (names->sites)
		return names;
	call_names__free(names);
	return NULL;
}

void call_names__free(struct call_names *names)
{
	if (!names)
		return;
	generations__free(names->sites);
	free(names);
}

/* Finds the site, or adds it, counted as unread. NULL when out of memory. */
static struct site *find_or_add(struct call_names *names, const struct site_key *key)
{
	struct site *site = generations__find(names->sites, key);

	if (site)
		return site;
	if (generations__young(names->sites) >= SITES_MOST)
		generations__age(names->sites);
	site = generations__add(names->sites, key);
	names->unread += site != NULL;
	return site;
}

/*
 * Takes in the result of reading a site. A caller that is gone shows that prototypes of this
 * program come and go; one that could not be read for now is tried again at its next sample.
 */
static int learn(struct call_names *names, const struct prototype_inquiry *inquiry,
		 struct site *site)
{
	const struct call_site *call = &inquiry->site;

	site->is_read = !inspector__is_later(inquiry->error);
	if (inquiry->error == -ESTALE)
		names->needs_proof = true;
	if (inquiry->error)
		return 0;
	names->unread--;
	if (!call_site__has_name(call))
		return 0;
	site->name = strdup(call->name);
	site->proven_ns = call->is_covered ? 0 : clock_ns(CLOCK_MONOTONIC);
	return site->name ? 0 : -ENOMEM;
}

static struct prototype_inquiry inquiry_of(const struct site_key *key)
{
	return (struct prototype_inquiry){
		.key = key->caller, .subject = INQUIRY_CALL, .pc = (uint32_t)key->pc};
}

static struct site_key key_of(const struct ls_frame *caller)
{
	return (struct site_key){{caller->function, caller->fingerprint}, caller->pc};
}

/* The site, read now if it has not been read yet. NULL when out of memory. */
static struct site *find_site(struct call_names *names, const struct layout *layout,
			      const struct ls_frame *caller)
{
	struct site_key key = key_of(caller);
	struct site *site = find_or_add(names, &key);
	struct prototype_inquiry inquiry = inquiry_of(&key);

	if (!site || site->is_read)
		return site;
	inspector__prototypes(names->inspector, names->pid, layout, &inquiry, 1);
	return learn(names, &inquiry, site) ? NULL : site;
}

/* The name that debug.getinfo would give if no call instruction made the call; NULL: none. */
static const char *name_without_site(const struct layout *layout, const struct ls_frame *frames,
				     uint32_t count)
{
	const struct family *family = layout->family;

	return family->implicit_call_name
		       ? family->implicit_call_name(layout->offsets, frames, count)
		       : NULL;
}

static bool has_site(const struct ls_frame *frames, uint32_t count)
{
	return count > 1 && frames[1].kind == LS_FRAME_LUA && frames[1].pc != LS_PC_UNKNOWN &&
	       !(frames->flags & (LS_FRAME_TAIL_CALLED | LS_FRAME_STATE_ROOT));
}

int call_names__inquire(struct call_names *names, const struct ls_frame *frames, uint32_t count,
			struct prototype_inquiry *inquiry)
{
	struct site_key key;
	const struct site *site;

	if (!has_site(frames, count))
		return 0;
	key = key_of(&frames[1]);
	site = find_or_add(names, &key);
	*inquiry = inquiry_of(&key);
	return site ? !site->is_read : -ENOMEM;
}

int call_names__learn(struct call_names *names, const struct prototype_inquiry *inquiry)
{
	const struct site_key key = {inquiry->key, inquiry->pc};
	struct site *site = generations__find(names->sites, &key);

	return site && !site->is_read ? learn(names, inquiry, site) : 0;
}

const char *call_names__name(struct call_names *names, const struct layout *layout,
			     const struct ls_frame *frames, uint32_t count)
{
	const char *name = name_without_site(layout, frames, count);
	const struct site *site;

	if (name || !has_site(frames, count))
		return name;
	site = find_site(names, layout, &frames[1]);
	return site ? site->name : NULL;
}

int call_names__vote(struct call_names *names, const struct layout *layout,
		     const struct ls_frame *frames, uint32_t count, uint64_t time_ns,
		     uint32_t function, const char **name)
{
	struct site *site;

	*name = name_without_site(layout, frames, count);
	if (*name)
		return functions__vote(names->functions, function, *name);
	if (!has_site(frames, count))
		return 0;
	site = find_site(names, layout, &frames[1]);
	if (!site)
		return -ENOMEM;
	if (!site->name)
		return 0;
	if (time_ns <= site->proven_ns) {
		site->unproven = function;
		return 0;
	}
	*name = site->name;
	return functions__vote(names->functions, function, *name);
}

static void suggest(void *context, void *value)
{
	const struct site *site = value;

	if (site->unproven)
		functions__suggest(context, site->unproven, site->name);
}

void call_names__suggest(struct call_names *names)
{
	if (!names->needs_proof)
		generations__visit(names->sites, suggest, names->functions);
}

bool call_names__needs_proof(const struct call_names *names)
{
	return names->needs_proof;
}

void call_names__require_proof(struct call_names *names)
{
	names->needs_proof = true;
}

uint64_t call_names__unread(const struct call_names *names)
{
	return names->unread;
}
