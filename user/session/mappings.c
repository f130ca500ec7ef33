/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "mappings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "generations.h"

/* 64 KiB for each processor: some 500 mappings between two looks, within perf_event_mlock_kb. */
#define PAGES 16

/* How many are passed over before those that were not mapped for long are looked at again. */
#define FILES_MOST 16384

struct mappings {
	struct mappings_receiver receiver;
	struct perf_buffer *buffer;
	struct generations *passed_over; /* by struct mapped_file */
	struct generations *with_lua;    /* likewise */
	int map;                         /* that libbpf wants for such a buffer */
	int error;                       /* of a receiver */
};

static void receive(struct mappings *mappings, const struct perf_event_header *header)
{
	/* linux/perf_event.h, of PERF_RECORD_MMAP2 */
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t address, length, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
	} *record = (const void *)header;
	struct mapped_code code = {};

	/* Behind the path is what sample_type asks for. */
	if (header->size < sizeof(*record) + sizeof(code.time_ns))
		return;
	memcpy(&code.time_ns, (const char *)record + header->size - sizeof(code.time_ns),
	       sizeof(code.time_ns));
	code.pid = (pid_t)record->pid;
	code.address = record->address;
	code.file.inode = record->inode;
	code.file.generation = record->generation;
	code.file.device_major = record->major;
	code.file.device_minor = record->minor;
	/* Memory that no file is behind has none; a process of another PID namespace no id. */
	if (!code.file.inode || code.pid <= 0 ||
	    generations__find(mappings->passed_over, &code.file))
		return;
	mappings->error = mappings->receiver.mapping(mappings->receiver.context, &code);
}

static enum bpf_perf_event_ret on_record(void *context, int cpu, struct perf_event_header *header)
{
	struct mappings *mappings = context;

	(void)cpu;
	if (header->type == PERF_RECORD_MMAP2)
		receive(mappings, header);
	else if (header->type == PERF_RECORD_LOST)
		mappings->error = mappings->receiver.lost(mappings->receiver.context);
	return mappings->error ? LIBBPF_PERF_EVENT_ERROR : LIBBPF_PERF_EVENT_CONT;
}

static int open_buffer(struct mappings *mappings)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.watermark = 1,
		.wakeup_watermark = 1, /* byte: each record wakes the reader */
		.mmap = 1,
		.mmap2 = 1,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	mappings->map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "mappings", sizeof(int),
				       sizeof(int), (uint32_t)libbpf_num_possible_cpus(), NULL);
	if (mappings->map < 0)
		return mappings->map;
	mappings->buffer =
		perf_buffer__new_raw(mappings->map, PAGES, &attributes, on_record, mappings, NULL);
	return mappings->buffer ? 0 : -errno;
}

int mappings__open(const struct mappings_receiver *receiver, struct mappings **opened)
{
	struct mappings *mappings = calloc(1, sizeof(*mappings));
	int error = -ENOMEM;

	*opened = NULL;
	if (!mappings)
		return -ENOMEM;
	mappings->map = -1;
	mappings->receiver = *receiver;
	mappings->passed_over = generations__new(sizeof(struct mapped_file), sizeof(char), NULL);
	mappings->with_lua = generations__new(sizeof(struct mapped_file), sizeof(char), NULL);
	if (mappings->passed_over && mappings->with_lua)
		error = open_buffer(mappings);
	if (error)
		mappings__close(mappings);
	else
		*opened = mappings;
	return error;
}

void mappings__close(struct mappings *mappings)
{
	if (!mappings)
		return;
	perf_buffer__free(mappings->buffer);
	if (mappings->map >= 0)
		close(mappings->map);
	generations__free(mappings->passed_over);
	generations__free(mappings->with_lua);
	free(mappings);
}

int mappings__poll_fd(const struct mappings *mappings)
{
	return perf_buffer__epoll_fd(mappings->buffer);
}

int mappings__drain(struct mappings *mappings)
{
	int error;

	mappings->error = 0;
	error = perf_buffer__consume(mappings->buffer);
	if (mappings->error)
		return mappings->error;
	return error < 0 ? error : 0;
}

static int note(struct generations *files, const struct mapped_file *file)
{
	if (generations__find(files, file))
		return 0;
	if (generations__young(files) >= FILES_MOST)
		generations__age(files);
	return generations__add(files, file) ? 0 : -ENOMEM;
}

int mappings__pass_over(struct mappings *mappings, const struct mapped_file *file)
{
	return note(mappings->passed_over, file);
}

int mappings__note_lua(struct mappings *mappings, const struct mapped_file *file)
{
	return note(mappings->with_lua, file);
}

int mappings__is_lua(const struct mappings *mappings, const struct mapped_file *file)
{
	return generations__find(mappings->with_lua, file) != NULL;
}
