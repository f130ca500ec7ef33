/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/timeline.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct timeline {
	struct ls_profile_sample *samples;
	size_t count, room, most;
	bool is_sorted;
	uint64_t left_out;
};

struct timeline *timeline__new(size_t most)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->most = most;
	timeline->is_sorted = true;
	return timeline;
}

void timeline__free(struct timeline *timeline)
{
	if (!timeline)
		return;
	free(timeline->samples);
	free(timeline);
}

static int make_room(struct timeline *timeline)
{
	size_t room = timeline->room ? timeline->room * 2 : 4096;
	struct ls_profile_sample *samples;

	if (timeline->count < timeline->room)
		return 0;
	if (room > timeline->most)
		room = timeline->most;
	samples = reallocarray(timeline->samples, room, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	timeline->samples = samples;
	timeline->room = room;
	return 0;
}

int timeline__add(struct timeline *timeline, uint64_t time_ns, uint32_t thread, uint32_t node)
{
	if (timeline->count == timeline->most) {
		timeline->left_out++;
		return 0;
	}
	if (make_room(timeline))
		return -ENOMEM;
	if (timeline->count && time_ns < timeline->samples[timeline->count - 1].time_ns)
		timeline->is_sorted = false;
	timeline->samples[timeline->count++] =
		(struct ls_profile_sample){.time_ns = time_ns, .node = node, .thread = thread};
	return 0;
}

void timeline__renumber(struct timeline *timeline, const uint32_t *nodes)
{
	for (size_t i = 0; i < timeline->count; i++)
		timeline->samples[i].node = nodes[timeline->samples[i].node];
}

/* Samples of the same time are sorted by thread, so that the order is the same in every run. */
static int compare(const void *left, const void *right)
{
	const struct ls_profile_sample *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

void timeline__export(struct timeline *timeline, struct ls_profile *profile)
{
	if (!timeline->is_sorted)
		qsort(timeline->samples, timeline->count, sizeof(*timeline->samples), compare);
	timeline->is_sorted = true;
	profile->samples = timeline->samples;
	profile->sample_count = timeline->count;
	profile->recorder.untimed_samples = timeline->left_out;
}
