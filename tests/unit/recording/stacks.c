/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stacks.h"

struct ls_frame script_frame(uint32_t line)
{
	return (struct ls_frame){.kind = LS_FRAME_LUA, .function = MAIN + line, .fingerprint = 7};
}

struct ls_sample make_sample(uint8_t class)
{
	return (struct ls_sample){.type = LS_RECORD_SAMPLE,
				  .tgid = NO_PID,
				  .tid = 1,
				  .class = class,
				  .comm = "lua",
				  .period_ns = PERIOD};
}

void take_sample(struct recording *recording, struct ls_sample sample,
		 const struct ls_frame *frames, uint16_t count)
{
	sample.frame_count = count;
	assert_int_equal(recording__sample(recording, &sample, frames), 0);
}

static const char *label(const struct ls_profile *profile, uint32_t node, char to[64])
{
	const struct ls_profile_function *function =
		&profile->functions[profile->nodes[node].function];

	for (uint32_t i = 0; i < profile->category_count; i++)
		if (profile->categories[i].node == node)
			return profile->categories[i].name;
	if (function->name)
		return function->name;
	snprintf(to, 64, "%s:%u", function->source, function->line);
	return to;
}

const struct ls_profile_node *find_node(struct recording *recording, const char *path)
{
	struct ls_profile profile = {};

	recording__export(recording, &profile);
	for (uint32_t id = 1; id <= profile.node_count; id++) {
		char whole[512] = "", longer[1024], buffer[64];

		for (uint32_t node = id; node; node = profile.nodes[node].parent) {
			snprintf(longer, sizeof(longer), "%s%s%s", label(&profile, node, buffer),
				 *whole ? ";" : "", whole);
			snprintf(whole, sizeof(whole), "%.511s", longer);
		}
		if (!strcmp(whole, path))
			return &profile.nodes[id];
	}
	return NULL;
}

void assert_samples(struct recording *recording, const char *path, uint64_t expected)
{
	const struct ls_profile_node *node = find_node(recording, path);

	if (!node)
		fail_msg("no node '%s'", path);
	assert_int_equal(node->samples, expected);
}

struct ls_profile_recorder recorder_of(struct recording *recording)
{
	struct ls_profile profile = {};

	recording__export(recording, &profile);
	return profile.recorder;
}
