/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process_of_input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/process.h"

static int file = -1;
static size_t file_size;
static char file_path[32];

void process_of_input__set(const struct input *input)
{
	if (file < 0)
		file = memfd_create("input", MFD_CLOEXEC);
	require(file >= 0);
	require(ftruncate(file, 0) == 0);
	require(pwrite(file, input->bytes, input->left, 0) == (ssize_t)input->left);
	file_size = input->left;
	snprintf(file_path, sizeof(file_path), "/proc/self/fd/%d", file);
}

const char *process_of_input__path(void)
{
	return file_path;
}

int process__mappings(pid_t pid, struct process_mappings *mappings)
{
	(void)pid;
	*mappings = (struct process_mappings){0};
	if (file < 0)
		return -ESRCH;
	mappings->items = calloc(1, sizeof(*mappings->items));
	require(mappings->items);
	mappings->count = 1;
	*mappings->items = (struct process_mapping){
		.start = PROCESS_OF_INPUT_START,
		.end = PROCESS_OF_INPUT_START + file_size,
		.inode = 1,
		.executable = true,
		.path = strdup("/input"),
	};
	return mappings->items->path ? 0 : -ENOMEM;
}

void process__mappings_free(struct process_mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		free(mappings->items[i].path);
	free(mappings->items);
	*mappings = (struct process_mappings){0};
}

int process__open_mapped_file(pid_t pid, const struct process_mapping *mapping)
{
	(void)pid;
	(void)mapping;
	return open(file_path, O_PATH | O_CLOEXEC);
}

/* Nobody waits for it to become another program. */
bool process__has_ended(pid_t pid)
{
	(void)pid;
	return true;
}

pid_t process__memory_id(pid_t pid)
{
	return pid;
}

bool process__is_executing(pid_t pid)
{
	(void)pid;
	return false;
}
