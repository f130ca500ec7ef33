/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folded stacks: a line for each stack, "frame;frame;frame COUNT", outermost frame first. The
 * format has no unit. Counts are taken for microseconds, as luaspy writes them; if they are
 * samples, the shares are still right.
 *
 * If none of the outermost frames has a line, they are threads, processes or programs, and become
 * categories. Else they are functions, and so they are if no stack has another frame.
 */
#include <ctype.h>
#include <errno.h>

#include "base/log.h"
#include "json/json_reader.h"
#include "reader/input_format.h"
#include "reader/parsed_label.h"

#define NS_PER_US 1000
#define CATEGORY  "(root)"

/* What a frame of the file is in the profile. */
struct frame {
	uint32_t function;
	bool has_line;
};

struct folded {
	struct loaded_profile *loaded;
	char *reason;
	struct profile_builder *raw; /* its functions are frames as in the file */
	uint32_t root;               /* its only category */
	size_t line;
	uint64_t us;
	struct frame *frames; /* by id of a raw function */
	uint32_t *nodes;      /* by raw node: that in the profile */
};

/* What pictures, pages and Callgrind's files begin with, of luaspy and of others. */
static bool is_other_text(const char *head)
{
	static const char *const beginnings[] = {"{",    "[",     "<?xml",     "<svg",
						 "<!--", "<html", "<!DOCTYPE", "# callgrind"};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (!strncasecmp(head, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

/* Whether it has several frames, or a number at its end, or goes on behind what is known. */
static bool may_be_stack(const char *line)
{
	size_t length = strcspn(line, "\r\n");

	return !line[length] || memchr(line, ';', length) ||
	       (length && isdigit((unsigned char)line[length - 1]));
}

bool is_folded(const char *head, size_t size)
{
	const char *line = head;

	if (strlen(head) != size || is_other_text(head))
		return false;
	while (*line == '#' || *line == '\r' || *line == '\n')
		line += strcspn(line, "\n") + (strchr(line, '\n') != NULL);
	return may_be_stack(line);
}

static int refuse(const struct folded *folded, const char *what)
{
	return input_format__refuse(folded->reason, "%s, in line %zu", what, folded->line);
}

/* Cuts the count off the end of a line. */
static int take_count(struct folded *folded, char *line, uint64_t *count)
{
	char *at = strrchr(line, ' '), *digit = at ? at + 1 : NULL;

	*count = 0;
	if (!at || at == line || !*digit)
		return refuse(folded, "expected 'frame;frame COUNT'");
	for (; *digit; digit++) {
		if (!isdigit((unsigned char)*digit))
			return refuse(folded, "expected a whole number behind the stack");
		*count = 10 * *count + (uint64_t)(*digit - '0');
		if (*count > JSON_READER_UINT_MAX - folded->us)
			return refuse(folded, "the counts are too large together");
	}
	folded->us += *count;
	*at = '\0';
	return 0;
}

static int take_stack(struct folded *folded, char *stack, uint64_t us)
{
	struct call_tree *tree = profile_builder__tree(folded->raw);
	uint32_t node = folded->root;
	char *frame;

	while ((frame = strsep(&stack, ";"))) {
		const struct ls_profile_function named = {.name = frame};
		uint32_t function = profile_builder__function(folded->raw, &named);

		node = function ? call_tree__child(tree, node, function) : 0;
		if (!node)
			return -ENOMEM;
		if (call_tree__nodes(tree) > INPUT_NODES_MAX)
			return refuse(folded, "more than " INPUT_NODES_MAX_TEXT " nodes");
	}
	call_tree__add(tree, node, 0, NS_PER_US * us);
	return 0;
}

static int take_line(struct folded *folded, char *line)
{
	size_t length = strlen(line);
	uint64_t count;
	int error;

	folded->line++;
	if (length && line[length - 1] == '\r')
		line[--length] = '\0';
	if (!length || *line == '#')
		return 0;
	error = take_count(folded, line, &count);
	return error ? error : take_stack(folded, line, count);
}

/*
 * Makes functions of the frames. Parsing changes only copies of the labels, at `labels`: the label
 * of a category stays whole.
 */
static int make_functions(struct folded *folded, const struct ls_profile *raw, char *labels)
{
	for (uint32_t id = 1; id <= raw->function_count; id++) {
		struct ls_profile_function function = {};
		struct frame *frame = &folded->frames[id];
		char *label = labels;

		labels = stpcpy(labels, raw->functions[id].name) + 1;
		parsed_label__place(label, &function);
		frame->has_line = function.line;
		frame->function = profile_builder__function(folded->loaded->builder, &function);
		if (!frame->function)
			return -ENOMEM;
	}
	return 0;
}

/* Whether the outermost frames are categories. */
static bool has_categories(const struct folded *folded, const struct ls_profile *raw)
{
	bool is_deeper = false;

	for (uint32_t id = raw->nodes[folded->root].first_child; id;
	     id = raw->nodes[id].next_sibling) {
		if (folded->frames[raw->nodes[id].function].has_line)
			return false;
		is_deeper |= raw->nodes[id].first_child != 0;
	}
	return is_deeper;
}

/* The tree's node for a raw one; 0 when out of memory. */
static uint32_t node_of(const struct folded *folded, const struct ls_profile_node *raw,
			bool is_category)
{
	struct call_tree *tree = profile_builder__tree(folded->loaded->builder);
	char *label;
	uint32_t node;

	if (!is_category)
		return call_tree__child(tree, folded->nodes[raw->parent],
					folded->frames[raw->function].function);
	label = strdup(profile_builder__profile(folded->raw)->functions[raw->function].name);
	node = label ? call_tree__category(tree, parsed_label__text(label)) : 0;
	free(label);
	return node;
}

static int make_tree(struct folded *folded, const struct ls_profile *raw)
{
	struct call_tree *tree = profile_builder__tree(folded->loaded->builder);
	bool has_them = has_categories(folded, raw);

	/* A raw parent's id is lower than its children's. */
	for (uint32_t id = 1; id <= raw->node_count; id++) {
		const struct ls_profile_node *node = &raw->nodes[id];

		if (id == folded->root && has_them)
			continue;
		folded->nodes[id] =
			id == folded->root
				? call_tree__category(tree, CATEGORY)
				: node_of(folded, node, has_them && node->parent == folded->root);
		if (!folded->nodes[id])
			return -ENOMEM;
		call_tree__add(tree, folded->nodes[id], 0, node->self_ns);
	}
	return 0;
}

static int make_profile(struct folded *folded)
{
	const struct ls_profile_recorder recorder = {.version = LOADED_PROFILE_VERSION,
						     .cpu_ns = NS_PER_US * folded->us};
	const struct ls_profile *raw = profile_builder__profile(folded->raw);
	int error = profile_builder__finish(folded->raw, &recorder);
	size_t size = 1;
	char *labels;

	for (uint32_t id = 1; id <= raw->function_count && !error; id++)
		size += strlen(raw->functions[id].name) + 1;
	labels = malloc(size);
	folded->frames = calloc((size_t)raw->function_count + 1, sizeof(*folded->frames));
	folded->nodes = calloc((size_t)raw->node_count + 1, sizeof(*folded->nodes));
	if (error || !labels || !folded->frames || !folded->nodes)
		error = -ENOMEM;
	if (!error)
		error = make_functions(folded, raw, labels);
	if (!error)
		error = make_tree(folded, raw);
	if (!error)
		error = profile_builder__finish(folded->loaded->builder, &recorder);
	/* The profile only needs the labels. */
	free(folded->loaded->text);
	folded->loaded->text = labels;
	return error;
}

static int take_lines(struct folded *folded, size_t size)
{
	char *rest = folded->loaded->text, *line;
	int error = 0;

	if (strlen(rest) != size)
		return input_format__refuse(folded->reason, "it has a NUL at byte %zu",
					    strlen(rest));
	while (!error && (line = strsep(&rest, "\n")))
		error = take_line(folded, line);
	return error;
}

int read_folded(struct input_stream *stream, struct loaded_profile *loaded,
		char reason[INPUT_REASON_SIZE])
{
	struct folded folded = {.loaded = loaded, .reason = reason, .raw = profile_builder__new()};
	size_t size;
	int error = input_stream__text(stream, &loaded->text, &size);

	loaded->builder = profile_builder__new();
	if (folded.raw)
		folded.root = call_tree__category(profile_builder__tree(folded.raw), CATEGORY);
	if (!error && (!folded.root || !loaded->builder))
		error = -ENOMEM;
	if (!error)
		error = take_lines(&folded, size);
	if (!error)
		error = make_profile(&folded);
	if (!error)
		log_warn("folded stacks have no unit: their counts are taken for microseconds");
	profile_builder__free(folded.raw);
	free(folded.frames);
	free(folded.nodes);
	return error;
}
