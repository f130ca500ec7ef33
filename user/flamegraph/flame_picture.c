/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flamegraph/flame_picture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "flamegraph/flamegraph_script.h"

#define WIDTH         1200
#define ROW           16
#define HEAD          48    /* height of the title and the line below it */
#define MARGIN        10    /* on either side, and below */
#define SHARE_LEAST   12000 /* a frame has at least one of these parts of the width */
#define LETTER_WIDTH  6.6   /* of 11 px monospace, in CSS pixels */
#define LETTERS_LEAST 3

struct drawing {
	const struct flame_picture *picture;
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	FILE *stream;
	uint64_t *starts_us; /* by node: where its frame begins */
	uint32_t *depths;    /* by node, categories at 0 */
	uint32_t depth;      /* of the deepest frame that is shown */
	uint64_t left_out;   /* frames */
};

static bool is_shown(const struct drawing *drawing, uint32_t id)
{
	uint64_t us = drawing->totals->node_total_us[id];

	return us && us >= drawing->totals->all_us / SHARE_LEAST;
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
static int lay_out(struct drawing *drawing)
{
	const struct ls_profile *profile = drawing->profile;
	uint64_t at_us = 0;

	drawing->starts_us = calloc((size_t)profile->node_count + 1, sizeof(uint64_t));
	drawing->depths = calloc((size_t)profile->node_count + 1, sizeof(uint32_t));
	if (!drawing->starts_us || !drawing->depths)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->category_count; i++) {
		drawing->starts_us[profile->categories[i].node] = at_us;
		at_us += drawing->totals->node_total_us[profile->categories[i].node];
	}
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		at_us = drawing->starts_us[id];
		for (uint32_t child = profile->nodes[id].first_child; child;
		     child = profile->nodes[child].next_sibling) {
			drawing->starts_us[child] = at_us;
			drawing->depths[child] = drawing->depths[id] + 1;
			at_us += drawing->totals->node_total_us[child];
		}
		if (!is_shown(drawing, id))
			drawing->left_out += drawing->totals->node_total_us[id] != 0;
		else if (drawing->depths[id] > drawing->depth)
			drawing->depth = drawing->depths[id];
	}
	return 0;
}

static double x_of(const struct drawing *drawing, uint64_t us)
{
	return (double)us / (double)drawing->totals->all_us * (WIDTH - 2 * MARGIN);
}

/* As much of the label as has room, in whole characters. */
static void put_label(const struct drawing *drawing, const char *label, double x, double y,
		      double width)
{
	size_t room = (size_t)(width / LETTER_WIDTH), length = strlen(label);

	if (room < LETTERS_LEAST)
		return;
	fprintf(drawing->stream, "<text x=\"%.2f\" y=\"%.0f\">", x + 2, y + ROW - 4);
	if (length > room) {
		length = room - 1;
		while (length && ((unsigned char)label[length] & 0xc0) == 0x80)
			length--;
		put_escaped(drawing->stream, label, length);
		fputs("\xe2\x80\xa6", drawing->stream);
	} else {
		put_escaped(drawing->stream, label, length);
	}
	fputs("</text>", drawing->stream);
}

static void put_frame(const struct drawing *drawing, uint32_t id)
{
	const struct flame_picture *picture = drawing->picture;
	double x = MARGIN + x_of(drawing, drawing->starts_us[id]);
	double width = x_of(drawing, drawing->totals->node_total_us[id]);
	double y = HEAD + (double)ROW * drawing->depths[id];
	const char *label, *detail;

	fprintf(drawing->stream, "<g class=\"%s\"><title>", picture->class(picture->context, id));
	label = picture->label(picture->context, id);
	put_escaped(drawing->stream, label, strlen(label));
	fputc('\n', drawing->stream);
	detail = picture->detail(picture->context, id);
	put_escaped(drawing->stream, detail, strlen(detail));
	fprintf(drawing->stream,
		"</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" rx=\"1\"/>", x, y,
		width, ROW - 1);
	put_label(drawing, picture->label(picture->context, id), x, y, width);
	fputs("</g>\n", drawing->stream);
}

static void put_head(const struct drawing *drawing)
{
	const struct flame_picture *picture = drawing->picture;
	unsigned height = HEAD + ROW * (drawing->depth + 1) + MARGIN;
	char count[UNITS_SIZE];

	fprintf(drawing->stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\">\n<title>",
		WIDTH, height, WIDTH, height);
	put_escaped(drawing->stream, picture->title, strlen(picture->title));
	fprintf(drawing->stream, "</title>\n<style>%s%s</style>\n", flamegraph_style,
		picture->style);
	fprintf(drawing->stream,
		"<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
		"<text class=\"head\" x=\"%d\" y=\"20\">",
		MARGIN);
	put_escaped(drawing->stream, picture->title, strlen(picture->title));
	fprintf(drawing->stream, "</text>\n<text id=\"note\" x=\"%d\" y=\"38\">", MARGIN);
	put_escaped(drawing->stream, picture->note, strlen(picture->note));
	if (drawing->left_out)
		fprintf(drawing->stream, "; %s frames are too narrow to be shown",
			units__format_count(drawing->left_out, count, sizeof(count)));
	fputs("</text>\n<g id=\"frames\">\n", drawing->stream);
}

int flame_picture__write(const struct flame_picture *picture, FILE *stream)
{
	struct drawing drawing = {.picture = picture,
				  .profile = picture->profile,
				  .totals = picture->totals,
				  .stream = stream};
	int error = lay_out(&drawing);

	if (!error) {
		put_head(&drawing);
		for (uint32_t id = 1; id <= picture->profile->node_count; id++)
			if (is_shown(&drawing, id))
				put_frame(&drawing, id);
		fprintf(stream, "</g>\n<script><![CDATA[%s]]></script>\n</svg>\n",
			flamegraph_script);
		error = ferror(stream) ? -EIO : 0;
	}
	free(drawing.starts_us);
	free(drawing.depths);
	return error;
}
