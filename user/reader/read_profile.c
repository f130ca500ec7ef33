/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reader/read_profile_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000
#define NS_PER_MS 1000000

#define SESSION_MOST_MS UINT64_C(9000000000000)

bool read_profile__refuse(struct read_profile *read, const char *format, ...)
{
	va_list args;

	if (!json_reader__has_failed(&read->json)) {
		va_start(args, format);
		vsnprintf(read->reason, READ_PROFILE_REASON_SIZE, format, args);
		va_end(args);
	}
	return json_reader__fail(&read->json, "");
}

size_t read_profile__add(struct read_profile *read, struct column *column, size_t size)
{
	if (json_reader__has_failed(&read->json))
		return 0;
	if (column->count + 2 > column->room) {
		size_t room = column->room ? column->room + column->room / 2 : 64;
		void *items = reallocarray(column->items, room, size);

		if (!items) {
			read->error = -ENOMEM;
			json_reader__fail(&read->json, "");
			return 0;
		}
		column->items = items;
		if (!column->room)
			memset(items, 0, size);
		column->room = room;
	}
	column->count++;
	memset((char *)column->items + column->count * size, 0, size);
	return column->count;
}

static void take_category(struct read_profile *read)
{
	size_t at = read_profile__add(read, &read->categories, sizeof(struct ls_profile_category));
	struct ls_profile_category *categories = read->categories.items;
	struct json_reader *json = &read->json;
	uint64_t node = 0;
	char *key, *name = NULL;

	for (bool first = true; json_reader__next_key(json, &first, &key);) {
		if (!strcmp(key, "Name"))
			json_reader__text(json, &name);
		else if (!strcmp(key, "NodeId"))
			json_reader__uint_to(json, UINT32_MAX, &node);
		else
			json_reader__skip(json);
	}
	if (!name || !node)
		read_profile__refuse(read, "category %zu has no %s", at, name ? "NodeId" : "Name");
	else
		categories[at] = (struct ls_profile_category){.name = name, .node = (uint32_t)node};
}

static struct read_edge *edge_at(struct read_profile *read, size_t at)
{
	if (at > read->edges.count &&
	    !read_profile__add(read, &read->edges, sizeof(struct read_edge)))
		return NULL;
	return (struct read_edge *)read->edges.items + at;
}

/* Takes FunctionIds or NodeIds into the edges from `at` on. Returns how many there are. */
static size_t take_ids(struct read_profile *read, size_t at, bool are_functions)
{
	size_t count = 0;
	uint64_t id = 0;

	for (bool first = true; json_reader__next_element(&read->json, &first); count++) {
		struct read_edge *edge = edge_at(read, at + count);

		if (!edge || !json_reader__uint_to(&read->json, UINT32_MAX, &id))
			break;
		if (are_functions)
			edge->function = (uint32_t)id;
		else
			edge->node = (uint32_t)id;
	}
	return count;
}

static void take_node(struct read_profile *read)
{
	size_t at = read_profile__add(read, &read->nodes, sizeof(struct ls_profile_node));
	size_t edge = read->edges.count + 1, functions = 0, nodes = 0;
	struct json_reader *json = &read->json;
	uint64_t total_us = UINT64_MAX, samples = 0;
	char *key;

	for (bool first = true; json_reader__next_key(json, &first, &key);) {
		if (!strcmp(key, "TotalDuration"))
			json_reader__uint(json, &total_us);
		else if (!strcmp(key, "FunctionIds") && !functions)
			functions = take_ids(read, edge, true);
		else if (!strcmp(key, "NodeIds") && !nodes)
			nodes = take_ids(read, edge, false);
		else if (!strcmp(key, "Samples"))
			read->counts_samples |= json_reader__uint(json, &samples) && samples;
		else
			json_reader__skip(json);
	}
	if (total_us == UINT64_MAX)
		read_profile__refuse(read, "node %zu has no TotalDuration", at);
	else if (functions != nodes)
		read_profile__refuse(read, "node %zu has %zu FunctionIds, but %zu NodeIds", at,
				     functions, nodes);
	else
		((struct ls_profile_node *)read->nodes.items)[at] =
			(struct ls_profile_node){.self_ns = total_us,
						 .samples = samples,
						 .first_child = (uint32_t)edge,
						 .next_sibling = (uint32_t)nodes};
}

