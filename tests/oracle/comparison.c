/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "comparison.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "walk_error.h"

#define SCRIPT "workload.lua"

/* Words that no truth has. */
#define WORD_UNKNOWN   0xdead000000000001ULL /* a function that was not defined before its use */
#define WORD_ELSEWHERE 0xdead000000000002ULL /* a function of another chunk */
#define WORD_GAP       0xdead000000000003ULL /* what was left out of a deep stack */
#define WORD_NONE      0xdead000000000004ULL /* a frame that could not be decoded */

struct definition {
	struct {
		uint64_t function, fingerprint;
	} key;
	uint64_t word;
	UT_hash_handle hh;
};

struct functions_sent {
	struct definition *all;
};

struct words {
	uint64_t items[LS_DEPTH_MAX];
	uint32_t count;
};

struct functions_sent *functions_sent__new(void)
{
	return calloc(1, sizeof(struct functions_sent));
}

void functions_sent__free(struct functions_sent *definitions)
{
	struct definition *definition, *following;

	if (!definitions)
		return;
	HASH_ITER (hh, definitions->all, definition, following) {
		HASH_DEL(definitions->all, definition);
		free(definition);
	}
	free(definitions);
}

static bool is_of_script(const struct ls_function *function)
{
	size_t length = strlen(SCRIPT);

	return function->source_length >= length && function->source_length < LS_SOURCE_LEN &&
	       !memcmp(function->text + function->source_length - length, SCRIPT, length);
}

int functions_sent__add(struct functions_sent *definitions, const struct ls_function *function)
{
	struct definition *definition = calloc(1, sizeof(*definition)), *old;

	if (!definition)
		return -ENOMEM;
	definition->key.function = function->function;
	definition->key.fingerprint = function->fingerprint;
	definition->word = is_of_script(function) ? function->line_defined : WORD_ELSEWHERE;
	HASH_REPLACE(hh, definitions->all, key, sizeof(definition->key), definition, old);
	free(old);
	return 0;
}

uint64_t functions_sent__word(const struct functions_sent *definitions,
			      const struct ls_frame *frame)
{
	struct definition wanted = {}, *found;

	switch (frame->kind) {
	case LS_FRAME_C:
		return frame->function;
	case LS_FRAME_TRUNCATED:
		return WORD_GAP;
	case LS_FRAME_LUA:
		break;
	default:
		return WORD_NONE;
	}
	wanted.key.function = frame->function;
	wanted.key.fingerprint = frame->fingerprint;
	HASH_FIND(hh, definitions->all, &wanted.key, sizeof(wanted.key), found);
	return found ? found->word : WORD_UNKNOWN;
}

/* Root first, as truths are. */
static void walked_words(struct words *words, const struct functions_sent *definitions,
			 const struct ls_sample *sample, const struct ls_frame *frames)
{
	words->count = sample->frame_count;
	for (uint32_t i = 0; i < words->count; i++)
		words->items[i] = functions_sent__word(definitions, &frames[words->count - 1 - i]);
}

/* Alternative 0 is the published stack itself. */
static void true_words(struct words *words, const struct truth *truth, uint32_t choice)
{
	const struct truth_alternative plain = {.keep = truth->state.depth};
	const struct truth_alternative *alternative =
		choice ? &truth->alternatives[choice - 1] : &plain;

	memcpy(words->items, truth->stack, alternative->keep * sizeof(uint64_t));
	memcpy(words->items + alternative->keep, truth->pushed + alternative->pushed,
	       alternative->pushed_count * sizeof(uint64_t));
	words->count = alternative->keep + alternative->pushed_count;
}

static bool begins_with(const struct words *whole, const uint64_t *words, uint32_t count)
{
	return count <= whole->count && !memcmp(whole->items, words, count * sizeof(*words));
}

static bool is_equal(const struct words *a, const struct words *b)
{
	return a->count == b->count && begins_with(a, b->items, b->count);
}

/* The root's part, a gap, the leaf's part. */
static bool is_truncation(const struct words *whole, const struct words *walked)
{
	uint32_t gap = 0, leaves;

	while (gap < walked->count && walked->items[gap] != WORD_GAP)
		gap++;
	if (gap >= walked->count || walked->count >= whole->count + 1)
		return false;
	leaves = walked->count - gap - 1;
	return begins_with(whole, walked->items, gap) &&
	       !memcmp(whole->items + whole->count - leaves, walked->items + gap + 1,
		       leaves * sizeof(uint64_t));
}

/* Frames at the leaf are missing and, if the stack is deep, maybe the middle of the rest. */
static bool is_torn(const struct words *whole, const struct words *walked)
{
	static struct words rest;
	bool fits = begins_with(whole, walked->items, walked->count);

	rest = *whole;
	while (!fits && rest.count--)
		fits = is_truncation(&rest, walked);
	return fits;
}

