/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Receives the definitions that a walker sends. Include it before the family's walk_*.bpf.h. */
/* The walker that takes a sample: send_definition() has no argument for it. */
static struct walker *current;

static long send_definition(struct ls_function *function)
{
	if (current->definition_count < WALKER_DEFINITION_MAX)
		current->definitions[current->definition_count] = *function;
	current->definition_count++;
	return 0;
}