/* [[line, microseconds, samples], ...] */
static void take_lines(struct read_profile *read, struct ls_profile_function *function)
{
	function->first_line = (uint32_t)read->lines.count;
	for (bool first = true; json_reader__next_element(&read->json, &first);) {
		size_t at = read_profile__add(read, &read->lines, sizeof(struct ls_profile_line));
		uint64_t values[3] = {};
		size_t count = 0;

		for (bool begins = true; json_reader__next_element(&read->json, &begins); count++)
			if (!json_reader__uint(&read->json, &values[count < 3 ? count : 2]))
				return;
		if (!at || count != 3 || !values[0] || values[0] > UINT32_MAX) {
			json_reader__fail(&read->json, "expected [line, microseconds, samples]");
			return;
		}
		((struct ls_profile_line *)read->lines.items)[at] =
			(struct ls_profile_line){.line = (uint32_t)values[0],
						 .self_ns = NS_PER_US * values[1],
						 .samples = values[2]};
		function->line_count++;
	}
}

static void take_function(struct read_profile *read)
{
	size_t at = read_profile__add(read, &read->functions, sizeof(struct ls_profile_function));
	struct ls_profile_function function = {};
	struct json_reader *json = &read->json;
	uint64_t line = 0, flags = 0, current_line = 0, total_us;
	char *key, *source = NULL, *name = NULL;

	for (bool first = true; json_reader__next_key(json, &first, &key);) {
		if (!strcmp(key, "Source"))
			json_reader__text(json, &source);
		else if (!strcmp(key, "Name"))
			json_reader__text(json, &name);
		else if (!strcmp(key, "Line"))
			json_reader__uint_to(json, UINT32_MAX, &line);
		else if (!strcmp(key, "Flags"))
			json_reader__uint_to(json, UINT32_MAX, &flags);
		else if (!strcmp(key, "CurrentLine"))
			json_reader__uint_to(json, UINT32_MAX, &current_line);
		else if (!strcmp(key, "TotalDuration"))
			json_reader__uint(json, &total_us); /* the nodes say it, too */
		else if (!strcmp(key, "Lines") && !function.line_count)
			take_lines(read, &function);
		else
			json_reader__skip(json);
	}
	if (!at || json_reader__has_failed(json))
		return;
	function.source = source;
	function.name = name;
	function.line = (uint32_t)line;
	function.flags = (uint32_t)flags;
	function.current_line = (uint32_t)current_line;
	((struct ls_profile_function *)read->functions.items)[at] = function;
}

/* [[node, microseconds since the one before, thread], ...] */
static void take_samples(struct read_profile *read)
{
	uint64_t us = 0;

	for (bool first = true; json_reader__next_element(&read->json, &first);) {
		size_t at =
			read_profile__add(read, &read->samples, sizeof(struct ls_profile_sample));
		uint64_t values[3] = {};
		size_t count = 0;

		for (bool begins = true; json_reader__next_element(&read->json, &begins); count++)
			if (!json_reader__uint(&read->json, &values[count < 3 ? count : 2]))
				return;
		us += values[1];
		if (!at || count != 3 || values[0] > UINT32_MAX || values[2] > UINT32_MAX ||
		    us > JSON_READER_UINT_MAX) {
			json_reader__fail(&read->json, "expected [node, microseconds, thread]");
			return;
		}
		((struct ls_profile_sample *)read->samples.items)[at] =
			(struct ls_profile_sample){.time_ns = NS_PER_US * us,
						   .node = (uint32_t)values[0],
						   .thread = (uint32_t)values[2]};
	}
}

static void take_array(struct read_profile *read, void (*take)(struct read_profile *read))
{
	for (bool first = true; json_reader__next_element(&read->json, &first);)
		take(read);
}

/* Checks that a part of the document comes only once. */
static bool is_first(struct read_profile *read, const struct column *column, const char *key)
{
	return !column->count || read_profile__refuse(read, "there are two '%s'", key);
}

