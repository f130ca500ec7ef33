/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "naming/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/generations.h"
#include "naming/c_callees.h"
#include "naming/call_names.h"
#include "naming/function_record.h"
#include "naming/nested_names.h"
#include "symbols/chunk_name.h"

struct prototype {
	uint32_t function; /* in the interpreter; */
	uint32_t native;   /* as machine code; 0: not yet */
	struct prototype_key key;
	uint32_t first, last; /* lines */
	enum text_place text; /* TEXT_NOWHERE also once its definition was looked for */
	bool is_chunk;        /* the main function of a chunk */
	bool is_named;        /* by its definition: callers do not name it */
	struct nested_state nested;
	bool lines_are_read; /* successfully or not: not to be tried again */
	bool has_lines;      /* `lines` is valid; it is NULL if the chunk was stripped */
	struct line_table *lines;
	size_t *line_bytes; /* total of all such tables, in the symbolizer */
};

/*
 * How many entries may be new before a cache ages. BPF must send a dropped prototype again, so
 * prototypes in use must not be dropped all the time; other entries are merely read again.
 */
#define PROTOTYPES_NEW  16384
#define PROTOTYPES_MOST 49152

struct symbolizer {
	pid_t pid;
	struct inspector *inspector;
	struct functions *functions;
	struct generations *prototypes; /* struct prototype by struct prototype_key */
	bool has_places; /* the inspector keeps the mappings or folders of the process */
	uint32_t collected, truncated;
	size_t line_bytes;
	uint32_t program; /* functions__program(): tells its addresses from those of others */
	struct call_names *names;
	struct nested_names *nested;
	struct c_callees *c_callees;
};

static void drop_prototype(void *value)
{
	struct prototype *prototype = value;

	if (prototype->lines)
		*prototype->line_bytes -= line_table__size(prototype->lines);
	line_table__free(prototype->lines);
}

struct symbolizer *symbolizer__new(pid_t pid, struct functions *functions,
				   struct inspector *inspector)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return NULL;
	symbolizer->pid = pid;
	symbolizer->inspector = inspector;
	symbolizer->functions = functions;
	symbolizer->program = functions__program(functions);
	symbolizer->collected = functions__pseudo(functions, PROFILE_COLLECTED);
	symbolizer->truncated = functions__pseudo(functions, PROFILE_TRUNCATED);
	symbolizer->prototypes = generations__new(sizeof(struct prototype_key),
						  sizeof(struct prototype), drop_prototype);
	symbolizer->names = call_names__new(pid, inspector, functions);
	symbolizer->nested = nested_names__new(pid, inspector);
	symbolizer->c_callees = c_callees__new(pid, inspector, functions, symbolizer->program);
	if (symbolizer->collected && symbolizer->truncated && symbolizer->prototypes &&
	    symbolizer->names && symbolizer->nested && symbolizer->c_callees)
		return symbolizer;
	symbolizer__free(symbolizer);
	return NULL;
}

void symbolizer__free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	generations__free(symbolizer->prototypes);
	call_names__free(symbolizer->names);
	nested_names__free(symbolizer->nested);
	c_callees__free(symbolizer->c_callees);
	if (symbolizer->has_places)
		inspector__forget(symbolizer->inspector, symbolizer->pid);
	free(symbolizer);
}

void symbolizer__prepare(struct symbolizer *symbolizer)
{
	symbolizer->has_places = true;
	inspector__prepare(symbolizer->inspector, symbolizer->pid);
}

int symbolizer__define(struct symbolizer *symbolizer, const struct ls_function *function)
{
	struct prototype_key key = {function->function, function->fingerprint};
	struct function_identity identity = {.line = function->line_defined,
					     .last_line = function->last_line_defined,
					     .shape = function->shape};
	char source[CHUNK_NAME_SIZE];
	struct prototype *prototype;
	const char *name = function->line_defined ? name_in(function) : "main chunk";
	uint32_t id;

	if (function->kind == LS_FRAME_C)
		return c_callees__define(symbolizer->c_callees, function);
	if (generations__find(symbolizer->prototypes, &key))
		return 0;
	chunk_name__show(function->text, function->source_length, source);
	identity.source = source;
	id = functions__script(symbolizer->functions, &identity);
	prototype = id ? generations__add(symbolizer->prototypes, &key) : NULL;
	if (!prototype)
		return -ENOMEM;
	prototype->key = key;
	prototype->is_chunk = !function->line_defined;
	prototype->is_named = name != NULL;
	prototype->first = function->line_defined;
	prototype->last = function->last_line_defined;
	prototype->text = name ? TEXT_NOWHERE : place_text(function);
	prototype->function = id;
	return name ? functions__rename(symbolizer->functions, id, name) : 0;
}

