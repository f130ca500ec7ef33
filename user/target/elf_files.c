/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "hash_table.h"

#define FILES_MOST 256 /* open at once */

struct entry {
	struct {
		uint64_t device, inode; /* while it is open nobody else gets its inode */
	} key;
	struct elf_file *file; /* NULL: it could not be opened */
	pid_t pid;             /* for whom it could not */
	uint64_t used_ns;      /* CLOCK_MONOTONIC */
	UT_hash_handle hh;
};

struct elf_files {
	struct entry *entries;
};

struct elf_files *elf_files__new(void)
{
	return calloc(1, sizeof(struct elf_files));
}

static void drop(struct elf_files *files, struct entry *entry)
{
	HASH_DEL(files->entries, entry);
	elf_file__close(entry->file);
	free(entry);
}

void elf_files__free(struct elf_files *files)
{
	struct entry *entry, *next;

	if (!files)
		return;
	HASH_ITER (hh, files->entries, entry, next)
		drop(files, entry);
	free(files);
}

void elf_files__close_idle(struct elf_files *files, uint64_t idle_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct entry *entry, *next;

	HASH_ITER (hh, files->entries, entry, next)
		if (now_ns - entry->used_ns > idle_ns)
			drop(files, entry);
}

static struct elf_file *open_mapped(pid_t pid, const struct process_mapping *mapping)
{
	struct elf_file *file = NULL;
	int found = process__open_mapped_file(pid, mapping);

	if (found < 0)
		return NULL;
	elf_file__open_again(found, &file);
	close(found);
	return file;
}

/* NULL when out of memory. */
static struct entry *find_or_add(struct elf_files *files, const struct process_mapping *mapping)
{
	struct entry *entry = calloc(1, sizeof(*entry)), *there;

	if (!entry)
		return NULL;
	entry->key.device = mapping->device;
	entry->key.inode = mapping->inode;
	HASH_FIND(hh, files->entries, &entry->key, sizeof(entry->key), there);
	if (there) {
		free(entry);
		return there;
	}
	/* The first in the list is the oldest. */
	if (HASH_COUNT(files->entries) >= FILES_MOST)
		drop(files, files->entries);
	HASH_ADD(hh, files->entries, key, sizeof(entry->key), entry);
	if (HASH_HAS_ADDED(entry))
		return entry;
	free(entry);
	return NULL;
}

struct elf_file *elf_files__mapped(struct elf_files *files, pid_t pid,
				   const struct process_mapping *mapping)
{
	struct entry *entry = find_or_add(files, mapping);

	if (!entry)
		return NULL;
	/* That it was not there for one process says nothing about the next. */
	if (!entry->file && entry->pid != pid) {
		entry->file = open_mapped(pid, mapping);
		entry->pid = pid;
	}
	entry->used_ns = clock_ns(CLOCK_MONOTONIC);
	return entry->file;
}
