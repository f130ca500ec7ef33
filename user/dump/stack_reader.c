/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/stack_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "naming/symbolizer.h"
#include "profile/functions.h"

#define VMS_MAX 64

struct stack_reader {
	struct functions *functions;
	struct symbolizer *symbolizer;
	struct dump_counts *counts;
	struct vm {
		uint64_t vm, state; /* the last one seen of this VM */
		struct layout layout;
	} vms[VMS_MAX]; /* functions of further VMs are named only by their callers */
	size_t vm_count;
	struct ls_profile named;
};

struct stack_reader *stack_reader__new(pid_t pid, struct inspector *inspector,
				       struct dump_counts *counts)
{
	struct stack_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->counts = counts;
	reader->functions = functions__new();
	if (reader->functions)
		reader->symbolizer = symbolizer__new(pid, reader->functions, inspector);
	if (reader->symbolizer)
		return reader;
	stack_reader__free(reader);
	return NULL;
}

void stack_reader__free(struct stack_reader *reader)
{
	if (!reader)
		return;
	symbolizer__free(reader->symbolizer);
	functions__free(reader->functions);
	free(reader);
}

int stack_reader__define(struct stack_reader *reader, const struct ls_function *function)
{
	return symbolizer__define(reader->symbolizer, function);
}

static void note_vm(struct stack_reader *reader, const struct ls_sample *sample,
		    const struct layout *layout)
{
	struct vm *vm = reader->vms;
	struct vm *end = vm + reader->vm_count;

	while (vm < end && vm->vm != sample->vm)
		vm++;
	if (vm == reader->vms + VMS_MAX)
		return;
	reader->vm_count += vm == end;
	*vm = (struct vm){.vm = sample->vm, .state = sample->state, .layout = *layout};
}

static int read_frame(struct stack_reader *reader, const struct ls_sample *sample,
		      const struct layout *layout, const struct ls_frame *frames, uint32_t count,
		      struct dump_frame *frame)
{
	struct symbol_quality quality;
	const char *called;

	frame->is_state_root = frames->flags & LS_FRAME_STATE_ROOT;
	frame->is_script = frames->kind == LS_FRAME_LUA;
	frame->function = symbolizer__function(reader->symbolizer, sample, frames, count, &quality);
	if (!frame->function)
		return -ENOMEM;
	reader->counts->collected += !quality.is_known;
	reader->counts->unknown_lines +=
		quality.is_known && !(quality.has_line && quality.keeps_line);
	if (!frame->is_script || !quality.is_known ||
	    functions__is_defined(reader->functions, frame->function))
		return 0;
	called = symbolizer__called(reader->symbolizer, layout, frames, count);
	if (!called)
		return 0;
	frame->called = strdup(called);
	return frame->called ? 0 : -ENOMEM;
}

int stack_reader__read(struct stack_reader *reader, const struct ls_sample *sample,
		       const struct ls_frame *frames, struct dump_stack *stack)
{
	uint32_t count = sample->frame_count;
	struct layout layout;
	int error = 0;

	*stack = (struct dump_stack){
		.class = sample->class,
		.error = sample->error,
		.is_in_gc = sample->activity == LS_ACTIVITY_GC,
		.state = sample->state,
		.vm = sample->vm,
	};
	if (!count || !layout__of_sample(sample, &layout))
		return 0;
	stack->frames = calloc(count, sizeof(*stack->frames));
	if (!stack->frames)
		return -ENOMEM;
	stack->count = count;
	stack->layout = layout;
	note_vm(reader, sample, &layout);
	for (uint32_t i = 0; i < count && !error; i++)
		error = read_frame(reader, sample, &layout, frames + i, count - i,
				   &stack->frames[i]);
	if (error)
		dump_stack__free(stack);
	return error;
}

void dump_stack__free(struct dump_stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++)
		free(stack->frames[i].called);
	free(stack->frames);
	*stack = (struct dump_stack){};
}

void stack_reader__finish(struct stack_reader *reader)
{
	symbolizer__suggest_names(reader->symbolizer);
	for (size_t i = 0; i < reader->vm_count; i++)
		symbolizer__finish(reader->symbolizer, &reader->vms[i].layout,
				   reader->vms[i].state);
	reader->counts->unnamed_calls = symbolizer__unnamed_calls(reader->symbolizer);
	functions__export(reader->functions, &reader->named);
}

void stack_reader__name(struct stack_reader *reader, struct dump_stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++) {
		struct dump_frame *frame = &stack->frames[i];
		const struct ls_profile_function *function =
			&reader->named.functions[frame->function];

		frame->source = function->source;
		frame->line = function->current_line;
		frame->line_defined = function->line;
		/* A main chunk keeps its own name, whatever its caller calls it. */
		frame->name =
			frame->called && frame->line_defined &&
					!functions__is_defined(reader->functions, frame->function)
				? frame->called
				: function->name;
	}
}
