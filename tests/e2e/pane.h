/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A terminal with a shell in it, by tmux, to be typed into and looked at. The stage ends it, and
 * who runs in it is hung up on. To be included after cmocka.h.
 */
#ifndef TEST_PANE_H
#define TEST_PANE_H

#include "stage.h"

/* A shell in the stage's folder whose prompt is "ready> "; `locale` is its LC_ALL. */
void pane__open(struct stage *stage, const char *locale, int width, int height);
void pane__resize(struct stage *stage, int width, int height);

/* Keys as tmux calls them, "Enter", "Escape", "C-c", else text that is typed. */
void pane__press(struct stage *stage, const char *key);
void pane__type(struct stage *stage, const char *text);

/* What is on the screen; good until the next call of any of these. */
const char *pane__text(struct stage *stage);

/* The line, from 0, of the screen; good as long. */
const char *pane__line(struct stage *stage, int at);

/* Until the screen holds `text`, or not any more; returns it, good as long. */
const char *pane__await(struct stage *stage, const char *text);
const char *pane__await_without(struct stage *stage, const char *text);

#endif
