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

struct vm_key {
	uint64_t main_thread;
	uint64_t memory_category; /* 0: none, or the VM as such */
};

/* A VM, or the part of it whose memory is counted to one category. */
struct vm {
	struct vm_key key;
	unsigned number; /* of the VM as such */
	char name[192];
	UT_hash_handle hh;
};

struct categories {
	enum category_kind kind;
	bool is_of_many;
	char *process;
	struct vm *vms;
	unsigned numbered; /* VMs so far, including those of earlier programs */
	unsigned named;    /* likewise, and their parts */
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

static void write_name(const struct categories *categories, const struct vm *vm, struct vm *part)
{
	char category[32] = "";

	if (part->key.memory_category)
		snprintf(category, sizeof(category), ", memory category %u",
			 (unsigned)part->key.memory_category);
	snprintf(part->name, sizeof(part->name), "%s%sLua VM %u (0x%llx)%s",
		 categories->is_of_many ? categories->process : "",
		 categories->is_of_many ? ": " : "", vm->number,
		 (unsigned long long)vm->key.main_thread, category);
}

/* Returns the VM, or the part of it, made on first use. NULL: too many, or out of memory. */
static struct vm *find_vm(struct categories *categories, struct vm_key key)
{
	struct vm *vm;

	HASH_FIND(hh, categories->vms, &key, sizeof(key), vm);
	if (vm || categories->named >= VMS_MAX)
		return vm;
	vm = calloc(1, sizeof(*vm));
	if (!vm)
		return NULL;
	vm->key = key;
	HASH_ADD(hh, categories->vms, key, sizeof(key), vm);
	if (!HASH_HAS_ADDED(vm)) {
		free(vm);
		return NULL;
	}
	categories->named++;
	return vm;
}

/* A VM for which there is no memory is shown among the other VMs. */
static const char *name_vm(struct categories *categories, const struct ls_sample *sample)
{
	struct vm_key key = {.main_thread = sample->vm};
	struct vm *vm = find_vm(categories, key), *part = vm;

	if (vm && !vm->number)
		vm->number = ++categories->numbered;
	if (vm && sample->memory_category) {
		key.memory_category = sample->memory_category;
		part = find_vm(categories, key);
	}
	if (!part)
		return "(other VMs)";
	if (!part->name[0])
		write_name(categories, vm, part);
	return part->name;
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
		return is_script && sample->vm ? name_vm(categories, sample) : "(no VM)";
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
