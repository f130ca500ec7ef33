/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `perf script` prints: for each sample a line with thread, time and period, and one for each
 * frame, the innermost first. The command is the category, whose number stands for the process id,
 * and the period is the CPU time that the sample stands for. Time that is not on the timeline comes
 * last, as one sample for each stack, on thread 0.
 *
 * To readers, blanks, "(" and "+0x" end a name, and "#" begins a comment: they become "_", "[",
 * "\x2b0x" and "\x23".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "derived/frame_labels.h"
#include "derived/sample_order.h"
#include "format/format.h"

#define NS_PER_US  1000
#define US_PER_S   1000000
#define NO_SOURCE  "[unknown]"
#define CATEGORY   "[category]"
#define ESCAPED    4 /* bytes that a byte may become */
#define FRAME_SIZE 64

struct line {
	char *text;
	size_t length;
};

struct output {
	const struct ls_profile *profile;
	struct line *frames;   /* by function, from 1, then by category */
	struct line *commands; /* by category */
	FILE *stream;
};

/* Appends `text` to a line with enough room for it. */
static void put_field(struct line *line, const char *text)
{
	for (; *text; text++) {
		char *to = line->text + line->length;

		if (!strncmp(text, "+0x", 3) || (*text == '#' && !line->length))
			line->length += (size_t)sprintf(to, "\\x%02x", *text);
		else
			line->text[line->length++] = (char)(*text == ' '   ? '_'
							    : *text == '(' ? '['
							    : *text == ')' ? ']'
									   : *text);
	}
	line->text[line->length] = '\0';
}

static int make_line(struct line *line, const char *name, const char *source)
{
	size_t size = ESCAPED * (strlen(name) + strlen(source)) + FRAME_SIZE;

	*line = (struct line){.text = malloc(size)};
	return line->text ? 0 : -ENOMEM;
}

/* "0000000000000002 work (app.lua:4)"; `number` stands in for the address. */
static int make_frame(struct line *line, uint32_t number, const char *name, const char *source,
		      uint32_t line_number)
{
	if (make_line(line, name, source))
		return -ENOMEM;
	line->length = (size_t)sprintf(line->text, "\t%016" PRIx32 " ", number);
	put_field(line, name);
	line->length += (size_t)sprintf(line->text + line->length, " (");
	put_field(line, source);
	if (line_number)
		line->length +=
			(size_t)sprintf(line->text + line->length, ":%" PRIu32, line_number);
	line->length += (size_t)sprintf(line->text + line->length, ")\n");
	return 0;
}

static int make_function(struct output *output, const struct frame_labels *labels, uint32_t id)
{
	const struct ls_profile_function *function = &output->profile->functions[id];
	const char *source = frame_labels__source(labels, id);

	return make_frame(&output->frames[id], id, frame_labels__of(labels, id),
			  *source ? source : NO_SOURCE,
			  function->current_line ? function->current_line : function->line);
}

static int make_category(struct output *output, const struct frame_labels *labels, uint32_t index)
{
	const char *name = frame_labels__of_category(labels, index);
	uint32_t frame = output->profile->function_count + 1 + index;

	if (make_frame(&output->frames[frame], frame, name, CATEGORY, 0) ||
	    make_line(&output->commands[index], name, ""))
		return -ENOMEM;
	put_field(&output->commands[index], name);
	return 0;
}

static int make_lines(struct output *output, const struct frame_labels *labels)
{
	const struct ls_profile *profile = output->profile;
	size_t count = (size_t)profile->function_count + profile->category_count + 1;
	int error = 0;

	output->frames = calloc(count, sizeof(*output->frames));
	output->commands = calloc((size_t)profile->category_count + 1, sizeof(*output->commands));
	if (!output->frames || !output->commands)
		return -ENOMEM;
	for (uint32_t id = 1; id <= profile->function_count && !error; id++)
		error = make_function(output, labels, id);
	for (uint32_t i = 0; i < profile->category_count && !error; i++)
		error = make_category(output, labels, i);
	return error;
}

static void free_lines(struct output *output)
{
	const struct ls_profile *profile = output->profile;
	size_t count = (size_t)profile->function_count + profile->category_count + 1;

	for (size_t i = 0; output->frames && i < count; i++)
		free(output->frames[i].text);
	for (size_t i = 0; output->commands && i < profile->category_count; i++)
		free(output->commands[i].text);
	free(output->frames);
	free(output->commands);
}

static void put_frame(const struct output *output, uint32_t frame)
{
	fwrite_unlocked(output->frames[frame].text, 1, output->frames[frame].length,
			output->stream);
}

static void put_sample(const struct output *output, const struct ordered_sample *sample,
		       uint64_t at_us)
{
	const struct ls_profile_node *nodes = output->profile->nodes;

	fprintf(output->stream,
		"%s %" PRIu32 "/%" PRIu32 " [000] %" PRIu64 ".%06" PRIu64 ": %" PRIu64
		" cpu-clock:\n",
		output->commands[sample->category].text, sample->category + 1, sample->thread,
		at_us / US_PER_S, at_us % US_PER_S, sample->us * NS_PER_US);
	if (!nodes[sample->node].parent)
		put_frame(output, output->profile->function_count + 1 + sample->category);
	for (uint32_t id = sample->node; nodes[id].parent; id = nodes[id].parent)
		put_frame(output, nodes[id].function);
	fputc_unlocked('\n', output->stream);
}

int write_perf(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct frame_labels *labels = frame_labels__new(profile, FRAME_LABELS_UNIQUE);
	struct output output = {.profile = profile, .stream = stream};
	struct sample_order order;
	uint64_t at_us = 0;
	int error = sample_order__make(profile, totals, &order);

	if (!error)
		error = labels ? make_lines(&output, labels) : -ENOMEM;
	for (size_t i = 0; i < order.count && !error; i++) {
		const struct ordered_sample *sample = &order.samples[i];

		at_us = sample->thread ? sample->at_us : at_us + sample->us;
		put_sample(&output, sample, at_us);
		error = ferror_unlocked(stream) ? -EIO : 0;
	}
	free_lines(&output);
	sample_order__free(&order);
	frame_labels__free(labels);
	return error;
}
