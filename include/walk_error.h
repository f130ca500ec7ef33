/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a sample's stack is incomplete. One list of error code, class of such a sample (enum
 * ls_sample_class, without its prefix), counter and sentence.
 */
#ifndef LS_WALK_ERROR_H
#define LS_WALK_ERROR_H

#define LS_WALK_ERRORS(X)                                                                          \
	X(NONE, COMPLETE, none, "the stack is complete")                                           \
	X(NO_SCRIPT, HOST, no_script, "no script is on the thread's stack")                        \
	X(UNDECIDED, UNREADABLE, undecided, "no layout fitted the interpreter at this sample")     \
	X(STACK_BOUNDS, UNREADABLE, stack_bounds,                                                  \
	  "the end of the thread's stack could not be determined")                                 \
	X(REGISTERS, UNREADABLE, registers, "the thread's registers could not be read")            \
	X(STACK_MEMORY, UNREADABLE, stack_memory, "the thread's stack could not be read")          \
	X(STATE_BEYOND, UNREADABLE, state_beyond,                                                  \
	  "a script runs, but its state is too far up the stack")                                  \
	X(STATE_MEMORY, UNREADABLE, state_memory, "the state of a VM could not be read")           \
	X(STACK_OWNER, UNREADABLE, stack_owner, "a state is active, but perhaps on another stack") \
	X(CALL_CHAIN, UNREADABLE, call_chain, "the chain of calls does not lead to its base")      \
	X(STANDING, UNREADABLE, standing,                                                          \
	  "this interpreter's stacks are read while they run only")                                \
	X(NO_WALKER, UNREADABLE, no_walker,                                                        \
	  "the BPF program for its interpreter was still being loaded")                            \
	X(RESUMERS, TORN, resumers, "resumers are missing: too many, or not verified")             \
	X(FRAME_MEMORY, TORN, frame_memory, "a frame could not be read")                           \
	X(FRAME_FUNCTION, TORN, frame_function, "a frame has no function")                         \
	X(FRAME_PROTO, TORN, frame_proto, "a frame's prototype does not fit its program counter")  \
	X(TRACE, TORN, trace,                                                                      \
	  "compiled code runs, and which functions it is made of is not known")                    \
	X(DEPTH, TRUNCATED, depth, "the stack is deeper than --max-depth")

enum ls_walk_error {
#define X(code, class, counter, sentence) LS_WALK_##code,
	LS_WALK_ERRORS(X)
#undef X
		LS_WALK_ERROR_COUNT,
};

#endif
