/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lua_files.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "elf_file.h"
#include "generations.h"
#include "layout_puc.h"

/*
 * Strings that survive -Os, -flto and --gc-sections, which take the version string away. Single
 * ones occur in files without a VM: two are asked for.
 */
struct markers {
	const char *name; /* of the VM */
	int minor;        /* of PUC Lua; 0: another */
	const char *strings[4];
};

static const struct markers all_markers[] = {
	{"LuaJIT",
	 0,
	 {"_VMEVENTS", "function too long for return fixup", "cannot load malformed bytecode",
	  "bad action while in __gc metamethod"}},
	{"Luau",
	 0,
	 {"__namecall", "missing argument #%d to '%s' (%s expected)", "attempt to compare %s %s %s",
	  "table index contains NaN"}},
	{"Lua 5.1",
	 1,
	 {"=(tail call)", "nesting of [[...]] is deprecated", "%s: %s in precompiled chunk",
	  "bad code"}},
	{"Lua 5.2",
	 2,
	 {"bad conversion number->int; must recompile",
	  "attempt to load a %s chunk (mode is '%s')"}},
	{"Lua 5.3",
	 3,
	 {"endianness mismatch in", "float format mismatch in", "%s size mismatch in",
	  "number has no integer representation"}},
	{"Lua 5.4",
	 4,
	 {"break outside loop at line %d", "integer format mismatch", "invalid option '>'",
	  "attempt to close non-closable variable '%s'"}},
	{"Lua 5.5",
	 5,
	 {"global '%s' already defined", "vararg table has no proper 'n'",
	  "'__call' chain too long", "truncated fixed buffer"}},
};

#define MARKERS_NEEDED 2

static const struct markers *find_markers(const struct elf_file *file)
{
	const size_t count = sizeof(all_markers) / sizeof(all_markers[0]);
	const struct markers *best = NULL;
	int most = MARKERS_NEEDED - 1;
	size_t room;

	for (size_t i = 0; i < count; i++) {
		int found = 0;

		for (size_t j = 0; j < 4 && all_markers[i].strings[j]; j++)
			found += elf_file__find(file, all_markers[i].strings[j], &room) != NULL;
		if (found > most) {
			most = found;
			best = &all_markers[i];
		}
	}
	return best;
}

/* lua_ident (lapi.c): "$Lua: Lua 5.1.5 Copyright" and, from 5.2 on, "$LuaVersion: Lua 5.4.4  ". */
static bool read_ident(const struct elf_file *file, char release[16])
{
	static const char *const prefixes[] = {"$LuaVersion: Lua 5.", "$Lua: Lua 5."};

	for (size_t i = 0; i < 2; i++) {
		size_t room, length;
		const char *text = elf_file__find(file, prefixes[i], &room);

		if (!text)
			continue;
		text += strlen(prefixes[i]) - 2;
		room -= strlen(prefixes[i]) - 2;
		length = 0;
		while (length < room && length < 8 &&
		       (text[length] == '.' || (text[length] >= '0' && text[length] <= '9')))
			length++;
		snprintf(release, 16, "%.*s", (int)length, text);
		return length >= 3;
	}
	return false;
}

/* Layouts of that release; of the whole minor version where the patch is not known or too new. */
static uint16_t layouts_for(const char *release)
{
	uint16_t exact = 0, same_minor = 0;
	int minor = 0, patch = -1;

	if (sscanf(release, "5.%d.%d", &minor, &patch) == 1 && minor == 1)
		patch = 0; /* the first 5.1 calls itself just that */
	for (size_t i = 0; i < layouts_puc_count; i++) {
		const struct layout_puc *layout = &layouts_puc[i];

		if (layout->minor != minor)
			continue;
		if (!layout->only_by_release)
			same_minor |= 1U << i;
		if (patch >= layout->first_patch && patch <= layout->last_patch)
			exact |= 1U << i;
	}
	return exact ? exact : same_minor;
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

/* Most files hold none, and take little room. */
struct entry {
	struct lua_file *file; /* NULL: no Lua */
	int error;
};

/* How many may be new before those that nobody asked for since are forgotten. */
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

/*
 * Every VM names its metamethods, and hardly anything else does: most files are done with after one
 * pass over their constants.
 */
static int look_for_vm(const struct elf_file *elf, struct lua_file *file)
{
	const struct markers *markers;

	if (!elf_file__holds(elf, "__newindex"))
		return 0;
	markers = find_markers(elf);
	if (!markers)
		return 0;
	file->is_shared_library = elf_file__is_shared_library(elf);
	file->is_stripped = elf_file__is_stripped(elf);
	file->minor = markers->minor;
	if (!markers->minor) {
		file->name = markers->name;
		return 0;
	}
	if (!read_ident(elf, file->release))
		snprintf(file->release, sizeof(file->release), "5.%d", markers->minor);
	file->layouts = layouts_for(file->release);
	find_segments(elf, file);
	return collector_puc__find(elf, file->layouts, &file->collector);
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
	/* Hashed as a whole: no padding may differ. */
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
	bool holds_lua = file->minor || file->name;
	struct lua_file *copy = holds_lua ? malloc(sizeof(*copy)) : NULL;
	struct entry *entry;

	if (holds_lua && !copy)
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

int lua_files__look(struct lua_files *files, int found, struct lua_file *file)
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
	return error && error != -ENOTSUP ? error : remember(files, &identity, file, error);
}
