/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the profile of a pprof file once all of it was read, so that its ids can be resolved. */
#include "reader/pprof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "json/json_reader.h"
#include "reader/parsed_label.h"

#define NS_PER_MS       1000000
#define NS_PER_US       1000
#define CATEGORY        "(root)"
#define SESSION_MOST_MS UINT64_C(9000000000000) /* the year 2255: nanoseconds of it fit 64 bits */
#define TIME_MOST_NS    (JSON_READER_UINT_MAX * NS_PER_US)

/* Which values are time and samples, by index; -1: none. */
struct meaning {
	int time, samples;
	uint64_t scale_ns; /* one unit of `time` */
};

struct making {
	struct pprof *file;
	struct meaning meaning;
	uint32_t *nodes;    /* by node of the tree of locations */
	const char **names; /* likewise, of categories */
	uint64_t time_ns;
};

/* Returns "" for a string that is left out, or that does not exist. */
static char *string_at(const struct pprof *file, uint64_t index)
{
	static char none[] = "";

	if (index >= file->strings.count)
		return none;
	return (char *)file->text.items + ((const size_t *)file->strings.items)[index];
}

/* The nanoseconds of one `unit`; 0: it is not a unit of time. */
static uint64_t scale_of(const char *unit)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} scales[] = {
		{"nanoseconds", 1},        {"ns", 1},
		{"microseconds", 1000},    {"us", 1000},
		{"ms", 1000000},           {"seconds", 1000000000},
		{"milliseconds", 1000000}, {"s", 1000000000},
	};

	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if (!strcmp(unit, scales[i].unit))
			return scales[i].ns;
	return 0;
}

static const struct pprof_type *type_at(const struct pprof *file, uint64_t index)
{
	return (const struct pprof_type *)file->types.items + index;
}

/*
 * Selects CPU time if there is any, else the file's default type if that is a time, else the last
 * time. If samples are only counted, each stands for a period.
 */
static int find_meaning(struct pprof *file, struct meaning *meaning)
{
	uint64_t period_ns = scale_of(string_at(file, file->period_type.unit)) * file->period;
	const char *main_type = string_at(file, file->default_type);
	int rank = 0;

	*meaning = (struct meaning){.time = -1, .samples = -1};
	for (uint64_t i = 0; i < file->value_count; i++) {
		const char *name = string_at(file, type_at(file, i)->name);
		const char *unit = string_at(file, type_at(file, i)->unit);
		uint64_t scale = scale_of(unit);
		int own = !scale                              ? 0
			  : !strcmp(name, "cpu")              ? 3
			  : *name && !strcmp(name, main_type) ? 2
							      : 1;

		if (own && own >= rank) {
			rank = own;
			meaning->time = (int)i;
			meaning->scale_ns = scale;
		}
		if (!strcmp(unit, "count") && (!strcmp(name, "samples") || meaning->samples < 0))
			meaning->samples = (int)i;
	}
	if (meaning->time < 0 && meaning->samples >= 0 && period_ns) {
		meaning->time = meaning->samples;
		meaning->scale_ns = period_ns;
	}
	if (meaning->time >= 0)
		return 0;
	return input_format__refuse(
		file->reason, "none of its values is a time: the first is '%.64s' in '%.64s'",
		string_at(file, type_at(file, 0)->name), string_at(file, type_at(file, 0)->unit));
}

/* Whether `rest` ends a place: "" or ", line 6", followed by '>' inside "<anonymous ...>". */
static bool ends_place(const char *rest, bool is_inside)
{
	unsigned line;
	int size = 0;

	if (sscanf(rest, ", line %u%n", &line, &size) == 1)
		rest += size;
	return !strcmp(rest, is_inside ? ">" : "");
}

/* Cuts off " SOURCE:LINE" and the like, which makes a name unique. */
static void cut_place(char *name, const struct ls_profile_function *function)
{
	bool is_inside = !strncmp(name, "<anonymous ", strlen("<anonymous "));
	char place[1024], line[16] = "", *found;

	if (function->line)
		snprintf(line, sizeof(line), ":%" PRIu32, function->line);
	if (!function->source ||
	    snprintf(place, sizeof(place), " %s%s", function->source, line) >= (int)sizeof(place))
		return;
	found = strstr(name, place);
	if (!found || found == name || !ends_place(found + strlen(place), is_inside))
		return;
	strcpy(found, is_inside ? ">" : "");
}

/* Gives a function its own copy of the name: several may share a string, and parsing changes it. */
static int copy_name(struct pprof *file, struct pprof_function *function)
{
	char *copy = strdup(string_at(file, function->name));
	int error = copy ? pprof__add_string(file, copy, strlen(copy)) : -ENOMEM;

	free(copy);
	function->name = file->strings.count - 1;
	return error;
}

