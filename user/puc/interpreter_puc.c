/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interpreter_puc.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "elf_file.h"
#include "layout_puc.h"
#include "process.h"

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

static bool looks_like_puc(const struct elf_file *file, struct interpreter_puc *interpreter,
			   const char **other)
{
	const struct markers *markers = find_markers(file);

	if (markers && !markers->minor) {
		*other = markers->name;
		return false;
	}
	if (!markers)
		return false;
	if (!read_ident(file, interpreter->release))
		snprintf(interpreter->release, sizeof(interpreter->release), "5.%d",
			 markers->minor);
	interpreter->layouts = layouts_for(interpreter->release);
	return true;
}

/* The collector's ranges, as the process has the file mapped: `mapping` is one of code. */
static int find_collector(const struct elf_file *file, const struct process_mapping *mapping,
			  struct interpreter_puc *interpreter)
{
	struct collector_puc *collector = &interpreter->collector;
	uint64_t size = mapping->end - mapping->start;
	struct elf_segment segment;
	int error = collector_puc__find(file, interpreter->layouts, collector);

	for (size_t i = 0; !error && elf_file__segment(file, i, &segment); i++) {
		uint64_t within = segment.offset - mapping->offset;

		if (segment.type != PT_LOAD || !(segment.flags & PF_X) || within >= size)
			continue;
		collector_puc__move(collector, mapping->start + within - segment.address);
		return 0;
	}
	if (!error && collector->is_known)
		*collector =
			(struct collector_puc){.how = "its code is not mapped as its file says"};
	return error;
}

/* 0: this file holds the VM; -ENOENT: it does not; other -errno. */
static int look_into(pid_t pid, const struct process_mapping *mapping,
		     struct interpreter_puc *interpreter, const char **other)
{
	char path[PATH_MAX];
	struct elf_file *file;
	int error = process__mapped_file_path(pid, mapping, path, sizeof(path));

	if (!error)
		error = elf_file__open(path, &file);
	if (error == -ENOMEM || error == -EACCES || error == -EPERM)
		return error;
	if (error)
		return error == -ENOTSUP ? -ENOTSUP : -ENOENT;
	if (looks_like_puc(file, interpreter, other)) {
		interpreter->is_shared_library = elf_file__is_shared_library(file);
		interpreter->is_stripped = elf_file__is_stripped(file);
		interpreter->path = strdup(mapping->path);
		error = interpreter->path ? find_collector(file, mapping, interpreter) : -ENOMEM;
	} else {
		error = -ENOENT;
	}
	elf_file__close(file);
	return error;
}

static bool seen_before(const struct process_mappings *mappings, size_t index)
{
	const struct process_mapping *mapping = &mappings->items[index];

	for (size_t i = 0; i < index; i++)
		if (mappings->items[i].executable && mappings->items[i].inode == mapping->inode &&
		    mappings->items[i].device == mapping->device)
			return true;
	return false;
}

/* Where a file's code and constants are mapped, as far as they lie together. */
static struct ls_range code_range(const struct process_mappings *mappings, uint64_t device,
				  uint64_t inode)
{
	struct ls_range range = {};

	for (size_t i = 0; i < mappings->count; i++) {
		const struct process_mapping *mapping = &mappings->items[i];

		if (mapping->device != device || mapping->inode != inode)
			continue;
		if (mapping->writable || (range.high && mapping->start != range.high))
			break;
		if (!range.high)
			range.low = mapping->start;
		range.high = mapping->end;
	}
	return range;
}

static void find_code(pid_t pid, const struct process_mappings *mappings,
		      const struct process_mapping *interpreter, struct ls_range *code)
{
	char path[64];
	struct stat program;

	code[0] = code_range(mappings, interpreter->device, interpreter->inode);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (!stat(path, &program))
		code[1] = code_range(mappings, program.st_dev, program.st_ino);
}

int interpreter_puc__identify(pid_t pid, struct interpreter_puc *interpreter, const char **other)
{
	struct process_mappings mappings = {};
	int error = process__mappings(pid, &mappings);

	memset(interpreter, 0, sizeof(*interpreter));
	*other = NULL;
	if (error)
		goto cleanup;
	error = -ENOENT;
	for (size_t i = 0; i < mappings.count; i++) {
		int result;

		if (!mappings.items[i].executable || seen_before(&mappings, i))
			continue;
		result = look_into(pid, &mappings.items[i], interpreter, other);
		if (result != -ENOENT)
			error = result;
		if (result)
			continue;
		find_code(pid, &mappings, &mappings.items[i], interpreter->code);
		break;
	}
cleanup:
	process__mappings_free(&mappings);
	return error;
}

uint16_t interpreter_puc__all_layouts(void)
{
	uint16_t all = 0;

	for (size_t i = 0; i < layouts_puc_count; i++)
		if (!layouts_puc[i].only_by_release)
			all |= 1U << i;
	return all;
}

void interpreter_puc__free(struct interpreter_puc *interpreter)
{
	free(interpreter->path);
	interpreter->path = NULL;
}
