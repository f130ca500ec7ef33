/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does bpf/find_mapping.bpf.h find the mapping that /proc/self/maps shows? It reads a structure of
 * the kernel's that no interface promises. So it is asked for the first and last byte of every
 * mapping of this process, and for both bytes beside it, with few mappings and with so many that
 * the tree has all its kinds of nodes. And does bpf/unmapped.bpf.h know where nothing is mapped,
 * and forget it in time?
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "skip.h"

#define MAPPINGS_MAX 70000 /* vm.max_map_count is 65,530 */
#define MANY         30000 /* pages, each of which becomes a mapping */
#define USER_MAX     (UINT64_C(1) << 47)

struct range {
	uint64_t low, high;
};

struct lookup {
	struct bpf_object *object;
	int program;
	uint64_t took_ns; /* in all */
	size_t count;
};

/* The program's variables, in the order in which it declares them. */
struct result {
	struct range bounds;
	uint64_t took_ns;
};

static struct range ranges[MAPPINGS_MAX];

/* [vsyscall] lies above all that a process can map, and is no mapping of its own. */
static size_t read_ranges(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];
	size_t count = 0;

	assert_non_null(maps);
	while (count < MAPPINGS_MAX && fgets(line, sizeof(line), maps)) {
		struct range *range = &ranges[count];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &range->low, &range->high) == 2 &&
		    range->low < USER_MAX)
			count++;
	}
	fclose(maps);
	return count;
}

static const char *object_path(char *path, size_t size)
{
	const char *output = getenv("OUTPUT");

	snprintf(path, size, "%s/tests/oracle/mappings.bpf.o",
		 output && *output ? output : ".output");
	return path;
}

static void open_lookup(struct lookup *lookup, const char *program)
{
	char path[512];

	lookup->object = bpf_object__open_file(object_path(path, sizeof(path)), NULL);
	assert_non_null(lookup->object);
	bpf_map__set_max_entries(bpf_object__find_map_by_name(lookup->object, "scratches"),
				 libbpf_num_possible_cpus());
	assert_int_equal(bpf_object__load(lookup->object), 0);
	lookup->program =
		bpf_program__fd(bpf_object__find_program_by_name(lookup->object, program));
	assert_in_range(lookup->program, 0, INT32_MAX);
}

/* What the program returned, and in *bounds what it found. */
static unsigned look_up(struct lookup *lookup, uint64_t address, struct range *bounds)
{
	uint64_t arguments[12] = {address};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments,
		    .ctx_size_in = sizeof(arguments));
	struct bpf_map *data = bpf_object__find_map_by_name(lookup->object, ".bss");
	struct result result;
	uint32_t zero = 0;

	assert_int_equal(bpf_prog_test_run_opts(lookup->program, &options), 0);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(data), &zero, &result), 0);
	*bounds = result.bounds;
	lookup->took_ns = result.took_ns;
	lookup->count++;
	return options.retval;
}

static void expect_mapping(struct lookup *lookup, uint64_t address, const struct range *range)
{
	struct range found;

	if (look_up(lookup, address, &found))
		fail_msg("%" PRIx64 " was not found", address);
	assert_int_equal(found.low, range->low);
	assert_int_equal(found.high, range->high);
}

/* Where two mappings do not touch, the gap between them belongs to neither. */
static void expect_gap(struct lookup *lookup, uint64_t address)
{
	struct range found;

	assert_int_equal(look_up(lookup, address, &found), 1);
}

static void check_all(const char *program)
{
	struct lookup lookup = {0};
	size_t count;

	need_root();
	open_lookup(&lookup, program);
	count = read_ranges();
	assert_in_range(count, 10, MAPPINGS_MAX - 1);
	for (size_t i = 0; i < count; i++) {
		const struct range *range = &ranges[i];

		expect_mapping(&lookup, range->low, range);
		expect_mapping(&lookup, range->high - 1, range);
		if (i + 1 < count && ranges[i + 1].low != range->high)
			expect_gap(&lookup, range->high);
		if (i && ranges[i - 1].high != range->low)
			expect_gap(&lookup, range->low - 1);
	}
	expect_gap(&lookup, 0);
	print_message("%zu mappings, %" PRIu64 " ns a look-up\n", count,
		      lookup.took_ns / lookup.count);
	bpf_object__close(lookup.object);
}

static void finds_each_of_a_few_mappings(void **state)
{
	(void)state;
	check_all("by_tree");
}

/* Neighbours with other rights are mappings of their own; every third page is left out. */
static void finds_each_of_many_mappings(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, MANY * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	for (size_t i = 0; i < MANY; i++) {
		if (i % 3 == 2)
			assert_int_equal(munmap(pages + i * page, page), 0);
		else if (i % 3)
			assert_int_equal(mprotect(pages + i * page, page, PROT_NONE), 0);
	}
	check_all("by_tree");
	munmap(pages, MANY * page);
}

/*
 * So the test itself is right. An interrupt, unlike this call, has to release the lock by another.
 */
static void the_helper_finds_the_same(void **state)
{
	(void)state;
	check_all("by_helper");
}

enum { KNOWN, LEARNED, IN_NO_GAP, NOT_COUNTED };

/* The gap before each mapping, asked for by both ends. */
static void expect_gaps(struct lookup *lookup, size_t count)
{
	struct range found;

	for (size_t i = 1; i < count; i++) {
		assert_int_equal(look_up(lookup, ranges[i].low, &found), IN_NO_GAP);
		if (ranges[i - 1].high == ranges[i].low)
			continue;
		assert_in_range(look_up(lookup, ranges[i - 1].high, &found), KNOWN, LEARNED);
		assert_in_range(found.low, ranges[i - 1].high, ranges[i].low - 1);
		assert_in_range(look_up(lookup, ranges[i].low - 1, &found), KNOWN, LEARNED);
		assert_in_range(found.high, ranges[i - 1].high + 1, ranges[i].low);
	}
}

/* Below all mappings: what is mapped there must no longer be taken for a gap. */
static void expect_gap_to_be_forgotten(struct lookup *lookup, uint64_t address, size_t page)
{
	struct range found;
	void *filled;

	look_up(lookup, address, &found);
	assert_int_equal(look_up(lookup, address, &found), KNOWN);
	assert_in_range(address, found.low, found.high - 1);
	filled = mmap((void *)(uintptr_t)address, page, PROT_READ,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	assert_ptr_equal(filled, (void *)(uintptr_t)address);
	assert_int_equal(look_up(lookup, address, &found), IN_NO_GAP);
	munmap(filled, page);
	assert_int_equal(look_up(lookup, address, &found), LEARNED);
}

static void knows_a_gap_until_something_is_mapped_there(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count;
	struct lookup lookup = {0};
	struct range found;

	(void)state;
	need_root();
	open_lookup(&lookup, "by_gap");
	count = read_ranges();
	if (look_up(&lookup, ranges[0].low, &found) == NOT_COUNTED) {
		bpf_object__close(lookup.object);
		skip_because("the kernel does not count changes of mappings (6.14 and later do)");
	}
	expect_gaps(&lookup, count);
	expect_gap_to_be_forgotten(&lookup, 0x10000000, page);
	bpf_object__close(lookup.object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_each_of_a_few_mappings),
		cmocka_unit_test(finds_each_of_many_mappings),
		cmocka_unit_test(the_helper_finds_the_same),
		cmocka_unit_test(knows_a_gap_until_something_is_mapped_there),
	};

	return cmocka_run_group_tests_name("mappings", tests, NULL, NULL);
}
