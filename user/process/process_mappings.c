/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of process.h that are about mappings. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "process/proc_file.h"
#include "process/process.h"
#include "process/procmap_query.h"

/*
 * The kernel writes a newline as "\012" and escapes nothing else, not even a backslash: a name that
 * contains these four characters looks like a newline, and one that ends in " (deleted)" like a
 * deleted file. /proc/PID/map_files is not affected by either.
 */
static void unescape(char *path)
{
	static const char newline[] = "\\012", deleted[] = " (deleted)";
	char *to = strstr(path, newline);
	size_t length;

	for (const char *from = to; from && *from; to++) {
		if (strncmp(from, newline, sizeof(newline) - 1) == 0) {
			*to = '\n';
			from += sizeof(newline) - 1;
		} else {
			*to = *from++;
		}
	}
	if (to)
		*to = '\0';
	length = strlen(path);
	if (length > sizeof(deleted) - 1 &&
	    strcmp(path + length - (sizeof(deleted) - 1), deleted) == 0)
		path[length - (sizeof(deleted) - 1)] = '\0';
}

/* 1: a mapping of a file; 0: any other line; -ENOMEM. */
static int parse_mapping(char *line, struct process_mapping *mapping)
{
	char permissions[5];
	unsigned int major_number, minor_number;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &mapping->start, &mapping->end, permissions, &mapping->offset, &major_number,
		   &minor_number, &mapping->inode, &path) < 7 ||
	    !path || line[path] != '/' || !mapping->inode)
		return 0;
	line[path + strcspn(line + path, "\n")] = '\0';
	unescape(line + path);
	mapping->device = makedev(major_number, minor_number);
	mapping->executable = strchr(permissions, 'x') != NULL;
	mapping->writable = strchr(permissions, 'w') != NULL;
	mapping->path = strdup(line + path);
	return mapping->path ? 1 : -ENOMEM;
}

/*
 * The kernel allows 65,530 mappings by default (vm.max_map_count), each with a path of 4,095 bytes.
 * Mappings of a process beyond these limits are ignored.
 */
#define MAPPINGS_MOST   65536
#define PATH_BYTES_MOST (16U << 20)

/* A read of /proc returns up to a page; the C library's own buffer for such a file is smaller. */
#define STREAM_BYTES 4096

static int add_mapping(struct process_mappings *mappings, size_t *room,
		       const struct process_mapping *mapping)
{
	if (mappings->count == *room) {
		size_t more = *room ? 2 * *room : 64;
		void *items = reallocarray(mappings->items, more, sizeof(*mappings->items));

		if (!items)
			return -ENOMEM;
		mappings->items = items;
		*room = more;
	}
	mappings->items[mappings->count++] = *mapping;
	return 0;
}

static int read_mappings(pid_t id, struct process_mappings *mappings)
{
	FILE *stream = proc_file__open("/proc/%d/maps", id);
	size_t room = 0, line_room = 0, path_bytes = 0;
	char buffer[STREAM_BYTES], *line = NULL;
	int error = 0;

	memset(mappings, 0, sizeof(*mappings));
	if (!stream)
		return proc_file__error(errno);
	setvbuf(stream, buffer, _IOFBF, sizeof(buffer));
	errno = 0;
	while (!error && getline(&line, &line_room, stream) >= 0) {
		struct process_mapping mapping;
		int found = parse_mapping(line, &mapping);

		mappings->is_cut = mappings->count == MAPPINGS_MOST || path_bytes > PATH_BYTES_MOST;
		if (mappings->is_cut) {
			free(found > 0 ? mapping.path : NULL);
			break;
		}
		path_bytes += found > 0 ? strlen(mapping.path) : 0;
		if (found < 0)
			error = found;
		if (found > 0 && (error = add_mapping(mappings, &room, &mapping)) < 0)
			free(mapping.path);
		errno = 0;
	}
	if (!error && errno)
		error = proc_file__error(errno);
	free(line);
	fclose(stream);
	return error;
}

int process__mappings(pid_t pid, struct process_mappings *mappings)
{
	int error = read_mappings(pid, mappings);
	pid_t id = error || mappings->count ? pid : process__memory_id(pid);

	return id == pid ? error : read_mappings(id, mappings);
}

