/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/recording.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/pruning.h"
#include "recording/recording_internal.h"

/*
 * Limits what a session keeps, whatever the target does: about 150 MiB. When there are more nodes
 * or functions, at least the hottest quarter stays. Functions that BPF will not define again stay,
 * too: there may then be more than the limit, but how many more is also bounded.
 */
#define NODES_MAX      1000000U
#define FUNCTIONS_MAX  100000U
#define FUNCTIONS_STEP (FUNCTIONS_MAX / 8)

static struct subject *find_subject(const struct recording *recording, pid_t pid)
{
	struct subject *subject;

	HASH_FIND(hh, recording->subjects, &pid, sizeof(pid), subject);
	return subject;
}

static void charge(void *context, uint32_t node, uint64_t ns)
{
	struct subject *subject = context;

	call_tree__charge(subject->recording->tree, node, ns);
}

/* The node of the category `name` in the process's part. 0 when out of memory. */
static uint32_t category_of(struct subject *subject, const char *name)
{
	return call_tree__category_of(subject->recording->tree,
				      subject->part ? subject->part->id : 0, name);
}

static void charge_unsampled(void *context, const char *comm, uint64_t ns)
{
	struct subject *subject = context;
	struct recording *recording = subject->recording;
	const char *name = categories__of_thread(subject->categories, comm);
	uint32_t category = category_of(subject, name);
	uint32_t node = call_tree__child(recording->tree, category, recording->unsampled);

	recording->unsampled_ns += ns;
	if (subject->part)
		subject->part->counts.unsampled_ns += ns;
	if (node)
		call_tree__charge(recording->tree, node, ns);
	else
		recording->error = -ENOMEM;
}

static void free_subject(struct subject *subject)
{
	if (!subject)
		return;
	symbolizer__free(subject->symbolizer);
	cpu_time__free(subject->time);
	categories__free(subject->categories);
	free(subject);
}

struct recording *recording__new(enum category_kind kind, bool has_many,
				 struct inspector *inspector)
{
	struct recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return NULL;
	recording->kind = kind;
	recording->has_many = has_many;
	recording->inspector = inspector;
	recording->tree = call_tree__new();
	recording->functions = functions__new();
	if (!recording->tree || !recording->functions)
		goto cleanup;
	recording->host = functions__pseudo(recording->functions, PROFILE_HOST);
	recording->unreadable = functions__pseudo(recording->functions, PROFILE_UNREADABLE);
	recording->unsampled = functions__pseudo(recording->functions, PROFILE_UNSAMPLED);
	recording->other = functions__pseudo(recording->functions, CALL_TREE_OTHER);
	recording->gc = functions__gc(recording->functions);
	recording->functions_most = FUNCTIONS_MAX;
	if (recording->host && recording->unreadable && recording->unsampled && recording->other &&
	    recording->gc)
		return recording;
cleanup:
	recording__free(recording);
	return NULL;
}

void recording__free(struct recording *recording)
{
	struct subject *subject, *next;

	if (!recording)
		return;
	HASH_ITER (hh, recording->subjects, subject, next) {
		HASH_DEL(recording->subjects, subject);
		free_subject(subject);
	}
	last_stacks__forget_all(&recording->stacks);
	timeline__free(recording->timeline);
	functions__free(recording->functions);
	call_tree__free(recording->tree);
	free(recording);
}

int recording__add_process(struct recording *recording, pid_t pid, const char *name)
{
	struct subject *subject = calloc(1, sizeof(*subject));
	struct cpu_time_receiver receiver = {subject, charge, charge_unsampled};

	if (!subject)
		return -ENOMEM;
	subject->pid = pid;
	subject->recording = recording;
	subject->categories = categories__new(recording->kind, name, recording->has_many);
	subject->time = cpu_time__new(&receiver);
	subject->symbolizer = symbolizer__new(pid, recording->functions, recording->inspector);
	if (!subject->categories || !subject->time || !subject->symbolizer)
		goto cleanup;
	HASH_ADD(hh, recording->subjects, pid, sizeof(pid), subject);
	if (HASH_HAS_ADDED(subject))
		return 0;
cleanup:
	free_subject(subject);
	return -ENOMEM;
}

void recording__prepare(struct recording *recording, pid_t pid)
{
	struct subject *subject = find_subject(recording, pid);

	if (subject)
		symbolizer__prepare(subject->symbolizer);
}

uint64_t recording__cpu_ns(const struct recording *recording, pid_t pid)
{
	const struct subject *subject = find_subject(recording, pid);

	return subject ? cpu_time__total_ns(subject->time) + subject->unaccounted_ns : 0;
}