/* Looks for the name that the definition gives to the function. 0 or -ENOMEM. */
static int look_for_definition(struct symbolizer *symbolizer, const struct layout *layout,
			       struct prototype *prototype)
{
	struct functions *functions = symbolizer->functions;
	struct definition_inquiry inquiry = {
		.key = &prototype->key, .first = prototype->first, .last = prototype->last};
	const uint32_t program = symbolizer->program;
	char name[DEFINITION_NAME_SIZE];
	int error = 0;

	if (prototype->text == TEXT_NOWHERE)
		return 0;
	if (functions__awaits_definition(functions, prototype->function, program)) {
		if (prototype->text == TEXT_IN_FILE)
			inquiry.file = functions__source(functions, prototype->function);
		symbolizer->has_places = true;
		error = inspector__definition(symbolizer->inspector, symbolizer->pid, layout,
					      &inquiry, name);
		if (inspector__is_later(error))
			return 0;
		error = functions__define(functions, prototype->function, program, name);
		if (!error && prototype->native)
			error = functions__define(functions, prototype->native, program, name);
	}
	prototype->text = TEXT_NOWHERE;
	prototype->is_named = functions__is_in_text(functions, prototype->function);
	return error;
}

/* Gives the function the name that the code of its definer has for it, unless text has the same. */
static int infer_name(struct symbolizer *symbolizer, struct prototype *prototype)
{
	struct functions *functions = symbolizer->functions;
	const char *name = NULL;
	int error = 0;

	if (!prototype->is_chunk)
		name = nested_names__find(symbolizer->nested, &prototype->key, &prototype->nested);
	if (name)
		error = functions__infer(functions, prototype->function, name);
	if (name && prototype->native && !error)
		error = functions__infer(functions, prototype->native, name);
	if (name)
		prototype->is_named = functions__is_defined(functions, prototype->function);
	return error;
}

/* For all line tables together: enough for programs of several million lines. */
#define LINE_BYTES_MAX (64U << 20)

/* Takes over the lines that were read; none if reading must be tried again. */
static void learn_lines(struct symbolizer *symbolizer, struct prototype *prototype,
			struct prototype_inquiry *inquiry)
{
	size_t size = line_table__size(inquiry->lines);
	bool has_room = symbolizer->line_bytes + size <= LINE_BYTES_MAX;

	if (inquiry->error == -ESTALE)
		call_names__require_proof(symbolizer->names);
	prototype->lines_are_read = !inspector__is_later(inquiry->error);
	prototype->has_lines = !inquiry->error && has_room;
	if (!prototype->has_lines) {
		line_table__free(inquiry->lines);
		return;
	}
	prototype->lines = inquiry->lines;
	prototype->line_bytes = &symbolizer->line_bytes;
	symbolizer->line_bytes += size;
	if (prototype->lines)
		functions__keep_lines(symbolizer->functions, prototype->function, prototype->lines);
}

/* The function of a frame that runs this prototype; 0 when out of memory. */
static uint32_t function_of(struct symbolizer *symbolizer, struct prototype *prototype,
			    const struct ls_frame *frame)
{
	if (!(frame->flags & LS_FRAME_NATIVE))
		return prototype->function;
	if (!prototype->native)
		prototype->native = functions__native(symbolizer->functions, prototype->function);
	return prototype->native;
}

static uint32_t at_current_line(struct symbolizer *symbolizer, const struct layout *layout,
				const struct prototype_key *key, struct prototype *prototype,
				uint32_t function, uint32_t pc, struct symbol_quality *quality)
{
	struct prototype_inquiry inquiry = {.key = *key};
	const struct line_table *lines;

	if (!prototype->lines_are_read) {
		inspector__prototypes(symbolizer->inspector, symbolizer->pid, layout, &inquiry, 1);
		learn_lines(symbolizer, prototype, &inquiry);
	}
	lines = prototype->has_lines ? prototype->lines
				     : functions__lines(symbolizer->functions, prototype->function);
	quality->has_line = prototype->has_lines || lines;
	quality->keeps_line = pc != LS_PC_UNKNOWN;
	return functions__at_line(symbolizer->functions, function, line_table__line(lines, pc));
}

