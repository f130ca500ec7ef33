/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interpreter/interpreters.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpreter/family.h"
#include "process/process.h"
#include "process/quarantine.h"

/* Most files with code that are inspected per process. Large programs have a few hundred. */
#define FILES_MOST 1024

/* The files of a process that were inspected, by index of their first mapping. */
struct seen {
	const struct process_mappings *mappings;
	uint32_t items[FILES_MOST];
	size_t count;
};

static bool was_seen(const struct seen *seen, const struct process_mapping *mapping)
{
	for (size_t i = seen->count; i-- > 0;) {
		const struct process_mapping *other = &seen->mappings->items[seen->items[i]];

		if (other->inode == mapping->inode && other->device == mapping->device)
			return true;
	}
	return false;
}

/* Where a file's code and constants are mapped, as far as they are contiguous. */
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
	snprintf(path, sizeof(path), "/proc/%d/exe", process__memory_id(pid));
	if (!stat(path, &program))
		code[1] = code_range(mappings, program.st_dev, program.st_ino);
}

/* Adds `distance`, from the file's own addresses to those in a process. */
static void move_library(struct c_library *library, uint64_t distance)
{
	for (uint32_t i = 0; i < library->count; i++)
		library->functions[i] += distance;
	if (library->resumer.resume)
		library->resumer.resume += distance;
	if (library->resumer.auxwrap)
		library->resumer.auxwrap += distance;
}

static void move_code(struct interpreter *interpreter, uint64_t distance)
{
	gc_code__move(&interpreter->gc, distance);
	move_library(&interpreter->library, distance);
}

/* Sets its code to where the process has it mapped; `mapping` maps code of the file. */
static void place_code(const struct process_mapping *mapping, struct interpreter *interpreter)
{
	const struct lua_file *file = &interpreter->file;
	uint64_t size = mapping->end - mapping->start;

	interpreter->gc = file->gc;
	interpreter->library = file->library;
	for (size_t i = 0; i < file->segment_count; i++) {
		uint64_t within = file->segments[i].offset - mapping->offset;

		if (within >= size)
			continue;
		move_code(interpreter, mapping->start + within - file->segments[i].address);
		return;
	}
	interpreter->library = (struct c_library){};
	if (interpreter->gc.is_known)
		interpreter->gc =
			(struct gc_code){.how = "its code is not mapped as its file says"};
}

bool interpreter__is_profiled(const struct interpreter *interpreter)
{
	return interpreter->file.layouts != 0;
}

/* Takes the program's own file by the name with which it was executed. NULL when out of memory. */
static char *path_of(pid_t pid, const struct process_mapping *mapping,
		     const struct interpreter *interpreter)
{
	char executed[PATH_MAX];
	bool is_program =
		interpreter->code[1].high && interpreter->code[0].low == interpreter->code[1].low;

	if (is_program && !process__executed_path(pid, executed, sizeof(executed)))
		return strdup(executed);
	return strdup(mapping->path);
}

