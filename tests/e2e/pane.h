/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A terminal with a shell, provided by tmux, in which tests type and whose screen they read. The
 * stage ends it; programs in it get a SIGHUP. To be included after cmocka.h.
 */
#ifndef TEST_PANE_H
#define TEST_PANE_H

#include "stage.h"

/* A shell in the stage's folder whose prompt is "ready> "; `locale` is its LC_ALL. */
void pane__open(struct stage *stage, const char *locale, int width, int height);
void pane__resize(struct stage *stage, int width, int height);

/* Types keys by tmux's names ("Enter", "Escape", "C-c") or else as text. */
void pane__press(struct stage *stage, const char *key);
void pane__type(struct stage *stage, const char *text);

/* The contents of the screen; valid until the next call of any of these. */
const char *pane__text(struct stage *stage);

/* This line of the screen, counted from 0; equally valid. */
const char *pane__line(struct stage *stage, int at);

/* Waits until the screen holds `text`, or no longer holds it; returns the screen, equally valid. */
const char *pane__await(struct stage *stage, const char *text);
const char *pane__await_without(struct stage *stage, const char *text);

#endif
