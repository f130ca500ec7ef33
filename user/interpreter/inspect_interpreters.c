/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the interpreters in the files that a process has mapped. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "interpreter/inspection_internal.h"
#include "process/process.h"

#define PATH_LENGTH_MAX (4 * PATH_MAX)

/* ---- in the worker */

static uint64_t index_of(const struct family *family)
{
	size_t index = 0;

	while (families[index] != family)
		index++;
	return index;
}

static void put_interpreter(struct message *answer, const struct interpreter *interpreter)
{
	const struct lua_file *file = &interpreter->file;
	const struct gc_code *gc = &interpreter->gc;
	const struct c_library *library = &interpreter->library;

	message__put_number(answer, index_of(file->family));
	message__put_text(answer, file->release);
	message__put_number(answer, file->is_shared_library);
	message__put_number(answer, file->is_stripped);
	message__put_number(answer, file->layouts);
	message__put_text(answer, interpreter->path);
	message__put(answer, interpreter->code, sizeof(interpreter->code));
	message__put_number(answer, gc->is_known);
	message__put_text(answer, gc->how);
	message__put_number(answer, gc->map_count);
	message__put(answer, gc->map, gc->map_count * sizeof(gc->map[0]));
	message__put_number(answer, library->count);
	message__put(answer, library->functions, library->count * sizeof(library->functions[0]));
	message__put(answer, &library->resumer, sizeof(library->resumer));
}

int handle_interpreters(struct inspection *inspection, pid_t pid, struct message *request,
			struct message *answer)
{
	struct interpreters found;
	int error = message__end(request);

	if (!error)
		error = interpreters__find(inspection->lua_files, pid, &found);
	if (error)
		return error;
	message__put_number(answer, found.count);
	for (size_t i = 0; i < found.count; i++)
		put_interpreter(answer, &found.items[i]);
	message__put_number(answer, found.left_out);
	message__put_number(answer, found.has_unread);
	message__put_number(answer, found.is_cut);
	interpreters__free(&found);
	return 0;
}

static int look_at(struct inspection *inspection, pid_t pid, const struct mapped_file_place *place,
		   struct lua_file *file)
{
	const struct process_mapping mapping = {.start = place->start, .end = place->end};
	int error, found;

	if (quarantine__holds(place->device, place->inode))
		return -EOWNERDEAD;
	quarantine__enter(place->device, place->inode);
	found = process__open_code(pid, &mapping);
	if (found < 0)
		return found;
	error = lua_files__find(inspection->lua_files, found, file);
	close(found);
	return error;
}

int handle_mapped_file(struct inspection *inspection, pid_t pid, struct message *request,
		       struct message *answer)
{
	struct mapped_file_place place;
	struct lua_file file = {};
	int error;

	message__take(request, &place, sizeof(place));
	error = message__end(request);
	if (!error)
		error = look_at(inspection, pid, &place, &file);
	message__put_number(answer, file.family ? index_of(file.family) + 1 : 0);
	message__put_number(answer, file.layouts != 0);
	return error;
}

/* ---- in luaspy */

static void take_gc(struct message *answer, struct gc_code *gc)
{
	gc->is_known = message__take_number(answer, 1);
	message__take_text_into(answer, gc->how, sizeof(gc->how));
	gc->map_count = (uint32_t)message__take_number(answer, GC_CODE_MAX);
	message__take(answer, gc->map, gc->map_count * sizeof(gc->map[0]));
}

static void take_library(struct message *answer, struct c_library *library)
{
	library->count = (uint32_t)message__take_number(answer, C_LIBRARY_MAX);
	message__take(answer, library->functions, library->count * sizeof(library->functions[0]));
	message__take(answer, &library->resumer, sizeof(library->resumer));
}

static void take_interpreter(struct message *answer, struct interpreter *interpreter)
{
	struct lua_file *file = &interpreter->file;

	file->family = families[message__take_number(answer, families_count - 1)];
	message__take_text_into(answer, file->release, sizeof(file->release));
	file->is_shared_library = message__take_number(answer, 1);
	file->is_stripped = message__take_number(answer, 1);
	file->layouts = (uint16_t)message__take_number(answer, family__layouts(file->family));
	interpreter->path = message__take_text(answer, PATH_LENGTH_MAX);
	message__take(answer, interpreter->code, sizeof(interpreter->code));
	take_gc(answer, &interpreter->gc);
	take_library(answer, &interpreter->library);
	if (!answer->error && !interpreter->path)
		answer->error = -EBADMSG;
}

static int take_interpreters(struct message *answer, struct interpreters *found)
{
	size_t count = message__take_number(answer, INTERPRETERS_MAX);

	found->items = calloc(count ? count : 1, sizeof(*found->items));
	if (!found->items)
		return -ENOMEM;
	for (; found->count < count && !answer->error; found->count++) {
		take_interpreter(answer, &found->items[found->count]);
		found->profiled += interpreter__is_profiled(&found->items[found->count]);
	}
	found->left_out = message__take_number(answer, UINT32_MAX);
	found->has_unread = message__take_number(answer, 1);
	found->is_cut = message__take_number(answer, 1);
	return message__end(answer);
}

int inspector__interpreters(struct inspector *inspector, pid_t pid, struct interpreters *found)
{
	struct message *answer;
	int error;

	*found = (struct interpreters){};
	inspector__request(inspector, INSPECTOR_FILES, INSPECT_INTERPRETERS, pid);
	error = inspector__ask(inspector, &answer);
	if (!error)
		error = take_interpreters(answer, found);
	if (!error && found->has_unread)
		inspector__tell_unread(inspector, pid);
	/* Each search of such a process takes long, and none comes to the end of its mappings. */
	if (!error && found->is_cut && !found->count)
		inspector__use_up_mapped(inspector, pid);
	if (error)
		interpreters__free(found);
	return error;
}

int inspector__holds_lua(struct inspector *inspector, pid_t pid,
			 const struct mapped_file_place *place, bool *holds_lua,
			 const struct family **unsupported)
{
	struct message *answer,
		*request = inspector__request(inspector, INSPECTOR_FILES, INSPECT_MAPPED_FILE, pid);
	bool is_profiled;
	uint64_t number;
	int error;

	*holds_lua = false;
	*unsupported = NULL;
	message__put(request, place, sizeof(*place));
	error = inspector__ask(inspector, &answer);
	if (error == -EFBIG)
		inspector__tell_unread(inspector, pid);
	if (error)
		return error;
	number = message__take_number(answer, families_count);
	is_profiled = message__take_number(answer, 1);
	error = message__end(answer);
	if (error || !number)
		return error;
	*holds_lua = is_profiled;
	if (!is_profiled)
		*unsupported = families[number - 1];
	return 0;
}

static bool may_become_lua(struct inspector *inspector, pid_t pid)
{
	struct interpreters found;
	bool is_lua;
	int error;

	if (process__has_ended(pid))
		return false;
	error = inspector__interpreters(inspector, pid, &found);
	if (error)
		return inspector__is_later(error);
	is_lua = found.count;
	interpreters__free(&found);
	return !is_lua;
}

/* Between two looks. One takes a fraction of a millisecond, as no file is read twice. */
#define LOOK_NS 10000000

void inspector__await_interpreters(struct inspector *inspector, pid_t pid, uint64_t until_ns)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	while (may_become_lua(inspector, pid) && clock_ns(CLOCK_MONOTONIC) < until_ns)
		nanosleep(&pause, NULL);
}
