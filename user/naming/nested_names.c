/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "naming/nested_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/generations.h"

/* Young functions that are kept, and as many old ones; likewise definers. */
#define FUNCTIONS_MOST 32768
#define DEFINERS_MOST  8192

struct function {
	char *name; /* NULL: disputed */
	bool is_proven;
};

/* One whose names are not proven. */
struct definer {
	struct prototype_key *functions;
	size_t count;
};

/* How many of the functions that a program keeps are read, those of C included. */
#define KEPT_MOST 1024

struct nested_names {
	pid_t pid;
	struct inspector *inspector;
	struct generations *functions; /* struct function by struct prototype_key */
	struct generations *definers;  /* struct definer by struct prototype_key */
	uint32_t edition; /* changes whenever there may be a name where there was none; not 0 */
};

static void drop_function(void *value)
{
	free(((struct function *)value)->name);
}

static void drop_definer(void *value)
{
	free(((struct definer *)value)->functions);
}

struct nested_names *nested_names__new(pid_t pid, struct inspector *inspector)
{
	struct nested_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->pid = pid;
	names->inspector = inspector;
	names->edition = 1;
	names->functions = generations__new(sizeof(struct prototype_key), sizeof(struct function),
					    drop_function);
	names->definers = generations__new(sizeof(struct prototype_key), sizeof(struct definer),
					   drop_definer);
	if (names->functions && names->definers)
		return names;
	nested_names__free(names);
	return NULL;
}

void nested_names__free(struct nested_names *names)
{
	if (!names)
		return;
	generations__free(names->functions);
	generations__free(names->definers);
	free(names);
}

/* Finds the entry, or adds one of zeros. NULL when out of memory. */
static void *find_or_add(struct generations *entries, const struct prototype_key *key,
			 uint32_t most)
{
	void *entry = generations__find(entries, key);

	if (entry)
		return entry;
	if (generations__young(entries) >= most)
		generations__age(entries);
	return generations__add(entries, key);
}

static struct prototype_key key_of(const struct nested_definition *item)
{
	return (struct prototype_key){item->address, item->fingerprint};
}

static int learn_function(struct nested_names *names, const struct nested_definition *item,
			  bool is_proven)
{
	const struct prototype_key key = key_of(item);
	struct function *function = generations__find(names->functions, &key);

	if (function && (!function->name || strcmp(function->name, item->name))) {
		free(function->name);
		function->name = NULL;
		return 0;
	}
	if (!function) {
		function = find_or_add(names->functions, &key, FUNCTIONS_MOST);
		if (function)
			function->name = strdup(item->name);
		if (!function || !function->name)
			return -ENOMEM;
	}
	function->is_proven |= is_proven;
	return 0;
}

/* Keeps which functions a later sample proves the names of. */
static int keep_definer(struct nested_names *names, const struct prototype_key *key,
			const struct nested_definitions *found)
{
	struct definer *definer = find_or_add(names->definers, key, DEFINERS_MOST);

	if (!definer)
		return -ENOMEM;
	free(definer->functions);
	definer->count = 0;
	definer->functions = calloc(found->count, sizeof(*definer->functions));
	if (!definer->functions)
		return -ENOMEM;
	definer->count = found->count;
	for (size_t i = 0; i < found->count; i++)
		definer->functions[i] = key_of(&found->items[i]);
	return 0;
}

static int learn(struct nested_names *names, const struct prototype_key *definer,
		 const struct nested_definitions *found)
{
	int error = 0;

	if (!found->count)
		return 0;
	for (size_t i = 0; i < found->count && !error; i++)
		error = learn_function(names, &found->items[i], found->is_covered);
	names->edition++;
	return error || found->is_covered ? error : keep_definer(names, definer, found);
}

int nested_names__learn(struct nested_names *names, struct nested_state *state,
			struct prototype_inquiry *inquiry)
{
	const struct nested_definitions *found = &inquiry->nested;
	int error = 0;

	state->is_read = !inspector__is_later(inquiry->error);
	if (!inquiry->error) {
		state->is_proven = !found->count || found->is_covered;
		state->read_ns = clock_ns(CLOCK_MONOTONIC);
		error = learn(names, &inquiry->key, found);
	}
	free(inquiry->nested.items);
	inquiry->nested = (struct nested_definitions){};
	return error;
}

static void prove_function(void *context, void *value)
{
	(void)context;
	((struct function *)value)->is_proven = true;
}

/* What the definer has called its functions is proven. */
static void prove(struct nested_names *names, const struct prototype_key *definer)
{
	struct definer *found = generations__find(names->definers, definer);

	for (size_t i = 0; found && i < found->count; i++) {
		void *function = generations__find(names->functions, &found->functions[i]);

		if (function)
			prove_function(NULL, function);
	}
	if (found)
		found->count = 0;
	names->edition++;
}

int nested_names__meet(struct nested_names *names, const struct layout *layout,
		       const struct prototype_key *key, struct nested_state *state,
		       uint64_t time_ns)
{
	struct prototype_inquiry inquiry = {.key = *key, .subject = INQUIRY_NESTED};

	if (!state->is_read) {
		inspector__prototypes(names->inspector, names->pid, layout, &inquiry, 1);
		return nested_names__learn(names, state, &inquiry);
	}
	if (!state->is_proven && time_ns > state->read_ns) {
		state->is_proven = true;
		prove(names, key);
	}
	return 0;
}

/* The program kept the definers a moment ago, so no later sample needs to prove their names. */
static int learn_kept(struct nested_names *names, struct prototype_inquiry *inquiries, size_t count)
{
	int error = 0;

	for (size_t i = 0; i < count; i++) {
		struct nested_definitions *found = &inquiries[i].nested;

		found->is_covered = true;
		if (!inquiries[i].error && !error)
			error = learn(names, &inquiries[i].key, found);
		free(found->items);
	}
	return error;
}

int nested_names__read_kept(struct nested_names *names, const struct layout *layout,
			    const struct c_function_names *kept)
{
	struct prototype_inquiry inquiries[PROTOTYPE_INQUIRIES_MAX];
	size_t count = 0, asked = 0;
	int error = 0;

	for (size_t i = 0; i < kept->count && asked < KEPT_MOST && !error; i++) {
		bool is_last = i + 1 == kept->count || asked + 1 == KEPT_MOST;

		if (kept->items[i].is_given) {
			inquiries[count++] = (struct prototype_inquiry){
				.key = {.address = kept->items[i].function},
				.subject = INQUIRY_KEPT};
			asked++;
		}
		if (count < PROTOTYPE_INQUIRIES_MAX && !is_last)
			continue;
		inspector__prototypes(names->inspector, names->pid, layout, inquiries, count);
		error = learn_kept(names, inquiries, count);
		count = 0;
	}
	return error;
}

void nested_names__prove_all(struct nested_names *names)
{
	generations__visit(names->functions, prove_function, NULL);
	names->edition++;
}

const char *nested_names__find(struct nested_names *names, const struct prototype_key *key,
			       struct nested_state *state)
{
	const struct function *found;

	if (state->edition == names->edition)
		return NULL;
	state->edition = names->edition;
	found = generations__find(names->functions, key);
	return found && found->is_proven ? found->name : NULL;
}
