/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folded stacks: a line for each node with self time, "category;caller;callee MICROSECONDS". In
 * names, the separator becomes "\x3b", and a leading "#", which begins a comment to some readers,
 * "\x23".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "derived/frame_labels.h"
#include "format/format.h"

/* The path from a category to a node as text, and where each node's part of it begins. */
struct path {
	char *text;
	size_t length, room;
	size_t *starts; /* by depth */
	size_t depth, depth_room;
};

static int make_room(struct path *path, size_t more)
{
	if (path->length + more > path->room) {
		size_t room = 2 * (path->length + more);
		char *text = realloc(path->text, room);

		if (!text)
			return -ENOMEM;
		path->text = text;
		path->room = room;
	}
	if (path->depth == path->depth_room) {
		size_t room = path->depth_room ? 2 * path->depth_room : 64;
		size_t *starts = reallocarray(path->starts, room, sizeof(*starts));

		if (!starts)
			return -ENOMEM;
		path->starts = starts;
		path->depth_room = room;
	}
	return 0;
}

static int enter(struct path *path, const char *label)
{
	/* A separator, and each character as "\xNN". */
	int error = make_room(path, 1 + 4 * strlen(label));

	if (error)
		return error;
	path->starts[path->depth++] = path->length;
	if (path->length)
		path->text[path->length++] = ';';
	for (; *label; label++) {
		if (*label == ';' || (*label == '#' && !path->length))
			path->length +=
				(size_t)sprintf(path->text + path->length, "\\x%02x", *label);
		else
			path->text[path->length++] = *label;
	}
	return 0;
}

static void leave(struct path *path)
{
	path->length = path->starts[--path->depth];
}

static int put_line(const struct path *path, uint64_t us, FILE *stream)
{
	if (!us)
		return 0;
	errno = 0;
	if (fwrite(path->text, 1, path->length, stream) != path->length ||
	    fprintf(stream, " %" PRIu64 "\n", us) < 0)
		return errno ? -errno : -EIO;
	return 0;
}

static int write_tree(const struct ls_profile *profile, const struct ls_totals *totals,
		      const struct frame_labels *labels, uint32_t root, struct path *path,
		      FILE *stream)
{
	uint32_t id = root;

	for (;;) {
		int error = enter(path, frame_labels__of_node(labels, id));

		if (!error)
			error = put_line(path, totals__node_self_us(profile, totals, id), stream);
		if (error)
			return error;
		if (profile->nodes[id].first_child) {
			id = profile->nodes[id].first_child;
			continue;
		}
		for (; id != root && !profile->nodes[id].next_sibling;
		     id = profile->nodes[id].parent)
			leave(path);
		leave(path);
		if (id == root)
			return 0;
		id = profile->nodes[id].next_sibling;
	}
}

int write_folded(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct frame_labels *labels = frame_labels__new(profile, FRAME_LABELS_PLACE);
	struct path path = {};
	int error = labels ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < profile->category_count && !error; i++)
		error = write_tree(profile, totals, labels, profile->categories[i].node, &path,
				   stream);
	free(path.text);
	free(path.starts);
	frame_labels__free(labels);
	return error;
}
