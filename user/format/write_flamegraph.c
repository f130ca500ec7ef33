/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A flame graph of CPU time: flame_picture.h. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "derived/frame_labels.h"
#include "flamegraph/flame_picture.h"
#include "format/format.h"

struct graph {
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	struct frame_labels *labels;
	char class[8];
	char detail[FLAME_PICTURE_TEXT_SIZE];
};

static const char *label_of(void *context, uint32_t id)
{
	struct graph *graph = context;

	return frame_labels__of_node(graph->labels, id);
}

/* A class of the style sheet by kind of function, and one of five shades by its name. */
static const char *class_of(void *context, uint32_t id)
{
	struct graph *graph = context;
	const struct ls_profile_node *node = &graph->profile->nodes[id];
	const struct ls_profile_function *function = &graph->profile->functions[node->function];
	const char *kind = "s", *label = label_of(context, id);
	unsigned hash = 0;

	while (*label)
		hash = 31 * hash + (unsigned char)*label++;
	if (!node->function)
		kind = "k";
	else if (profile__is_gc(function))
		kind = "g";
	else if (!function->source)
		kind = "o";
	else if (!strcmp(function->source, "[C]"))
		kind = "c";
	snprintf(graph->class, sizeof(graph->class), "%s%u", kind, hash % 5);
	return graph->class;
}

static const char *detail_of(void *context, uint32_t id)
{
	struct graph *graph = context;
	uint64_t us = graph->totals->node_total_us[id];
	uint64_t self_us = totals__node_self_us(graph->profile, graph->totals, id);
	char total[UNITS_SIZE], self[UNITS_SIZE], share[UNITS_SIZE];

	snprintf(graph->detail, sizeof(graph->detail), "%s us, %s; itself %s us",
		 units__format_count(us, total, sizeof(total)),
		 units__format_share(us, graph->totals->all_us, share, sizeof(share)),
		 units__format_count(self_us, self, sizeof(self)));
	return graph->detail;
}

int write_flamegraph(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	const char *target = profile->recorder.target;
	char time[UNITS_SIZE], note[2 * UNITS_SIZE], title[512];
	struct graph graph = {.profile = profile,
			      .totals = totals,
			      .labels = frame_labels__new(profile, FRAME_LABELS_PLACE)};
	struct flame_picture picture = {.profile = profile,
					.totals = totals,
					.title = title,
					.note = note,
					.style = "",
					.context = &graph,
					.label = label_of,
					.detail = detail_of,
					.class = class_of};
	int error;

	log__printable(target ? target : "CPU time", title, sizeof(title));
	snprintf(note, sizeof(note), "%s of CPU time",
		 units__format_time(1000 * totals->all_us, time, sizeof(time)));
	error = graph.labels ? flame_picture__write(&picture, stream) : -ENOMEM;
	frame_labels__free(graph.labels);
	return error;
}
