/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text_list.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LEFT_OUT_SIZE 24 /* for "; and N more" */

static bool has(const char *list, const char *text)
{
	size_t length = strlen(text);

	for (const char *at = list; (at = strstr(at, text)); at += length)
		if ((at == list || !strncmp(at - 2, "; ", 2)) &&
		    (!at[length] || !strncmp(at + length, "; ", 2)))
			return true;
	return false;
}

int text_list__add(struct text_list *list, const char *text)
{
	size_t length = strlen(list->text);

	if (!*text || has(list->text, text))
		return 0;
	if (length + strlen(text) + 2 + LEFT_OUT_SIZE >= sizeof(list->text))
		list->left_out++;
	else
		snprintf(list->text + length, sizeof(list->text) - length, "%s%s",
			 length ? "; " : "", text);
	return 1;
}

const char *text_list__end(struct text_list *list)
{
	size_t length = strlen(list->text);

	if (list->left_out)
		snprintf(list->text + length, sizeof(list->text) - length, "; and %u more",
			 list->left_out);
	list->left_out = 0;
	return *list->text ? list->text : NULL;
}
