/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses the label of a frame, in formats that store nothing but text: the inverse of
 * frame_labels.h. Profilers of other languages write similar labels ("work (app.py:4)").
 *
 * The label is changed, and the function's strings point into it. Bytes that were escaped as "\xNN"
 * are decoded.
 */
#ifndef LS_PARSED_LABEL_H
#define LS_PARSED_LABEL_H

#include "profile/profile.h"

/* "work", "<anonymous> <native>": name and flags; source and lines stay as they are. */
void parsed_label__name(char *label, struct ls_profile_function *function);

/* "work (app.lua:4)", "table.sort ([C]) <plugin>": source and lines, too. */
void parsed_label__place(char *label, struct ls_profile_function *function);

/* Decodes escapes in place. Returns `label`. */
char *parsed_label__text(char *label);

#endif
