/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The scratch of Luau's walker: see scratch.bpf.h. */
#ifndef LS_SCRATCH_LUAU_BPF_H
#define LS_SCRATCH_LUAU_BPF_H

#include "scratch.bpf.h"
#include "offsets_luau.h"

#define LS_FAMILY LS_FAMILY_LUAU

/* Finalizers are never script, and the state may be found in the garbage collector's own frames. */
#define LS_ANCHOR_ENDS_GC 0
#define LS_HAS_MADE_CODE  1 /* it calls luaC_step(), too */

typedef struct ls_luau_layout ls_layout_t;

typedef int ls_reader_t;
#define LS_READ(reader, to, size, address)        read_target(to, size, address)
#define LS_READ_STRING(reader, to, size, address) read_target_string(to, size, address)
#define LS_REPEAT(count, step, context)           repeat(count, step, context)
#include "fingerprint_luau.h"

#define LS_VM_CACHE_MAX   64 /* VMs whose main thread is remembered */
#define LS_GLOBAL_WORDS   64 /* of global_State, per read */
#define LS_ARGUMENT_WORDS 32 /* of a C function's arguments that may hold a coroutine */
#define LS_UPVALUE_WORDS  4  /* where a C function's first upvalue is in any release */
#define LS_HELD_WORDS     64 /* room for both: a power of two */
#define LS_RESULTS_MAX    8  /* results of a C function that are looked at, from either end */
#define LS_RESULTS_BYTES  (LS_RESULTS_MAX * LS_LUAU_VALUE_MAX)
#define LS_UNSETTLED_MAX  4 /* states whose fields contradict each other at the moment */

/* What a state shows about its build. */
struct ls_luau_sizes {
	__u32 value;  /* bytes of a TValue */
	__u32 ci;     /* bytes of a CallInfo */
	__u32 thread; /* LUA_TTHREAD */
	__u32 padding;
	__u64 moved; /* how far the values were moved, if their addresses are not corrected yet */
};

/* The main thread of a VM, which is somewhere in its global_State. */
struct ls_cached_vm {
	__u64 global;
	__u64 main_thread;
	__u32 tgid;
	__u32 padding;
};

/* The search for the main thread of a VM. */
struct ls_global_search {
	__u64 global;
	__u64 main_thread; /* 0: not found */
	__u32 thread;      /* LUA_TTHREAD */
	__u32 part;        /* of global_State, that was read last */
	__u64 words[LS_GLOBAL_WORDS];
	__u64 head[4]; /* of a lua_State */
};

/* What relates the states of a chain: see order_luau.bpf.h. Same index as the chain. */
struct ls_luau_link {
	__u64 stack; /* its values */
	__u64 stack_end;
	__u64 ci_low; /* its calls */
	__u64 ci_high;
	__u64 pc;    /* of the call below the running one; 0: there is none */
	__u32 holds; /* bit per state of the chain that its running C function holds */
	__u16 c_calls;
	__u16 base_c_calls;
	__u32 thread; /* LUA_TTHREAD of its VM */
	__u32 padding;
	__u64 global;
};

struct ls_luau_order {
	struct ls_luau_link links[LS_CHAIN_MAX];
	struct ls_active sorted[LS_CHAIN_MAX];
	__u64 held[LS_HELD_WORDS];
	__u32 at; /* index into `links` */
	__u32 argument_words;
	__u32 upvalue_words;
	__u32 left;   /* bit per state without a place in `sorted` */
	__u32 count;  /* of `sorted` */
	__u32 callee; /* index of the last one there */
	__u32 lua;    /* bit per state whose running function is Lua's */
	__u32 here;   /* bit per state of which this native stack has more than a pointer to it */
	__u32 in_register; /* likewise, a register that calls preserve */
	__u32 unsure;      /* bit per state that may run here, or on another thread */
	__u32 resumers;    /* bit per state that holds another one; or, while sorting, `callee` */
	__u32 free;        /* bit per state without a place that holds none */
	__u32 nested;      /* bit per state from which one of `among` counts its C calls */
	__u32 among;       /* bit per state whose resumer is searched for */
	__u32 padding;
	__u64 address; /* of the native stack, next to be read */
};

