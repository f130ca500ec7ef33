/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A few distinct texts, joined by "; ". */
#ifndef LS_TEXT_LIST_H
#define LS_TEXT_LIST_H

/* Zeroed: empty. */
struct text_list {
	char text[1024];
	unsigned int left_out; /* that found no room */
};

/* 1: it was not there before; else 0. */
int text_list__add(struct text_list *list, const char *text);

/* All, and how many are left out; NULL: it is empty. No more can be added then. */
const char *text_list__end(struct text_list *list);

#endif
