/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A chunk of Lua that returns the profile as a table, for scripts: `local profile = dofile(name)`.
 * Every release of Lua loads it.
 * References are indices into the lists, and fields that are 0 or unknown are left out:
 *
 *	functions   {{name=, source=, line=, current_line=, flags=, total_us=, self_us=}, ...}
 *	nodes       {{parent=, func=, total_us=, self_us=, samples=}, ...}; a parent comes first
 *	categories  {{name=, node=}, ...}
 *
 * Lua limits the constants of a function, so each function adds at most a thousand items.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "format/format.h"

/* Items in a function: with up to ten constants each, far from the 2^18 that Lua 5.1 allows. */
#define CALLS_MAX 1000

struct output {
	FILE *stream;
	unsigned calls; /* in the current function */
};

/* Writes bytes as a Lua string, with \ddd for all that is not printable ASCII. */
static void put_string(FILE *stream, const char *key, const char *text)
{
	if (!text)
		return;
	fprintf(stream, "%s=\"", key);
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\')
			fprintf(stream, "\\%c", byte);
		else if (byte < 0x20 || byte >= 0x7f)
			fprintf(stream, "\\%03u", byte);
		else
			fputc(byte, stream);
	}
	fputs("\",", stream);
}

static void put_number(FILE *stream, const char *key, uint64_t value)
{
	if (value)
		fprintf(stream, "%s=%" PRIu64 ",", key, value);
}

/* Begins a statement, in a function that has room for it. */
static void begin_call(struct output *output, const char *list)
{
	if (output->calls == CALLS_MAX) {
		fputs("end)()\n;(function()\n", output->stream);
		output->calls = 0;
	}
	output->calls++;
	fprintf(output->stream, "%s{", list);
}

static void put_functions(struct output *output, const struct ls_profile *profile,
			  const struct ls_totals *totals)
{
	for (uint32_t id = 1; id <= profile->function_count; id++) {
		const struct ls_profile_function *function = &profile->functions[id];

		begin_call(output, "F");
		put_string(output->stream, "name", function->name);
		put_string(output->stream, "source", function->source);
		put_number(output->stream, "line", function->line);
		put_number(output->stream, "current_line", function->current_line);
		put_number(output->stream, "flags", function->flags);
		fprintf(output->stream, "total_us=%" PRIu64 ",self_us=%" PRIu64 "}\n",
			totals->function_total_us[id], totals->function_self_us[id]);
	}
}

static void put_nodes(struct output *output, const struct ls_profile *profile,
		      const struct ls_totals *totals)
{
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		const struct ls_profile_node *node = &profile->nodes[id];

		begin_call(output, "N");
		put_number(output->stream, "parent", node->parent);
		put_number(output->stream, "func", node->function);
		put_number(output->stream, "samples", node->samples);
		fprintf(output->stream, "total_us=%" PRIu64 ",self_us=%" PRIu64 "}\n",
			totals->node_total_us[id], totals__node_self_us(profile, totals, id));
	}
	for (uint32_t i = 0; i < profile->category_count; i++) {
		begin_call(output, "C");
		put_string(output->stream, "name", profile->categories[i].name);
		fprintf(output->stream, "node=%" PRIu32 "}\n", profile->categories[i].node);
	}
}

int write_lua(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct output output = {.stream = stream};

	fputs("-- A profile by luaspy: CPU time in microseconds.\n"
	      "local profile = {",
	      stream);
	put_string(stream, "target", profile->recorder.target);
	fputs("functions = {}, nodes = {}, categories = {}}\n"
	      "local function adder(list) return function(item) list[#list + 1] = item end end\n"
	      "local F, N, C = adder(profile.functions), adder(profile.nodes), "
	      "adder(profile.categories)\n"
	      ";(function()\n",
	      stream);
	put_functions(&output, profile, totals);
	put_nodes(&output, profile, totals);
	fputs("end)()\nreturn profile\n", stream);
	return ferror(stream) ? -EIO : 0;
}
