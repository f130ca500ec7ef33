/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/subprofiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct subprofiles *subprofiles__new(void)
{
	struct subprofiles *subprofiles = calloc(1, sizeof(*subprofiles));

	if (!subprofiles)
		return NULL;
	if (!subprofile__rename(&subprofiles->rest, "", ""))
		return subprofiles;
	subprofiles__free(subprofiles);
	return NULL;
}

static void free_texts(struct subprofile *subprofile)
{
	free(subprofile->name);
	free(subprofile->title);
	free(subprofile->file);
	free(subprofile->findings);
}

static void remove_subprofile(struct subprofiles *subprofiles, struct subprofile *subprofile)
{
	if (!subprofile->pid)
		HASH_DELETE(hh_group, subprofiles->groups, subprofile);
	HASH_DELETE(hh, subprofiles->items, subprofile);
	free_texts(subprofile);
	free(subprofile);
}

void subprofiles__free(struct subprofiles *subprofiles)
{
	struct subprofile *subprofile, *next;

	if (!subprofiles)
		return;
	HASH_ITER (hh, subprofiles->items, subprofile, next)
		remove_subprofile(subprofiles, subprofile);
	free_texts(&subprofiles->rest);
	free(subprofiles);
}

static void free_subprofile(struct subprofile *subprofile)
{
	free_texts(subprofile);
	free(subprofile);
}

static int add(struct subprofiles *subprofiles, pid_t pid, const char *name,
	       struct subprofile **added)
{
	struct subprofile *subprofile;

	*added = NULL;
	if (HASH_COUNT(subprofiles->items) >= SUBPROFILES_MAX) {
		subprofiles->are_too_many = true;
		return 0;
	}
	subprofile = calloc(1, sizeof(*subprofile));
	if (!subprofile)
		return -ENOMEM;
	subprofile->id = subprofiles->last_id + 1;
	subprofile->pid = pid;
	subprofile->users = 1;
	if (subprofile__rename(subprofile, name, name)) {
		free_subprofile(subprofile);
		return -ENOMEM;
	}
	HASH_ADD(hh, subprofiles->items, id, sizeof(subprofile->id), subprofile);
	if (!HASH_HAS_ADDED(subprofile)) {
		free_subprofile(subprofile);
		return -ENOMEM;
	}
	subprofiles->last_id++;
	*added = subprofile;
	return 0;
}

int subprofiles__add_process(struct subprofiles *subprofiles, pid_t pid,
			     struct subprofile **subprofile)
{
	return add(subprofiles, pid, "", subprofile);
}

int subprofiles__of_group(struct subprofiles *subprofiles, const char *group,
			  struct subprofile **found)
{
	size_t length = strlen(group);
	struct subprofile *subprofile;
	int error;

	HASH_FIND(hh_group, subprofiles->groups, group, length, subprofile);
	*found = subprofile;
	if (subprofile) {
		subprofile->users++;
		return 0;
	}
	error = add(subprofiles, 0, group, &subprofile);
	if (error || !subprofile)
		return error;
	HASH_ADD_KEYPTR(hh_group, subprofiles->groups, subprofile->name, length, subprofile);
	if (!subprofile->hh_group.tbl) {
		HASH_DELETE(hh, subprofiles->items, subprofile);
		free_subprofile(subprofile);
		return -ENOMEM;
	}
	*found = subprofile;
	return 0;
}

void subprofiles__release(struct subprofile *subprofile)
{
	if (subprofile)
		subprofile->users--;
}

int subprofile__rename(struct subprofile *subprofile, const char *name, const char *title)
{
	char *names[] = {strdup(name), strdup(title)};

	if (!names[0] || !names[1]) {
		free(names[0]);
		free(names[1]);
		return -ENOMEM;
	}
	free(subprofile->name);
	free(subprofile->title);
	subprofile->name = names[0];
	subprofile->title = names[1];
	return 0;
}

void subprofile__keep_findings(struct subprofile *subprofile, const struct findings *findings)
{
	struct kept_findings *kept = findings__keep(findings);

	if (!kept)
		return;
	free(subprofile->findings);
	subprofile->findings = kept;
}

void subprofiles__count_dropped(struct subprofiles *subprofiles, struct subprofile *subprofile,
				uint32_t count)
{
	uint64_t early = count < subprofiles->dropped_early ? count : subprofiles->dropped_early;

	if (!subprofile)
		return;
	subprofiles->dropped_early -= early;
	subprofile->counts.classes[LS_SAMPLE_DROPPED] += count - early;
}

void subprofiles__restart(struct subprofiles *subprofiles, const struct ls_profile *begun)
{
	struct subprofile *subprofile, *next;

	for (uint32_t i = 0; i < begun->category_count; i++) {
		HASH_FIND(hh, subprofiles->items, &begun->categories[i].owner,
			  sizeof(subprofile->id), subprofile);
		if (subprofile)
			subprofile->is_held = true;
	}
	HASH_ITER (hh, subprofiles->items, subprofile, next) {
		if (!subprofile->users && !subprofile->is_held) {
			remove_subprofile(subprofiles, subprofile);
			continue;
		}
		free(subprofile->findings);
		subprofile->findings = NULL;
		subprofile->counts = (struct subprofile_counts){};
		subprofile->is_held = false;
	}
	subprofiles->dropped_early += subprofiles->dropped_rest;
	subprofiles->dropped_rest = 0;
}
