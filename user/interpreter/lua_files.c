/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interpreter/lua_files.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/generations.h"
#include "elf/elf_file.h"
#include "interpreter/family.h"

static int count_markers(const struct elf_file *elf, const struct markers *markers)
{
	size_t room;
	int found = 0;

	for (size_t i = 0; i < MARKERS_MAX && markers->strings[i]; i++)
		found += elf_file__find(elf, markers->strings[i], &room) != NULL;
	return found;
}

/* The markers with the most hits in the file, and their family; NULL: too few for any. */
static const struct markers *find_markers(const struct elf_file *elf, const struct family **family)
{
	const struct markers *best = NULL;
	int most = MARKERS_NEEDED - 1;

	for (size_t i = 0; i < families_count; i++)
		for (size_t j = 0; j < families[i]->marker_count; j++) {
			int found = count_markers(elf, &families[i]->markers[j]);

			if (found <= most)
				continue;
			most = found;
			best = &families[i]->markers[j];
			*family = families[i];
		}
	return best;
}

static void find_segments(const struct elf_file *elf, struct lua_file *file)
{
	struct elf_segment segment;

	for (size_t i = 0; elf_file__segment(elf, i, &segment); i++)
		if (segment.type == PT_LOAD && segment.flags & PF_X &&
		    file->segment_count < LUA_FILE_SEGMENTS)
			file->segments[file->segment_count++] =
				(struct lua_file_segment){segment.offset, segment.address};
}

struct identity {
	uint64_t device, inode, size;
	int64_t modified_s, modified_ns, changed_s, changed_ns;
};

/* Most files contain no VM, and their entries take little memory. */
struct entry {
	struct lua_file *file; /* NULL: no VM */
	int error;
};

/* Young entries before the cache ages, which drops those that nobody has asked for since. */
#define FILES_MOST 16384

struct lua_files {
	struct generations *entries; /* struct entry by struct identity */
	unsigned int read_count;
};

static void drop_entry(void *value)
{
	free(((struct entry *)value)->file);
}

struct lua_files *lua_files__new(void)
{
	struct lua_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->entries =
		generations__new(sizeof(struct identity), sizeof(struct entry), drop_entry);
	if (files->entries)
		return files;
	free(files);
	return NULL;
}

void lua_files__free(struct lua_files *files)
{
	if (!files)
		return;
	generations__free(files->entries);
	free(files);
}

unsigned int lua_files__read_count(const struct lua_files *files)
{
	return files->read_count;
}

/* Families have signs in common; each is looked for once. */
static bool is_sign_of_earlier(size_t family)
{
	for (size_t i = 0; i < family; i++)
		if (!strcmp(families[i]->sign, families[family]->sign))
			return true;
	return false;
}

static bool holds_sign(const struct elf_file *elf)
{
	for (size_t i = 0; i < families_count; i++)
		if (!is_sign_of_earlier(i) && elf_file__holds(elf, families[i]->sign))
			return true;
	return false;
}

/* Luaspy, of whatever version, has the strings that it looks for. */
static const char own_sign[] = "luaspy knows the strings of interpreters, but is none";

static int look_for_vm(const struct elf_file *elf, struct lua_file *file)
{
	const struct markers *markers;
	size_t room;

	if (!holds_sign(elf))
		return 0;
	if (!elf_file__is_searchable(elf))
		return -EFBIG;
	if (elf_file__find(elf, own_sign, &room))
		return 0;
	markers = find_markers(elf, &file->family);
	if (!markers)
		return 0;
	file->is_shared_library = elf_file__is_shared_library(elf);
	file->is_stripped = elf_file__is_stripped(elf);
	find_segments(elf, file);
	return file->family->recognise ? file->family->recognise(elf, markers, file) : 0;
}

static int read_file(int found, struct lua_file *file)
{
	struct elf_file *elf;
	int error = elf_file__open_again(found, &elf);

	if (error)
		return error == -ENOEXEC ? 0 : error;
	error = look_for_vm(elf, file);
	elf_file__close(elf);
	return error;
}

static int identify(int found, struct identity *identity)
{
	struct stat status;

	if (fstat(found, &status))
		return -errno;
	/* The struct is hashed as a whole, so its padding must not differ. */
	memset(identity, 0, sizeof(*identity));
	identity->device = status.st_dev;
	identity->inode = status.st_ino;
	identity->size = (uint64_t)status.st_size;
	identity->modified_s = status.st_mtim.tv_sec;
	identity->modified_ns = status.st_mtim.tv_nsec;
	identity->changed_s = status.st_ctim.tv_sec;
	identity->changed_ns = status.st_ctim.tv_nsec;
	return 0;
}

static int remember(struct lua_files *files, const struct identity *identity,
		    const struct lua_file *file, int error)
{
	struct lua_file *copy = file->family ? malloc(sizeof(*copy)) : NULL;
	struct entry *entry;

	if (file->family && !copy)
		return -ENOMEM;
	if (generations__young(files->entries) >= FILES_MOST)
		generations__age(files->entries);
	entry = generations__add(files->entries, identity);
	if (!entry) {
		free(copy);
		return -ENOMEM;
	}
	if (copy)
		*copy = *file;
	*entry = (struct entry){copy, error};
	return error;
}

int lua_files__find(struct lua_files *files, int found, struct lua_file *file)
{
	struct identity identity;
	const struct entry *entry;
	int error = identify(found, &identity);

	memset(file, 0, sizeof(*file));
	if (error)
		return error;
	entry = generations__find(files->entries, &identity);
	if (entry) {
		if (entry->file)
			*file = *entry->file;
		return entry->error;
	}
	error = read_file(found, file);
	files->read_count++;
	return error && error != -ENOTSUP && error != -EFBIG
		       ? error
		       : remember(files, &identity, file, error);
}