void process__mappings_free(struct process_mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		free(mappings->items[i].path);
	free(mappings->items);
	memset(mappings, 0, sizeof(*mappings));
}

static int open_in_our_root(const struct process_mapping *mapping)
{
	int file = open(mapping->path, O_PATH | O_CLOEXEC);
	struct stat status;

	if (file < 0)
		return -errno;
	if (!fstat(file, &status) && status.st_ino == mapping->inode)
		return file;
	close(file);
	return -ENOENT;
}

static int open_map_file_by(pid_t id, const struct process_mapping *mapping)
{
	char path[96];
	int file;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, id, mapping->start,
		 mapping->end);
	file = open(path, O_PATH | O_CLOEXEC);
	return file < 0 ? -errno : file;
}

/* Needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. */
static int open_map_file(pid_t pid, const struct process_mapping *mapping)
{
	int file = open_map_file_by(pid, mapping);
	pid_t id = file == -ENOENT || file == -ESRCH ? process__memory_id(pid) : pid;

	return id == pid ? file : open_map_file_by(id, mapping);
}

/* Always O_PATH: a plain open() has side effects if the target has mapped a device. */
int process__open_mapped_file(pid_t pid, const struct process_mapping *mapping)
{
	int file = open_map_file(pid, mapping), ours;
	bool is_denied;

	if (file >= 0)
		return file;
	is_denied = file == -EPERM || file == -EACCES;
	file = process__open_in_root(pid, mapping->path, 0);
	if (file >= 0)
		return file;
	/* Paths start at the reader's root: those of a target in a chroot include its root. */
	ours = open_in_our_root(mapping);
	if (ours >= 0)
		return ours;
	return is_denied && file == -ENOENT ? -EPERM : file;
}

static int query_mapping(pid_t id, uint64_t address, struct process_mapping *mapping)
{
	char path[PATH_MAX] = "";
	struct ls_procmap_query query = {.size = sizeof(query),
					 .address = address,
					 .name_size = sizeof(path),
					 .name = (uint64_t)(uintptr_t)path};
	FILE *maps = proc_file__open("/proc/%d/maps", id);
	int error;

	if (!maps)
		return proc_file__error(errno);
	error = ioctl(fileno(maps), LS_PROCMAP_QUERY, &query) ? -errno : 0;
	fclose(maps);
	if (error)
		return error;
	unescape(path);
	*mapping = (struct process_mapping){
		.start = query.start, .end = query.end, .path = strdup(path)};
	return mapping->path ? 0 : -ENOMEM;
}

int process__query_mapping(pid_t pid, uint64_t address, struct process_mapping *mapping)
{
	int error = query_mapping(pid, address, mapping);
	pid_t id = error == -ESRCH ? process__memory_id(pid) : pid;

	return id == pid ? error : query_mapping(id, address, mapping);
}

/* The same by reading all mappings. */
static int search_mapping(pid_t pid, uint64_t address, struct process_mapping *mapping)
{
	struct process_mappings mappings;
	int error = process__mappings(pid, &mappings);

	if (!error)
		error = -ENOENT;
	for (size_t i = 0; i < mappings.count && error == -ENOENT; i++) {
		if (address < mappings.items[i].start || address >= mappings.items[i].end)
			continue;
		*mapping = mappings.items[i];
		mappings.items[i].path = NULL;
		error = 0;
	}
	process__mappings_free(&mappings);
	return error;
}

/* The mapping that contains `address`. 0, -ENOENT or another -errno; the caller frees the path. */
static int find_mapping(pid_t pid, uint64_t address, struct process_mapping *mapping)
{
	int error = process__query_mapping(pid, address, mapping);

	return error == -ENOTTY ? search_mapping(pid, address, mapping) : error;
}

int process__open_code(pid_t pid, const struct process_mapping *mapping)
{
	struct process_mapping found;
	int file = open_map_file(pid, mapping), error;

	if (file >= 0)
		return file;
	error = find_mapping(pid, mapping->start, &found);
	if (error)
		return error;
	file = process__open_mapped_file(pid, &found);
	free(found.path);
	return file;
}
