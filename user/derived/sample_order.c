/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "derived/sample_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000

/* By node id. */
struct shares {
	uint32_t *categories; /* index */
	uint64_t *counts;     /* samples on the timeline */
	uint64_t *taken;      /* of these, how many have their share */
};

static uint32_t node_of(const struct ls_profile *profile, const struct ls_profile_sample *sample)
{
	return profile->sample_nodes ? profile->sample_nodes[sample->node] : sample->node;
}

static int make_shares(const struct ls_profile *profile, struct shares *shares)
{
	size_t size = (size_t)profile->node_count + 1;

	*shares = (struct shares){.categories = calloc(size, sizeof(uint32_t)),
				  .counts = calloc(size, sizeof(uint64_t)),
				  .taken = calloc(size, sizeof(uint64_t))};
	if (!shares->categories || !shares->counts || !shares->taken)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->category_count; i++)
		shares->categories[profile->categories[i].node] = i;
	for (uint32_t id = 1; id <= profile->node_count; id++)
		if (profile->nodes[id].parent)
			shares->categories[id] = shares->categories[profile->nodes[id].parent];
	for (size_t i = 0; i < profile->sample_count; i++)
		shares->counts[node_of(profile, &profile->samples[i])]++;
	return 0;
}

static void free_shares(struct shares *shares)
{
	free(shares->categories);
	free(shares->counts);
	free(shares->taken);
}

/* 0 for a sample from before the session's start, since the clocks of processors may differ. */
static uint64_t time_of(const struct ls_profile *profile, const struct ls_profile_sample *sample)
{
	uint64_t from_ns = profile->recorder.timed_from_ns;

	return sample->time_ns > from_ns ? (sample->time_ns - from_ns) / NS_PER_US : 0;
}

/* Each share is a difference of running sums, so they add up. */
static uint64_t next_share(struct shares *shares, uint32_t node, uint64_t self_us)
{
	uint64_t count = shares->counts[node], taken = shares->taken[node]++;

	return (uint64_t)((unsigned __int128)self_us * (taken + 1) / count) -
	       (uint64_t)((unsigned __int128)self_us * taken / count);
}

/* The node after `id` in depth-first order; 0: none is left in its category. */
static uint32_t next_node(const struct ls_profile *profile, uint32_t id)
{
	if (profile->nodes[id].first_child)
		return profile->nodes[id].first_child;
	while (id && !profile->nodes[id].next_sibling)
		id = profile->nodes[id].parent;
	return id ? profile->nodes[id].next_sibling : 0;
}

static void add_rest(const struct ls_profile *profile, const struct ls_totals *totals,
		     const struct shares *shares, struct sample_order *order)
{
	for (uint32_t i = 0; i < profile->category_count; i++)
		for (uint32_t id = profile->categories[i].node; id; id = next_node(profile, id)) {
			uint64_t us = totals__node_self_us(profile, totals, id);

			if (us && !shares->counts[id])
				order->samples[order->count++] = (struct ordered_sample){
					.node = id, .category = i, .us = us};
		}
}

int sample_order__make(const struct ls_profile *profile, const struct ls_totals *totals,
		       struct sample_order *order)
{
	struct shares shares;
	int error = make_shares(profile, &shares);

	*order = (struct sample_order){};
	if (error)
		goto cleanup;
	order->samples =
		calloc(profile->sample_count + profile->node_count + 1, sizeof(*order->samples));
	if (!order->samples) {
		error = -ENOMEM;
		goto cleanup;
	}
	for (size_t i = 0; i < profile->sample_count; i++) {
		uint32_t node = node_of(profile, &profile->samples[i]);
		uint64_t self_us = node ? totals__node_self_us(profile, totals, node) : 0;

		/* A view may have left the node out. */
		if (node)
			order->samples[order->count++] = (struct ordered_sample){
				.node = node,
				.thread = profile->samples[i].thread,
				.category = shares.categories[node],
				.us = next_share(&shares, node, self_us),
				.at_us = time_of(profile, &profile->samples[i])};
	}
	add_rest(profile, totals, &shares, order);
cleanup:
	free_shares(&shares);
	return error;
}

void sample_order__free(struct sample_order *order)
{
	free(order->samples);
	*order = (struct sample_order){};
}

/* A sample and its index: sorting must keep the order of time, and qsort() is not stable. */
struct placed {
	struct ordered_sample sample;
	size_t place;
};

static int compare(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->sample.category != b->sample.category)
		return a->sample.category < b->sample.category ? -1 : 1;
	if (a->sample.thread != b->sample.thread)
		return a->sample.thread < b->sample.thread ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

int sample_order__group(struct sample_order *order)
{
	struct placed *placed = calloc(order->count + 1, sizeof(*placed));

	if (!placed)
		return -ENOMEM;
	for (size_t i = 0; i < order->count; i++)
		placed[i] = (struct placed){order->samples[i], i};
	qsort(placed, order->count, sizeof(*placed), compare);
	for (size_t i = 0; i < order->count; i++)
		order->samples[i] = placed[i].sample;
	free(placed);
	return 0;
}

size_t sample_order__group_end(const struct sample_order *order, size_t first)
{
	size_t end = first;

	while (end < order->count &&
	       order->samples[end].category == order->samples[first].category &&
	       order->samples[end].thread == order->samples[first].thread)
		end++;
	return end;
}

size_t sample_order__category_end(const struct sample_order *order, size_t first)
{
	size_t end = first;

	while (end < order->count && order->samples[end].category == order->samples[first].category)
		end++;
	return end;
}

static void lay_out_group(struct sample_order *order, size_t first, size_t end,
			  uint64_t shortest_us)
{
	uint64_t free_us = 0;

	for (size_t i = first; i < end; i++) {
		struct ordered_sample *sample = &order->samples[i];
		uint64_t begin_us = sample->at_us > sample->us ? sample->at_us - sample->us : 0;
		bool pauses = begin_us > free_us && begin_us - free_us >= shortest_us;

		sample->at_us = pauses || i == first ? begin_us : free_us;
		free_us = sample->at_us + sample->us;
	}
}

void sample_order__lay_out(struct sample_order *order, const struct ls_profile *profile)
{
	size_t end;

	for (size_t first = 0; first < order->count; first = end) {
		end = sample_order__group_end(order, first);
		lay_out_group(order, first, end, profile->recorder.period_ns / NS_PER_US / 2);
	}
}
