/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interpreter/layout_vote.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "walk_error.h"

#define OUTVOTED 4 /* misfits for each sample that fits: more, and it fits by chance */

static uint16_t candidates_of(const struct layout_vote *vote)
{
	return vote->candidates ? vote->candidates : family__layouts(vote->family);
}

static uint16_t with_evidence(const struct layout_vote *vote)
{
	uint16_t layouts = 0;

	for (size_t i = 0; i < LS_LAYOUT_MAX; i++)
		layouts |= (vote->fits[i] != 0) << i;
	return layouts;
}

/* Interpreters of one class of releases have one layout. */
static int expected_layouts(const struct layout_vote *vote)
{
	int interpreters = vote->interpreters ? (int)vote->interpreters : 1;
	int layouts = __builtin_popcount(candidates_of(vote));

	return interpreters < layouts ? interpreters : layouts;
}

/*
 * Where native stacks lie side by side, the walker often cannot tell which state a stack belongs
 * to. Such samples are no evidence against a layout that others fit.
 */
static bool is_outvoted(const struct layout_vote *vote, uint64_t fits)
{
	return (vote->misfits - vote->unsure) / OUTVOTED > fits;
}

bool layout_vote__has_evidence(const struct layout_vote *vote)
{
	uint64_t fits = 0;

	for (size_t i = 0; i < LS_LAYOUT_MAX; i++)
		fits += vote->fits[i];
	return vote->has_evidence &&
	       (vote->decided || vote->misfits < LAYOUT_VOTE_MISFITS || !is_outvoted(vote, fits));
}

static void conclude(struct layout_vote *vote)
{
	int expected = expected_layouts(vote);

	if (__builtin_popcount(with_evidence(vote)) > expected)
		vote->is_contradicted = true;
	if (vote->is_contradicted)
		return;
	for (size_t i = 0; i < LS_LAYOUT_MAX; i++)
		vote->decided |=
			(vote->fits[i] >= LAYOUT_VOTE_NEEDED && !is_outvoted(vote, vote->fits[i]))
			<< i;
	vote->is_decided = __builtin_popcount(vote->decided) >= expected;
}

/* A sample that proves nothing either way has C alone, or a stack that was too deep to walk. */
static void add_forced(struct layout_vote *vote, const struct ls_sample *sample)
{
	if (sample->verified)
		vote->fits[vote->layout]++;
	else
		vote->misfits +=
			sample->class == LS_SAMPLE_UNREADABLE || sample->class == LS_SAMPLE_TORN;
}

void layout_vote__add(struct layout_vote *vote, const struct ls_sample *sample)
{
	uint32_t layout = sample->layout % LS_LAYOUT_MAX;
	uint16_t fits = (uint16_t)(1U << layout | sample->other_layouts) & candidates_of(vote);

	if (vote->is_forced) {
		add_forced(vote, sample);
		return;
	}
	if (vote->is_decided || !vote->family->layout_name(layout))
		return;
	if (!sample->verified) {
		if (sample->flags & LS_SAMPLE_MISFIT) {
			vote->misfits++;
			vote->unsure += !!(sample->flags & LS_SAMPLE_UNSURE);
			vote->misfit_ns += sample->period_ns;
			vote->misfit_state = sample->state;
		}
		vote->hosts += sample->error == LS_WALK_NO_SCRIPT && !vote->has_evidence;
		return;
	}
	if (!fits)
		return;
	/* Two interpreters that share candidates, one on top of the other: which is which? */
	if (fits & (fits - 1) && expected_layouts(vote) > 1)
		return;
	for (uint32_t i = 0; i < LS_LAYOUT_MAX; i++)
		vote->fits[i] += fits >> i & 1;
	vote->layout = fits >> layout & 1 ? layout : (uint32_t)__builtin_ctz(fits);
	vote->has_evidence = true;
	conclude(vote);
}

void layout_votes__add(struct layout_votes *votes, const struct ls_sample *sample)
{
	for (size_t i = 0; i < votes->count; i++)
		if (votes->items[i].family->id == sample->family)
			layout_vote__add(&votes->items[i], sample);
}

static void merge(struct layout_vote *into, const struct layout_vote *from)
{
	into->candidates |= from->candidates;
	into->named |= from->named;
	into->decided |= from->decided;
	into->interpreters += from->interpreters;
	for (size_t i = 0; i < LS_LAYOUT_MAX; i++)
		into->fits[i] += from->fits[i];
	into->misfits += from->misfits;
	into->unsure += from->unsure;
	into->misfit_ns += from->misfit_ns;
	into->misfit_state = from->misfit_state;
	into->hosts += from->hosts;
	if (from->has_evidence)
		into->layout = from->layout;
	into->has_evidence |= from->has_evidence;
	into->is_contradicted |= from->is_contradicted;
}

void layout_votes__expect(struct layout_votes *votes, const struct family *family,
			  uint16_t candidates)
{
	struct layout_vote fresh = {
		.family = family, .candidates = candidates, .named = candidates, .interpreters = 1};
	size_t kept = 0;

	if (!candidates)
		return;
	for (size_t i = 0; i < votes->count; i++) {
		const struct layout_vote *vote = &votes->items[i];

		if (vote->family == family && vote->candidates & fresh.candidates)
			merge(&fresh, vote);
		else
			votes->items[kept++] = *vote;
	}
	votes->items[kept] = fresh;
	votes->count = kept + 1;
	conclude(&votes->items[kept]);
}

