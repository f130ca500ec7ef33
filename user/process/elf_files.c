/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process/elf_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash_table.h"
#include "elf/build_id.h"
#include "process/quarantine.h"

#define FILES_MOST 256        /* open simultaneously */
#define BYTES_MOST (48 << 20) /* of symbols; the file in use may have more */

struct entry {
	struct {
		uint64_t device, inode; /* no other file gets this inode while it is open */
	} key;
	struct elf_file *file; /* NULL: it could not be opened */
	uint64_t identity;
	pid_t pid;        /* process for which opening it was last tried */
	uint64_t used_ns; /* CLOCK_MONOTONIC */
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

/* FNV-1a: nobody gains from two files with one number, whose functions have their own names. */
static uint64_t number_of(const void *bytes, size_t size)
{
	uint64_t number = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		number = (number ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
	return number ? number : 1;
}

static uint64_t identify(int found, const struct elf_file *file)
{
	uint8_t id[BUILD_ID_MAX];
	size_t size = file ? build_id__read(file, id) : 0;
	struct stat status;
	uint64_t what[5];

	if (size)
		return number_of(id, size);
	if (fstat(found, &status) < 0)
		return 0;
	what[0] = status.st_dev;
	what[1] = status.st_ino;
	what[2] = (uint64_t)status.st_size;
	what[3] = (uint64_t)status.st_mtim.tv_sec;
	what[4] = (uint64_t)status.st_mtim.tv_nsec;
	return number_of(what, sizeof(what));
}

static void open_mapped(struct entry *entry, pid_t pid, const struct process_mapping *mapping)
{
	uint64_t identity;
	int found;

	if (quarantine__holds(mapping->device, mapping->inode))
		return;
	quarantine__enter(mapping->device, mapping->inode);
	found = process__open_mapped_file(pid, mapping);
	if (found < 0)
		return;
	elf_file__open_again(found, &entry->file);
	identity = identify(found, entry->file);
	if (identity)
		entry->identity = identity;
	close(found);
}

/* NULL when out of memory. */
static struct entry *find_or_add(struct elf_files *files, const struct process_mapping *mapping)
{
	struct entry *entry = calloc(1, sizeof(*entry)), *there;

	if (!entry)
		return NULL;
	entry->key.device = mapping->device;
	entry->key.inode = mapping->inode;
	entry->identity = number_of(&entry->key, sizeof(entry->key));
	HASH_FIND(hh, files->entries, &entry->key, sizeof(entry->key), there);
	if (there) {
		free(entry);
		return there;
	}
	/* The first in the list was added first. */
	if (HASH_COUNT(files->entries) >= FILES_MOST)
		drop(files, files->entries);
	HASH_ADD(hh, files->entries, key, sizeof(entry->key), entry);
	if (HASH_HAS_ADDED(entry))
		return entry;
	free(entry);
	return NULL;
}

/* Drops files with symbols until the rest fit, oldest first, but not the one in use. */
static void shed_symbols(struct elf_files *files, const struct entry *in_use)
{
	struct entry *entry, *next;
	uint64_t bytes = 0;

	for (entry = files->entries; entry; entry = entry->hh.next)
		bytes += entry->file ? elf_file__bytes(entry->file) : 0;
	HASH_ITER (hh, files->entries, entry, next) {
		uint64_t own = entry->file ? elf_file__bytes(entry->file) : 0;

		if (bytes <= BYTES_MOST)
			return;
		if (entry == in_use || !own)
			continue;
		bytes -= own;
		drop(files, entry);
	}
}

/*
 * Returns the entry. Opens its file, unless it is open or the last attempt was for this process.
 * NULL when out of memory.
 */
static struct entry *look_at(struct elf_files *files, pid_t pid,
			     const struct process_mapping *mapping)
{
	struct entry *entry = find_or_add(files, mapping);

	if (!entry)
		return NULL;
	/* That one process could not provide the file says nothing about the next. */
	if (!entry->file && entry->pid != pid) {
		open_mapped(entry, pid, mapping);
		entry->pid = pid;
	}
	shed_symbols(files, entry);
	entry->used_ns = clock_ns(CLOCK_MONOTONIC);
	return entry;
}

struct elf_file *elf_files__mapped(struct elf_files *files, pid_t pid,
				   const struct process_mapping *mapping)
{
	struct entry *entry = look_at(files, pid, mapping);

	return entry ? entry->file : NULL;
}

uint64_t elf_files__identity(struct elf_files *files, pid_t pid,
			     const struct process_mapping *mapping)
{
	struct entry *entry = look_at(files, pid, mapping);

	return entry ? entry->identity : 1;
}
