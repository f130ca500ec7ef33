/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/category.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"

/* More VMs than a user can look at one by one, and the limit for a hostile target. */
#define VMS_MAX 1000

struct vm {
	uint64_t main_thread;
	char name[128];
	UT_hash_handle hh;
};

struct categories {
	enum category_kind kind;
	bool is_of_many;
	char *process;
	struct vm *vms;
	unsigned numbered; /* VMs so far, including those of earlier programs */
};

static const char *const words[] = {
	[CATEGORY_THREAD] = "thread",
	[CATEGORY_PROCESS] = "process",
	[CATEGORY_STATE] = "state",
	[CATEGORY_CHUNK] = "chunk",
};

int category__parse(const char *word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i]))
			return (int)i;
	return -EINVAL;
}

struct categories *categories__new(enum category_kind kind, const char *process, bool is_of_many)
{
	struct categories *categories = calloc(1, sizeof(*categories));

	if (!categories)
		return NULL;
	categories->kind = kind;
	categories->is_of_many = is_of_many;
	if (!categories__rename(categories, process))
		return categories;
	categories__free(categories);
	return NULL;
}

void categories__forget_vms(struct categories *categories)
{
	struct vm *vm, *next;

	HASH_ITER (hh, categories->vms, vm, next) {
		HASH_DEL(categories->vms, vm);
		free(vm);
	}
}

void categories__free(struct categories *categories)
{
	if (!categories)
		return;
	categories__forget_vms(categories);
	free(categories->process);
	free(categories);
}

int categories__rename(struct categories *categories, const char *process)
{
	char *copy = strdup(process);

	if (!copy)
		return -ENOMEM;
	free(categories->process);
	categories->process = copy;
	return 0;
}

/* A VM for which there is no memory is shown among the other VMs. */
static const char *name_vm(struct categories *categories, uint64_t main_thread)
{
	struct vm *vm;

	if (!main_thread)
		return "(no VM)";
	HASH_FIND(hh, categories->vms, &main_thread, sizeof(main_thread), vm);
	if (vm)
		return vm->name;
	vm = categories->numbered < VMS_MAX ? calloc(1, sizeof(*vm)) : NULL;
	if (!vm)
		return "(other VMs)";
	vm->main_thread = main_thread;
	HASH_ADD(hh, categories->vms, main_thread, sizeof(main_thread), vm);
	if (!HASH_HAS_ADDED(vm)) {
		free(vm);
		return "(other VMs)";
	}
	snprintf(vm->name, sizeof(vm->name), "%s%sLua VM %u (0x%llx)",
		 categories->is_of_many ? categories->process : "",
		 categories->is_of_many ? ": " : "", ++categories->numbered,
		 (unsigned long long)main_thread);
	return vm->name;
}

const char *categories__of_sample(struct categories *categories, const struct ls_sample *sample,
				  const char *source)
{
	bool is_script = sample->class != LS_SAMPLE_HOST && sample->class != LS_SAMPLE_UNREADABLE;

	switch (categories->kind) {
	case CATEGORY_THREAD:
		return sample->comm;
	case CATEGORY_PROCESS:
		return categories->process;
	case CATEGORY_STATE:
		return name_vm(categories, is_script ? sample->vm : 0);
	case CATEGORY_CHUNK:
		if (!is_script)
			return "(no chunk)";
		return source ? source : "(unknown chunk)";
	}
	return sample->comm;
}

const char *categories__of_thread(struct categories *categories, const char *comm)
{
	static const struct ls_sample none = {.class = LS_SAMPLE_HOST};

	return categories->kind == CATEGORY_THREAD ? comm
						   : categories__of_sample(categories, &none, NULL);
}
