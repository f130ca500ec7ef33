/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Labels of functions for formats that store less about a function than luaspy: printable UTF-8
 * text (log__printable()) without line feeds, never empty. A function without a name is
 * "<anonymous>"; code generated from script and plugins have " <native>" and " <plugin>" after the
 * name, as in Roblox's profiler.
 */
#ifndef LS_FRAME_LABELS_H
#define LS_FRAME_LABELS_H

#include <stdint.h>

#include "profile/profile.h"

enum frame_label_kind {
	/* "work", "<anonymous>": for formats that store source and line separately */
	FRAME_LABELS_NAME,
	/* "work (app.lua:4)": different functions have different labels */
	FRAME_LABELS_PLACE,
	/*
	 * "work"; but "work app.lua:4" if another function has that name, and "<anonymous
	 * app.lua:4>": for readers that merge functions of the same name
	 */
	FRAME_LABELS_UNIQUE,
};

struct frame_labels;

/* NULL when out of memory. `profile` is borrowed. frame_labels__free() takes NULL. */
struct frame_labels *frame_labels__new(const struct ls_profile *profile,
				       enum frame_label_kind kind);
void frame_labels__free(struct frame_labels *labels);

/* Valid until `labels` is freed. */
const char *frame_labels__of(const struct frame_labels *labels, uint32_t function);
const char *frame_labels__of_category(const struct frame_labels *labels, uint32_t category);

/* The source of a function as printable text; "" if it has none. */
const char *frame_labels__source(const struct frame_labels *labels, uint32_t function);

/*
 * The label of a node: its function's or, if it has no parent, its category's. The nodes of
 * categories are looked up once, when the labels are made.
 */
const char *frame_labels__of_node(const struct frame_labels *labels, uint32_t node);

/* Room for the escaped form of a name that V8 reserves for nodes that are no functions. */
#define FRAME_LABEL_RESERVED_SIZE 32

/* The same for readers of V8's profiles: a reserved name, such as "(idle)", is escaped in `to`. */
const char *frame_labels__for_v8(const struct frame_labels *labels, uint32_t node,
				 char to[FRAME_LABEL_RESERVED_SIZE]);

#endif
