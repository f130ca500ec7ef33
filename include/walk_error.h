/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a sample's stack is not complete: one list of code, counter and sentence. The first column
 * is the class that the sample then belongs to (enum ls_sample_class).
 */
#ifndef LS_WALK_ERROR_H
#define LS_WALK_ERROR_H

#define LS_WALK_ERRORS(X)                                                                          \
	X(NONE, COMPLETE, none, "the stack is complete")                                           \
	X(NO_SCRIPT, HOST, no_script, "no script is on the thread's stack")                        \
	X(UNDECIDED, UNREADABLE, undecided, "no layout fitted the interpreter at this sample")     \
	X(STACK_BOUNDS, UNREADABLE, stack_bounds,                                                  \
	  "the end of the thread's stack was not to be had")                                       \
	X(REGISTERS, UNREADABLE, registers, "the thread's registers were not to be had")           \
	X(STACK_MEMORY, UNREADABLE, stack_memory, "the thread's stack could not be read")          \
	X(STATE_BEYOND, UNREADABLE, state_beyond, "script runs, but its state lies too far up")    \
	X(STATE_MEMORY, UNREADABLE, state_memory, "a lua_State could not be read")                 \
	X(STACK_OWNER, UNREADABLE, stack_owner,                                                    \
	  "a state is active, but may be so on another stack")                                     \
	X(CALL_CHAIN, UNREADABLE, call_chain, "the chain of CallInfos does not lead to its base")  \
	X(RESUMERS, TORN, resumers, "resumers are missing: too many, or without proof")            \
	X(FRAME_MEMORY, TORN, frame_memory, "a frame could not be read")                           \
	X(FRAME_FUNCTION, TORN, frame_function, "a frame holds no function")                       \
	X(FRAME_PROTO, TORN, frame_proto, "a frame's prototype does not fit its program counter")  \
	X(DEPTH, TRUNCATED, depth, "the stack is deeper than --max-depth")

enum ls_walk_error {
#define X(code, class, counter, sentence) LS_WALK_##code,
	LS_WALK_ERRORS(X)
#undef X
		LS_WALK_ERROR_COUNT,
};

#endif