static void take_member(struct read_profile *read, const char *key)
{
	struct json_reader *json = &read->json;

	if (!strcmp(key, "Version"))
		read->has_version = json_reader__uint(json, &read->version);
	else if (!strcmp(key, "SessionStartTime"))
		json_reader__number(json, &read->start_ms);
	else if (!strcmp(key, "SessionEndTime"))
		json_reader__number(json, &read->end_ms);
	else if (!strcmp(key, "Categories") && is_first(read, &read->categories, key))
		take_array(read, take_category);
	else if (!strcmp(key, "Nodes") && is_first(read, &read->nodes, key))
		take_array(read, take_node);
	else if (!strcmp(key, "Functions") && is_first(read, &read->functions, key))
		take_array(read, take_function);
	else if (!strcmp(key, "Children") && is_first(read, &read->nodes, key))
		read_profile__take_children(read);
	else if (!strcmp(key, "GCFuncId"))
		json_reader__uint(json, &read->gc);
	else if (!strcmp(key, "Recorder") && is_first(read, &read->events, key))
		read_profile__take_recorder(read);
	else if (!strcmp(key, "Samples") && is_first(read, &read->samples, key))
		take_samples(read);
	else
		json_reader__skip(json);
}

static bool check_version(struct read_profile *read)
{
	if (!read->has_version)
		return read_profile__refuse(read, "no ScriptProfiler file: it has no Version");
	if (read->version != 1 && read->version != 2)
		return read_profile__refuse(
			read, "ScriptProfiler version %" PRIu64 " is not known (accepted: 1 and 2)",
			read->version);
	if (read->has_children != (read->version == 1) && read->nodes.count)
		return read_profile__refuse(read, "its nodes are not those of version %" PRIu64,
					    read->version);
	return true;
}

/* Names the garbage collector as luaspy does; other programs may name it differently. */
static bool name_gc(struct read_profile *read)
{
	struct ls_profile_function *function = read->functions.items;

	if (!read->gc)
		return true;
	if (read->gc > read->functions.count)
		return read_profile__refuse(read,
					    "GCFuncId is %" PRIu64 ", but there are %zu functions",
					    read->gc, read->functions.count);
	function += read->gc;
	function->source = function->name = "GC";
	function->line = 0;
	return true;
}

/* Times must fit 64 bits as nanoseconds. */
static bool take_session(struct read_profile *read)
{
	struct ls_profile_recorder *recorder = &read->profile.recorder;

	if (read->start_ms > SESSION_MOST_MS || read->end_ms > SESSION_MOST_MS)
		return read_profile__refuse(read, "its session is beyond the year 2255");
	recorder->start_ms = read->start_ms;
	if (!recorder->duration_ns && read->end_ms > read->start_ms)
		recorder->duration_ns = NS_PER_MS * (read->end_ms - read->start_ms);
	return true;
}

static bool take_document(struct read_profile *read)
{
	char *key;

	for (bool first = true; json_reader__next_key(&read->json, &first, &key);)
		take_member(read, key);
	if (!json_reader__finish(&read->json)) {
		if (!*read->reason)
			snprintf(read->reason, READ_PROFILE_REASON_SIZE, "%s, at byte %zu",
				 read->json.failure, read->json.failed_at);
		return false;
	}
	return check_version(read) && name_gc(read) && read_profile__link(read) &&
	       take_session(read);
}

int read_profile__new(char *text, size_t size, struct read_profile **made,
		      char reason[READ_PROFILE_REASON_SIZE])
{
	struct read_profile *read = calloc(1, sizeof(*read));
	int error;

	*made = NULL;
	*reason = '\0';
	if (!read)
		return -ENOMEM;
	read->reason = reason;
	json_reader__init(&read->json, text, size);
	/* Element 0 exists even if there is no other. */
	read->nodes.items = calloc(1, sizeof(struct ls_profile_node));
	read->functions.items = calloc(1, sizeof(struct ls_profile_function));
	if (!read->nodes.items || !read->functions.items)
		read->error = -ENOMEM;
	if (!read->error && take_document(read)) {
		*made = read;
		return 0;
	}
	error = read->error ? read->error : -EINVAL;
	read_profile__free(read);
	return error;
}

void read_profile__free(struct read_profile *read)
{
	if (!read)
		return;
	free(read->nodes.items);
	free(read->edges.items);
	free(read->functions.items);
	free(read->lines.items);
	free(read->categories.items);
	free(read->samples.items);
	free(read->events.items);
	free(read);
}

const struct ls_profile *read_profile__profile(const struct read_profile *read)
{
	return &read->profile;
}