/* The process's program has ended: completes what it leaves in the recording. */
static void forget_program(struct recording *recording, const struct subject *subject)
{
	symbolizer__suggest_names(subject->symbolizer);
	recording->unnamed_calls += symbolizer__unnamed_calls(subject->symbolizer);
	if (subject->part)
		subject->part->counts.unnamed_calls +=
			symbolizer__unnamed_calls(subject->symbolizer);
}

void recording__end_process(struct recording *recording, pid_t pid)
{
	struct subject *subject = find_subject(recording, pid);

	if (!subject)
		return;
	cpu_time__end_all(subject->time);
	recording->ended_ns += recording__cpu_ns(recording, pid);
	forget_program(recording, subject);
	HASH_DEL(recording->subjects, subject);
	free_subject(subject);
}

uint64_t recording__ended_ns(const struct recording *recording)
{
	return recording->ended_ns;
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

void recording__keep_parts(struct recording *recording, struct parts *parts, bool are_groups)
{
	recording->parts = parts;
	recording->has_many = are_groups;
}

void recording__assign(struct recording *recording, pid_t pid, struct part *part)
{
	struct subject *subject = find_subject(recording, pid);

	if (subject)
		subject->part = part;
}

int recording__begin_thread(struct recording *recording, const struct recorded_thread *thread)
{
	struct subject *subject = find_subject(recording, thread->pid);

	return subject ? cpu_time__begin(subject->time, thread->tid, thread->comm,
					 thread->runtime_ns)
		       : 0;
}

/* The node of frames[at] under `parent`. 0 when out of memory. */
static uint32_t frame_node(struct subject *subject, const struct ls_sample *sample,
			   const struct ls_frame *frames, uint32_t at, uint32_t parent,
			   struct symbol_quality *quality)
{
	struct recording *recording = subject->recording;
	uint32_t function;

	if (!frames[at].kind) /* an empty entry: the frame could not be decoded */
		return parent;
	if (recording->coroutine && frames[at].flags & LS_FRAME_STATE_ROOT)
		parent = call_tree__child(recording->tree, parent, recording->coroutine);
	function = symbolizer__function(subject->symbolizer, sample, &frames[at],
					sample->frame_count - at, quality);
	return function ? call_tree__child(recording->tree, parent, function) : 0;
}

/* The node of the sample's leaf. 0 when out of memory. */
static uint32_t stack_node(struct subject *subject, const struct ls_sample *sample,
			   const struct ls_frame *frames, uint32_t category)
{
	struct recording *recording = subject->recording;
	uint32_t count = sample->frame_count, shared, node = category;
	struct last_stack *stack = last_stacks__of(&recording->stacks, sample->tid, count);
	struct symbol_quality quality;
	bool is_known = true, has_lines = true;

	if (!stack)
		return 0;
	shared = last_stack__share(stack, frames, count, category);
	if (shared)
		node = stack->nodes[count - shared];
	if (symbolizer__look_ahead(subject->symbolizer, sample, frames, count, count - shared))
		return 0;
	for (uint32_t at = count - shared; at-- > 0;) {
		quality = (struct symbol_quality){1, 1};
		node = frame_node(subject, sample, frames, at, node, &quality);
		is_known &= quality.is_known;
		has_lines &= quality.has_line;
		stack->leaf_has_line = quality.has_line;
		if (!node) {
			stack->count = 0;
			return 0;
		}
		stack->nodes[at] = node;
	}
	if (count)
		memcpy(stack->frames, frames, count * sizeof(*frames));
	/* A function without a line may have one at the next sample, so this stack is not reused.
	 */
	stack->count = is_known && has_lines ? count : 0;
	stack->category = category;
	recording->collected += !is_known;
	recording->unknown_lines += count && !stack->leaf_has_line;
	if (subject->part) {
		subject->part->counts.collected += !is_known;
		subject->part->counts.unknown_lines += count && !stack->leaf_has_line;
	}
	return node;
}

/* Prunes nodes and functions. All holders of node ids get the new ones, or forget theirs. */
static int prune(struct recording *recording)
{
	const struct pruning pruning = {.nodes_most = NODES_MAX / 2,
					.functions_most = FUNCTIONS_MAX / 4,
					.other = recording->other};
	uint8_t *used = calloc(functions__highest(recording->functions) + 1, sizeof(*used));
	struct ls_profile profile = {};
	struct call_tree *tree = NULL;
	struct subject *subject;
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
	for (subject = recording->subjects; subject; subject = subject->hh.next)
		cpu_time__renumber(subject->time, nodes);
	if (recording->timeline)
		timeline__renumber(recording->timeline, nodes);
	call_tree__free(recording->tree);
	recording->tree = tree;
	for (subject = recording->subjects; subject; subject = subject->hh.next)
		symbolizer__mark(subject->symbolizer, used);
	recording->evicted += functions__evict(recording->functions, used);
cleanup:
	free(nodes);
	free(used);
	return error;
}

/* Makes room for the nodes and functions of a stack of `depth` frames. 0 or -ENOMEM. */
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

/* The source of the outermost Lua function; NULL: unknown. */
static const char *root_source(struct subject *subject, const struct ls_sample *sample,
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
		return functions__source(subject->recording->functions,
					 symbolizer__function(subject->symbolizer, sample,
							      &frames[at], sample->frame_count - at,
							      &quality));
	}
	return NULL;
}