static bool is_accepted(const struct words *truth, const struct ls_sample *sample,
			const struct words *walked)
{
	if (sample->class == LS_SAMPLE_TORN)
		return is_torn(truth, walked);
	if (sample->class == LS_SAMPLE_TRUNCATED)
		return is_truncation(truth, walked);
	return is_equal(truth, walked);
}

/*
 * A helper on top of the published stack runs before it says so, and after it has said that it
 * ends. During a transition, only the helper that announced it, or here(), can be on top of the
 * stack that the transition started from.
 */
static bool is_with_helper(const struct truth *truth, struct words *words, uint32_t choice,
			   const struct ls_sample *sample, const struct words *walked)
{
	for (uint32_t i = 1; i < TRUTH_HELPERS_MAX && truth->helpers[i]; i++) {
		bool fits;

		if (truth->state.alternatives && !choice && i != truth->state.last && i != 1)
			continue;
		words->items[words->count++] = truth->helpers[i];
		fits = is_accepted(words, sample, walked);
		words->count--;
		if (fits)
			return true;
	}
	return false;
}

/* Compares where the truth is exactly one stack. */
static bool is_exact(const struct truth *truth, struct words *words, const struct ls_sample *sample,
		     const struct words *walked)
{
	true_words(words, truth, truth->state.chosen);
	if (truth->state.busy)
		words->items[words->count++] = truth->helpers[truth->state.busy];
	return is_accepted(words, sample, walked);
}

static enum outcome compare_words(const struct truth *truth, const struct ls_sample *sample,
				  const struct words *walked)
{
	static struct words words;

	if (truth->state.busy || truth->state.chosen)
		return is_exact(truth, &words, sample, walked) ? OUTCOME_RIGHT : OUTCOME_WRONG;
	for (uint32_t choice = 0; choice <= truth->state.alternatives; choice++) {
		true_words(&words, truth, choice);
		if (is_accepted(&words, sample, walked))
			return choice ? OUTCOME_WINDOW : OUTCOME_RIGHT;
		if (is_with_helper(truth, &words, choice, sample, walked))
			return OUTCOME_WINDOW;
	}
	return OUTCOME_WRONG;
}

enum outcome compare(const struct truth *truth, const struct functions_sent *definitions,
		     const struct ls_sample *sample, const struct ls_frame *frames)
{
	static struct words walked;
	enum outcome outcome;

	if (sample->class == LS_SAMPLE_UNREADABLE)
		return OUTCOME_UNREADABLE;
	if (sample->class == LS_SAMPLE_HOST)
		return OUTCOME_HOST;
	walked_words(&walked, definitions, sample, frames);
	outcome = compare_words(truth, sample, &walked);
	if (outcome == OUTCOME_WRONG)
		return outcome;
	if (sample->class == LS_SAMPLE_TORN)
		return OUTCOME_TORN;
	return sample->class == LS_SAMPLE_TRUNCATED ? OUTCOME_TRUNCATED : outcome;
}

static void print_words(FILE *to, const struct truth *truth, const struct words *words)
{
	for (uint32_t i = 0; i < words->count; i++) {
		uint64_t word = words->items[i];
		uint32_t helper = TRUTH_HELPERS_MAX;

		while (--helper && (!word || truth->helpers[helper] != word))
			;
		if (helper)
			fprintf(to, " helper%u", helper);
		else if (word == WORD_UNKNOWN || word == WORD_ELSEWHERE || word == WORD_NONE)
			fprintf(to, " ?%u", (unsigned int)(word & 0xf));
		else if (word == WORD_GAP)
			fprintf(to, " ...");
		else
			fprintf(to, word < 0x10000 ? " %" PRIu64 : " %" PRIx64, word);
	}
	fprintf(to, "\n");
}

void describe(FILE *to, const struct truth_record *record, const struct functions_sent *definitions,
	      const struct ls_sample *sample, const struct ls_frame *frames)
{
#define X(code, class, counter, sentence) #counter,
	static const char *const errors[] = {LS_WALK_ERRORS(X)};
#undef X
	const struct truth *truth = &record->truth;
	static struct words words;

	fprintf(to, "class %u, error %s, layout %u, busy %u, last %u, chosen %u, ip %" PRIx64 "\n",
		sample->class, sample->error < LS_WALK_ERROR_COUNT ? errors[sample->error] : "?",
		sample->layout, truth->state.busy, truth->state.last, truth->state.chosen,
		(uint64_t)record->ip);
	for (uint32_t choice = 0; choice <= truth->state.alternatives; choice++) {
		true_words(&words, truth, choice);
		fprintf(to, choice ? "  or     " : "  truth  ");
		print_words(to, truth, &words);
	}
	walked_words(&words, definitions, sample, frames);
	fprintf(to, "  walked ");
	print_words(to, truth, &words);
}
