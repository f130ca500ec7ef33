/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory/page_cache.h"
#include "memory/target_memory.h"

#define PAGE  4096
#define PAGES 4 /* of which the last is not there */

struct fixture {
	struct page_cache *cache;
	uint8_t *bytes;
};

static struct fixture fixture;

static int begin(void **state)
{
	(void)state;
	fixture.cache = page_cache__new();
	fixture.bytes = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!fixture.cache || fixture.bytes == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < PAGES * PAGE; i++)
		fixture.bytes[i] = (uint8_t)(i ^ i >> 8);
	return munmap(fixture.bytes + (PAGES - 1) * PAGE, PAGE);
}

static int end(void **state)
{
	(void)state;
	page_cache__free(fixture.cache);
	return munmap(fixture.bytes, (PAGES - 1) * PAGE);
}

static int read_at(size_t offset, void *to, size_t size)
{
	return page_cache__read(fixture.cache, getpid(),
				(uint64_t)(uintptr_t)fixture.bytes + offset, to, size);
}

static void reads_within_and_across_pages(void **state)
{
	uint8_t bytes[2 * PAGE];

	(void)state;
	for (size_t offset = 0; offset < PAGE; offset += 511)
		for (size_t size = 1; size <= sizeof(bytes); size = 2 * size + 1) {
			assert_int_equal(read_at(offset, bytes, size), 0);
			assert_memory_equal(bytes, fixture.bytes + offset, size);
		}
}

/* A read that goes beyond the mapped memory fails. */
static void fails_where_a_byte_is_missing(void **state)
{
	uint8_t bytes[16];

	(void)state;
	assert_int_equal(read_at((PAGES - 1) * PAGE - 16, bytes, 16), 0);
	assert_int_equal(read_at((PAGES - 1) * PAGE - 15, bytes, 16), -EFAULT);
	assert_int_equal(read_at((PAGES - 1) * PAGE, bytes, 1), -EFAULT);
	assert_int_equal(page_cache__read(fixture.cache, getpid(), 0, bytes, 8), -EFAULT);
	assert_int_equal(page_cache__read(fixture.cache, getpid(), UINT64_MAX - 7, bytes, 16),
			 -EFAULT);
}

static void keeps_what_it_read_until_it_is_cleared(void **state)
{
	uint8_t before = fixture.bytes[8], byte;

	(void)state;
	assert_int_equal(read_at(8, &byte, 1), 0);
	fixture.bytes[8] = (uint8_t)~before;
	assert_int_equal(read_at(8, &byte, 1), 0);
	assert_int_equal(byte, before);
	page_cache__clear(fixture.cache);
	assert_int_equal(read_at(8, &byte, 1), 0);
	assert_int_equal(byte, (uint8_t)~before);
}

/* Pages that share a slot of the cache evict each other. */
static void tells_pages_apart(void **state)
{
	const struct target_memory memory = {.pid = getpid(), .pages = fixture.cache};
	const size_t count = 200;
	uint8_t *many = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t byte;

	(void)state;
	assert_ptr_not_equal(many, MAP_FAILED);
	for (size_t i = 0; i < count; i++)
		many[i * PAGE + 7] = (uint8_t)i;
	for (size_t i = 0; i < 4 * count; i++) {
		size_t page = i * 67 % count;

		assert_int_equal(target_memory__read(&memory,
						     (uint64_t)(uintptr_t)many + page * PAGE + 7,
						     &byte, 1),
				 0);
		assert_int_equal(byte, (uint8_t)page);
	}
	munmap(many, count * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_within_and_across_pages, begin, end),
		cmocka_unit_test_setup_teardown(fails_where_a_byte_is_missing, begin, end),
		cmocka_unit_test_setup_teardown(keeps_what_it_read_until_it_is_cleared, begin, end),
		cmocka_unit_test_setup_teardown(tells_pages_apart, begin, end),
	};

	return cmocka_run_group_tests_name("page_cache", tests, NULL, NULL);
}
