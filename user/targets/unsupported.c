/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "targets/unsupported.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/generations.h"
#include "base/log.h"
#include "base/text_list.h"
#include "process/container.h"

#define PIDS_YOUNG 4096 /* processes that are remembered as counted */
#define TEXT_SIZE  384

struct unsupported {
	struct generations *pids;
	size_t count;
	struct text_list interpreters;
	char first[CONTAINER_TITLE_SIZE];
	char text[TEXT_SIZE];
};

struct unsupported *unsupported__new(void)
{
	struct unsupported *unsupported = calloc(1, sizeof(*unsupported));

	if (!unsupported)
		return NULL;
	unsupported->pids = generations__new(sizeof(uint64_t), sizeof(char), NULL);
	if (unsupported->pids)
		return unsupported;
	free(unsupported);
	return NULL;
}

void unsupported__free(struct unsupported *unsupported)
{
	if (!unsupported)
		return;
	generations__free(unsupported->pids);
	free(unsupported);
}

void unsupported__note(struct unsupported *unsupported, pid_t pid, const char *title,
		       const char *interpreter)
{
	uint64_t key = (uint64_t)pid;

	if (generations__find(unsupported->pids, &key))
		return;
	if (generations__young(unsupported->pids) >= PIDS_YOUNG)
		generations__age(unsupported->pids);
	generations__add(unsupported->pids, &key);
	if (!unsupported->count++)
		snprintf(unsupported->first, sizeof(unsupported->first), "%s", title);
	if (text_list__add(&unsupported->interpreters, interpreter))
		log_warn("%s runs %s, which is not supported", title, interpreter);
}

size_t unsupported__count(const struct unsupported *unsupported)
{
	return unsupported->count;
}

const char *unsupported__text(struct unsupported *unsupported)
{
	struct text_list interpreters = unsupported->interpreters;
	const char *names = text_list__end(&interpreters);

	unsupported->text[0] = '\0';
	if (unsupported->count == 1)
		snprintf(unsupported->text, sizeof(unsupported->text),
			 "%s ran %.200s, which is not supported", unsupported->first, names);
	else if (names)
		snprintf(unsupported->text, sizeof(unsupported->text),
			 "%zu processes ran %.200s, which is not supported, such as %s",
			 unsupported->count, names, unsupported->first);
	return unsupported->text;
}
