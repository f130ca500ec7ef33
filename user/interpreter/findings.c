/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interpreter/findings.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Processes by one layout. */
struct kept_layout {
	uint8_t family, slot;
	int decided, provisional;
};

struct kept_findings {
	int with_lua, with_evidence, without_evidence;
	unsigned int interpreters_left_out, gcs_left_out, unknown_gcs_left_out;
	uint32_t layout_count;
	struct kept_layout layouts[]; /* then texts: interpreters, gcs, unknown_gcs, layout */
};

static bool has_evidence(const struct layout_votes *votes)
{
	for (size_t i = 0; i < votes->count; i++)
		if (layout_vote__has_evidence(&votes->items[i]) || votes->items[i].is_forced)
			return true;
	return false;
}

/* Counts one family. A process counts once per layout, however many interpreters it has. */
static void count_layouts(struct findings_counts *counts, const struct layout_votes *votes,
			  const struct family *family)
{
	for (uint32_t slot = 0; family->layout_name(slot); slot++) {
		bool is_decided = false, is_provisional = false;

		for (size_t i = 0; i < votes->count; i++) {
			if (votes->items[i].family != family)
				continue;
			is_decided |= votes->items[i].decided >> slot & 1;
			is_provisional |= votes->items[i].fits[slot] != 0;
		}
		counts->decided[family->id][slot] += is_decided;
		counts->provisional[family->id][slot] += is_provisional && !is_decided;
	}
}

static void add_votes(struct findings *findings, const struct layout_votes *votes)
{
	if (!has_evidence(votes)) {
		findings->counts.without_evidence++;
		return;
	}
	if (!findings->counts.with_evidence++)
		layout_votes__describe(votes, findings->layout, sizeof(findings->layout));
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		count_layouts(&findings->counts, votes, families__get(id));
}

void findings__add(struct findings *findings, const struct detection *detection,
		   const struct layout_votes *votes)
{
	const char *found = detection__found(detection);
	const char *gc = detection__gc(detection);
	const char *unknown = detection__gc_unknown(detection);

	if (found) {
		findings->counts.with_lua++;
		text_list__add(&findings->interpreters, found);
	}
	if (gc)
		text_list__add(&findings->gcs, gc);
	if (unknown)
		text_list__add(&findings->unknown_gcs, unknown);
	if (votes->count)
		add_votes(findings, votes);
}

static char *put(char *to, const char *text)
{
	return stpcpy(to, text) + 1;
}

/*
 * Copies the layouts that any process has to `kept`, or only counts them if that is NULL. Most
 * processes have one, of all that there are in all families.
 */
static uint32_t keep_layouts(const struct findings_counts *counts, struct kept_layout *kept)
{
	uint32_t count = 0;

	for (uint8_t family = 0; family < LS_FAMILY_COUNT; family++)
		for (uint8_t slot = 0; slot < LS_LAYOUT_MAX; slot++) {
			struct kept_layout layout = {.family = family,
						     .slot = slot,
						     .decided = counts->decided[family][slot],
						     .provisional =
							     counts->provisional[family][slot]};

			if (!layout.decided && !layout.provisional)
				continue;
			if (kept)
				kept[count] = layout;
			count++;
		}
	return count;
}

struct kept_findings *findings__keep(const struct findings *findings)
{
	const struct findings_counts *counts = &findings->counts;
	uint32_t layout_count = keep_layouts(counts, NULL);
	size_t size = strlen(findings->interpreters.text) + strlen(findings->gcs.text) +
		      strlen(findings->unknown_gcs.text) + strlen(findings->layout) + 4;
	struct kept_findings *kept =
		malloc(sizeof(*kept) + layout_count * sizeof(kept->layouts[0]) + size);
	char *to;

	if (!kept)
		return NULL;
	*kept = (struct kept_findings){
		.with_lua = counts->with_lua,
		.with_evidence = counts->with_evidence,
		.without_evidence = counts->without_evidence,
		.interpreters_left_out = findings->interpreters.left_out,
		.gcs_left_out = findings->gcs.left_out,
		.unknown_gcs_left_out = findings->unknown_gcs.left_out,
		.layout_count = layout_count,
	};
	keep_layouts(counts, kept->layouts);
	to = put((char *)&kept->layouts[layout_count], findings->interpreters.text);
	to = put(to, findings->gcs.text);
	to = put(to, findings->unknown_gcs.text);
	put(to, findings->layout);
	return kept;
}

static void recall_counts(const struct kept_findings *kept, struct findings_counts *counts)
{
	counts->with_lua = kept->with_lua;
	counts->with_evidence = kept->with_evidence;
	counts->without_evidence = kept->without_evidence;
	for (uint32_t i = 0; i < kept->layout_count; i++) {
		const struct kept_layout *layout = &kept->layouts[i];

		counts->decided[layout->family][layout->slot] = layout->decided;
		counts->provisional[layout->family][layout->slot] = layout->provisional;
	}
}

/* The text fits: findings__keep() took it from such a buffer. */
static const char *take(const char *from, char *to)
{
	return from + (stpcpy(to, from) - to) + 1;
}

void findings__recall(const struct kept_findings *kept, struct findings *findings)
{
	const char *from;

	memset(findings, 0, sizeof(*findings));
	if (!kept)
		return;
	recall_counts(kept, &findings->counts);
	findings->interpreters.left_out = kept->interpreters_left_out;
	findings->gcs.left_out = kept->gcs_left_out;
	findings->unknown_gcs.left_out = kept->unknown_gcs_left_out;
	from = take((const char *)&kept->layouts[kept->layout_count], findings->interpreters.text);
	from = take(from, findings->gcs.text);
	from = take(from, findings->unknown_gcs.text);
	take(from, findings->layout);
}

static void add_count(char *to, size_t size, const char *layout, int count, const char *how)
{
	size_t length = strlen(to);

	if (count && length < size)
		snprintf(to + length, size - length, "%s%s, %s in %d process%s", length ? "; " : "",
			 layout, how, count, count == 1 ? "" : "es");
}

static void sum_up_family(const struct findings_counts *counts, const struct family *family,
			  char *to, size_t size)
{
	const char *name;

	for (uint32_t slot = 0; (name = family->layout_name(slot)); slot++) {
		add_count(to, size, name, counts->decided[family->id][slot], "decided");
		add_count(to, size, name, counts->provisional[family->id][slot], "provisional");
	}
}

/* Of several processes, says only how many there are of each layout. */
static void sum_up(struct findings *findings)
{
	char *to = findings->layout;
	size_t size = sizeof(findings->layout);

	*to = '\0';
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		sum_up_family(&findings->counts, families__get(id), to, size);
	add_count(to, size, "none", findings->counts.without_evidence, "no sample had script");
}

void findings__export(struct findings *findings, struct ls_profile_recorder *recorder)
{
	if (findings->counts.with_evidence + findings->counts.without_evidence > 1)
		sum_up(findings);
	recorder->interpreter = text_list__end(&findings->interpreters);
	recorder->layout = findings->counts.with_evidence ? findings->layout : NULL;
	recorder->gc = text_list__end(&findings->gcs);
	recorder->gc_unknown = text_list__end(&findings->unknown_gcs);
}
