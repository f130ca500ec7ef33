/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/mappings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/generations.h"

/* 64 KiB per processor: about 500 mappings between two drains, within perf_event_mlock_kb. */
#define PAGES 16

/* How many files are passed over before those not mapped for long are inspected again. */
#define FILES_MOST 16384

/* How long a file without Lua is passed over before it is inspected again. */
#define PASSED_NS UINT64_C(500000000)

struct passed {
	uint64_t since_ns;       /* CLOCK_MONOTONIC */
	struct mapped_code last; /* the last mapping that was passed over; pid 0: none */
};

struct mappings {
	struct mappings_receiver receiver;
	struct mapped_code *read; /* in this drain, from all processors; owned */
	size_t count, room;
	struct perf_buffer *buffer;
	struct generations *passed_over; /* struct passed by struct mapped_file */
	uint64_t reviewed_ns;            /* CLOCK_MONOTONIC */
	struct generations *with_lua;    /* set of struct mapped_file */
	int map;                         /* BPF map that libbpf needs for the buffer */
	int error;                       /* returned by a receiver */
};

#define ROOM_FIRST 256

/* 0 or -ENOMEM. */
static int keep(struct mappings *mappings, const struct mapped_code *code)
{
	size_t room = mappings->room ? 2 * mappings->room : ROOM_FIRST;
	struct mapped_code *read = mappings->read;

	if (mappings->count == mappings->room) {
		read = reallocarray(mappings->read, room, sizeof(*read));
		if (!read)
			return -ENOMEM;
		mappings->read = read;
		mappings->room = room;
	}
	read[mappings->count++] = *code;
	return 0;
}

static int receive(struct mappings *mappings, const struct perf_event_header *header)
{
	/* PERF_RECORD_MMAP2 as in linux/perf_event.h */
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t address, length, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
	} *record = (const void *)header;
	struct mapped_code code = {};

	/* The fields that sample_type requests follow the path. */
	if (header->size < sizeof(*record) + sizeof(code.time_ns))
		return 0;
	memcpy(&code.time_ns, (const char *)record + header->size - sizeof(code.time_ns),
	       sizeof(code.time_ns));
	code.pid = (pid_t)record->pid;
	code.address = record->address;
	code.length = record->length;
	code.file.inode = record->inode;
	code.file.generation = record->generation;
	code.file.device_major = record->major;
	code.file.device_minor = record->minor;
	/* Memory without a file has no inode; a process of another PID namespace has no id. */
	if (!code.file.inode || code.pid <= 0)
		return 0;
	return keep(mappings, &code);
}

static enum bpf_perf_event_ret on_record(void *context, int cpu, struct perf_event_header *header)
{
	struct mappings *mappings = context;

	(void)cpu;
	if (header->type == PERF_RECORD_MMAP2)
		mappings->error = receive(mappings, header);
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
	mappings->passed_over =
		generations__new(sizeof(struct mapped_file), sizeof(struct passed), NULL);
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
	free(mappings->read);
	free(mappings);
}

int mappings__poll_fd(const struct mappings *mappings)
{
	return perf_buffer__epoll_fd(mappings->buffer);
}

static void review(void *context, void *value)
{
	struct mappings *mappings = context;
	struct passed *passed = value;
	struct mapped_code code = passed->last;

	if (!code.pid || mappings->error)
		return;
	passed->last.pid = 0;
	mappings->error = mappings->receiver.mapping(mappings->receiver.context, &code);
}

/* The receiver adds no new file here, so no entry is dropped during the visit. */
static void review_passed(struct mappings *mappings)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns - mappings->reviewed_ns < PASSED_NS)
		return;
	mappings->reviewed_ns = now_ns;
	generations__visit(mappings->passed_over, review, mappings);
}

/* To the receiver, unless it has passed over the file. */
static void hand_over(struct mappings *mappings, const struct mapped_code *code)
{
	struct passed *passed = generations__find(mappings->passed_over, &code->file);

	if (passed && code->time_ns - passed->since_ns < PASSED_NS)
		passed->last = *code;
	else
		mappings->error = mappings->receiver.mapping(mappings->receiver.context, code);
}

static int compare_times(const void *left, const void *right)
{
	const struct mapped_code *a = left, *b = right;

	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* A process may run on another processor after it has executed another program. */
static void hand_over_in_order(struct mappings *mappings)
{
	if (mappings->count)
		qsort(mappings->read, mappings->count, sizeof(*mappings->read), compare_times);
	for (size_t i = 0; i < mappings->count && !mappings->error; i++)
		hand_over(mappings, &mappings->read[i]);
	mappings->count = 0;
}

int mappings__drain(struct mappings *mappings)
{
	int error;

	mappings->error = 0;
	error = perf_buffer__consume(mappings->buffer);
	hand_over_in_order(mappings);
	if (!mappings->error)
		review_passed(mappings);
	if (mappings->error)
		return mappings->error;
	return error < 0 ? error : 0;
}

/* Returns the file's value, added if necessary; NULL when out of memory. */
static void *note(struct generations *files, const struct mapped_file *file)
{
	void *value = generations__find(files, file);

	if (value)
		return value;
	if (generations__young(files) >= FILES_MOST)
		generations__age(files);
	return generations__add(files, file);
}

int mappings__pass_over(struct mappings *mappings, const struct mapped_file *file)
{
	struct passed *passed = note(mappings->passed_over, file);

	if (passed)
		passed->since_ns = clock_ns(CLOCK_MONOTONIC);
	return passed ? 0 : -ENOMEM;
}

int mappings__note_lua(struct mappings *mappings, const struct mapped_file *file)
{
	return note(mappings->with_lua, file) ? 0 : -ENOMEM;
}

bool mappings__is_lua(const struct mappings *mappings, const struct mapped_file *file)
{
	return generations__find(mappings->with_lua, file) != NULL;
}
