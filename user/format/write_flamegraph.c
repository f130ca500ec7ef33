/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flame graph as one SVG file that any browser shows, also without scripts: a row for each depth,
 * the outermost calls on top, each frame as wide as its share of the CPU time. What a frame is, its
 * tooltip says. With scripts, a click zooms, and Ctrl-F marks what matches.
 *
 * Frames that would be narrower than a tenth of a pixel are left out, which the head says. Names
 * are text, never markup, and the script knows none of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "format/flamegraph_script.h"
#include "format/format.h"
#include "format/frame_labels.h"

#define WIDTH         1200
#define ROW           16
#define HEAD          48    /* height of the title and the line below it */
#define MARGIN        10    /* on either side, and below */
#define SHARE_LEAST   12000 /* a frame has at least one of these parts of the width */
#define LETTER_WIDTH  6.6   /* of 11 px monospace, in CSS pixels */
#define LETTERS_LEAST 3

struct picture {
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	struct frame_labels *labels;
	FILE *stream;
	uint64_t *starts_us; /* by node: where its frame begins */
	uint32_t *depths;    /* by node, categories at 0 */
	uint32_t depth;      /* of the deepest frame that is shown */
	uint64_t left_out;   /* frames */
};

static bool is_shown(const struct picture *picture, uint32_t id)
{
	uint64_t us = picture->totals->node_total_us[id];

	return us && us >= picture->totals->all_us / SHARE_LEAST;
}

/* Text of XML. Labels have no control characters. */
static void put_escaped(FILE *stream, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		switch (text[i]) {
		case '&':
			fputs("&amp;", stream);
			break;
		case '<':
			fputs("&lt;", stream);
			break;
		case '>':
			fputs("&gt;", stream);
			break;
		case '"':
			fputs("&quot;", stream);
			break;
		default:
			fputc(text[i], stream);
		}
	}
}

/* Where the frames are. A parent's id is lower than its children's. */
static int lay_out(struct picture *picture)
{
	const struct ls_profile *profile = picture->profile;
	uint64_t at_us = 0;

	picture->starts_us = calloc((size_t)profile->node_count + 1, sizeof(uint64_t));
	picture->depths = calloc((size_t)profile->node_count + 1, sizeof(uint32_t));
	if (!picture->starts_us || !picture->depths)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->category_count; i++) {
		picture->starts_us[profile->categories[i].node] = at_us;
		at_us += picture->totals->node_total_us[profile->categories[i].node];
	}
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		at_us = picture->starts_us[id];
		for (uint32_t child = profile->nodes[id].first_child; child;
		     child = profile->nodes[child].next_sibling) {
			picture->starts_us[child] = at_us;
			picture->depths[child] = picture->depths[id] + 1;
			at_us += picture->totals->node_total_us[child];
		}
		if (!is_shown(picture, id))
			picture->left_out += picture->totals->node_total_us[id] != 0;
		else if (picture->depths[id] > picture->depth)
			picture->depth = picture->depths[id];
	}
	return 0;
}

/* A class of the style sheet by kind of function, and one of five shades by its name. */
static void put_class(const struct picture *picture, uint32_t id, const char *label)
{
	const struct ls_profile_node *node = &picture->profile->nodes[id];
	const struct ls_profile_function *function = &picture->profile->functions[node->function];
	const char *kind = "s";
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
	fprintf(picture->stream, "<g class=\"%s%u\">", kind, hash % 5);
}

static double x_of(const struct picture *picture, uint64_t us)
{
	return (double)us / (double)picture->totals->all_us * (WIDTH - 2 * MARGIN);
}

static void put_title(const struct picture *picture, uint32_t id, const char *label)
{
	uint64_t us = picture->totals->node_total_us[id];
	uint64_t self_us = totals__node_self_us(picture->profile, picture->totals, id);
	char total[UNITS_SIZE], self[UNITS_SIZE], share[UNITS_SIZE];

	units__format_share(us, picture->totals->all_us, share, sizeof(share));
	fputs("<title>", picture->stream);
	put_escaped(picture->stream, label, strlen(label));
	fprintf(picture->stream, "\n%s us, ", units__format_count(us, total, sizeof(total)));
	put_escaped(picture->stream, share, strlen(share));
	fprintf(picture->stream, "; itself %s us</title>",
		units__format_count(self_us, self, sizeof(self)));
}

/* As much of the label as has room, in whole characters. */
static void put_label(const struct picture *picture, const char *label, double x, double y,
		      double width)
{
	size_t room = (size_t)(width / LETTER_WIDTH), length = strlen(label);

	if (room < LETTERS_LEAST)
		return;
	fprintf(picture->stream, "<text x=\"%.2f\" y=\"%.0f\">", x + 2, y + ROW - 4);
	if (length > room) {
		length = room - 1;
		while (length && ((unsigned char)label[length] & 0xc0) == 0x80)
			length--;
		put_escaped(picture->stream, label, length);
		fputs("\xe2\x80\xa6", picture->stream);
	} else {
		put_escaped(picture->stream, label, length);
	}
	fputs("</text>", picture->stream);
}

static void put_frame(const struct picture *picture, uint32_t id)
{
	const char *label = frame_labels__of_node(picture->labels, id);
	double x = MARGIN + x_of(picture, picture->starts_us[id]);
	double width = x_of(picture, picture->totals->node_total_us[id]);
	double y = HEAD + (double)ROW * picture->depths[id];

	put_class(picture, id, label);
	put_title(picture, id, label);
	fprintf(picture->stream,
		"<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" rx=\"1\"/>", x, y, width,
		ROW - 1);
	put_label(picture, label, x, y, width);
	fputs("</g>\n", picture->stream);
}

static void put_head(const struct picture *picture)
{
	const char *target = picture->profile->recorder.target;
	unsigned height = HEAD + ROW * (picture->depth + 1) + MARGIN;
	char time[UNITS_SIZE], count[UNITS_SIZE], name[512];

	log__printable(target ? target : "CPU time", name, sizeof(name));
	fprintf(picture->stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\">\n<title>",
		WIDTH, height, WIDTH, height);
	put_escaped(picture->stream, name, strlen(name));
	fprintf(picture->stream, "</title>\n<style>%s</style>\n", flamegraph_style);
	fprintf(picture->stream,
		"<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
		"<text class=\"head\" x=\"%d\" y=\"20\">",
		MARGIN);
	put_escaped(picture->stream, name, strlen(name));
	fprintf(picture->stream, "</text>\n<text id=\"note\" x=\"%d\" y=\"38\">%s of CPU time",
		MARGIN, units__format_time(1000 * picture->totals->all_us, time, sizeof(time)));
	if (picture->left_out)
		fprintf(picture->stream, "; %s frames are too narrow to be shown",
			units__format_count(picture->left_out, count, sizeof(count)));
	fputs("</text>\n<g id=\"frames\">\n", picture->stream);
}

int write_flamegraph(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct picture picture = {.profile = profile,
				  .totals = totals,
				  .labels = frame_labels__new(profile, FRAME_LABELS_PLACE),
				  .stream = stream};
	int err = picture.labels ? lay_out(&picture) : -ENOMEM;

	if (!err) {
		put_head(&picture);
		for (uint32_t id = 1; id <= profile->node_count; id++)
			if (is_shown(&picture, id))
				put_frame(&picture, id);
		fprintf(stream, "</g>\n<script><![CDATA[%s]]></script>\n</svg>\n",
			flamegraph_script);
		err = ferror(stream) ? -EIO : 0;
	}
	free(picture.starts_us);
	free(picture.depths);
	frame_labels__free(picture.labels);
	return err;
}
