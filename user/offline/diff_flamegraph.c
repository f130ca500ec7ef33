/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "derived/frame_labels.h"
#include "flamegraph/flame_picture.h"
#include "offline/diff_report.h"

/* Frames are as wide as billionths of the CPU time say. */
#define PARTS 1e9

/* The darkest of five shades is that of a change of a tenth of the CPU time or more. */
#define SHADES     5
#define SHADE_MOST 0.1

#define HUE(kind, hue)                                                                             \
	"." kind "1>rect{fill:hsl(" hue ",75%,88%)}." kind "2>rect{fill:hsl(" hue                  \
	",75%,80%)}." kind "3>rect{fill:hsl(" hue ",75%,72%)}." kind "4>rect{fill:hsl(" hue        \
	",75%,64%)}." kind "5>rect{fill:hsl(" hue ",75%,56%)}\n"

struct graph {
	const struct profile_diff *diff;
	struct frame_labels *labels;
	char class[8];
	char text[FLAME_PICTURE_TEXT_SIZE + 256];
};

static const struct diff_row *row_of(const struct graph *graph, uint32_t id)
{
	return &profile_diff__rows(graph->diff, PROFILE_DIFF_STACK)[id];
}

/* The change comes first, where there is room in the narrowest frame that has text. */
static const char *label_of(void *context, uint32_t id)
{
	struct graph *graph = context;
	const struct diff_row *row = row_of(graph, id);
	const char *name = frame_labels__of_node(graph->labels, id);

	if (row->verdict == DIFF_NOISE)
		return name;
	snprintf(graph->text, sizeof(graph->text), "%+.1f%% %s", 100 * (row->after - row->before),
		 name);
	return graph->text;
}

static const char *detail_of(void *context, uint32_t id)
{
	struct graph *graph = context;
	const struct diff_row *row = row_of(graph, id);
	static const char *const words[] = {[DIFF_NOISE] = "no change beyond noise",
					    [DIFF_SLOWER] = "slower",
					    [DIFF_FASTER] = "faster"};

	snprintf(graph->text, sizeof(graph->text),
		 "%.2f%% before, %.2f%% after: %+.2f, standard error %.2f; %s", 100 * row->before,
		 100 * row->after, 100 * (row->after - row->before), 100 * row->error,
		 words[row->verdict]);
	return graph->text;
}

static const char *class_of(void *context, uint32_t id)
{
	struct graph *graph = context;
	const struct diff_row *row = row_of(graph, id);
	int shade = (int)ceil(SHADES * fabs(row->after - row->before) / SHADE_MOST);

	if (row->verdict == DIFF_NOISE)
		return "n";
	snprintf(graph->class, sizeof(graph->class), "%c%d",
		 row->verdict == DIFF_SLOWER ? 'r' : 'b',
		 shade < 1        ? 1
		 : shade > SHADES ? SHADES
				  : shade);
	return graph->class;
}

static int make_widths(const struct profile_diff *diff, struct ls_totals *totals)
{
	const struct ls_profile *profile = profile_diff__profile(diff);
	const struct diff_row *rows = profile_diff__rows(diff, PROFILE_DIFF_STACK);

	totals->node_total_us = calloc((size_t)profile->node_count + 1, sizeof(uint64_t));
	if (!totals->node_total_us)
		return -ENOMEM;
	for (uint32_t id = 1; id <= profile->node_count; id++)
		totals->node_total_us[id] =
			(uint64_t)(PARTS * (rows[id].before + rows[id].after) / 2);
	for (uint32_t i = 0; i < profile->category_count; i++)
		totals->all_us += totals->node_total_us[profile->categories[i].node];
	return 0;
}

int diff_report__write_flamegraph(const struct profile_diff *diff, FILE *stream)
{
	const struct ls_profile *profile = profile_diff__profile(diff);
	struct graph graph = {.diff = diff,
			      .labels = frame_labels__new(profile, FRAME_LABELS_PLACE)};
	struct ls_totals widths = {};
	struct flame_picture picture = {
		.profile = profile,
		.totals = &widths,
		.title = "Before and after",
		.note = "red and +: takes more than before; blue and -: less; grey: no change "
			"beyond noise; width: mean of both",
		.style = HUE("r", "5") HUE("b", "215") ".n>rect{fill:#ddd}\n",
		.context = &graph,
		.label = label_of,
		.detail = detail_of,
		.class = class_of};
	int error = graph.labels ? make_widths(diff, &widths) : -ENOMEM;

	if (!error)
		error = flame_picture__write(&picture, stream);
	free(widths.node_total_us);
	frame_labels__free(graph.labels);
	return error;
}