static int add_interpreter(pid_t pid, const struct process_mappings *mappings, size_t index,
			   const struct lua_file *file, struct interpreters *found)
{
	struct interpreter *interpreter, *items;

	if (found->count == INTERPRETERS_MAX) {
		found->left_out++;
		return 0;
	}
	items = reallocarray(found->items, found->count + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	found->items = items;
	interpreter = &items[found->count];
	*interpreter = (struct interpreter){.file = *file};
	place_code(&mappings->items[index], interpreter);
	find_code(pid, mappings, &mappings->items[index], interpreter->code);
	interpreter->path = path_of(pid, &mappings->items[index], interpreter);
	if (!interpreter->path)
		return -ENOMEM;
	found->profiled += interpreter__is_profiled(interpreter);
	found->count++;
	return 0;
}

/* 0, -ENOTSUP or another -errno. */
static int look_into(struct lua_files *files, pid_t pid, const struct process_mappings *mappings,
		     size_t index, struct interpreters *found)
{
	const struct process_mapping *mapping = &mappings->items[index];
	struct lua_file file;
	int error, mapped;

	if (quarantine__holds(mapping->device, mapping->inode))
		return 0;
	quarantine__enter(mapping->device, mapping->inode);
	mapped = process__open_mapped_file(pid, mapping);
	error = mapped < 0 ? mapped : lua_files__find(files, mapped, &file);
	if (mapped >= 0)
		close(mapped);
	/* A file that is gone or unreadable holds no VM; only what a user can fix is reported. */
	found->has_unread |= error == -EFBIG;
	if (error && error != -ENOTSUP && error != -ENOMEM && error != -EACCES && error != -EPERM &&
	    error != -EBUSY)
		return 0;
	if (error)
		return error;
	return file.family ? add_interpreter(pid, mappings, index, &file, found) : 0;
}

int interpreters__find(struct lua_files *files, pid_t pid, struct interpreters *found)
{
	struct process_mappings mappings = {};
	struct seen seen = {.mappings = &mappings};
	int error = process__mappings(pid, &mappings), failure = 0;

	memset(found, 0, sizeof(*found));
	for (size_t i = 0; !error && i < mappings.count; i++) {
		if (!mappings.items[i].executable || was_seen(&seen, &mappings.items[i]))
			continue;
		if (seen.count == FILES_MOST) {
			found->has_unread = true;
			break;
		}
		seen.items[seen.count++] = (uint32_t)i;
		error = look_into(files, pid, &mappings, i, found);
		if (error == -ENOMEM)
			break;
		if (error)
			failure = error;
		error = 0;
	}
	found->is_cut = mappings.is_cut;
	found->has_unread |= found->is_cut;
	process__mappings_free(&mappings);
	/* A file that could not be read matters only if no other file has an interpreter. */
	if (!error && !found->count)
		error = failure;
	if (error)
		interpreters__free(found);
	return error;
}

static int compare_code(const void *left, const void *right)
{
	const struct ls_code *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* Adds GC code if there is room; else its time counts as that of the functions it interrupts. */
static void add_gc(const struct gc_code *gc, struct ls_image *image)
{
	if (!gc->is_known || gc->map_count > LS_CODE_MAP_MAX - image->map_count)
		return;
	memcpy(image->map + image->map_count, gc->map, gc->map_count * sizeof(image->map[0]));
	image->map_count += gc->map_count;
	qsort(image->map, image->map_count, sizeof(image->map[0]), compare_code);
}

static int compare_addresses(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void add_resumer(const struct ls_resumer *resumer, struct ls_image *image)
{
	if ((resumer->resume || resumer->auxwrap) && image->resumer_count < LS_RESUMERS_MAX)
		image->resumers[image->resumer_count++] = *resumer;
}

/* Adds a library if there is room; else samples of its functions search for coroutines. */
static void add_library(const struct c_library *library, struct ls_image *image)
{
	add_resumer(&library->resumer, image);
	if (library->count > LS_LIBRARY_MAX - image->library_count)
		return;
	memcpy(image->library + image->library_count, library->functions,
	       library->count * sizeof(image->library[0]));
	image->library_count += library->count;
	qsort(image->library, image->library_count, sizeof(image->library[0]), compare_addresses);
}

void interpreters__put_code(const struct interpreters *found, struct ls_image *image)
{
	for (size_t i = 0; i < found->count; i++) {
		add_gc(&found->items[i].gc, image);
		add_library(&found->items[i].library, image);
	}
	for (size_t i = found->count; i-- > 0;)
		if (interpreter__is_profiled(&found->items[i]))
			memcpy(image->code, found->items[i].code, sizeof(image->code));
}

bool interpreters__are_equal(const struct interpreters *one, const struct interpreters *other)
{
	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++)
		if (strcmp(one->items[i].path, other->items[i].path) ||
		    strcmp(one->items[i].file.release, other->items[i].file.release))
			return false;
	return true;
}

bool interpreters__contain(const struct interpreters *found, const char *path)
{
	for (size_t i = 0; i < found->count; i++)
		if (!strcmp(found->items[i].path, path))
			return true;
	return false;
}

void interpreters__free(struct interpreters *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->items[i].path);
	free(found->items);
	memset(found, 0, sizeof(*found));
}