/* The node of the sample's category. 0 when out of memory. */
static uint32_t category_node(struct subject *subject, const struct ls_sample *sample,
			      const struct ls_frame *frames)
{
	const char *source = subject->recording->kind == CATEGORY_CHUNK
				     ? root_source(subject, sample, frames)
				     : NULL;

	return category_of(subject, categories__of_sample(subject->categories, sample, source));
}

static void count(struct subject *subject, const struct ls_sample *sample)
{
	struct recording *recording = subject->recording;
	struct part *part = subject->part;

	recording->classes[sample->class % LS_SAMPLE_CLASS_COUNT]++;
	recording->errors[sample->error % LS_WALK_ERROR_COUNT]++;
	if (!part)
		return;
	part->counts.classes[sample->class % LS_SAMPLE_CLASS_COUNT]++;
	part->counts.errors[sample->error % LS_WALK_ERROR_COUNT]++;
	parts__count_dropped(recording->parts, part, sample->dropped_before);
}

int recording__sample(struct recording *recording, const struct ls_sample *sample,
		      const struct ls_frame *frames)
{
	struct subject *subject = find_subject(recording, (pid_t)sample->tgid);
	struct layout layout;
	uint32_t category, node;
	bool has_layout;
	int error;

	if (recording->is_paused)
		return 0;
	/* The target was dropped just after this was sent. */
	if (!subject) {
		recording->classes[LS_SAMPLE_DROPPED]++;
		return 0;
	}
	error = keep_bounds(recording, 2U * sample->frame_count + 2);
	if (error)
		return error;
	has_layout = layout__of_sample(sample, &layout);
	category = category_node(subject, sample, frames);
	if (!category)
		return -ENOMEM;
	layout_votes__add(&subject->votes, sample);
	count(subject, sample);
	if (sample->class == LS_SAMPLE_HOST)
		node = call_tree__child(recording->tree, category, recording->host);
	else if (sample->class == LS_SAMPLE_UNREADABLE || !has_layout)
		node = call_tree__child(recording->tree, category, recording->unreadable);
	else
		node = stack_node(subject, sample, frames, category);
	if (sample->activity == LS_ACTIVITY_GC && sample->frame_count)
		node = call_tree__child(recording->tree, node, recording->gc);
	if (!node)
		return -ENOMEM;
	if (sample->state && has_layout)
		subject->last_states[sample->family][sample->layout] = sample->state;
	call_tree__count(recording->tree, node, sample->period_ns);
	call_tree__weigh(recording->tree, category,
			 (uint64_t)sample->dropped_before * sample->period_ns);
	if (recording->timeline &&
	    timeline__add(recording->timeline, sample->time_ns, sample->tid, node))
		return -ENOMEM;
	return cpu_time__sample(subject->time, sample, node);
}

int recording__function(struct recording *recording, const struct ls_function *function)
{
	struct subject *subject = find_subject(recording, (pid_t)function->tgid);
	int error = keep_bounds(recording, 1);

	if (error || !subject)
		return error;
	return symbolizer__define(subject->symbolizer, function);
}

bool recording__is_full(const struct recording *recording, pid_t pid)
{
	const struct subject *subject = find_subject(recording, pid);

	return subject && symbolizer__is_full(subject->symbolizer);
}

void recording__age(struct recording *recording, pid_t pid)
{
	struct subject *subject = find_subject(recording, pid);

	if (subject)
		symbolizer__age(subject->symbolizer);
}

int recording__thread_exit(struct recording *recording, const struct ls_thread_exit *exit)
{
	struct subject *subject = find_subject(recording, (pid_t)exit->tgid);

	last_stacks__forget(&recording->stacks, exit->tid);
	if (!subject) {
		recording->strangers++;
		return 0;
	}
	if (!recording->is_paused && exit->time_ns >= recording->resumed_ns)
		return cpu_time__end(subject->time, exit->tid, exit->comm, exit->runtime_ns);
	cpu_time__end_known(subject->time, exit->tid, exit->runtime_ns);
	return 0;
}

