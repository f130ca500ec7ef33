/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "layout_puc.h"
#include "walk_error.h"

static uint16_t candidates_of(const struct verdict *verdict)
{
	return verdict->candidates ? verdict->candidates
				   : (uint16_t)((1U << layouts_puc_count) - 1);
}

static uint16_t with_evidence(const struct verdict *verdict)
{
	uint16_t layouts = 0;

	for (size_t i = 0; i < LS_LAYOUT_MAX; i++)
		layouts |= (verdict->fits[i] != 0) << i;
	return layouts;
}

/* Interpreters of one class are one layout. */
static int expected_layouts(const struct verdict *verdict)
{
	int interpreters = verdict->interpreters ? (int)verdict->interpreters : 1;
	int layouts = __builtin_popcount(candidates_of(verdict));

	return interpreters < layouts ? interpreters : layouts;
}

static void conclude(struct verdict *verdict)
{
	int expected = expected_layouts(verdict);

	if (__builtin_popcount(with_evidence(verdict)) > expected)
		verdict->is_contradicted = 1;
	if (verdict->is_contradicted)
		return;
	for (size_t i = 0; i < LS_LAYOUT_MAX; i++)
		verdict->decided |= (verdict->fits[i] >= VERDICT_NEEDED) << i;
	verdict->is_decided = __builtin_popcount(verdict->decided) >= expected;
}

/* A sample that proves nothing either way is C alone, or a stack that was too deep to be walked. */
static void add_forced(struct verdict *verdict, const struct ls_sample *sample)
{
	if (sample->verified)
		verdict->fits[verdict->layout]++;
	else
		verdict->misfits +=
			sample->class == LS_SAMPLE_UNREADABLE || sample->class == LS_SAMPLE_TORN;
}

void verdict__add(struct verdict *verdict, const struct ls_sample *sample)
{
	uint32_t layout = sample->layout % LS_LAYOUT_MAX;
	uint16_t fits = (uint16_t)(1U << layout | sample->other_layouts) & candidates_of(verdict);

	if (verdict->is_forced) {
		add_forced(verdict, sample);
		return;
	}
	if (verdict->is_decided || layout >= layouts_puc_count)
		return;
	if (!sample->verified) {
		verdict->misfits += !!(sample->flags & LS_SAMPLE_MISFIT);
		verdict->hosts += sample->error == LS_WALK_NO_SCRIPT && !verdict->has_evidence;
		return;
	}
	if (!fits)
		return;
	/* Two interpreters that share candidates, one on top of the other: which is which? */
	if (fits & (fits - 1) && expected_layouts(verdict) > 1)
		return;
	for (uint32_t i = 0; i < LS_LAYOUT_MAX; i++)
		verdict->fits[i] += fits >> i & 1;
	verdict->layout = fits >> layout & 1 ? layout : (uint32_t)__builtin_ctz(fits);
	verdict->has_evidence = 1;
	conclude(verdict);
}

void verdicts__add(struct verdicts *verdicts, const struct ls_sample *sample)
{
	for (size_t i = 0; i < verdicts->count; i++)
		verdict__add(&verdicts->items[i], sample);
}

static void merge(struct verdict *into, const struct verdict *from)
{
	into->candidates |= from->candidates;
	into->named |= from->named;
	into->decided |= from->decided;
	into->interpreters += from->interpreters;
	for (size_t i = 0; i < LS_LAYOUT_MAX; i++)
		into->fits[i] += from->fits[i];
	into->misfits += from->misfits;
	into->hosts += from->hosts;
	if (from->has_evidence)
		into->layout = from->layout;
	into->has_evidence |= from->has_evidence;
	into->is_contradicted |= from->is_contradicted;
}

void verdicts__expect(struct verdicts *verdicts, uint16_t candidates)
{
	struct verdict fresh = {.candidates = candidates, .named = candidates, .interpreters = 1};
	size_t kept = 0;

	if (!candidates)
		return;
	for (size_t i = 0; i < verdicts->count; i++) {
		const struct verdict *verdict = &verdicts->items[i];

		/* There is more room than interpreters: the last one takes what does not fit. */
		if (verdict->candidates & fresh.candidates ||
		    (i + 1 == verdicts->count && kept + 1 == VERDICT_MAX))
			merge(&fresh, verdict);
		else
			verdicts->items[kept++] = *verdict;
	}
	verdicts->items[kept] = fresh;
	verdicts->count = kept + 1;
	conclude(&verdicts->items[kept]);
}

int verdicts__are_decided(const struct verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->count; i++)
		if (!verdicts->items[i].is_decided)
			return 0;
	return verdicts->count > 0;
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

static void describe_layout(const struct verdict *verdict, uint32_t layout, char *to, size_t size,
			    size_t *length)
{
	uint64_t fits = verdict->fits[layout], all = fits + verdict->misfits;
	const char *name = layouts_puc[layout].name;

	if (*length)
		append(to, size, length, "; ");
	if (verdict->is_forced)
		append(to, size, length, "%s, forced: %" PRIu64 " of %" PRIu64 " samples fit", name,
		       fits, all);
	else if (verdict->decided >> layout & 1)
		append(to, size, length,
		       "%s, agreed on by %" PRIu64 " of %" PRIu64 " samples, none fits another",
		       name, fits, all);
	else
		append(to, size, length, "%s, provisionally, by %" PRIu64 " of %" PRIu64 " samples",
		       name, fits, all);
}

static void describe(const struct verdict *verdict, char *to, size_t size, size_t *length)
{
	for (uint32_t i = 0; i < layouts_puc_count; i++) {
		if (!verdict->fits[i] && !(verdict->is_forced && i == verdict->layout))
			continue;
		if (verdict->is_contradicted)
			append(to, size, length, "%s%s: %" PRIu64, *length ? ", " : "",
			       layouts_puc[i].name, verdict->fits[i]);
		else
			describe_layout(verdict, i, to, size, length);
	}
}

void verdict__describe(const struct verdict *verdict, char *to, size_t size)
{
	struct verdicts one = {.items = {*verdict}, .count = 1};

	verdicts__describe(&one, to, size);
}

void verdicts__describe(const struct verdicts *verdicts, char *to, size_t size)
{
	size_t length = 0;

	*to = '\0';
	for (size_t i = 0; i < verdicts->count; i++)
		describe(&verdicts->items[i], to, size, &length);
	if (!length)
		append(to, size, &length, "undecided: no sample had script on its stack");
}

void verdict__score(const struct verdict *verdict, char *to, size_t size)
{
	uint64_t all = verdict->misfits;
	size_t length = 0;

	*to = '\0';
	for (size_t i = 0; i < LS_LAYOUT_MAX; i++)
		all += verdict->fits[i];
	for (size_t i = 0; i < layouts_puc_count; i++)
		if (candidates_of(verdict) >> i & 1)
			append(to, size, &length, "%s%s fits %" PRIu64 " of %" PRIu64,
			       length ? ", " : "", layouts_puc[i].name, verdict->fits[i], all);
}

uint16_t verdicts__decided(const struct verdicts *verdicts)
{
	uint16_t decided = 0;

	for (size_t i = 0; i < verdicts->count; i++)
		decided |= verdicts->items[i].decided;
	return decided;
}

uint16_t verdicts__to_try(const struct verdicts *verdicts)
{
	uint16_t layouts = verdicts__decided(verdicts);

	for (size_t i = 0; i < verdicts->count; i++)
		if (!verdicts->items[i].is_decided && !verdicts->items[i].is_forced)
			layouts |= verdicts->items[i].candidates;
	return layouts;
}
