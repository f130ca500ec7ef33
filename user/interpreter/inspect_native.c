/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names the machine code of a process. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "interpreter/inspection_internal.h"
#include "process/native_names.h"

/* Young processes whose mappings are kept; as many old ones may be kept, too (generations.h). */
#define PROCESSES_MOST 1024

/* ---- in the worker */

/* NULL when out of memory. */
static struct native_names *names_of(struct inspection *inspection, pid_t pid)
{
	uint64_t key = (uint64_t)pid;
	struct native_names **names = generations__find(inspection->native_names, &key);

	if (!names) {
		if (generations__young(inspection->native_names) >= PROCESSES_MOST)
			generations__age(inspection->native_names);
		names = generations__add(inspection->native_names, &key);
	}
	if (names && !*names)
		*names = native_names__new(pid, inspection->elf_files);
	return names ? *names : NULL;
}

int handle_prepare(struct inspection *inspection, pid_t pid, struct message *request,
		   struct message *answer)
{
	struct native_names *names = names_of(inspection, pid);

	(void)answer;
	if (!names)
		return -ENOMEM;
	native_names__prepare(names);
	return message__end(request);
}

int handle_forget(struct inspection *inspection, pid_t pid, struct message *request,
		  struct message *answer)
{
	uint64_t key = (uint64_t)pid;
	struct native_names **names = generations__find(inspection->native_names, &key);

	(void)answer;
	sources__forget(inspection->sources, pid);
	if (names) {
		native_names__free(*names);
		*names = NULL;
	}
	return message__end(request);
}

int handle_native_place(struct inspection *inspection, pid_t pid, struct message *request,
			struct message *answer)
{
	struct native_names *names = names_of(inspection, pid);
	char path[NATIVE_PATH_SIZE], symbol[NATIVE_SYMBOL_SIZE];
	uint64_t address, file = 0, place;
	const char *text;
	bool is_mapped;

	message__take(request, &address, sizeof(address));
	if (!names)
		return -ENOMEM;
	is_mapped = native_names__place(names, address, &file, &place);
	text = is_mapped ? native_names__file(names, address) : NULL;
	snprintf(path, sizeof(path), "%s", text ? text : "");
	text = is_mapped ? native_names__symbol(names, address) : NULL;
	snprintf(symbol, sizeof(symbol), "%s", text ? text : "");
	message__put_number(answer, is_mapped);
	message__put_number(answer, file);
	message__put_number(answer, place);
	message__put_text(answer, path);
	message__put_text(answer, symbol);
	return message__end(request);
}

/* ---- in luaspy */

int inspector__prepare(struct inspector *inspector, pid_t pid)
{
	struct message *answer;

	inspector__request(inspector, INSPECTOR_FILES, INSPECT_PREPARE, pid);
	return inspector__ask(inspector, &answer);
}

int inspector__native_place(struct inspector *inspector, pid_t pid, uint64_t address,
			    struct native_place *place)
{
	struct message *answer, *request = inspector__request(inspector, INSPECTOR_FILES,
							      INSPECT_NATIVE_PLACE, pid);
	int error;

	*place = (struct native_place){.place = address};
	message__put(request, &address, sizeof(address));
	error = inspector__ask(inspector, &answer);
	if (error)
		return error;
	place->is_mapped = message__take_number(answer, 1);
	place->file = message__take_number(answer, UINT64_MAX);
	place->place = message__take_number(answer, UINT64_MAX);
	message__take_text_into(answer, place->name, sizeof(place->name));
	message__take_text_into(answer, place->symbol, sizeof(place->symbol));
	error = message__end(answer);
	if (error)
		*place = (struct native_place){.place = address};
	return error;
}

void inspector__forget(struct inspector *inspector, pid_t pid)
{
	struct message *answer;

	inspector__forget_allowance(inspector, pid);
	inspector__request(inspector, INSPECTOR_FILES, INSPECT_FORGET, pid);
	inspector__ask(inspector, &answer);
}
