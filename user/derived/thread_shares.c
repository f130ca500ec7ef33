/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "derived/thread_shares.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "derived/sample_order.h"

static int compare(const void *left, const void *right)
{
	const struct thread_share *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Whether a category has samples of different threads. `threads` is zeroed, by category. */
static bool has_several(const struct sample_order *order, uint32_t *threads)
{
	for (size_t i = 0; i < order->count; i++) {
		const struct ordered_sample *sample = &order->samples[i];
		uint32_t *thread = &threads[sample->category];

		if (sample->thread && *thread && *thread != sample->thread)
			return true;
		if (sample->thread)
			*thread = sample->thread;
	}
	return false;
}

/* Adds up what is of one node and one thread. */
static void join(struct thread_shares *shares)
{
	size_t count = 0;

	for (size_t i = 0; i < shares->count; i++) {
		struct thread_share *last = count ? &shares->items[count - 1] : NULL;

		if (last && !compare(last, &shares->items[i])) {
			last->us += shares->items[i].us;
			last->samples += shares->items[i].samples;
		} else {
			shares->items[count++] = shares->items[i];
		}
	}
	shares->count = count;
}

static int collect(const struct sample_order *order, struct thread_shares *shares)
{
	shares->items = calloc(order->count + 1, sizeof(*shares->items));
	if (!shares->items)
		return -ENOMEM;
	for (size_t i = 0; i < order->count; i++) {
		const struct ordered_sample *sample = &order->samples[i];

		if (sample->thread)
			shares->items[shares->count++] =
				(struct thread_share){sample->node, sample->thread, sample->us, 1};
	}
	qsort(shares->items, shares->count, sizeof(*shares->items), compare);
	join(shares);
	return 0;
}

int thread_shares__make(const struct ls_profile *profile, const struct ls_totals *totals,
			struct thread_shares *shares)
{
	uint32_t *threads = calloc((size_t)profile->category_count + 1, sizeof(*threads));
	struct sample_order order = {};
	int error = 0;

	*shares = (struct thread_shares){};
	if (!threads)
		return -ENOMEM;
	if (profile->sample_count)
		error = sample_order__make(profile, totals, &order);
	if (!error && has_several(&order, threads))
		error = collect(&order, shares);
	sample_order__free(&order);
	free(threads);
	return error;
}

static int compare_node(const void *node, const void *item)
{
	uint32_t a = *(const uint32_t *)node, b = ((const struct thread_share *)item)->node;

	return (a > b) - (a < b);
}

const struct thread_share *thread_shares__of(const struct thread_shares *shares, uint32_t node,
					     size_t *count)
{
	const struct thread_share *found, *end;

	*count = 0;
	if (!shares->count)
		return NULL;
	end = shares->items + shares->count;
	found = bsearch(&node, shares->items, shares->count, sizeof(*found), compare_node);
	if (!found)
		return NULL;
	while (found > shares->items && found[-1].node == node)
		found--;
	while (found + *count < end && found[*count].node == node)
		++*count;
	return found;
}