void layout_votes__propose(struct layout_votes *votes, const struct family *family, uint32_t slot)
{
	for (size_t i = 0; i < votes->count; i++) {
		struct layout_vote *vote = &votes->items[i];

		if (vote->family != family || vote->is_forced)
			continue;
		vote->candidates |= (uint16_t)(1U << slot);
		vote->named |= (uint16_t)(1U << slot);
	}
}

bool layout_votes__are_decided(const struct layout_votes *votes)
{
	for (size_t i = 0; i < votes->count; i++)
		if (!votes->items[i].is_decided)
			return false;
	return votes->count > 0;
}

/* Appends, as far as there is room. */
static void __attribute__((format(printf, 4, 5)))
append(char *to, size_t size, size_t *length, const char *format, ...)
{
	va_list arguments;
	int count;

	if (*length >= size)
		return;
	va_start(arguments, format);
	count = vsnprintf(to + *length, size - *length, format, arguments);
	va_end(arguments);
	*length += count > 0 ? (size_t)count : 0;
}

static void describe_layout(const struct layout_vote *vote, uint32_t layout, char *to, size_t size,
			    size_t *length)
{
	uint64_t fits = vote->fits[layout], all = fits + vote->misfits;
	const char *name = vote->family->layout_name(layout);

	if (*length)
		append(to, size, length, "; ");
	if (vote->is_forced)
		append(to, size, length, "%s, forced: %" PRIu64 " of %" PRIu64 " samples fit", name,
		       fits, all);
	else if (vote->decided >> layout & 1)
		append(to, size, length,
		       "%s, agreed on by %" PRIu64 " of %" PRIu64
		       " samples, no sample fits another",
		       name, fits, all);
	else
		append(to, size, length, "%s, provisionally, by %" PRIu64 " of %" PRIu64 " samples",
		       name, fits, all);
}

static void describe(const struct layout_vote *vote, char *to, size_t size, size_t *length)
{
	const char *name;

	for (uint32_t i = 0; (name = vote->family->layout_name(i)); i++) {
		if (!vote->fits[i] && !(vote->is_forced && i == vote->layout))
			continue;
		if (vote->is_contradicted)
			append(to, size, length, "%s%s: %" PRIu64, *length ? ", " : "", name,
			       vote->fits[i]);
		else
			describe_layout(vote, i, to, size, length);
	}
}

void layout_vote__describe(const struct layout_vote *vote, char *to, size_t size)
{
	struct layout_votes one = {.items = {*vote}, .count = 1};

	layout_votes__describe(&one, to, size);
}

void layout_votes__describe(const struct layout_votes *votes, char *to, size_t size)
{
	size_t length = 0;

	*to = '\0';
	for (size_t i = 0; i < votes->count; i++)
		describe(&votes->items[i], to, size, &length);
	if (!length)
		append(to, size, &length, "undecided: no sample had script on its stack");
}

void layout_vote__score(const struct layout_vote *vote, char *to, size_t size)
{
	uint16_t fitting = with_evidence(vote) & candidates_of(vote);
	int candidates = __builtin_popcount(candidates_of(vote));
	int others = candidates - __builtin_popcount(fitting);
	char all[UNITS_SIZE], fits[UNITS_SIZE];
	uint64_t samples = vote->misfits;
	size_t length = 0;

	*to = '\0';
	for (size_t i = 0; i < LS_LAYOUT_MAX; i++)
		samples += vote->fits[i];
	units__format_count(samples, all, sizeof(all));
	for (uint32_t i = 0; i < LS_LAYOUT_MAX; i++)
		if (fitting >> i & 1)
			append(to, size, &length, "%s%s fits %s of %s samples", length ? ", " : "",
			       vote->family->layout_name(i),
			       units__format_count(vote->fits[i], fits, sizeof(fits)), all);
	if (!fitting && candidates == 1)
		append(to, size, &length, "%s fits none of %s samples",
		       vote->family->layout_name((uint32_t)__builtin_ctz(candidates_of(vote))),
		       all);
	else if (!fitting)
		append(to, size, &length, "none of %d layouts fits any of %s samples", candidates,
		       all);
	else if (others)
		append(to, size, &length, ", %d other%s none", others, others == 1 ? "" : "s");
}

uint16_t layout_votes__decided(const struct layout_votes *votes, const struct family *family)
{
	uint16_t decided = 0;

	for (size_t i = 0; i < votes->count; i++)
		if (votes->items[i].family == family)
			decided |= votes->items[i].decided;
	return decided;
}

uint16_t layout_votes__to_try(const struct layout_votes *votes, const struct family *family)
{
	uint16_t layouts = layout_votes__decided(votes, family);

	for (size_t i = 0; i < votes->count; i++)
		if (votes->items[i].family == family && !votes->items[i].is_decided &&
		    !votes->items[i].is_forced)
			layouts |= votes->items[i].candidates;
	return layouts;
}
