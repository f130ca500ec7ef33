/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generations.h"

/* That may be new before those which were not asked for since are closed. */
#define FILES_MOST 128

struct key {
	uint64_t device, inode;
};

/* While it is open nobody else gets its inode. */
struct entry {
	struct elf_file *file; /* NULL: it could not be opened */
	pid_t pid;             /* for whom it could not */
};

struct elf_files {
	struct generations *entries;
};

static void drop(void *value)
{
	elf_file__close(((struct entry *)value)->file);
}

struct elf_files *elf_files__new(void)
{
	struct elf_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->entries = generations__new(sizeof(struct key), sizeof(struct entry), drop);
	if (files->entries)
		return files;
	free(files);
	return NULL;
}

void elf_files__free(struct elf_files *files)
{
	if (!files)
		return;
	generations__free(files->entries);
	free(files);
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

struct elf_file *elf_files__mapped(struct elf_files *files, pid_t pid,
				   const struct process_mapping *mapping)
{
	struct key key = {mapping->device, mapping->inode};
	struct entry *entry = generations__find(files->entries, &key);

	/* That it was not there for one process says nothing about the next. */
	if (entry && (entry->file || entry->pid == pid))
		return entry->file;
	if (!entry) {
		if (generations__added(files->entries) >= FILES_MOST)
			generations__age(files->entries);
		entry = generations__add(files->entries, &key);
	}
	if (!entry)
		return NULL;
	entry->file = open_mapped(pid, mapping);
	entry->pid = pid;
	return entry->file;
}
