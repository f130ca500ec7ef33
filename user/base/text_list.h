/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A few distinct texts, joined by "; ". */
#ifndef LS_TEXT_LIST_H
#define LS_TEXT_LIST_H

/* Zeroed: empty. */
struct text_list {
	char text[1024];
	unsigned int left_out; /* texts that did not fit */
};

/* Returns 1 if the list did not contain `text`, else 0. */
int text_list__add(struct text_list *list, const char *text);

/* All texts, and how many were left out; NULL: none. No more can be added afterwards. */
const char *text_list__end(struct text_list *list);

#endif
