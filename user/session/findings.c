/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "findings.h"

#include <stdio.h>
#include <string.h>

#include "layout_puc.h"

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
		findings->without_evidence++;
		return;
	}
	if (!findings->with_evidence++)
		verdicts__describe(verdicts, findings->layout, sizeof(findings->layout));
	for (size_t layout = 0; layout < layouts_puc_count; layout++) {
		int is_decided = 0, is_provisional = 0;

		for (size_t i = 0; i < verdicts->count; i++) {
			is_decided |= verdicts->items[i].decided >> layout & 1;
			is_provisional |= verdicts->items[i].fits[layout] != 0;
		}
		findings->decided[layout] += is_decided;
		findings->provisional[layout] += is_provisional && !is_decided;
	}
}

void findings__add(struct findings *findings, const struct identification *identification,
		   const struct verdicts *verdicts)
{
	const char *found = identification__found(identification), *collector;
	bool is_known;

	collector = identification__collector(identification, &is_known);
	if (found) {
		findings->with_lua++;
		text_list__add(&findings->interpreters, found);
	}
	if (collector) {
		findings->unknown_collectors += !is_known;
		text_list__add(&findings->collectors, collector);
	}
	if (verdicts->count)
		add_verdicts(findings, verdicts);
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
		add_count(to, size, layouts_puc[i].name, findings->decided[i], "decided");
		add_count(to, size, layouts_puc[i].name, findings->provisional[i], "provisional");
	}
	add_count(to, size, "none", findings->without_evidence, "no sample had script");
}

void findings__export(struct findings *findings, struct ls_profile_recorder *recorder)
{
	if (findings->with_evidence + findings->without_evidence > 1)
		sum_up(findings);
	recorder->interpreter = text_list__end(&findings->interpreters);
	recorder->layout = findings->with_evidence ? findings->layout : NULL;
	recorder->collector = text_list__end(&findings->collectors);
	recorder->collector_is_known = findings->with_lua && !findings->unknown_collectors;
}