/* 0 or -ENOMEM. */
static int learn(struct symbolizer *symbolizer, struct prototype_inquiry *inquiry)
{
	struct prototype *prototype;

	if (inquiry->subject == INQUIRY_CALL)
		return call_names__learn(symbolizer->names, inquiry);
	prototype = generations__find(symbolizer->prototypes, &inquiry->key);
	if (inquiry->subject == INQUIRY_NESTED) {
		struct nested_state gone = {};

		return nested_names__learn(symbolizer->nested,
					   prototype ? &prototype->nested : &gone, inquiry);
	}
	if (prototype && !prototype->lines_are_read)
		learn_lines(symbolizer, prototype, inquiry);
	else
		line_table__free(inquiry->lines);
	return 0;
}

#define INQUIRIES_OF_FRAME 3

/* The inquiries that naming frames[0], and those it defines, still needs. How many, or -ENOMEM. */
static int inquire(struct symbolizer *symbolizer, const struct layout *layout,
		   const struct ls_frame *frames, uint32_t count,
		   struct prototype_inquiry inquiries[INQUIRIES_OF_FRAME])
{
	struct prototype_key key = {frames->function, frames->fingerprint};
	struct prototype *prototype;
	int asked;

	if (frames->kind != LS_FRAME_LUA)
		return 0;
	prototype = generations__find(symbolizer->prototypes, &key);
	if (!prototype)
		return 0;
	asked = look_for_definition(symbolizer, layout, prototype);
	if (!asked && !prototype->is_named)
		asked = call_names__inquire(symbolizer->names, frames, count, inquiries);
	if (asked < 0)
		return asked;
	if (!prototype->nested.is_read)
		inquiries[asked++] =
			(struct prototype_inquiry){.key = key, .subject = INQUIRY_NESTED};
	if (!prototype->lines_are_read)
		inquiries[asked++] = (struct prototype_inquiry){.key = key};
	return asked;
}

int symbolizer__look_ahead(struct symbolizer *symbolizer, const struct ls_sample *sample,
			   const struct ls_frame *frames, uint32_t count, uint32_t fresh)
{
	struct prototype_inquiry inquiries[PROTOTYPE_INQUIRIES_MAX];
	struct layout layout;
	size_t asked = 0;
	int error = 0;

	if (!layout__of_sample(sample, &layout))
		return 0;
	/* Leaf first: its prototype lives shortest. */
	for (uint32_t i = 0; i < fresh && asked + INQUIRIES_OF_FRAME <= PROTOTYPE_INQUIRIES_MAX;
	     i++) {
		int more = inquire(symbolizer, &layout, frames + i, count - i, inquiries + asked);

		if (more < 0)
			return more;
		asked += (size_t)more;
	}
	if (asked < 2)
		return 0;
	inspector__prototypes(symbolizer->inspector, symbolizer->pid, &layout, inquiries, asked);
	for (size_t i = 0; i < asked; i++) {
		int failed = learn(symbolizer, &inquiries[i]);

		error = error ? error : failed;
	}
	return error;
}

static uint32_t script_function(struct symbolizer *symbolizer, const struct layout *layout,
				const struct ls_sample *sample, const struct ls_frame *frames,
				uint32_t count, struct symbol_quality *quality)
{
	struct prototype_key key = {frames->function, frames->fingerprint};
	struct prototype *prototype;
	uint32_t function;
	const char *called;

	prototype = generations__find(symbolizer->prototypes, &key);
	if (!prototype) {
		quality->is_known = false;
		quality->has_line = false;
		return symbolizer->collected;
	}
	if (look_for_definition(symbolizer, layout, prototype) ||
	    nested_names__meet(symbolizer->nested, layout, &key, &prototype->nested,
			       sample->time_ns) ||
	    (prototype->text == TEXT_NOWHERE && infer_name(symbolizer, prototype)))
		return 0;
	function = function_of(symbolizer, prototype, frames);
	if (!function)
		return 0;
	if (!prototype->is_named && call_names__vote(symbolizer->names, layout, frames, count,
						     sample->time_ns, function, &called))
		return 0;
	return at_current_line(symbolizer, layout, &key, prototype, function, frames->pc, quality);
}

static uint32_t c_function(struct symbolizer *symbolizer, const struct layout *layout,
			   const struct ls_sample *sample, const struct ls_frame *frames,
			   uint32_t count)
{
	const char *called = NULL;
	struct c_callee callee;

	symbolizer->has_places = true;
	if (c_callees__find(symbolizer->c_callees, layout, sample->state, frames, &callee))
		return 0;
	if (callee.has_forgotten)
		call_names__require_proof(symbolizer->names);
	if (callee.is_nameless && call_names__vote(symbolizer->names, layout, frames, count,
						   sample->time_ns, callee.function, &called))
		return 0;
	return called ? functions__called(symbolizer->functions, callee.function, called)
		      : callee.function;
}

