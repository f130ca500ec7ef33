/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "toy.h"

#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 200

static void work(void)
{
	for (volatile int i = 0; i < 10000; i++)
		;
}

static int call_function(struct ls_toy_state *state, const struct toy_function *functions,
			 const struct toy_function *function, void (*host)(void), int depth);

static int run_instruction(struct ls_toy_state *state, const struct toy_function *functions,
			   struct ls_toy_call *call, char instruction, void (*host)(void),
			   int depth)
{
	if (instruction >= '0' && instruction <= '9')
		return call_function(state, functions, &functions[instruction - '0'], host,
				     depth + 1);
	call->is_native = instruction == 'n';
	if (instruction == 'h' && host)
		host();
	else if (instruction == 'w' || instruction == 'n')
		work();
	else
		return fprintf(stderr, "toy: no instruction '%c'\n", instruction), -1;
	call->is_native = 0;
	return 0;
}

static int call_function(struct ls_toy_state *state, const struct toy_function *functions,
			 const struct toy_function *function, void (*host)(void), int depth)
{
	struct ls_toy_call call = {.caller = state->call, .function = (__u64)&function->known};
	int error = 0;

	if (depth > DEPTH_MAX)
		return fprintf(stderr, "toy: too many calls\n"), -1;
	*(volatile __u64 *)&state->call = (__u64)&call;
	for (; function->code[call.pc] && !error; call.pc++)
		error = run_instruction(state, functions, &call, function->code[call.pc], host,
					depth);
	*(volatile __u64 *)&state->call = call.caller;
	return error;
}

int toy_run(const struct toy_function *functions, void (*host)(void))
{
	struct ls_toy_state *state = calloc(1, sizeof(*state));
	int error;

	if (!state)
		return -1;
	state->tag = LS_TOY_TAG;
	*(volatile __u64 *)&state->anchor = (__u64)__builtin_frame_address(0);
	error = call_function(state, functions, functions, host, 0);
	*(volatile __u64 *)&state->anchor = 0;
	free(state);
	return error;
}
