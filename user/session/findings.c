/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout_puc.h"

struct kept_findings {
	struct findings_counts counts;
	unsigned int interpreters_left_out, collectors_left_out, unknown_collectors_left_out;
	char texts[]; /* interpreters, collectors, those that are not known, layout */
};

static int has_evidence(const struct verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->count; i++)
		if (verdicts->items[i].has_evidence || verdicts->items[i].is_forced)
			return 1;
	return 0;
}

static void add_verdicts(struct findings *findings, const struct verdicts *verdicts)
{
	if (!has_evidence(verdicts)) {
		findings->counts.without_evidence++;
		return;
	}
	if (!findings->counts.with_evidence++)
		verdicts__describe(verdicts, findings->layout, sizeof(findings->layout));
	for (size_t layout = 0; layout < layouts_puc_count; layout++) {
		int is_decided = 0, is_provisional = 0;

		for (size_t i = 0; i < verdicts->count; i++) {
			is_decided |= verdicts->items[i].decided >> layout & 1;
			is_provisional |= verdicts->items[i].fits[layout] != 0;
		}
		findings->counts.decided[layout] += is_decided;
		findings->counts.provisional[layout] += is_provisional && !is_decided;
	}
}

void findings__add(struct findings *findings, const struct identification *identification,
		   const struct verdicts *verdicts)
{
	const char *found = identification__found(identification);
	const char *collector = identification__collector(identification);
	const char *unknown = identification__collector_unknown(identification);

	if (found) {
		findings->counts.with_lua++;
		text_list__add(&findings->interpreters, found);
	}
	if (collector)
		text_list__add(&findings->collectors, collector);
	if (unknown)
		text_list__add(&findings->unknown_collectors, unknown);
	if (verdicts->count)
		add_verdicts(findings, verdicts);
}

static char *put(char *to, const char *text)
{
	return stpcpy(to, text) + 1;
}

struct kept_findings *findings__keep(const struct findings *findings)
{
	size_t size = strlen(findings->interpreters.text) + strlen(findings->collectors.text) +
		      strlen(findings->unknown_collectors.text) + strlen(findings->layout) + 4;
	struct kept_findings *kept = malloc(sizeof(*kept) + size);
	char *to;

	if (!kept)
		return NULL;
	kept->counts = findings->counts;
	kept->interpreters_left_out = findings->interpreters.left_out;
	kept->collectors_left_out = findings->collectors.left_out;
	kept->unknown_collectors_left_out = findings->unknown_collectors.left_out;
	to = put(kept->texts, findings->interpreters.text);
	to = put(to, findings->collectors.text);
	to = put(to, findings->unknown_collectors.text);
	put(to, findings->layout);
	return kept;
}

/* They fit: they come from there. */
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
	findings->counts = kept->counts;
	findings->interpreters.left_out = kept->interpreters_left_out;
	findings->collectors.left_out = kept->collectors_left_out;
	findings->unknown_collectors.left_out = kept->unknown_collectors_left_out;
	from = take(kept->texts, findings->interpreters.text);
	from = take(from, findings->collectors.text);
	from = take(from, findings->unknown_collectors.text);
	take(from, findings->layout);
}

static void add_count(char *to, size_t size, const char *layout, int count, const char *how)
{
	size_t length = strlen(to);

	if (count && length < size)
		snprintf(to + length, size - length, "%s%s, %s in %d process%s", length ? "; " : "",
			 layout, how, count, count == 1 ? "" : "es");
}

/* Of several processes no more than how many there are of each. */
static void sum_up(struct findings *findings)
{
	char *to = findings->layout;
	size_t size = sizeof(findings->layout);

	*to = '\0';
	for (size_t i = 0; i < layouts_puc_count; i++) {
		add_count(to, size, layouts_puc[i].name, findings->counts.decided[i], "decided");
		add_count(to, size, layouts_puc[i].name, findings->counts.provisional[i],
			  "provisional");
	}
	add_count(to, size, "none", findings->counts.without_evidence, "no sample had script");
}

void findings__export(struct findings *findings, struct ls_profile_recorder *recorder)
{
	if (findings->counts.with_evidence + findings->counts.without_evidence > 1)
		sum_up(findings);
	recorder->interpreter = text_list__end(&findings->interpreters);
	recorder->layout = findings->counts.with_evidence ? findings->layout : NULL;
	recorder->collector = text_list__end(&findings->collectors);
	recorder->collector_unknown = text_list__end(&findings->unknown_collectors);
}
