/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples become nodes of the call tree. */
#include <errno.h>
#include <string.h>

#include "profile/pruning.h"
#include "recording/recording_internal.h"

#define FUNCTIONS_STEP (RECORDING_FUNCTIONS_MAX / 8)

/* The node of frames[at] under `parent`. 0 when out of memory. */
static uint32_t frame_node(struct recorded_process *process, const struct ls_sample *sample,
			   const struct ls_frame *frames, uint32_t at, uint32_t parent,
			   struct symbol_quality *quality)
{
	struct recording *recording = process->recording;
	uint32_t function;

	if (!frames[at].kind) /* an empty entry: the frame could not be decoded */
		return parent;
	if (recording->coroutine && frames[at].flags & LS_FRAME_STATE_ROOT)
		parent = call_tree__child(recording->tree, parent, recording->coroutine);
	function = symbolizer__function(process->symbolizer, sample, &frames[at],
					sample->frame_count - at, quality);
	return function ? call_tree__child(recording->tree, parent, function) : 0;
}

/* The node of the sample's leaf. 0 when out of memory. */
static uint32_t stack_node(struct recorded_process *process, const struct ls_sample *sample,
			   const struct ls_frame *frames, uint32_t category)
{
	struct recording *recording = process->recording;
	uint32_t count = sample->frame_count, shared, node = category;
	struct last_stack *stack = last_stacks__of(&recording->stacks, sample->tid, count);
	struct symbol_quality quality;
	bool is_known = true, has_lines = true;

	if (!stack)
		return 0;
	shared = last_stack__share(stack, frames, count, category);
	if (shared)
		node = stack->nodes[count - shared];
	if (symbolizer__look_ahead(process->symbolizer, sample, frames, count, count - shared))
		return 0;
	for (uint32_t at = count - shared; at-- > 0;) {
		quality = (struct symbol_quality){1, 1, 1};
		node = frame_node(process, sample, frames, at, node, &quality);
		is_known &= quality.is_known;
		has_lines &= quality.has_line;
		stack->leaf_has_line = quality.has_line;
		stack->leaf_keeps_line = quality.keeps_line;
		if (!node) {
			stack->count = 0;
			return 0;
		}
		stack->nodes[at] = node;
	}
	if (count)
		memcpy(stack->frames, frames, count * sizeof(*frames));
	/*
	 * A function without a line may have one at the next sample, so this stack is not reused.
	 */
	stack->count = is_known && has_lines ? count : 0;
	stack->category = category;
	recording->collected += !is_known;
	recording->unknown_lines += count && !stack->leaf_has_line;
	recording->unkept_lines += count && !stack->leaf_keeps_line;
	if (process->subprofile) {
		process->subprofile->counts.collected += !is_known;
		process->subprofile->counts.unknown_lines += count && !stack->leaf_has_line;
		process->subprofile->counts.unkept_lines += count && !stack->leaf_keeps_line;
	}
	return node;
}

/* Prunes nodes and functions. All holders of node ids get the new ones, or forget theirs. */
static int prune(struct recording *recording)
{
	const struct pruning pruning = {.nodes_most = RECORDING_NODES_MAX / 2,
					.functions_most = RECORDING_FUNCTIONS_MAX / 4,
					.other = recording->other};
	uint8_t *used = calloc(functions__highest(recording->functions) + 1, sizeof(*used));
	struct ls_profile profile = {};
	struct call_tree *tree = NULL;
	struct recorded_process *process;
	uint32_t *nodes = NULL;
	int error = -ENOMEM;

	if (!used)
		goto cleanup;
	used[recording->gc] = 1;
	call_tree__export(recording->tree, &profile);
	functions__export(recording->functions, &profile);
	error = pruning__run(&pruning, &profile, &tree, &nodes, used);
	if (error)
		goto cleanup;
	last_stacks__forget_all(&recording->stacks);
	for (process = recording->processes; process; process = process->hh.next)
		cpu_time__renumber(process->time, nodes);
	if (recording->timeline)
		timeline__renumber(recording->timeline, nodes);
	call_tree__free(recording->tree);
	recording->tree = tree;
	for (process = recording->processes; process; process = process->hh.next)
		symbolizer__mark(process->symbolizer, used);
	recording->evicted += functions__evict(recording->functions, used);
cleanup:
	free(nodes);
	free(used);
	return error;
}

