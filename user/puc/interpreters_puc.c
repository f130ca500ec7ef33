/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interpreters_puc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "layout_puc.h"
#include "process.h"

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

/* The collector's ranges, as the process has the file mapped: `mapping` is one of code. */
static void place_collector(const struct process_mapping *mapping,
			    struct interpreter_puc *interpreter)
{
	const struct lua_file *file = &interpreter->file;
	uint64_t size = mapping->end - mapping->start;

	interpreter->collector = file->collector;
	for (size_t i = 0; i < file->segment_count; i++) {
		uint64_t within = file->segments[i].offset - mapping->offset;

		if (within >= size)
			continue;
		collector_puc__move(&interpreter->collector,
				    mapping->start + within - file->segments[i].address);
		return;
	}
	if (interpreter->collector.is_known)
		interpreter->collector =
			(struct collector_puc){.how = "its code is not mapped as its file says"};
}

static int add_interpreter(pid_t pid, const struct process_mappings *mappings, size_t index,
			   const struct lua_file *file, struct interpreters_puc *found)
{
	struct interpreter_puc *interpreter, *items;

	if (found->count == INTERPRETERS_MAX) {
		found->left_out++;
		return 0;
	}
	items = reallocarray(found->items, found->count + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	found->items = items;
	interpreter = &items[found->count];
	*interpreter = (struct interpreter_puc){.file = *file};
	place_collector(&mappings->items[index], interpreter);
	interpreter->path = strdup(mappings->items[index].path);
	if (!interpreter->path)
		return -ENOMEM;
	find_code(pid, mappings, &mappings->items[index], interpreter->code);
	found->count++;
	return 0;
}

static int add_other(const struct process_mapping *mapping, const char *name,
		     struct interpreters_puc *found)
{
	struct other_lua *other = &found->others[found->other_count];

	if (found->other_count == INTERPRETERS_MAX) {
		found->left_out++;
		return 0;
	}
	other->name = name;
	other->path = strdup(mapping->path);
	if (!other->path)
		return -ENOMEM;
	found->other_count++;
	return 0;
}

/* 0, -ENOTSUP or another -errno. */
static int look_into(struct lua_files *files, pid_t pid, const struct process_mappings *mappings,
		     size_t index, struct interpreters_puc *found)
{
	struct lua_file file;
	int error, mapped = process__open_mapped_file(pid, &mappings->items[index]);

	error = mapped < 0 ? mapped : lua_files__look(files, mapped, &file);
	if (mapped >= 0)
		close(mapped);
	/* One that is not there, or cannot be read, is none; only what a user can help is said. */
	if (error && error != -ENOTSUP && error != -ENOMEM && error != -EACCES && error != -EPERM)
		return 0;
	if (error)
		return error;
	if (file.name)
		return add_other(&mappings->items[index], file.name, found);
	return file.minor ? add_interpreter(pid, mappings, index, &file, found) : 0;
}

int interpreters_puc__find(struct lua_files *files, pid_t pid, struct interpreters_puc *found)
{
	struct process_mappings mappings = {};
	int error = process__mappings(pid, &mappings), failure = 0;

	memset(found, 0, sizeof(*found));
	for (size_t i = 0; !error && i < mappings.count; i++) {
		if (!mappings.items[i].executable || seen_before(&mappings, i))
			continue;
		error = look_into(files, pid, &mappings, i, found);
		if (error == -ENOMEM)
			break;
		if (error)
			failure = error;
		error = 0;
	}
	process__mappings_free(&mappings);
	/* What a file was that could not be read matters only where no other says more. */
	if (!error && !found->count && !found->other_count)
		error = failure;
	if (error)
		interpreters_puc__free(found);
	return error;
}

static bool may_become_lua(struct lua_files *files, pid_t pid)
{
	struct interpreters_puc found;
	char state = process__state(pid);
	bool is_lua;

	if (!state || state == 'Z' || state == 'X' || interpreters_puc__find(files, pid, &found))
		return false;
	is_lua = found.count || found.other_count;
	interpreters_puc__free(&found);
	return !is_lua;
}

/* To look takes a fraction of a millisecond: files that were seen before are not read again. */
#define LOOK_NS 10000000

void interpreters_puc__await(struct lua_files *files, pid_t pid, uint64_t until_ns)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	while (may_become_lua(files, pid) && clock_ns(CLOCK_MONOTONIC) < until_ns)
		nanosleep(&pause, NULL);
}

bool interpreters_puc__are_equal(const struct interpreters_puc *one,
				 const struct interpreters_puc *other)
{
	if (one->count != other->count || one->other_count != other->other_count)
		return false;
	for (size_t i = 0; i < one->count; i++)
		if (strcmp(one->items[i].path, other->items[i].path) ||
		    strcmp(one->items[i].file.release, other->items[i].file.release))
			return false;
	return true;
}

uint16_t interpreters_puc__all_layouts(void)
{
	uint16_t all = 0;

	for (size_t i = 0; i < layouts_puc_count; i++)
		if (!layouts_puc[i].only_by_release)
			all |= 1U << i;
	return all;
}

void interpreters_puc__free(struct interpreters_puc *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->items[i].path);
	free(found->items);
	for (size_t i = 0; i < found->other_count; i++)
		free(found->others[i].path);
	memset(found, 0, sizeof(*found));
}