uint32_t symbolizer__function(struct symbolizer *symbolizer, const struct ls_sample *sample,
			      const struct ls_frame *frames, uint32_t count,
			      struct symbol_quality *quality)
{
	struct layout layout;

	*quality = (struct symbol_quality){.is_known = true, .has_line = true, .keeps_line = true};
	if (!layout__of_sample(sample, &layout))
		return symbolizer->truncated;
	if (frames->kind == LS_FRAME_LUA)
		return script_function(symbolizer, &layout, sample, frames, count, quality);
	if (frames->kind == LS_FRAME_C)
		return c_function(symbolizer, &layout, sample, frames, count);
	return symbolizer->truncated;
}

const char *symbolizer__called(struct symbolizer *symbolizer, const struct layout *layout,
			       const struct ls_frame *frames, uint32_t count)
{
	return call_names__name(symbolizer->names, layout, frames, count);
}

struct last_look {
	struct symbolizer *symbolizer;
	const struct layout *layout;
};

static void rename_prototype(struct symbolizer *symbolizer, const struct prototype *prototype,
			     const char *name)
{
	functions__rename(symbolizer->functions, prototype->function, name);
	if (prototype->native)
		functions__rename(symbolizer->functions, prototype->native, name);
}

/*
 * Where the program keeps a function that its definition does not name tells more than its callers
 * do, which may have it as an argument or a local variable. A chunk that the program keeps under a
 * name of its own gets that name: it is one of many scripts, as in Redis. Definitions that could
 * not be read in time are read first.
 */
static void name_script_function(void *context, void *value)
{
	const struct last_look *look = context;
	struct symbolizer *symbolizer = look->symbolizer;
	struct prototype *prototype = value;
	const struct prototype_key *key = &prototype->key;
	const struct c_function_names *kept = c_callees__names(symbolizer->c_callees);
	const char *name = c_function_names__get(kept, key->address);

	if (look_for_definition(symbolizer, look->layout, prototype) || !name ||
	    (prototype->is_named && !prototype->is_chunk) ||
	    inspector__check_prototype(symbolizer->inspector, symbolizer->pid, look->layout, key))
		return;
	if (!prototype->is_chunk || c_function_names__is_given(kept, key->address))
		rename_prototype(symbolizer, prototype, name);
}

static void infer_last(void *context, void *value)
{
	infer_name(context, value);
}

static void look_for_unnamed(void *context, void *value)
{
	const struct prototype *prototype = value;

	*(bool *)context |= !prototype->is_named;
}

/* If a function has no name yet, reads the definers that the program keeps. */
static void read_kept_definers(struct symbolizer *symbolizer, const struct layout *layout)
{
	bool has_unnamed = false;

	generations__visit(symbolizer->prototypes, look_for_unnamed, &has_unnamed);
	if (!has_unnamed || nested_names__read_kept(symbolizer->nested, layout,
						    c_callees__names(symbolizer->c_callees)))
		return;
	generations__visit(symbolizer->prototypes, infer_last, symbolizer);
}

void symbolizer__suggest_names(struct symbolizer *symbolizer)
{
	call_names__suggest(symbolizer->names);
	if (!call_names__needs_proof(symbolizer->names))
		nested_names__prove_all(symbolizer->nested);
	generations__visit(symbolizer->prototypes, infer_last, symbolizer);
}

void symbolizer__finish(struct symbolizer *symbolizer, const struct layout *layout, uint64_t state)
{
	struct last_look look = {symbolizer, layout};

	if (!state)
		return;
	c_callees__finish(symbolizer->c_callees, layout, state);
	read_kept_definers(symbolizer, layout);
	generations__visit(symbolizer->prototypes, name_script_function, &look);
}

bool symbolizer__is_full(const struct symbolizer *symbolizer)
{
	return generations__added(symbolizer->prototypes) >= PROTOTYPES_NEW ||
	       generations__young(symbolizer->prototypes) >= PROTOTYPES_MOST;
}

void symbolizer__age(struct symbolizer *symbolizer)
{
	generations__age(symbolizer->prototypes);
	call_names__require_proof(symbolizer->names);
}

static void mark_prototype(void *used, void *value)
{
	const struct prototype *prototype = value;

	((uint8_t *)used)[prototype->function] = 1;
	((uint8_t *)used)[prototype->native] = 1;
}

void symbolizer__mark(struct symbolizer *symbolizer, uint8_t *used)
{
	generations__visit(symbolizer->prototypes, mark_prototype, used);
	c_callees__mark(symbolizer->c_callees, used);
}

uint64_t symbolizer__unnamed_calls(const struct symbolizer *symbolizer)
{
	return call_names__unread(symbolizer->names);
}