/* Gives a location without lines a function named after its address. */
static int name_address(struct pprof *file, struct pprof_location *location)
{
	struct pprof_line *line = list__add(&file->lines, sizeof(*line));
	struct pprof_function *function = list__add(&file->functions, sizeof(*function));
	char name[32];

	if (!line || !function)
		return -ENOMEM;
	location->first_line = file->lines.count - 1;
	location->line_count = 1;
	line->index = (uint32_t)file->functions.count;
	snprintf(name, sizeof(name), "0x%" PRIx64, location->address);
	function->name = file->strings.count;
	return pprof__add_string(file, name, strlen(name));
}

/* Resolves functions, and adds all strings while nothing points to one: adding may move them. */
static int complete(struct pprof *file)
{
	struct pprof_location *locations = file->locations.items;
	size_t functions = file->functions.count, lines = file->lines.count;
	int error = 0;

	for (size_t i = 0; i < lines && !error; i++) {
		struct pprof_line *line = (struct pprof_line *)file->lines.items + i;

		line->index = id_map__find(&file->function_ids, line->function);
		if (!line->index)
			error = input_format__refuse(file->reason,
						     "a location is in function %" PRIu64
						     ", but there is no such function",
						     line->function);
	}
	for (size_t i = 0; i < functions && !error; i++)
		error = copy_name(file, (struct pprof_function *)file->functions.items + i);
	for (size_t i = 0; i < file->locations.count && !error; i++)
		if (!locations[i].line_count)
			error = name_address(file, &locations[i]);
	return error;
}

static int make_functions(struct pprof *file)
{
	struct pprof_function *functions = file->functions.items;

	for (size_t i = 0; i < file->functions.count; i++) {
		char *source = string_at(file, functions[i].file);
		char *name = string_at(file, functions[i].name);
		struct ls_profile_function function = {
			.source = *source ? parsed_label__text(source) : NULL};

		function.line = functions[i].line <= INT32_MAX ? (uint32_t)functions[i].line : 0;
		parsed_label__name(name, &function);
		if (function.name)
			cut_place((char *)function.name, &function);
		if (function.name && !strcmp(function.name, "<anonymous>"))
			function.name = NULL;
		functions[i].made = profile_builder__function(file->loaded->builder, &function);
		if (!functions[i].made)
			return -ENOMEM;
	}
	return 0;
}

/* The name of a category of the tree of locations, by its labels "KEY:TEXT ...". */
static const char *category_name(const struct pprof *file, const char *labels)
{
	static const char *const keys[] = {"category", "thread", "thread_name"};
	const char *found = CATEGORY;
	size_t rank = sizeof(keys) / sizeof(keys[0]);
	uint64_t key, text;
	int size = 0;

	for (; sscanf(labels, "%" SCNu64 ":%" SCNu64 " %n", &key, &text, &size) == 2;
	     labels += size)
		for (size_t i = 0; i < rank; i++)
			if (!strcmp(string_at(file, key), keys[i])) {
				found = string_at(file, text);
				rank = i;
			}
	return found;
}

static const struct pprof_location *location_of(const struct pprof *file, uint32_t number)
{
	uint64_t id = ((const uint64_t *)file->stack_locations.items)[number - 1];
	uint32_t index = id_map__find(&file->location_ids, id);

	return index ? (const struct pprof_location *)file->locations.items + index - 1 : NULL;
}

/*
 * Makes the nodes of a location; the last of its functions is the outermost. `category`: NULL, or
 * the name of the category `parent`, whose self time luaspy writes as a function of that name. 0:
 * failed.
 */
static uint32_t make_nodes(struct pprof *file, const struct pprof_location *location,
			   uint32_t parent, const char *category)
{
	struct call_tree *tree = profile_builder__tree(file->loaded->builder);
	const struct pprof_line *lines = file->lines.items;
	const struct pprof_function *functions = file->functions.items;

	for (size_t i = location->line_count; i-- > 0;) {
		const struct pprof_function *function =
			&functions[lines[location->first_line + i].index - 1];

		if (category && !function->line && !*string_at(file, function->file) &&
		    !strcmp(string_at(file, function->name), category))
			return parent;
		parent = call_tree__child(tree, parent, function->made);
		if (call_tree__nodes(tree) > INPUT_NODES_MAX)
			return 0;
	}
	return parent;
}

/* Adds the line at which a function ran, unless it is the one where the function begins. */
static int add_line(struct pprof *file, const struct pprof_location *location, uint64_t samples,
		    uint64_t self_ns)
{
	const struct pprof_line *line =
		(const struct pprof_line *)file->lines.items + location->first_line;
	const struct pprof_function *function =
		(const struct pprof_function *)file->functions.items + line->index - 1;
	const struct ls_profile_line added = {
		.line = (uint32_t)line->line, .samples = samples, .self_ns = self_ns};

	if (!line->line || line->line > INT32_MAX || line->line == function->line || !self_ns)
		return 0;
	return profile_builder__add_line(file->loaded->builder, function->made, &added);
}

