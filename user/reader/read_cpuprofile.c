/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The .cpuprofile of V8 (Profiler.Profile of the Chrome DevTools Protocol): a tree of nodes, and
 * the samples with the time from each to the next. A sample lasts until the next one, the last one
 * until the end. Without samples, the nodes' hits share the time.
 *
 * V8 has nodes of its own below the root: "(idle)", which is no CPU time and is left out, and
 * "(garbage collector)", whose time belongs to what it interrupted. The root is the category,
 * unless there are no scripts: the nodes below it are then the categories of luaspy's own files.
 */
#include <errno.h>
#include <stdlib.h>

#include "json/json_reader.h"
#include "reader/cpuprofile.h"
#include "reader/parsed_label.h"

#define GC_NAME "(garbage collector)"

static bool fail_for_memory(struct cpuprofile *file)
{
	file->error = -ENOMEM;
	return json_reader__fail(&file->json, "");
}

static void *add(struct cpuprofile *file, struct list *list, size_t size)
{
	bool are_nodes = list == &file->nodes || list == &file->edges;
	void *item;

	if (json_reader__has_failed(&file->json))
		return NULL;
	if (list->count == (are_nodes ? INPUT_NODES_MAX : INPUT_SAMPLES_MAX)) {
		json_reader__fail(&file->json,
				  are_nodes ? "more than " INPUT_NODES_MAX_TEXT " nodes"
					    : "more than " INPUT_SAMPLES_MAX_TEXT " samples");
		return NULL;
	}
	item = list__add(list, size);
	if (!item)
		fail_for_memory(file);
	return item;
}

/* V8 counts lines from 0, and says -1 where there is none. */
static void take_call_frame(struct cpuprofile *file, struct cpuprofile_node *node)
{
	struct json_reader *json = &file->json;
	struct ls_profile_function function = {};
	char *key, *name = NULL, *url = NULL, *script = NULL;
	int64_t line = -1;

	for (bool first = true; json_reader__next_key(json, &first, &key);) {
		if (!strcmp(key, "functionName"))
			json_reader__text(json, &name);
		else if (!strcmp(key, "url"))
			json_reader__text(json, &url);
		else if (!strcmp(key, "scriptId"))
			json_reader__text(json, &script);
		else if (!strcmp(key, "lineNumber"))
			json_reader__int(json, &line);
		else
			json_reader__skip(json);
	}
	if (json_reader__has_failed(json))
		return;
	file->has_scripts |= script && strcmp(script, "0") != 0;
	node->name = name ? name : "";
	node->has_place = (url && *url) || line >= 0;
	node->is_gc = name && !strcmp(name, GC_NAME) && !node->has_place;
	node->is_idle = name && !strcmp(name, "(idle)") && !node->has_place;
	node->is_own = node->is_gc || node->is_idle || (name && !strcmp(name, "(program)"));
	if (name && strcmp(name, "(anonymous)") != 0)
		node->label = name;
	function.source = url && *url ? parsed_label__text(url) : NULL;
	function.line = line >= 0 && line < INT32_MAX ? (uint32_t)line + 1 : 0;
	node->function = function;
}

static void take_children(struct cpuprofile *file, struct cpuprofile_node *node)
{
	node->first_edge = file->edges.count;
	for (bool first = true; json_reader__next_element(&file->json, &first);) {
		uint64_t *id = add(file, &file->edges, sizeof(*id));

		if (!id || !json_reader__uint(&file->json, id))
			return;
		node->edge_count++;
	}
}

