/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads what definitions call their functions from the source text of chunks. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "interpreter/inspection_internal.h"
#include "source/source_file.h"

/* ---- in the worker */

/* The definitions in the text that the chunk of this prototype was loaded from. */
static int find_in_chunk(struct inspection *inspection, const struct reading *reading,
			 const struct prototype_key *key, const struct definitions **definitions)
{
	char *text = NULL;
	size_t size = 0;
	int error =
		reading->ops->read_source
			? reading->ops->read_source(&reading->memory, reading->offsets,
						    key->address, SOURCE_BYTES_MAX, &text, &size)
			: -ENOTSUP;

	if (!error)
		error = reading->ops->check_prototype(&reading->memory, reading->offsets, key);
	if (!error)
		error = sources__of_text(inspection->sources, text, size, definitions);
	free(text);
	return error;
}

int handle_definition(struct inspection *inspection, pid_t pid, struct message *request,
		      struct message *answer)
{
	const struct definitions *definitions = NULL;
	struct prototype_key key;
	struct reading reading;
	uint32_t first, last;
	bool as_root;
	char *file;
	int error;

	reading__take(request, pid, &reading);
	message__take(request, &key, sizeof(key));
	first = (uint32_t)message__take_number(request, UINT32_MAX);
	last = (uint32_t)message__take_number(request, UINT32_MAX);
	as_root = message__take_number(request, 1);
	file = message__take_text(request, PATH_MAX);
	error = message__end(request);
	if (!error && file)
		error = sources__of_file(inspection->sources, pid, file, as_root, &definitions);
	else if (!error)
		error = find_in_chunk(inspection, &reading, &key, &definitions);
	if (!error)
		message__put_text(answer, definitions__name(definitions, first, last));
	free(file);
	return error;
}

/* ---- in luaspy */

int inspector__definition(struct inspector *inspector, pid_t pid, const struct layout *layout,
			  const struct definition_inquiry *inquiry, char name[DEFINITION_NAME_SIZE])
{
	struct message *answer, *request;
	int error;

	*name = '\0';
	if (!layout->family->memory)
		return -ENOTSUP;
	request = inspector__request(inspector, INSPECTOR_SCRIPTS, INSPECT_DEFINITION, pid);
	reading__put(request, layout);
	message__put(request, inquiry->key, sizeof(*inquiry->key));
	message__put_number(request, inquiry->first);
	message__put_number(request, inquiry->last);
	/* Root may read any file, whoever it is that luaspy reads them as. */
	message__put_number(request, !getuid());
	message__put_text(request, inquiry->file);
	error = inspector__ask(inspector, &answer);
	if (error)
		return error;
	message__take_text_into(answer, name, DEFINITION_NAME_SIZE);
	error = message__end(answer);
	if (error)
		*name = '\0';
	return error;
}
