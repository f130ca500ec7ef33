/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "cpu_time.h"
#include "functions.h"
#include "hash_table.h"
#include "layout_puc.h"
#include "pruning.h"
#include "symbolizer_puc.h"
#include "timeline.h"

/*
 * What a session keeps, whatever the target does: about 150 MiB. When there are more nodes or
 * functions, a quarter stays at least, the hottest. Of functions also those that BPF will not
 * define again: then there may be more, but how many more is bounded, too.
 */
#define NODES_MAX      1000000U
#define FUNCTIONS_MAX  100000U
#define FUNCTIONS_STEP (FUNCTIONS_MAX / 8)
#define STACKS_MAX     1024U

/*
 * A thread's last stack with its nodes. The next one mostly shares its outer part, for which no
 * function has to be looked up again.
 */
struct last_stack {
	uint32_t tid;
	uint32_t count, room;
	uint32_t category;
	int leaf_has_line;
	struct ls_frame *frames; /* leaf first */
	uint32_t *nodes;         /* of the frames */
	UT_hash_handle hh;
};

struct recording {
	pid_t pid;
	struct call_tree *tree;
	struct categories *categories;
	struct functions *functions;
	struct symbolizer_puc *symbolizer;
	struct cpu_time *time;
	struct timeline *timeline; /* NULL: not kept */
	struct last_stack *stacks;
	struct verdicts verdicts;
	uint32_t host, unreadable, unsampled, collector; /* functions */
	uint32_t coroutine;      /* likewise; 0: where they begin is not kept */
	uint32_t other;          /* likewise: stands for those that were evicted */
	uint32_t functions_most; /* more are too many */
	uint64_t evicted;
	uint64_t last_states[LS_LAYOUT_MAX]; /* by layout; 0: none */
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t errors[LS_WALK_ERROR_COUNT];
	uint64_t collected;
	uint64_t unknown_lines;
	uint64_t unsampled_ns;
	uint64_t unnamed_calls;  /* of programs that exec() replaced */
	uint64_t unaccounted_ns; /* of the process, beyond its threads: is in unsampled_ns */
	int is_paused;
	uint64_t resumed_ns; /* CLOCK_MONOTONIC, as records have it */
	int error;           /* that a callback could not return */
};

static void charge(void *context, uint32_t node, uint64_t ns)
{
	struct recording *recording = context;

	call_tree__charge(recording->tree, node, ns);
}

static void charge_unsampled(void *context, const char *comm, uint64_t ns)
{
	struct recording *recording = context;
	const char *name = categories__of_thread(recording->categories, comm);
	uint32_t category = call_tree__category(recording->tree, name);
	uint32_t node = call_tree__child(recording->tree, category, recording->unsampled);

	recording->unsampled_ns += ns;
	if (node)
		call_tree__charge(recording->tree, node, ns);
	else
		recording->error = -ENOMEM;
}

struct recording *recording__new(pid_t pid, enum category_kind kind, const char *process)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	struct cpu_time_receiver receiver = {recording, charge, charge_unsampled};

	if (!recording)
		return NULL;
	recording->pid = pid;
	recording->tree = call_tree__new();
	recording->categories = categories__new(kind, process);
	recording->functions = functions__new();
	recording->time = cpu_time__new(&receiver);
	if (!recording->tree || !recording->categories || !recording->functions || !recording->time)
		goto cleanup;
	recording->symbolizer = symbolizer_puc__new(pid, recording->functions);
	recording->host = functions__pseudo(recording->functions, "(host)");
	recording->unreadable = functions__pseudo(recording->functions, "(unreadable)");
	recording->unsampled = functions__pseudo(recording->functions, "(unsampled)");
	recording->other = functions__pseudo(recording->functions, CALL_TREE_OTHER);
	recording->collector = functions__collector(recording->functions);
	recording->functions_most = FUNCTIONS_MAX;
	if (recording->symbolizer && recording->host && recording->unreadable &&
	    recording->unsampled && recording->other && recording->collector)
		return recording;
cleanup:
	recording__free(recording);
	return NULL;
}

static void forget_stack(struct recording *recording, struct last_stack *stack)
{
	HASH_DEL(recording->stacks, stack);
	free(stack->frames);
	free(stack->nodes);
	free(stack);
}

static void forget_stacks(struct recording *recording)
{
	struct last_stack *stack, *next;

	HASH_ITER (hh, recording->stacks, stack, next)
		forget_stack(recording, stack);
}

void recording__free(struct recording *recording)
{
	if (!recording)
		return;
	forget_stacks(recording);
	symbolizer_puc__free(recording->symbolizer);
	cpu_time__free(recording->time);
	timeline__free(recording->timeline);
	functions__free(recording->functions);
	categories__free(recording->categories);
	call_tree__free(recording->tree);
	free(recording);
}