static void take_node(struct cpuprofile *file)
{
	struct json_reader *json = &file->json;
	struct cpuprofile_node node = {}, *added;
	size_t place = json_reader__place(json);
	uint64_t id = UINT64_MAX;
	char *key;

	for (bool first = true; json_reader__next_key(json, &first, &key);) {
		if (!strcmp(key, "id"))
			json_reader__uint(json, &id);
		else if (!strcmp(key, "callFrame") && !node.name)
			take_call_frame(file, &node);
		else if (!strcmp(key, "hitCount"))
			json_reader__uint_to(json, UINT32_MAX, &node.hits);
		else if (!strcmp(key, "children") && !node.edge_count)
			take_children(file, &node);
		else
			json_reader__skip(json);
	}
	if (json_reader__has_failed(json))
		return;
	added = add(file, &file->nodes, sizeof(*added));
	if (!added)
		return;
	if (id == UINT64_MAX || !node.name) {
		cpuprofile__refuse(file, "the node at byte %zu has no %s", place,
				   node.name ? "id" : "callFrame");
	} else {
		int error = id_map__add(&file->ids, id, (uint32_t)file->nodes.count);

		*added = node;
		added->id = id;
		if (error == -EEXIST)
			cpuprofile__refuse(file, "there are two nodes with the id %ju, at byte %zu",
					   (uintmax_t)id, place);
		else if (error)
			fail_for_memory(file);
	}
}

static void take_samples(struct cpuprofile *file)
{
	for (bool first = true; json_reader__next_element(&file->json, &first);) {
		uint64_t *id = add(file, &file->samples, sizeof(*id));

		if (!id || !json_reader__uint(&file->json, id))
			return;
	}
}

static void take_deltas(struct cpuprofile *file)
{
	for (bool first = true; json_reader__next_element(&file->json, &first);) {
		int64_t *delta = add(file, &file->deltas, sizeof(*delta));

		if (!delta || !json_reader__int(&file->json, delta))
			return;
	}
}

static void take_nodes(struct cpuprofile *file)
{
	for (bool first = true; json_reader__next_element(&file->json, &first);)
		take_node(file);
}

static bool take_member(struct cpuprofile *file, const char *key)
{
	struct json_reader *json = &file->json;

	if (!strcmp(key, "nodes") && !file->nodes.count)
		take_nodes(file);
	else if (!strcmp(key, "samples") && !file->samples.count)
		take_samples(file);
	else if (!strcmp(key, "timeDeltas") && !file->deltas.count)
		take_deltas(file);
	else if (!strcmp(key, "startTime"))
		json_reader__number(json, &file->start_us);
	else if (!strcmp(key, "endTime"))
		json_reader__number(json, &file->end_us);
	else
		json_reader__skip(json);
	return !json_reader__has_failed(json);
}

static int take_document(struct cpuprofile *file)
{
	char *key;

	for (bool first = true; json_reader__next_key(&file->json, &first, &key);)
		take_member(file, key);
	if (json_reader__finish(&file->json))
		return 0;
	if (file->error)
		return file->error;
	if (!*file->reason)
		input_format__refuse(file->reason, "%s, at byte %zu", file->json.failure,
				     file->json.failed_at);
	return -EINVAL;
}

bool is_cpuprofile(const char *head, size_t size)
{
	static const char *const keys[] = {"nodes", "startTime", "endTime", "samples",
					   "timeDeltas"};
	const char *key = input_format__first_key(head);

	(void)size;
	for (size_t i = 0; key && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strncmp(key, keys[i], strlen(keys[i])) && key[strlen(keys[i])] == '"')
			return true;
	return false;
}

int read_cpuprofile(struct input_stream *stream, struct loaded_profile *loaded,
		    char reason[INPUT_REASON_SIZE])
{
	struct cpuprofile file = {.loaded = loaded, .reason = reason};
	size_t size;
	int error = input_stream__text(stream, &loaded->text, &size);

	if (error)
		return error;
	json_reader__init(&file.json, loaded->text, size);
	loaded->builder = profile_builder__new();
	error = loaded->builder ? take_document(&file) : -ENOMEM;
	if (!error)
		error = cpuprofile__make(&file);
	id_map__clear(&file.ids);
	free(file.nodes.items);
	free(file.edges.items);
	free(file.samples.items);
	free(file.deltas.items);
	return error;
}
