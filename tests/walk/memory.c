/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "walk/bpf_shim.h"

void memory__end(struct memory *memory)
{
	for (size_t i = 0; i < memory->segment_count; i++)
		free(memory->segments[i].bytes);
	free(memory->segments);
	*memory = (struct memory){0};
	bpf_shim__select(NULL);
}

void memory__map(struct memory *memory, uint64_t start, uint64_t size)
{
	struct memory_segment *grown =
		realloc(memory->segments, (memory->segment_count + 1) * sizeof(*grown));

	assert_non_null(grown);
	memory->segments = grown;
	grown += memory->segment_count;
	*grown = (struct memory_segment){.start = start, .size = size, .bytes = calloc(1, size)};
	assert_non_null(grown->bytes);
	memory->segment_count++;
}

void memory__punch(struct memory *memory, uint64_t address)
{
	assert_in_range(memory->hole_count, 0, MEMORY_HOLE_MAX - 1);
	memory->holes[memory->hole_count++] = address & ~(MEMORY_PAGE - 1);
}

void memory__mend(struct memory *memory)
{
	memory->hole_count = 0;
}

/* Returns the bytes at `address`, and in *room how many there are in the segment; NULL: none. */
static uint8_t *locate(const struct memory *memory, uint64_t address, uint64_t *room)
{
	for (size_t i = 0; i < memory->segment_count; i++) {
		const struct memory_segment *segment = &memory->segments[i];

		if (address < segment->start || address - segment->start >= segment->size)
			continue;
		*room = segment->size - (address - segment->start);
		return segment->bytes + (address - segment->start);
	}
	return NULL;
}

static bool is_punched(const struct memory *memory, uint64_t address)
{
	for (size_t i = 0; i < memory->hole_count; i++)
		if (memory->holes[i] == (address & ~(MEMORY_PAGE - 1)))
			return true;
	return false;
}

/* Like locate(), but as the kernel sees it: not beyond the page, and NULL if it is punched. */
static const uint8_t *locate_present(const struct memory *memory, uint64_t address, uint64_t *room)
{
	const uint8_t *bytes = locate(memory, address, room);
	uint64_t in_page = MEMORY_PAGE - address % MEMORY_PAGE;

	if (!bytes || is_punched(memory, address))
		return NULL;
	if (*room > in_page)
		*room = in_page;
	return bytes;
}

bool memory__has(const struct memory *memory, uint64_t address, size_t size)
{
	uint64_t room = 0;

	return locate(memory, address, &room) && size <= room;
}

void memory__put_bytes(struct memory *memory, uint64_t address, const void *bytes, size_t size)
{
	uint64_t room = 0;
	uint8_t *to = locate(memory, address, &room);

	assert_non_null(to);
	assert_in_range(size, 0, room);
	memcpy(to, bytes, size);
}

void memory__put(struct memory *memory, uint64_t address, uint64_t number, size_t size)
{
	assert_in_range(size, 1, sizeof(number));
	memory__put_bytes(memory, address, &number, size);
}

void memory__get_bytes(const struct memory *memory, uint64_t address, void *bytes, size_t size)
{
	uint64_t room = 0;
	const uint8_t *from = locate(memory, address, &room);

	assert_non_null(from);
	assert_in_range(size, 0, room);
	memcpy(bytes, from, size);
}

uint64_t memory__get(const struct memory *memory, uint64_t address, size_t size)
{
	uint64_t number = 0;

	assert_in_range(size, 1, sizeof(number));
	memory__get_bytes(memory, address, &number, size);
	return number;
}

static void count_read(struct memory *memory)
{
	memory->reads++;
	if (memory->before_read)
		memory->before_read(memory);
}

static long read_bytes(void *context, void *to, __u32 size, __u64 address)
{
	struct memory *memory = context;
	uint64_t room = 0;
	__u32 done = 0;

	count_read(memory);
	while (done < size) {
		const uint8_t *from = locate_present(memory, address + done, &room);

		if (!from) {
			memset(to, 0, size);
			return -EFAULT;
		}
		if (room > size - done)
			room = size - done;
		memcpy((uint8_t *)to + done, from, room);
		done += room;
	}
	return 0;
}

static long read_string(void *context, void *to, __u32 size, __u64 address)
{
	struct memory *memory = context;
	uint64_t room;
	char *text = to;

	count_read(memory);
	for (__u32 i = 0; i < size; i++) {
		const uint8_t *from = locate_present(memory, address + i, &room);

		if (!from) {
			memset(to, 0, size);
			return -EFAULT;
		}
		text[i] = (char)*from;
		if (!*from)
			return i + 1;
	}
	if (size)
		text[size - 1] = '\0';
	return size;
}

void memory__select(struct memory *memory)
{
	memory->target = (struct bpf_shim_target){
		.context = memory, .read = read_bytes, .read_string = read_string};
	bpf_shim__select(&memory->target);
}

void memory__start(struct memory *memory)
{
	*memory = (struct memory){0};
	memory__select(memory);
}
