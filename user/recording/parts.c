/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct parts *parts__new(void)
{
	struct parts *parts = calloc(1, sizeof(*parts));

	if (!parts)
		return NULL;
	if (!part__rename(&parts->rest, "", ""))
		return parts;
	parts__free(parts);
	return NULL;
}

static void free_texts(struct part *part)
{
	free(part->name);
	free(part->title);
	free(part->file);
	free(part->findings);
}

static void remove_part(struct parts *parts, struct part *part)
{
	if (!part->pid)
		HASH_DELETE(hh_group, parts->groups, part);
	HASH_DELETE(hh, parts->items, part);
	free_texts(part);
	free(part);
}

void parts__free(struct parts *parts)
{
	struct part *part, *next;

	if (!parts)
		return;
	HASH_ITER (hh, parts->items, part, next)
		remove_part(parts, part);
	free_texts(&parts->rest);
	free(parts);
}

static void free_part(struct part *part)
{
	free_texts(part);
	free(part);
}

static int add(struct parts *parts, pid_t pid, const char *name, struct part **added)
{
	struct part *part;

	*added = NULL;
	if (HASH_COUNT(parts->items) >= PARTS_MAX) {
		parts->are_too_many = true;
		return 0;
	}
	part = calloc(1, sizeof(*part));
	if (!part)
		return -ENOMEM;
	part->id = parts->last_id + 1;
	part->pid = pid;
	part->users = 1;
	if (part__rename(part, name, name)) {
		free_part(part);
		return -ENOMEM;
	}
	HASH_ADD(hh, parts->items, id, sizeof(part->id), part);
	if (!HASH_HAS_ADDED(part)) {
		free_part(part);
		return -ENOMEM;
	}
	parts->last_id++;
	*added = part;
	return 0;
}

int parts__add_process(struct parts *parts, pid_t pid, struct part **part)
{
	return add(parts, pid, "", part);
}

int parts__of_group(struct parts *parts, const char *group, struct part **found)
{
	size_t length = strlen(group);
	struct part *part;
	int error;

	HASH_FIND(hh_group, parts->groups, group, length, part);
	*found = part;
	if (part) {
		part->users++;
		return 0;
	}
	error = add(parts, 0, group, &part);
	if (error || !part)
		return error;
	HASH_ADD_KEYPTR(hh_group, parts->groups, part->name, length, part);
	if (!part->hh_group.tbl) {
		HASH_DELETE(hh, parts->items, part);
		free_part(part);
		return -ENOMEM;
	}
	*found = part;
	return 0;
}

void parts__release(struct part *part)
{
	if (part)
		part->users--;
}

int part__rename(struct part *part, const char *name, const char *title)
{
	char *names[] = {strdup(name), strdup(title)};

	if (!names[0] || !names[1]) {
		free(names[0]);
		free(names[1]);
		return -ENOMEM;
	}
	free(part->name);
	free(part->title);
	part->name = names[0];
	part->title = names[1];
	return 0;
}

void part__keep_findings(struct part *part, const struct findings *findings)
{
	struct kept_findings *kept = findings__keep(findings);

	if (!kept)
		return;
	free(part->findings);
	part->findings = kept;
}

void parts__count_dropped(struct parts *parts, struct part *part, uint32_t count)
{
	uint64_t early = count < parts->dropped_early ? count : parts->dropped_early;

	if (!part)
		return;
	parts->dropped_early -= early;
	part->counts.classes[LS_SAMPLE_DROPPED] += count - early;
}

void parts__restart(struct parts *parts, const struct ls_profile *begun)
{
	struct part *part, *next;

	for (uint32_t i = 0; i < begun->category_count; i++) {
		HASH_FIND(hh, parts->items, &begun->categories[i].owner, sizeof(part->id), part);
		if (part)
			part->is_held = true;
	}
	HASH_ITER (hh, parts->items, part, next) {
		if (!part->users && !part->is_held) {
			remove_part(parts, part);
			continue;
		}
		free(part->findings);
		part->findings = NULL;
		part->counts = (struct part_counts){};
		part->is_held = false;
	}
	parts->dropped_early += parts->dropped_rest;
	parts->dropped_rest = 0;
}