/* The process's CPU clock includes this time immediately, so part of it may already be charged. */
int recording__thread_rest(struct recording *recording, const struct ls_thread_exit *rest)
{
	struct subject *subject = find_subject(recording, (pid_t)rest->tgid);
	uint64_t known_ns;

	if (!subject || recording->is_paused || rest->time_ns < recording->resumed_ns)
		return 0;
	known_ns = rest->runtime_ns < subject->ahead_ns ? rest->runtime_ns : subject->ahead_ns;
	subject->ahead_ns -= known_ns;
	subject->unaccounted_ns += rest->runtime_ns - known_ns;
	charge_unsampled(subject, rest->comm, rest->runtime_ns - known_ns);
	return 0;
}

int recording__exec(struct recording *recording, pid_t pid)
{
	struct subject *subject = find_subject(recording, pid);
	struct symbolizer *fresh;

	if (!subject)
		return 0;
	fresh = symbolizer__new(pid, recording->functions, recording->inspector);
	if (!fresh)
		return -ENOMEM;
	forget_program(recording, subject);
	symbolizer__free(subject->symbolizer);
	categories__forget_vms(subject->categories);
	subject->symbolizer = fresh;
	memset(subject->last_states, 0, sizeof(subject->last_states));
	memset(&subject->votes, 0, sizeof(subject->votes));
	last_stacks__forget_all(&recording->stacks);
	return 0;
}

int recording__rename_process(struct recording *recording, pid_t pid, const char *name)
{
	struct subject *subject = find_subject(recording, pid);

	return subject ? categories__rename(subject->categories, name) : 0;
}

int recording__end_thread(struct recording *recording, const struct recorded_thread *thread)
{
	struct subject *subject = find_subject(recording, thread->pid);

	return subject ? cpu_time__settle(subject->time, thread->tid, thread->comm,
					  thread->runtime_ns)
		       : 0;
}

int recording__pause_thread(struct recording *recording, const struct recorded_thread *thread)
{
	struct subject *subject = find_subject(recording, thread->pid);

	return subject ? cpu_time__pause(subject->time, thread->tid, thread->comm,
					 thread->runtime_ns)
		       : 0;
}

int recording__resume_thread(struct recording *recording, const struct recorded_thread *thread)
{
	struct subject *subject = find_subject(recording, thread->pid);

	return subject ? cpu_time__resume(subject->time, thread->tid, thread->comm,
					  thread->runtime_ns)
		       : 0;
}

void recording__pause(struct recording *recording)
{
	recording->is_paused = true;
}

void recording__resume(struct recording *recording, uint64_t time_ns)
{
	recording->is_paused = false;
	recording->resumed_ns = time_ns;
}

int recording__settle_thread(struct recording *recording, const struct recorded_thread *thread)
{
	struct subject *subject = find_subject(recording, thread->pid);

	if (!subject)
		return 0;
	if (!recording->is_paused)
		return cpu_time__settle(subject->time, thread->tid, thread->comm,
					thread->runtime_ns);
	cpu_time__settle_known(subject->time, thread->tid, thread->runtime_ns);
	return 0;
}

void recording__complete(struct recording *recording, pid_t pid, const char *comm, uint64_t cpu_ns)
{
	struct subject *subject = find_subject(recording, pid);
	struct layout layout;
	uint64_t known_ns;

	if (!subject)
		return;
	known_ns = cpu_time__total_ns(subject->time) + subject->unaccounted_ns;
	if (cpu_ns > known_ns) {
		subject->unaccounted_ns += cpu_ns - known_ns;
		subject->ahead_ns += cpu_ns - known_ns;
		charge_unsampled(subject, comm, cpu_ns - known_ns);
	}
	symbolizer__suggest_names(subject->symbolizer);
	for (uint32_t family = 0; family < LS_FAMILY_COUNT; family++)
		for (uint32_t slot = 0; layout__get(family, slot, &layout); slot++)
			symbolizer__finish(subject->symbolizer, &layout,
					   subject->last_states[family][slot]);
}

void recording__finish(struct recording *recording, pid_t pid, const char *comm, uint64_t cpu_ns)
{
	struct subject *subject = find_subject(recording, pid);

	if (!subject)
		return;
	cpu_time__end_all(subject->time);
	recording__complete(recording, pid, comm, cpu_ns);
}

struct layout_votes *recording__votes(struct recording *recording, pid_t pid)
{
	struct subject *subject = find_subject(recording, pid);

	return subject ? &subject->votes : NULL;
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
