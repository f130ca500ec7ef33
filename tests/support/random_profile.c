/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/call_tree.h"
#include "profile/merged_profile.h"
#include "random_profile.h"

#define FUNCTIONS  64
#define CATEGORIES 3

struct random_profile {
	uint64_t state;
	struct call_tree *tree;
	struct ls_profile_function functions[FUNCTIONS + 1];
	struct ls_profile_sample *samples;
	struct ls_profile raw;
	struct merged_profile *merged;
};

/* xorshift64* */
static uint32_t draw(struct random_profile *random, uint32_t below)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return (uint32_t)((random->state * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % below;
}

static const char *const names[] = {
	"work",
	"",
	NULL,
	"a;b",
	"#",
	"\xc3\xa9\xe6\x97\xa5\xf0\x9f\x94\xa5",
	"\xff\xfe\xc3",
	"\x1b[31m\n\t\x7f",
	"\\xff",
	"\\x5cx41",
	"\\",
	"\"quoted\" </script>&amp;",
	"]]>",
	"(host)",
	"\xe2\x80\xae\xc2\x85",
	"12 34",
};

static void make_functions(struct random_profile *random)
{
	static const char *const sources[] = {"a.lua", "\xff/b.lua", "", "[C]", NULL};

	for (uint32_t id = 1; id <= FUNCTIONS; id++) {
		struct ls_profile_function *function = &random->functions[id];

		function->name = names[draw(random, sizeof(names) / sizeof(names[0]))];
		function->source = sources[draw(random, 5)];
		if (function->source && strcmp(function->source, "[C]") != 0)
			function->line = draw(random, 40);
		if (!draw(random, 8))
			function->flags = 1 + draw(random, 3);
	}
	random->functions[1] = (struct ls_profile_function){.source = "GC", .name = "GC"};
}

static void charge(struct random_profile *random, uint32_t node)
{
	uint64_t samples = draw(random, 4);

	if (samples || draw(random, 2))
		call_tree__add(random->tree, node, samples, draw(random, 3000000));
}

/* A chain of the wanted depth, then random children of random nodes that are not as deep. */
static void grow(struct random_profile *random, const struct random_profile_options *options)
{
	uint32_t *depths = calloc((size_t)options->nodes + CATEGORIES + 2, sizeof(*depths));
	uint32_t node = 0, count;

	assert_non_null(depths);
	for (int i = 0; i < CATEGORIES; i++)
		node = call_tree__category(random->tree,
					   (const char *const[]){"lua", "\xff;x", "#c"}[i]);
	for (uint32_t depth = 1; depth <= options->depth; depth++) {
		node = call_tree__child(random->tree, node, 1 + draw(random, FUNCTIONS));
		depths[node] = depth;
	}
	call_tree__add(random->tree, node, 1, 1000000);
	while ((count = call_tree__nodes(random->tree)) < options->nodes) {
		uint32_t parent = 1 + draw(random, count);

		if (depths[parent] >= options->depth)
			parent = 1 + draw(random, CATEGORIES);
		node = call_tree__child(random->tree, parent, 1 + draw(random, FUNCTIONS));
		depths[node] = depths[parent] + 1;
		charge(random, node);
		/* The shallow ones may have all the children that there can be. */
		if (node <= count && options->depth < 3)
			break;
	}
	free(depths);
}

/* Samples end at nodes that have some. */
static void make_timeline(struct random_profile *random)
{
	uint32_t nodes = random->raw.node_count;
	uint64_t time_ns = 5000;
	size_t count = 0;

	random->samples = calloc(nodes, sizeof(*random->samples));
	assert_non_null(random->samples);
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t node = 1 + draw(random, nodes);

		time_ns += 1000 * (uint64_t)draw(random, 2000);
		if (random->raw.nodes[node].samples)
			random->samples[count++] = (struct ls_profile_sample){
				.time_ns = time_ns, .node = node, .thread = draw(random, 3)};
	}
	random->raw.samples = random->samples;
	random->raw.sample_count = count;
}

static void describe(struct ls_profile_recorder *recorder)
{
	static const struct ls_profile_event events[] = {
		{.time_ns = 1000, .kind = "pause"},
		{.time_ns = 9000, .kind = "mark", .text = "\xff</script>"},
	};

	*recorder = (struct ls_profile_recorder){
		.version = "1.2 (abc)",
		.host = "host",
		.target = "lua (pid 1)",
		.layout = "5.4",
		.gc = "found",
		.period_ns = 333333,
		.start_ms = 1700000000123,
		.duration_ns = 2500000000,
		.cpu_ns = 7000000,
		.paused_ns = 8000,
		.events = events,
		.event_count = 2,
		.events_left_out = 3,
		.samples = 21,
		.classes = {1, 2, 3, 4, 5, 6},
		.errors = {[2] = 7, [5] = 8},
		.collected = 9,
		.unsampled_ns = 10000,
		.unnamed_calls = 11,
		.untimed_samples = 12,
		.overhead = {.limit_ppm = 10000,
			     .interrupts_ns = 1000,
			     .bpf_ns = 2000,
			     .own_ns = 3000,
			     .lowered_ns = 4000,
			     .period_most_ns = 1000000},
	};
}

struct random_profile *random_profile__new(const struct random_profile_options *options)
{
	struct random_profile *random = calloc(1, sizeof(*random));

	assert_non_null(random);
	random->state = options->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	random->tree = call_tree__new();
	assert_non_null(random->tree);
	make_functions(random);
	grow(random, options);
	call_tree__export(random->tree, &random->raw);
	if (options->has_timeline)
		make_timeline(random);
	random->raw.functions = random->functions;
	random->raw.function_count = FUNCTIONS;
	describe(&random->raw.recorder);
	assert_int_equal(merged_profile__new(&random->raw, MERGED_LINES_FOLDED, &random->merged),
			 0);
	return random;
}

void random_profile__free(struct random_profile *random)
{
	merged_profile__free(random->merged);
	call_tree__free(random->tree);
	free(random->samples);
	free(random);
}

const struct ls_profile *random_profile__profile(const struct random_profile *random)
{
	return merged_profile__profile(random->merged);
}
