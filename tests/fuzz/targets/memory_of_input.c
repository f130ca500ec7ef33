/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "memory_of_input.h"

#include <errno.h>

#include "memory/target_memory.h"

#define RANGES_MAX 4096
#define USER_MAX   (1ULL << 47)

struct range {
	uint64_t address;
	size_t size;
	const uint8_t *bytes;
};

static struct range ranges[RANGES_MAX];
static size_t range_count;
static struct input whole;
static bool wraps_around;
static size_t read_count, byte_count;

void memory_of_input__set(const struct input *from, bool wraps)
{
	struct input left = *from;

	whole = *from;
	wraps_around = wraps;
	range_count = 0;
	read_count = 0;
	byte_count = 0;
	while (left.left > 10 && range_count < RANGES_MAX) {
		struct range *range = &ranges[range_count++];

		range->address = input__take(&left, 8);
		range->size = input__take(&left, 2);
		if (range->size > left.left)
			range->size = left.left;
		range->bytes = left.bytes;
		left.bytes += range->size;
		left.left -= range->size;
	}
}

size_t memory_of_input__reads(void)
{
	return read_count;
}

size_t memory_of_input__bytes(void)
{
	return byte_count;
}

/* What lies at `address`, and how much of it in a row; NULL: nothing. */
static const uint8_t *locate(uint64_t address, size_t *room)
{
	for (size_t i = 0; i < range_count; i++) {
		uint64_t offset = address - ranges[i].address;

		if (offset < ranges[i].size) {
			*room = ranges[i].size - offset;
			return ranges[i].bytes + offset;
		}
	}
	if (!wraps_around || !whole.left || address >= USER_MAX)
		return NULL;
	*room = whole.left - address % whole.left;
	return whole.bytes + address % whole.left;
}

ssize_t target_memory__read_some(const struct target_memory *memory, uint64_t address, void *to,
				 size_t size)
{
	size_t done = 0, room;

	(void)memory;
	read_count++;
	byte_count += size;
	while (done < size) {
		const uint8_t *from = locate(address + done, &room);

		if (!from)
			break;
		if (room > size - done)
			room = size - done;
		memcpy((uint8_t *)to + done, from, room);
		done += room;
	}
	return done || !size ? (ssize_t)done : -EFAULT;
}

int target_memory__read(const struct target_memory *memory, uint64_t address, void *to, size_t size)
{
	ssize_t count = target_memory__read_some(memory, address, to, size);

	return count == (ssize_t)size ? 0 : -EFAULT;
}