int recording__keep_timeline(struct recording *recording)
{
	recording->timeline = timeline__new(TIMELINE_MOST);
	return recording->timeline ? 0 : -ENOMEM;
}

int recording__keep_coroutines(struct recording *recording)
{
	recording->coroutine = functions__pseudo(recording->functions, PROFILE_COROUTINE);
	return recording->coroutine ? 0 : -ENOMEM;
}

int recording__begin_thread(struct recording *recording, uint32_t tid, const char *comm,
			    uint64_t runtime_ns)
{
	return cpu_time__begin(recording->time, tid, comm, runtime_ns);
}

static struct last_stack *last_stack_of(struct recording *recording, uint32_t tid)
{
	struct last_stack *stack;

	HASH_FIND(hh, recording->stacks, &tid, sizeof(tid), stack);
	if (stack)
		return stack;
	if (HASH_COUNT(recording->stacks) >= STACKS_MAX)
		forget_stack(recording, recording->stacks);
	stack = calloc(1, sizeof(*stack));
	if (!stack)
		return NULL;
	stack->tid = tid;
	HASH_ADD(hh, recording->stacks, tid, sizeof(stack->tid), stack);
	if (HASH_HAS_ADDED(stack))
		return stack;
	free(stack);
	return NULL;
}

static int make_room(struct last_stack *stack, uint32_t count)
{
	struct ls_frame *frames;
	uint32_t *nodes;

	if (count <= stack->room)
		return 0;
	frames = reallocarray(stack->frames, count, sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	stack->frames = frames;
	nodes = reallocarray(stack->nodes, count, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	stack->nodes = nodes;
	stack->room = count;
	return 0;
}

/* How many frames, from the root, are the same as last time. */
static uint32_t shared_frames(const struct last_stack *stack, const struct ls_frame *frames,
			      uint32_t count)
{
	uint32_t shared = 0;

	while (shared < count && shared < stack->count &&
	       !memcmp(&frames[count - 1 - shared], &stack->frames[stack->count - 1 - shared],
		       sizeof(*frames)))
		shared++;
	return shared;
}

/* The node of frames[at] under `parent`. 0 when out of memory. */
static uint32_t frame_node(struct recording *recording, const struct ls_sample *sample,
			   const struct ls_frame *frames, uint32_t at, uint32_t parent,
			   struct symbol_quality *quality)
{
	const struct ls_puc_layout *layout = &layouts_puc[sample->layout].offsets;
	uint32_t function;

	if (!frames[at].kind) /* a place left empty: could not be decoded */
		return parent;
	if (recording->coroutine && frames[at].flags & LS_FRAME_STATE_ROOT)
		parent = call_tree__child(recording->tree, parent, recording->coroutine);
	function = symbolizer_puc__function(recording->symbolizer, layout, sample->state,
					    &frames[at], sample->frame_count - at, quality);
	return function ? call_tree__child(recording->tree, parent, function) : 0;
}

/* The node that the sample's leaf ends at. 0 when out of memory. */
static uint32_t stack_node(struct recording *recording, const struct ls_sample *sample,
			   const struct ls_frame *frames, uint32_t category)
{
	struct last_stack *stack = last_stack_of(recording, sample->tid);
	uint32_t count = sample->frame_count, shared, node = category;
	struct symbol_quality quality;
	int is_known = 1;

	if (!stack || make_room(stack, count))
		return 0;
	shared = stack->category == category ? shared_frames(stack, frames, count) : 0;
	/* A caller that has become the leaf is looked at as such. */
	if (shared && shared == count && count < stack->count)
		shared--;
	/* The shared part moves to where it lies in the new stack, counted from the leaf. */
	if (shared) {
		memmove(stack->nodes + count - shared, stack->nodes + stack->count - shared,
			shared * sizeof(*stack->nodes));
		node = stack->nodes[count - shared];
	}
	for (uint32_t at = count - shared; at-- > 0;) {
		quality = (struct symbol_quality){1, 1};
		node = frame_node(recording, sample, frames, at, node, &quality);
		is_known &= quality.is_known;
		stack->leaf_has_line = quality.has_line;
		if (!node) {
			stack->count = 0;
			return 0;
		}
		stack->nodes[at] = node;
	}
	if (count)
		memcpy(stack->frames, frames, count * sizeof(*frames));
	stack->count = is_known ? count : 0;
	stack->category = category;
	recording->collected += !is_known;
	recording->unknown_lines += count && !stack->leaf_has_line;
	return node;
}

/* Whoever holds ids of nodes is told the new ones, or forgets them. */
static int prune(struct recording *recording)
{
	const struct pruning pruning = {.nodes_most = NODES_MAX / 2,
					.functions_most = FUNCTIONS_MAX / 4,
					.other = recording->other};
	uint8_t *used = calloc(functions__highest(recording->functions) + 1, sizeof(*used));
	struct ls_profile profile = {};
	struct call_tree *tree = NULL;
	uint32_t *nodes = NULL;
	int error = -ENOMEM;

	if (!used)
		goto cleanup;
	used[recording->collector] = 1;
	call_tree__export(recording->tree, &profile);
	functions__export(recording->functions, &profile);
	error = pruning__run(&pruning, &profile, &tree, &nodes, used);
	if (error)
		goto cleanup;
	forget_stacks(recording);
	cpu_time__renumber(recording->time, nodes);
	if (recording->timeline)
		timeline__renumber(recording->timeline, nodes);
	call_tree__free(recording->tree);
	recording->tree = tree;
	symbolizer_puc__mark(recording->symbolizer, used);
	recording->evicted += functions__evict(recording->functions, used);
cleanup:
	free(nodes);
	free(used);
	return error;
}

/* Room for what a stack of `depth` frames may bring. 0 or -ENOMEM. */
static int keep_bounds(struct recording *recording, uint32_t depth)
{
	uint32_t count = functions__count(recording->functions);
	int error;

	if (call_tree__nodes(recording->tree) + depth < NODES_MAX &&
	    count + depth < recording->functions_most)
		return 0;
	error = prune(recording);
	count = functions__count(recording->functions) + FUNCTIONS_STEP;
	recording->functions_most = count > FUNCTIONS_MAX ? count : FUNCTIONS_MAX;
	return error;
}

/* Of the outermost Lua function; NULL: it is not known. */
static const char *root_source(struct recording *recording, const struct ls_sample *sample,
			       const struct ls_frame *frames)
{
	struct symbol_quality quality = {};

	if (sample->error == LS_WALK_RESUMERS || sample->layout >= layouts_puc_count)
		return NULL;
	for (uint32_t at = sample->frame_count; at-- > 0;) {
		if (frames[at].kind == LS_FRAME_C)
			continue;
		if (frames[at].kind != LS_FRAME_LUA)
			return NULL;
		return functions__source(
			recording->functions,
			symbolizer_puc__function(
				recording->symbolizer, &layouts_puc[sample->layout].offsets,
				sample->state, &frames[at], sample->frame_count - at, &quality));
	}
	return NULL;
}

/* The node of what the sample is filed under. 0 when out of memory. */
static uint32_t category_node(struct recording *recording, const struct ls_sample *sample,
			      const struct ls_frame *frames)
{
	const char *source = categories__kind(recording->categories) == CATEGORY_CHUNK
				     ? root_source(recording, sample, frames)
				     : NULL;

	return call_tree__category(recording->tree,
				   categories__of_sample(recording->categories, sample, source));
}

int recording__sample(struct recording *recording, const struct ls_sample *sample,
		      const struct ls_frame *frames)
{
	uint32_t category, node;
	int error;

	if (recording->is_paused)
		return 0;
	error = keep_bounds(recording, 2U * sample->frame_count + 2);
	if (error)
		return error;
	category = category_node(recording, sample, frames);
	if (!category)
		return -ENOMEM;
	verdicts__add(&recording->verdicts, sample);
	recording->classes[sample->class % LS_SAMPLE_CLASS_COUNT]++;
	recording->errors[sample->error % LS_WALK_ERROR_COUNT]++;
	if (sample->class == LS_SAMPLE_HOST)
		node = call_tree__child(recording->tree, category, recording->host);
	else if (sample->class == LS_SAMPLE_UNREADABLE || sample->layout >= layouts_puc_count)
		node = call_tree__child(recording->tree, category, recording->unreadable);
	else
		node = stack_node(recording, sample, frames, category);
	if (sample->flags & LS_SAMPLE_IN_COLLECTOR && sample->frame_count)
		node = call_tree__child(recording->tree, node, recording->collector);
	if (!node)
		return -ENOMEM;
	if (sample->state)
		recording->last_states[sample->layout % LS_LAYOUT_MAX] = sample->state;
	call_tree__count(recording->tree, node);
	if (recording->timeline &&
	    timeline__add(recording->timeline, sample->time_ns, sample->tid, node))
		return -ENOMEM;
	return cpu_time__sample(recording->time, sample, node);
}

int recording__function(struct recording *recording, const struct ls_function *function)
{
	int error = keep_bounds(recording, 1);

	return error ? error : symbolizer_puc__define(recording->symbolizer, function);
}

int recording__is_full(const struct recording *recording)
{
	return symbolizer_puc__is_full(recording->symbolizer);
}

void recording__age(struct recording *recording)
{
	symbolizer_puc__age(recording->symbolizer);
}

int recording__thread_exit(struct recording *recording, const struct ls_thread_exit *exit)
{
	struct last_stack *stack;

	HASH_FIND(hh, recording->stacks, &exit->tid, sizeof(exit->tid), stack);
	if (stack)
		forget_stack(recording, stack);
	if (!recording->is_paused && exit->time_ns >= recording->resumed_ns)
		return cpu_time__end(recording->time, exit->tid, exit->comm, exit->runtime_ns);
	cpu_time__end_known(recording->time, exit->tid, exit->runtime_ns);
	return 0;
}

int recording__exec(struct recording *recording)
{
	struct symbolizer_puc *fresh = symbolizer_puc__new(recording->pid, recording->functions);

	if (!fresh)
		return -ENOMEM;
	recording->unnamed_calls += symbolizer_puc__unnamed_calls(recording->symbolizer);
	symbolizer_puc__free(recording->symbolizer);
	categories__forget_vms(recording->categories);
	functions__forget_addresses(recording->functions);
	recording->symbolizer = fresh;
	memset(recording->last_states, 0, sizeof(recording->last_states));
	memset(&recording->verdicts, 0, sizeof(recording->verdicts));
	forget_stacks(recording);
	return 0;
}

int recording__rename_process(struct recording *recording, const char *process)
{
	return categories__rename(recording->categories, process);
}

int recording__end_thread(struct recording *recording, uint32_t tid, const char *comm,
			  uint64_t runtime_ns)
{
	return cpu_time__end(recording->time, tid, comm, runtime_ns);
}

int recording__pause_thread(struct recording *recording, uint32_t tid, const char *comm,
			    uint64_t runtime_ns)
{
	return cpu_time__pause(recording->time, tid, comm, runtime_ns);
}

int recording__resume_thread(struct recording *recording, uint32_t tid, const char *comm,
			     uint64_t runtime_ns)
{
	return cpu_time__resume(recording->time, tid, comm, runtime_ns);
}

void recording__pause(struct recording *recording)
{
	recording->is_paused = 1;
}

void recording__resume(struct recording *recording, uint64_t time_ns)
{
	recording->is_paused = 0;
	recording->resumed_ns = time_ns;
}

int recording__settle_thread(struct recording *recording, uint32_t tid, const char *comm,
			     uint64_t runtime_ns)
{
	if (!recording->is_paused)
		return cpu_time__settle(recording->time, tid, comm, runtime_ns);
	cpu_time__settle_known(recording->time, tid, runtime_ns);
	return 0;
}

void recording__complete(struct recording *recording, const char *comm, uint64_t cpu_ns)
{
	uint64_t known_ns = cpu_time__total_ns(recording->time) + recording->unaccounted_ns;

	if (cpu_ns > known_ns) {
		recording->unaccounted_ns += cpu_ns - known_ns;
		charge_unsampled(recording, comm, cpu_ns - known_ns);
	}
	for (size_t i = 0; i < layouts_puc_count; i++)
		symbolizer_puc__finish(recording->symbolizer, &layouts_puc[i].offsets,
				       recording->last_states[i]);
}

void recording__finish(struct recording *recording, const char *comm, uint64_t cpu_ns)
{
	cpu_time__end_all(recording->time);
	recording__complete(recording, comm, cpu_ns);
}

struct verdicts *recording__verdicts(struct recording *recording)
{
	return &recording->verdicts;
}

const uint64_t *recording__classes(const struct recording *recording)
{
	return recording->classes;
}

uint64_t recording__script_samples(const struct recording *recording)
{
	const uint64_t *classes = recording->classes;

	return classes[LS_SAMPLE_COMPLETE] + classes[LS_SAMPLE_TORN] + classes[LS_SAMPLE_TRUNCATED];
}

void recording__export(struct recording *recording, struct ls_profile *profile)
{
	struct ls_profile_recorder *recorder = &profile->recorder;

	call_tree__export(recording->tree, profile);
	functions__export(recording->functions, profile);
	memcpy(recorder->classes, recording->classes, sizeof(recorder->classes));
	memcpy(recorder->errors, recording->errors, sizeof(recorder->errors));
	recorder->errors[LS_WALK_NONE] = 0;
	recorder->collected = recording->collected;
	recorder->unknown_lines = recording->unknown_lines;
	recorder->unsampled_ns = recording->unsampled_ns;
	recorder->evicted_functions = recording->evicted;
	if (recording->timeline)
		timeline__export(recording->timeline, profile);
	recorder->evicted_samples = pruning__samples(profile, recording->other);
	recorder->unnamed_calls =
		recording->unnamed_calls + symbolizer_puc__unnamed_calls(recording->symbolizer);
}