static int charge(struct making *making, uint32_t raw, uint32_t node,
		  const struct pprof_location *location)
{
	struct pprof *file = making->file;
	const uint64_t *values = (const uint64_t *)file->values.items + raw * file->value_count;
	const struct meaning *meaning = &making->meaning;
	uint64_t samples = meaning->samples < 0 ? 0 : values[meaning->samples], self_ns;

	if (__builtin_mul_overflow(values[meaning->time], meaning->scale_ns, &self_ns) ||
	    self_ns > TIME_MOST_NS - making->time_ns || samples > JSON_READER_UINT_MAX)
		return input_format__refuse(file->reason,
					    "its times are more than a recording can hold");
	making->time_ns += self_ns;
	call_tree__add(profile_builder__tree(file->loaded->builder), node, samples, self_ns);
	return location ? add_line(file, location, samples, self_ns) : 0;
}

static int make_node(struct making *making, const struct ls_profile *raw, uint32_t id)
{
	struct pprof *file = making->file;
	const struct ls_profile_node *node = &raw->nodes[id];
	const struct pprof_location *location = location_of(file, node->function);
	const char *category = NULL;

	if (!location)
		return input_format__refuse(
			file->reason,
			"a sample has location %" PRIu64 ", but there is no such location",
			((const uint64_t *)file->stack_locations.items)[node->function - 1]);
	if (!raw->nodes[node->parent].parent && !node->first_child)
		category = making->names[node->parent];
	making->nodes[id] = make_nodes(file, location, making->nodes[node->parent], category);
	if (!making->nodes[id])
		return call_tree__nodes(profile_builder__tree(file->loaded->builder)) >
				       INPUT_NODES_MAX
			       ? input_format__refuse(file->reason,
						      "more than " INPUT_NODES_MAX_TEXT " nodes")
			       : -ENOMEM;
	return charge(making, id, making->nodes[id],
		      making->nodes[id] == making->nodes[node->parent] ? NULL : location);
}

static int make_categories(struct making *making, const struct ls_profile *raw)
{
	struct call_tree *tree = profile_builder__tree(making->file->loaded->builder);

	for (uint32_t i = 0; i < raw->category_count; i++) {
		uint32_t id = raw->categories[i].node;

		making->names[id] = category_name(making->file, raw->categories[i].name);
		making->nodes[id] = call_tree__category(tree, making->names[id]);
		if (!making->nodes[id])
			return -ENOMEM;
	}
	return 0;
}

/* Raw parents have lower ids than their children, except categories, which are made first. */
static int make_tree(struct making *making, const struct ls_profile *raw)
{
	int error = make_categories(making, raw);

	for (uint32_t id = 1; id <= raw->node_count && !error; id++)
		error = raw->nodes[id].parent ? make_node(making, raw, id)
					      : charge(making, id, making->nodes[id], NULL);
	return error;
}

/* What the file says about the recording. */
static struct ls_profile_recorder recorder_of(const struct making *making)
{
	const struct pprof *file = making->file;
	const char *target = string_at(file, file->mapping_file);
	uint64_t scale_ns = scale_of(string_at(file, file->period_type.unit));
	struct ls_profile_recorder recorder = {.version = LOADED_PROFILE_VERSION,
					       .target = *target ? target : NULL,
					       .cpu_ns = making->time_ns};

	if (file->time_ns / NS_PER_MS <= SESSION_MOST_MS)
		recorder.start_ms = file->time_ns / NS_PER_MS;
	if (file->duration_ns <= TIME_MOST_NS)
		recorder.duration_ns = file->duration_ns;
	if (file->period <= UINT32_MAX)
		recorder.period_ns = file->period * scale_ns;
	return recorder;
}

static int check(struct pprof *file)
{
	if (!file->sample_count)
		return input_format__refuse(file->reason, "it has no samples");
	if (file->types.count != file->value_count)
		return input_format__refuse(file->reason,
					    "its samples have %" PRIu64
					    " values, but there are %zu sample types",
					    file->value_count, file->types.count);
	return 0;
}

int pprof__make(struct pprof *file)
{
	struct making making = {.file = file};
	struct ls_profile raw = {};
	struct ls_profile_recorder recorder;
	int error = check(file);

	call_tree__export(file->tree, &raw);
	making.nodes = calloc((size_t)raw.node_count + 1, sizeof(*making.nodes));
	making.names = calloc((size_t)raw.node_count + 1, sizeof(*making.names));
	if (!error && (!making.nodes || !making.names))
		error = -ENOMEM;
	if (!error)
		error = find_meaning(file, &making.meaning);
	if (!error)
		error = complete(file);
	if (!error)
		error = make_functions(file);
	if (!error)
		error = make_tree(&making, &raw);
	free(making.nodes);
	free(making.names);
	if (error)
		return error;
	recorder = recorder_of(&making);
	return profile_builder__finish(file->loaded->builder, &recorder);
}