/* State of the walk along the calls. */
struct ls_walk {
	__u64 ci; /* current CallInfo */
	__u64 base_ci;
	__u64 top_ci; /* the running one of the state */
	__u64 stack;  /* the values of the state */
	__u64 stack_end;
	__u64 moved; /* what to add to addresses of values: they have just been moved there */
	__u64 base;  /* of the state that runs: L->base */
	struct ls_luau_sizes sizes;
	__u32 chain_index;
	__u32 count;          /* frames, including those left out */
	__u32 last;           /* index of the one stored last */
	__u32 results_padded; /* how many of the first ones may be padding nils */
	__u32 upvalues;       /* of the closure of the call */
	__u32 has_registers;  /* 1: some function has, like almost all; or the layout is certain */
	__u32 returns_there;  /* 1: a return address lies in the C function of the call */
	__u32 results_found;  /* bit per value in scratch->results that is the closure */
	__u64 closure;        /* of the call */
	__u64 fixed; /* fingerprint of what never changes in the Lua function of the call */
	__u64 code;  /* of the running function if pc may be in a register; otherwise 0 */
	__u64 code_end;
	__u64 made_code; /* start of the innermost function that is machine code; 0: none */
	struct {
		__u32 first;
		__u32 end;
	} turn; /* frames whose order is being reversed */
	struct ls_frame frame;
	struct ls_closure_read closure_read;
	__u32 is_known; /* 1: `frame` is complete, from the closure cache */
	__u32 padding;
};

/* Which part of a layout failed the self-check, for tests: ls_scratch.doubt. */
enum ls_doubt {
	LS_DOUBT_NONE,
	LS_DOUBT_SOURCE,
	LS_DOUBT_NAME,
	LS_DOUBT_LINES,
	LS_DOUBT_LINE_DEFINED,
	LS_DOUBT_CHILDREN,
	LS_DOUBT_NUMBERS,
	LS_DOUBT_FLAGS,
	LS_DOUBT_C_NAME,
};

struct ls_scratch {
	struct ls_scratch_shared;

	struct ls_walk walk;
	struct ls_luau_order order;
	struct ls_luau_state state;
	struct ls_luau_state other_state;
	struct ls_luau_sizes other_sizes;
	struct {
		__u32 string; /* ls_luau_layout.string_type */
		__u32 function;
	} types;
	__u8 debug_name; /* where the closure of a C function has it */
	__u8 is_text;    /* what look_for_control() found */
	__u8 name_padding[6];
	__u8 proto[LS_WINDOW_SLACK];
	__u8 child[LS_WINDOW_SLACK];
	struct ls_luau_string string;
	struct {
		__u32 line; /* of the first instruction: base and difference */
		__u8 difference;
		__u8 padding[3];
		__u64 child;
	} check;
	__u8 call[LS_LUAU_CI_MAX];
	__u8 results[LS_RESULTS_BYTES];
	struct {
		__u64 globals[LS_UNSETTLED_MAX];
		__u32 count;
		__u32 thread; /* LUA_TTHREAD of the last one */
		__u32 is_here;
		__u32 padding;
	} unsettled;
	struct ls_global_search global;
	struct ls_cached_vm vms[LS_VM_CACHE_MAX];
	struct ls_window calls;
	struct ls_window stack;
	struct ls_window closures;
	struct ls_window protos;

	struct ls_luau_content content;
	struct ls_function function;
	struct ls_cached_proto proto_cache[LS_PROTO_CACHE_MAX];
	struct ls_cached_closure closure_cache[LS_CLOSURE_CACHE_MAX];

	struct ls_scratch_caches;
	struct ls_scratch_record;
};

#endif
