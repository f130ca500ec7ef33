/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolizer_puc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_names_puc.h"
#include "chunk_name.h"
#include "clock.h"
#include "generations.h"
#include "layout_puc.h"
#include "line_table_puc.h"
#include "native_names.h"
#include "prototype_puc.h"
#include "target_memory.h"
#include "time_budget.h"

#include "c_functions_puc.h"

struct prototype {
	uint32_t function;
	struct prototype_key key;
	int is_chunk;        /* the main function of one */
	bool lines_are_read; /* once, whatever came of it */
	bool has_lines;      /* what the chunk has, which is none (NULL) if it was stripped */
	struct line_table_puc *lines;
	size_t *line_bytes; /* that all such tables take */
};

struct c_function {
	uint64_t address;
	uint32_t function;
	int is_given;  /* its name is the one that the program or a module gave it */
	int is_placed; /* it has no name but its place */
};

/*
 * How many may be new before a cache ages. A prototype that is dropped has to be sent again, hence
 * at no time as many in use as would be dropped all the time; the others are only read again.
 */
#define PROTOTYPES_NEW   16384
#define PROTOTYPES_MOST  49152
#define C_FUNCTIONS_MOST 8192

struct symbolizer_puc {
	struct target_memory memory;
	struct functions *functions;
	struct generations *prototypes;  /* struct prototype by struct prototype_key */
	struct generations *c_functions; /* struct c_function by address */
	struct c_functions_puc *registered;
	struct native_names *native;
	struct time_budget budget; /* for call sites and tables */
	uint64_t registered_ns;    /* when `registered` was read last */
	uint32_t collected, truncated;
	size_t line_bytes;
	uint32_t program; /* whose addresses are not those of any other */
	struct call_names_puc *names;
};

static void drop_prototype(void *value)
{
	struct prototype *prototype = value;

	if (prototype->lines)
		*prototype->line_bytes -= line_table_puc__size(prototype->lines);
	line_table_puc__free(prototype->lines);
}

struct symbolizer_puc *symbolizer_puc__new(pid_t pid, struct functions *functions,
					   struct elf_files *files)
{
	struct symbolizer_puc *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return NULL;
	symbolizer->memory.pid = pid;
	symbolizer->functions = functions;
	symbolizer->program = functions__program(functions);
	symbolizer->collected = functions__pseudo(functions, "(collected)");
	symbolizer->truncated = functions__pseudo(functions, "(truncated)");
	symbolizer->prototypes = generations__new(sizeof(struct prototype_key),
						  sizeof(struct prototype), drop_prototype);
	symbolizer->names =
		call_names_puc__new(&symbolizer->memory, &symbolizer->budget, functions);
	symbolizer->c_functions =
		generations__new(sizeof(uint64_t), sizeof(struct c_function), NULL);
	symbolizer->registered = c_functions_puc__new();
	symbolizer->native = native_names__new(pid, files);
	if (symbolizer->collected && symbolizer->truncated && symbolizer->prototypes &&
	    symbolizer->names && symbolizer->c_functions && symbolizer->registered &&
	    symbolizer->native)
		return symbolizer;
	symbolizer_puc__free(symbolizer);
	return NULL;
}

void symbolizer_puc__free(struct symbolizer_puc *symbolizer)
{
	if (!symbolizer)
		return;
	generations__free(symbolizer->prototypes);
	call_names_puc__free(symbolizer->names);
	generations__free(symbolizer->c_functions);
	c_functions_puc__free(symbolizer->registered);
	native_names__free(symbolizer->native);
	free(symbolizer);
}

void symbolizer_puc__prepare(struct symbolizer_puc *symbolizer)
{
	native_names__prepare(symbolizer->native);
}

int symbolizer_puc__define(struct symbolizer_puc *symbolizer, const struct ls_function *function)
{
	struct prototype_key key = {function->function, function->fingerprint};
	struct function_identity identity = {.line = function->line_defined,
					     .last_line = function->last_line_defined,
					     .shape = function->shape};
	char source[CHUNK_NAME_SIZE];
	struct prototype *prototype;
	size_t length = function->source_length;
	uint32_t id;

	if (generations__find(symbolizer->prototypes, &key))
		return 0;
	if (length >= sizeof(function->source))
		length = sizeof(function->source) - 1;
	chunk_name__show(function->source, length, source);
	identity.source = source;
	id = functions__script(symbolizer->functions, &identity);
	prototype = id ? generations__add(symbolizer->prototypes, &key) : NULL;
	if (!prototype)
		return -ENOMEM;
	prototype->key = key;
	prototype->is_chunk = !function->line_defined;
	prototype->function = id;
	return function->line_defined ? 0
				      : functions__rename(symbolizer->functions, id, "main chunk");
}

