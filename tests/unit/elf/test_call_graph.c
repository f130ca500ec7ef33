/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of this program, and of copies of it that lack something. */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/call_graph.h"

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;

static NOINLINE void callee(void)
{
	sink++;
}

static NOINLINE void caller(void)
{
	callee();
	sink++;
}

static NOINLINE void other_caller(void)
{
	sink--;
	callee();
	sink++;
}

static NOINLINE void tail_callee(void)
{
	sink++;
}

#ifdef __x86_64__
#define JUMP "{disp32} jmp" /* a short one is not read, as it stays within most functions */
#else
#define JUMP "b"
#endif

/* Sanitized code has no tail calls of its own. */
static NOINLINE void tail_caller(void)
{
	if (sink-- == INT_MAX)
		__asm__ volatile(JUMP " tail_callee");
}

/* What this program is loaded at. */
static int note_base(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(uint64_t *)context = info->dlpi_addr;
	return 1;
}

static uint64_t address_in_file(void (*function)(void))
{
	uint64_t base = 0;

	dl_iterate_phdr(note_base, &base);
	return (uint64_t)(uintptr_t)function - base;
}

static void ignore(void *context, uint32_t function, const struct machine_event *event)
{
	(void)context;
	(void)function;
	(void)event;
}

static const struct call_graph_observer observer = {.observe = ignore};

static char *read_program(size_t *size)
{
	FILE *stream = fopen("/proc/self/exe", "rb");
	char *bytes;

	assert_non_null(stream);
	fseek(stream, 0, SEEK_END);
	*size = (size_t)ftell(stream);
	rewind(stream);
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, stream), *size);
	fclose(stream);
	return bytes;
}

/* What call_graph__read() says of a file of these bytes. */
static int read_bytes(const char *bytes, size_t size, struct call_graph *graph)
{
	int fd = memfd_create("call_graph", 0), error;
	struct elf_file *file;
	char path[32];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	memset(graph, 0, sizeof(*graph));
	error = elf_file__open(path, &file);
	if (!error) {
		error = call_graph__read(file, &observer, graph);
		elf_file__close(file);
	}
	close(fd);
	return error;
}

static uint32_t function_of(const struct call_graph *graph, void (*function)(void))
{
	uint64_t address = address_in_file(function);
	size_t found = eh_frame__find(graph->functions, graph->count, address);

	assert_int_not_equal(found, SIZE_MAX);
	assert_int_equal(graph->functions[found].start, address);
	return (uint32_t)found;
}

static int count_of(struct call_graph_set set, uint32_t function)
{
	int count = 0;

	for (size_t i = 0; i < set.count; i++)
		count += set.items[i] == function;
	return count;
}

static void expect_calls(const struct call_graph *graph)
{
	uint32_t to = function_of(graph, callee);
	uint32_t from = function_of(graph, caller), also = function_of(graph, other_caller);

	assert_int_equal(count_of(call_graph__callees(graph, from), to), 1);
	assert_int_equal(count_of(call_graph__callers(graph, to), from), 1);
	assert_int_equal(count_of(call_graph__callers(graph, to), also), 1);
	assert_int_equal(count_of(call_graph__callees(graph, to), from), 0);
	assert_int_equal(graph->owners[to], to);
	assert_false(graph->is_tail_called[to]);
}

static void knows_who_calls_whom(void **state)
{
	struct call_graph graph;
	size_t size;
	char *bytes = read_program(&size);

	(void)state;
	caller();
	other_caller();
	assert_int_equal(read_bytes(bytes, size, &graph), 0);
	expect_calls(&graph);
	call_graph__free(&graph);
	free(bytes);
}

static void knows_who_is_called_by_a_tail_call(void **state)
{
	struct call_graph graph;
	size_t size;
	char *bytes = read_program(&size);
	uint32_t to;

	(void)state;
	tail_caller();
	tail_callee();
	assert_int_equal(read_bytes(bytes, size, &graph), 0);
	to = function_of(&graph, tail_callee);
	assert_true(graph.is_tail_called[to]);
	assert_int_equal(
		count_of(call_graph__callers(&graph, to), function_of(&graph, tail_caller)), 1);
	call_graph__free(&graph);
	free(bytes);
}

static void needs_no_section_headers(void **state)
{
	struct call_graph graph;
	size_t size;
	char *bytes = read_program(&size);
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;

	(void)state;
	header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
	assert_int_equal(read_bytes(bytes, size, &graph), 0);
	expect_calls(&graph);
	call_graph__free(&graph);
	free(bytes);
}

static void says_that_there_are_no_unwind_tables(void **state)
{
	struct call_graph graph;
	size_t size;
	char *bytes = read_program(&size);
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	Elf64_Phdr *segments = (Elf64_Phdr *)(bytes + header->e_phoff);

	(void)state;
	header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
	for (int i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			segments[i].p_type = PT_NULL;
	assert_int_equal(read_bytes(bytes, size, &graph), -ENOENT);
	call_graph__free(&graph);
	free(bytes);
}

/* The result may be wrong, but the read ends and stays within the file. */
static void survives_tables_of_noise(void **state)
{
	struct elf_file *file;
	uint64_t address, length;
	size_t size;
	char *bytes = read_program(&size), *copy = malloc(size);

	(void)state;
	srand(1);
	assert_non_null(copy);
	assert_int_equal(elf_file__open("/proc/self/exe", &file), 0);
	assert_true(elf_file__section(file, ".eh_frame", &address, &length));
	elf_file__close(file);
	for (int round = 0; round < 30; round++) {
		struct call_graph graph;

		memcpy(copy, bytes, size);
		/*
		 * Here .eh_frame lies at its address; it need not, and noise elsewhere is one, too.
		 */
		for (int i = 0; i < 2000 && address + length <= size; i++)
			copy[address + (uint64_t)rand() % length] = (char)rand();
		read_bytes(copy, round % 3 ? size : size / 2 + (size_t)rand() % (size / 2), &graph);
		call_graph__free(&graph);
	}
	free(copy);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_who_calls_whom),
		cmocka_unit_test(knows_who_is_called_by_a_tail_call),
		cmocka_unit_test(needs_no_section_headers),
		cmocka_unit_test(says_that_there_are_no_unwind_tables),
		cmocka_unit_test(survives_tables_of_noise),
	};

	return cmocka_run_group_tests_name("call_graph", tests, NULL, NULL);
}