/* Makes room for the nodes and functions of a stack of `depth` frames. 0 or -ENOMEM. */
int recording__keep_bounds(struct recording *recording, uint32_t depth)
{
	uint32_t count = functions__count(recording->functions);
	int error;

	if (call_tree__nodes(recording->tree) + depth < RECORDING_NODES_MAX &&
	    count + depth < recording->functions_most)
		return 0;
	error = prune(recording);
	count = functions__count(recording->functions) + FUNCTIONS_STEP;
	recording->functions_most =
		count > RECORDING_FUNCTIONS_MAX ? count : RECORDING_FUNCTIONS_MAX;
	return error;
}

/* The source of the outermost Lua function; NULL: unknown. */
static const char *root_source(struct recorded_process *process, const struct ls_sample *sample,
			       const struct ls_frame *frames)
{
	struct symbol_quality quality = {};

	if (sample->error == LS_WALK_RESUMERS)
		return NULL;
	for (uint32_t at = sample->frame_count; at-- > 0;) {
		if (frames[at].kind == LS_FRAME_C)
			continue;
		if (frames[at].kind != LS_FRAME_LUA)
			return NULL;
		return functions__source(process->recording->functions,
					 symbolizer__function(process->symbolizer, sample,
							      &frames[at], sample->frame_count - at,
							      &quality));
	}
	return NULL;
}

/* The node of the sample's category. 0 when out of memory. */
static uint32_t category_node(struct recorded_process *process, const struct ls_sample *sample,
			      const struct ls_frame *frames)
{
	const char *source = process->recording->kind == CATEGORY_CHUNK
				     ? root_source(process, sample, frames)
				     : NULL;

	return recorded_process__category(
		process, categories__of_sample(process->categories, sample, source));
}

static void count(struct recorded_process *process, const struct ls_sample *sample)
{
	struct recording *recording = process->recording;
	struct subprofile *subprofile = process->subprofile;

	recording->classes[sample->class % LS_SAMPLE_CLASS_COUNT]++;
	recording->errors[sample->error % LS_WALK_ERROR_COUNT]++;
	if (!subprofile)
		return;
	subprofile->counts.classes[sample->class % LS_SAMPLE_CLASS_COUNT]++;
	subprofile->counts.errors[sample->error % LS_WALK_ERROR_COUNT]++;
	subprofiles__count_dropped(recording->subprofiles, subprofile, sample->dropped_before);
}

int recording__sample(struct recording *recording, const struct ls_sample *sample,
		      const struct ls_frame *frames)
{
	struct recorded_process *process = recorded_process__find(recording, (pid_t)sample->tgid);
	struct layout layout;
	uint32_t category, node;
	bool has_layout = layout__of_sample(sample, &layout);
	int error;

	if (recording->is_paused)
		return 0;
	/* The target was dropped just after this was sent. */
	if (!process) {
		recording->classes[LS_SAMPLE_DROPPED]++;
		return 0;
	}
	error = recording__keep_bounds(recording, 2U * sample->frame_count + 2);
	if (error)
		return error;
	category = category_node(process, sample, frames);
	if (!category)
		return -ENOMEM;
	layout_votes__add(&process->votes, sample);
	count(process, sample);
	if (sample->class == LS_SAMPLE_HOST)
		node = call_tree__child(recording->tree, category, recording->host);
	else if (sample->class == LS_SAMPLE_UNREADABLE || !has_layout)
		node = call_tree__child(recording->tree, category, recording->unreadable);
	else
		node = stack_node(process, sample, frames, category);
	if (sample->activity != LS_ACTIVITY_NONE && sample->frame_count)
		node = call_tree__child(
			recording->tree, node,
			functions__activity(recording->functions, sample->activity));
	if (!node)
		return -ENOMEM;
	if (sample->state && has_layout)
		process->last_states[sample->family][sample->layout] = sample->state;
	call_tree__count(recording->tree, node, sample->period_ns);
	call_tree__weigh(recording->tree, category,
			 (uint64_t)sample->dropped_before * sample->period_ns);
	if (recording->timeline &&
	    timeline__add(recording->timeline, sample->time_ns, sample->tid, node))
		return -ENOMEM;
	return cpu_time__sample(process->time, sample, node);
}