/* For all tables of lines together: what programs of several million lines need. */
#define LINE_BYTES_MAX (64U << 20)

/* Reads the table, which is worth something only if the prototype is still what was sampled. */
static int read_lines(struct symbolizer_puc *symbolizer, const struct ls_puc_layout *layout,
		      const struct prototype_key *key, struct prototype *prototype)
{
	struct line_table_puc *lines = NULL;
	int error;

	error = line_table_puc__read(&symbolizer->memory, layout, key->address, &lines);
	if (!error)
		error = prototype_puc__check(&symbolizer->memory, layout, key);
	if (error == -ESTALE)
		call_names_puc__require_proof(symbolizer->names);
	if (!error && symbolizer->line_bytes + line_table_puc__size(lines) > LINE_BYTES_MAX)
		error = -ENOSPC;
	if (error) {
		line_table_puc__free(lines);
		return error;
	}
	prototype->lines = lines;
	prototype->line_bytes = &symbolizer->line_bytes;
	symbolizer->line_bytes += line_table_puc__size(lines);
	return 0;
}

static uint32_t at_current_line(struct symbolizer_puc *symbolizer,
				const struct ls_puc_layout *layout, const struct prototype_key *key,
				struct prototype *prototype, uint32_t pc, int *has_line)
{
	if (!prototype->lines_are_read && time_budget__begin(&symbolizer->budget)) {
		prototype->lines_are_read = true;
		prototype->has_lines = !read_lines(symbolizer, layout, key, prototype);
		time_budget__end(&symbolizer->budget);
	}
	*has_line = prototype->has_lines;
	return functions__at_line(symbolizer->functions, prototype->function,
				  line_table_puc__line(prototype->lines, pc));
}

static uint32_t script_function(struct symbolizer_puc *symbolizer, const struct ls_sample *sample,
				const struct ls_frame *frames, uint32_t count,
				struct symbol_quality *quality)
{
	const struct ls_puc_layout *layout = &layouts_puc[sample->layout].offsets;
	struct prototype_key key = {frames->function, frames->fingerprint};
	struct prototype *prototype;

	prototype = generations__find(symbolizer->prototypes, &key);
	if (!prototype) {
		quality->is_known = 0;
		quality->has_line = 0;
		return symbolizer->collected;
	}
	if (call_names_puc__vote(symbolizer->names, layout, frames, count, sample->time_ns,
				 prototype->function))
		return 0;
	return at_current_line(symbolizer, layout, &key, prototype, frames->pc, &quality->has_line);
}

/*
 * As the program or its module calls it; else as the program's symbols do; else where a script
 * keeps it; else by its place. NULL: out of memory.
 */
static const char *name_of(struct symbolizer_puc *symbolizer, struct c_function *c_function)
{
	uint64_t address = c_function->address;
	const char *kept = c_functions_puc__name(symbolizer->registered, address);
	const char *name = kept;

	c_function->is_given = c_functions_puc__is_given(symbolizer->registered, address);
	if (!c_function->is_given)
		name = native_names__symbol(symbolizer->native, address);
	if (!name)
		name = kept;
	c_function->is_placed = !name;
	return name ? name : native_names__name(symbolizer->native, address);
}

/* One function for all processes that have its file mapped and call it the same. */
static int identify(struct symbolizer_puc *symbolizer, struct c_function *c_function)
{
	struct c_function_identity identity = {};

	if (!native_names__place(symbolizer->native, c_function->address, &identity.file,
				 &identity.place))
		identity.program = symbolizer->program;
	identity.name = name_of(symbolizer, c_function);
	if (identity.name)
		c_function->function = functions__c(symbolizer->functions, &identity);
	return c_function->function ? 0 : -ENOMEM;
}

/* Modules come late: the tables are read again for a function that is new, but not all the time. */
#define REREAD_NS 200000000ULL

static struct c_function *find_c_function(struct symbolizer_puc *symbolizer,
					  const struct ls_puc_layout *layout, uint64_t state,
					  uint64_t address)
{
	struct c_function *c_function;
	uint64_t now_ns;

	c_function = generations__find(symbolizer->c_functions, &address);
	if (c_function)
		return c_function;
	if (generations__young(symbolizer->c_functions) >= C_FUNCTIONS_MOST) {
		generations__age(symbolizer->c_functions);
		call_names_puc__require_proof(symbolizer->names);
	}
	c_function = generations__add(symbolizer->c_functions, &address);
	if (!c_function)
		return NULL;
	c_function->address = address;
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (!c_functions_puc__name(symbolizer->registered, address) &&
	    now_ns - symbolizer->registered_ns > REREAD_NS &&
	    time_budget__begin(&symbolizer->budget)) {
		c_functions_puc__read(symbolizer->registered, &symbolizer->memory, layout, state);
		time_budget__end(&symbolizer->budget);
		symbolizer->registered_ns = now_ns;
	}
	return identify(symbolizer, c_function) ? NULL : c_function;
}

