/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "combine/paired_functions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A function of a recording. */
struct entry {
	const struct ls_profile_function *function;
	bool is_after;
};

struct pair {
	const struct ls_profile_function *before, *after;
};

struct paired_functions {
	struct pair *pairs; /* in the order of compare_looks() */
	size_t count;
};

/* Those of one side that no function of the other side looks like, among some of one name. */
struct unmatched {
	const struct ls_profile_function *function[2];
	size_t count[2];
};

static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

static int compare_names(const struct ls_profile_function *a, const struct ls_profile_function *b)
{
	int order = compare_texts(a->source, b->source);

	if (!order)
		order = compare_texts(a->name, b->name);
	return order ? order : (a->flags > b->flags) - (a->flags < b->flags);
}

static int compare_looks(const struct ls_profile_function *a, const struct ls_profile_function *b)
{
	int order = compare_names(a, b);

	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	return order ? order
		     : (a->current_line > b->current_line) - (a->current_line < b->current_line);
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return compare_looks(a->function, b->function);
}

static int compare_pairs(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	return compare_looks(a->before, b->before);
}

/* Takes the entries that look like the first one. Returns how many there are. */
static size_t take_look(const struct entry *entries, size_t count, struct unmatched *unmatched)
{
	bool has[2] = {};
	size_t taken = 0;

	for (; taken < count && !compare_entries(entries, &entries[taken]); taken++)
		has[entries[taken].is_after] = true;
	if (has[false] != has[true]) {
		unmatched->function[has[true]] = entries->function;
		unmatched->count[has[true]]++;
	}
	return taken;
}

/* Takes the entries of the first one's name, which become at most one pair. */
static size_t take_name(struct paired_functions *paired, const struct entry *entries, size_t count)
{
	const struct ls_profile_function *first = entries->function;
	struct unmatched unmatched = {};
	size_t taken = 0;

	while (taken < count && !compare_names(first, entries[taken].function))
		taken += take_look(&entries[taken], count - taken, &unmatched);
	if (first->name && *first->name && unmatched.count[false] == 1 &&
	    unmatched.count[true] == 1 && !unmatched.function[false]->current_line &&
	    !unmatched.function[true]->current_line)
		paired->pairs[paired->count++] =
			(struct pair){unmatched.function[false], unmatched.function[true]};
	return taken;
}

/* NULL: out of memory. The caller frees. */
static struct entry *collect(const struct ls_profile *const *from, size_t count,
			     size_t before_count, size_t *entry_count)
{
	struct entry *entries;
	size_t room = 1;

	for (size_t i = 0; i < count; i++)
		room += from[i]->function_count;
	*entry_count = 0;
	entries = calloc(room, sizeof(*entries));
	for (size_t i = 0; entries && i < count; i++)
		for (uint32_t id = 1; id <= from[i]->function_count; id++)
			entries[(*entry_count)++] =
				(struct entry){&from[i]->functions[id], i >= before_count};
	return entries;
}

int paired_functions__new(const struct ls_profile *const *from, size_t count, size_t before_count,
			  struct paired_functions **made)
{
	struct paired_functions *paired = calloc(1, sizeof(*paired));
	size_t entry_count, taken = 0;
	struct entry *entries = collect(from, count, before_count, &entry_count);

	*made = paired;
	if (paired)
		paired->pairs = calloc(entry_count / 2 + 1, sizeof(*paired->pairs));
	if (!paired || !paired->pairs || !entries) {
		paired_functions__free(paired);
		free(entries);
		*made = NULL;
		return -ENOMEM;
	}
	qsort(entries, entry_count, sizeof(*entries), compare_entries);
	while (taken < entry_count)
		taken += take_name(paired, &entries[taken], entry_count - taken);
	free(entries);
	return 0;
}

void paired_functions__free(struct paired_functions *paired)
{
	if (!paired)
		return;
	free(paired->pairs);
	free(paired);
}

const struct ls_profile_function *
paired_functions__after(const struct paired_functions *paired,
			const struct ls_profile_function *function)
{
	const struct pair wanted = {.before = function};
	const struct pair *found = bsearch(&wanted, paired->pairs, paired->count,
					   sizeof(*paired->pairs), compare_pairs);

	return found ? found->after : function;
}
