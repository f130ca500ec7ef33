/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The function that a frame's label stands for, in formats that have just text for it: the other
 * way of frame_labels.h, which profilers of other languages write alike ("work (app.py:4)").
 *
 * The label is changed: the function's strings are parts of it. What was escaped as "\xNN" because
 * it is no printable character is that byte again.
 */
#ifndef LS_PARSED_LABEL_H
#define LS_PARSED_LABEL_H

#include "profile/profile.h"

/* "work", "<anonymous> <native>": name and flags; source and lines stay as they are. */
void parsed_label__name(char *label, struct ls_profile_function *function);

/* "work (app.lua:4)", "table.sort ([C]) <plugin>": source and lines, too. */
void parsed_label__place(char *label, struct ls_profile_function *function);

/* Takes escapes back, in place. Returns `label`. */
char *parsed_label__text(char *label);

#endif