static uint32_t c_function(struct symbolizer_puc *symbolizer, const struct ls_sample *sample,
			   const struct ls_frame *frames, uint32_t count)
{
	const struct ls_puc_layout *layout = &layouts_puc[sample->layout].offsets;
	struct c_function *c_function =
		find_c_function(symbolizer, layout, sample->state, frames->function);

	if (!c_function || !c_function->function)
		return 0;
	if (c_function->is_placed && call_names_puc__vote(symbolizer->names, layout, frames, count,
							  sample->time_ns, c_function->function))
		return 0;
	return c_function->function;
}

uint32_t symbolizer_puc__function(struct symbolizer_puc *symbolizer, const struct ls_sample *sample,
				  const struct ls_frame *frames, uint32_t count,
				  struct symbol_quality *quality)
{
	*quality = (struct symbol_quality){.is_known = 1, .has_line = 1};
	if (frames->kind == LS_FRAME_LUA)
		return script_function(symbolizer, sample, frames, count, quality);
	if (frames->kind == LS_FRAME_C)
		return c_function(symbolizer, sample, frames, count);
	return symbolizer->truncated;
}

const char *symbolizer_puc__called(struct symbolizer_puc *symbolizer,
				   const struct ls_puc_layout *layout,
				   const struct ls_frame *frames, uint32_t count)
{
	return call_names_puc__name(symbolizer->names, layout, frames, count);
}

static void name_again(void *context, void *value)
{
	struct symbolizer_puc *symbolizer = context;
	struct c_function *c_function = value;
	const char *name;

	if (!c_function->function || c_function->is_given)
		return;
	name = name_of(symbolizer, c_function);
	if (name)
		functions__rename_c(symbolizer->functions, c_function->function, name,
				    c_function->is_given);
}

struct last_look {
	struct symbolizer_puc *symbolizer;
	const struct ls_puc_layout *layout;
};

/*
 * What the program itself calls has no caller to name it. A chunk that it keeps under a name of
 * its own goes by that: one of many scripts, as in Redis.
 */
static void name_script_function(void *context, void *value)
{
	const struct last_look *look = context;
	struct symbolizer_puc *symbolizer = look->symbolizer;
	const struct prototype *prototype = value;
	const struct prototype_key *key = &prototype->key;
	const char *name = c_functions_puc__name(symbolizer->registered, key->address);

	if (!name || prototype_puc__check(&symbolizer->memory, look->layout, key))
		return;
	if (!prototype->is_chunk)
		functions__suggest(symbolizer->functions, prototype->function, name);
	else if (c_functions_puc__is_given(symbolizer->registered, key->address))
		functions__rename(symbolizer->functions, prototype->function, name);
}

void symbolizer_puc__suggest_names(struct symbolizer_puc *symbolizer)
{
	call_names_puc__suggest(symbolizer->names);
}

void symbolizer_puc__finish(struct symbolizer_puc *symbolizer, const struct ls_puc_layout *layout,
			    uint64_t state)
{
	struct last_look look = {symbolizer, layout};

	if (!state)
		return;
	c_functions_puc__read(symbolizer->registered, &symbolizer->memory, layout, state);
	generations__visit(symbolizer->c_functions, name_again, symbolizer);
	generations__visit(symbolizer->prototypes, name_script_function, &look);
}

int symbolizer_puc__is_full(const struct symbolizer_puc *symbolizer)
{
	return generations__added(symbolizer->prototypes) >= PROTOTYPES_NEW ||
	       generations__young(symbolizer->prototypes) >= PROTOTYPES_MOST;
}

void symbolizer_puc__age(struct symbolizer_puc *symbolizer)
{
	generations__age(symbolizer->prototypes);
	call_names_puc__require_proof(symbolizer->names);
}

static void mark_prototype(void *used, void *value)
{
	((uint8_t *)used)[((const struct prototype *)value)->function] = 1;
}

static void mark_c_function(void *used, void *value)
{
	((uint8_t *)used)[((const struct c_function *)value)->function] = 1;
}

void symbolizer_puc__mark(struct symbolizer_puc *symbolizer, uint8_t *used)
{
	generations__visit(symbolizer->prototypes, mark_prototype, used);
	generations__visit(symbolizer->c_functions, mark_c_function, used);
}

uint64_t symbolizer_puc__unnamed_calls(const struct symbolizer_puc *symbolizer)
{
	return call_names_puc__unread(symbolizer->names);
}
