/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The toy's walker. A state runs on the thread's stack if its anchor lies there. Its calls are a
 * list, the running one first.
 */
#include "scratch.bpf.h"
#include "offsets_toy.h"

#define LS_FAMILY      LS_FAMILY_TOY
#define LS_HEAD_OFFSET 0
typedef struct ls_toy_layout ls_layout_t;

struct ls_scratch {
	struct ls_scratch_shared;
	__u8 state[sizeof(struct ls_toy_state)];
	__u64 next_call;
	struct ls_toy_call call;
	struct ls_toy_function toy_function;
	struct ls_function function;
	struct ls_scratch_caches;
	struct ls_scratch_record;
};

#include "active_chain.bpf.h"
#include "sample.bpf.h"
#include "scan_stack.bpf.h"
#include "select_layout.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LS_LAYOUT_MAX);
	__type(key, __u32);
	__type(value, struct ls_toy_layout);
} layouts_toy SEC(".maps");

struct ls_defined {
	__u64 function;
	__u32 tgid;
	__u32 edition;
};

/* Functions that were defined: user space keeps definitions. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct ls_defined);
	__type(value, __u32);
} defined_toy SEC(".maps");

static __always_inline const struct ls_toy_layout *find_layout(__u32 slot)
{
	return bpf_map_lookup_elem(&layouts_toy, &slot);
}

static __always_inline bool is_state_head(__u64 head)
{
	return head == LS_TOY_TAG;
}

static __always_inline bool is_found(const struct ls_scratch *scratch)
{
	return scratch->chain_count != 0;
}

static __always_inline __u64 word_at(const struct ls_scratch *scratch, __u32 offset)
{
	return offset <= sizeof(struct ls_toy_state) - 8 ? *(const __u64 *)(scratch->state + offset)
							 : 0;
}

__noinline bool consider(struct ls_scratch *scratch, const struct ls_toy_layout *layout,
			 __u64 address)
{
	if (!scratch || !layout || read_target(scratch->state, sizeof(scratch->state), address) ||
	    !on_stack(scratch, word_at(scratch, layout->state_anchor)))
		return false;
	add_active(scratch, address, word_at(scratch, layout->state_anchor), 0, address);
	return true;
}

/* Returns 0, or an error if the function cannot be read or its definition finds no room. */
static __always_inline long define_function(struct ls_scratch *scratch, __u64 address)
{
	struct ls_defined key = {address, scratch->tgid, scratch->edition};
	struct ls_toy_function *toy = &scratch->toy_function;
	struct ls_function *function = &scratch->function;
	__u32 one = 1;
	long source, name;

	if (bpf_map_lookup_elem(&defined_toy, &key))
		return 0;
	if (read_target(toy, sizeof(*toy), address))
		return 1;
	source = read_target_string(function->text, LS_SOURCE_LEN, toy->source);
	if (source < 1 || source > LS_SOURCE_LEN)
		return 1;
	name = read_target_string(function->text + source, LS_NAME_LEN, toy->name);
	if (name < 1)
		return 1;
	function->type = LS_RECORD_FUNCTION;
	function->tgid = scratch->tgid;
	function->function = address;
	function->line_defined = toy->line;
	function->last_line_defined = toy->last_line;
	function->source_length = source - 1;
	function->name_length = name - 1;
	function->layout = scratch->sample.layout;
	function->family = LS_FAMILY;
	return send_definition(function) || bpf_map_update_elem(&defined_toy, &key, &one, BPF_ANY);
}

/* Adds one call to the sample. 1: there is no more, or it cannot be read. */
static long walk_call(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_frame *frame = &scratch->frames[i % LS_DEPTH_MAX];

	if (i >= scratch->frame_room || !scratch->next_call)
		return 1;
	if (read_target(&scratch->call, sizeof(scratch->call), scratch->next_call) ||
	    define_function(scratch, scratch->call.function)) {
		scratch->sample.error = LS_WALK_STACK_MEMORY;
		return 1;
	}
	*frame = (struct ls_frame){.function = scratch->call.function,
				   .pc = scratch->call.pc,
				   .kind = LS_FRAME_LUA,
				   .flags = scratch->call.is_native ? LS_FRAME_NATIVE : 0};
	scratch->sample.frame_count = i + 1;
	scratch->next_call = scratch->call.caller;
	return 0;
}
LS_STEP(walk_call);

__noinline int take_stack(struct ls_scratch *scratch, const struct ls_toy_layout *layout,
			  struct ls_thread *thread)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	if (!scratch || !layout || !thread)
		return 0;
	search_begin(scratch, thread);
	scratch->chain_count = 0;
	scratch->sample.error = LS_WALK_NO_SCRIPT;
	scratch->sample.frame_count = 0;
	scan_registers(scratch, layout);
	scan_stack(scratch, layout, scratch->search.high, 64);
	if (!scratch->chain_count ||
	    read_target(scratch->state, sizeof(scratch->state), scratch->chain[0].state))
		return 0;
	scratch->sample.error = LS_WALK_NONE;
	scratch->sample.state = scratch->sample.vm = scratch->chain[0].state;
	scratch->next_call = word_at(scratch, layout->state_call);
	repeat(LS_DEPTH_MAX, walk_call, &pass);
	if (scratch->next_call && !scratch->sample.error)
		scratch->sample.error = LS_WALK_DEPTH;
	scratch->lua_frames = scratch->sample.frame_count;
	return scratch->lua_frames &&
	       (!scratch->sample.error || scratch->sample.error == LS_WALK_DEPTH);
}

SEC("perf_event")
int walk_toy(struct bpf_perf_event_data *ctx)
{
	struct ls_sampling sampling;

	if (begin_sample(&sampling, LS_FAMILY))
		return 0;
	if (!sampling.scratch->sample.error)
		select_layout(sampling.scratch, sampling.thread, sampling.image);
	end_sample(ctx, &sampling);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
