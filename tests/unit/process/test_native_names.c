/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <cmocka.h>

#include "process/native_names.h"
#include "process/process.h"
#include "skip.h"
#include "stage.h"

/* Above 4,194,304 (PID_MAX_LIMIT), so there is no such process. */
#define NO_PID 2000000000

/* Long enough to have a middle. */
__attribute__((noinline)) int function_of_our_own(volatile int *number)
{
	for (int i = 0; i < 3; i++)
		*number += *number * i;
	return *number;
}

static void assert_named(pid_t pid, uint64_t address, const char *expected)
{
	struct elf_files *files = elf_files__new();
	struct native_names *names = native_names__new(pid, files);

	assert_non_null(files);
	assert_non_null(names);
	assert_string_equal(native_names__name(names, address), expected);
	assert_string_equal(native_names__name(names, address), expected);
	native_names__free(names);
	elf_files__free(files);
}

static void names_a_function_by_its_symbol(void **state)
{
	uint64_t address = (uint64_t)(uintptr_t)function_of_our_own;
	volatile int one = 1;

	(void)state;
	assert_int_equal(function_of_our_own(&one), 6);
	assert_named(getpid(), address, "function_of_our_own");
	assert_named(getpid(), address + 5, "function_of_our_own");
}

static void names_a_function_of_the_c_library(void **state)
{
	(void)state;
	assert_named(getpid(), (uint64_t)(uintptr_t)getppid, "getppid");
	assert_named(getpid(), (uint64_t)(uintptr_t)cfmakeraw, "cfmakeraw");
}

static void assert_place_named(pid_t pid, uint64_t address)
{
	char expected[32];

	snprintf(expected, sizeof(expected), "0x%" PRIx64, address);
	assert_named(pid, address, expected);
}

static void shows_an_address_where_no_file_is_mapped(void **state)
{
	int on_stack = 0;
	char *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_place_named(getpid(), (uint64_t)(uintptr_t)page + 7);
	munmap(page, 4096);
	assert_place_named(getpid(), (uint64_t)(uintptr_t)page + 7);
	assert_place_named(getpid(), (uint64_t)(uintptr_t)&on_stack);
	assert_place_named(getpid(), 0);
	assert_place_named(getpid(), UINT64_MAX);
}

static void has_a_symbol_only_where_there_is_one(void **state)
{
	struct elf_files *files = elf_files__new();
	struct native_names *names = native_names__new(getpid(), files);
	uint64_t address = (uint64_t)(uintptr_t)function_of_our_own;

	(void)state;
	assert_non_null(files);
	assert_non_null(names);
	assert_string_equal(native_names__symbol(names, address), "function_of_our_own");
	assert_null(native_names__symbol(names, 0));
	native_names__free(names);
	elf_files__free(files);
}

static void shows_an_address_of_a_process_that_is_gone(void **state)
{
	(void)state;
	assert_place_named(NO_PID, (uint64_t)(uintptr_t)getppid);
}

/* The names equal those of a second process of the same program, which is alive. */
static void names_code_of_a_process_that_has_ended(void **state)
{
	uint64_t ours = (uint64_t)(uintptr_t)function_of_our_own;
	struct elf_files *files = elf_files__new();
	struct native_names *names;
	pid_t child = fork();

	(void)state;
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	names = native_names__new(child, files);
	assert_non_null(files);
	assert_non_null(names);
	native_names__prepare(names);
	kill(child, SIGKILL);
	/* A zombie can be inspected, but has no mappings. */
	assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){}, WEXITED | WNOWAIT), 0);
	native_names__prepare(names);
	assert_string_equal(native_names__name(names, ours), "function_of_our_own");
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_string_equal(native_names__name(names, ours), "function_of_our_own");
	assert_string_equal(native_names__name(names, (uint64_t)(uintptr_t)getppid), "getppid");
	/* That was not mapped when it ended, and cannot be looked up any more. */
	assert_int_equal(strncmp(native_names__name(names, 4096), "0x", 2), 0);
	native_names__free(names);
	elf_files__free(files);
}

static void closes_files_that_nobody_asks_for(void **state)
{
	struct elf_files *files = elf_files__new();
	struct native_names *names = native_names__new(getpid(), files);
	uint64_t ours = (uint64_t)(uintptr_t)function_of_our_own;
	int none = count_files("/proc/self/fd");

	(void)state;
	assert_non_null(files);
	assert_non_null(names);
	assert_string_equal(native_names__name(names, ours), "function_of_our_own");
	assert_int_equal(count_files("/proc/self/fd"), none + 1);
	elf_files__close_idle(files, UINT64_C(60000000000));
	assert_int_equal(count_files("/proc/self/fd"), none + 1);
	elf_files__close_idle(files, 0);
	assert_int_equal(count_files("/proc/self/fd"), none);
	assert_string_equal(native_names__name(names, ours), "function_of_our_own");
	native_names__free(names);
	elf_files__free(files);
}

/* A file that is no program is named by the offset in it; it is mapped after a first look. */
static void finds_what_is_mapped_later(void **state)
{
	struct stage *stage = *state;
	const char *path = in_folder(stage, "module.so");
	struct elf_files *files = elf_files__new();
	struct native_names *names = native_names__new(getpid(), files);
	char zeros[8192] = {}, unknown[32];
	char *page = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t address = (uint64_t)(uintptr_t)page + 0x123;
	int file;

	assert_ptr_not_equal(page, MAP_FAILED);
	snprintf(unknown, sizeof(unknown), "0x%" PRIx64, address);
	assert_string_equal(native_names__name(names, address), unknown);
	write_file(path, zeros, sizeof(zeros));
	file = open(path, O_RDONLY | O_CLOEXEC);
	assert_in_range(file, 0, 1000);
	assert_ptr_equal(mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 4096), page);
	assert_string_equal(native_names__name(names, address), "module.so+0x1123");
	assert_place_named(getpid(), (uint64_t)(uintptr_t)page + 4096);
	close(file);
	munmap(page, 8192);
	native_names__free(names);
	elf_files__free(files);
}

/* The file's own address of its first instruction, and the offset of that in the file. */
static uint64_t entry_of(const char *path, uint64_t *offset)
{
	size_t size;
	char *content = read_file(path, &size);
	Elf64_Ehdr header;
	uint64_t entry;

	assert_in_range(size, sizeof(header), SIZE_MAX);
	memcpy(&header, content, sizeof(header));
	entry = header.e_entry;
	*offset = 0;
	for (int i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, content + header.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_LOAD && entry >= segment.p_vaddr &&
		    entry < segment.p_vaddr + segment.p_filesz)
			*offset = entry - segment.p_vaddr + segment.p_offset;
	}
	assert_int_not_equal(*offset, 0);
	free(content);
	return entry;
}

static uint64_t address_of(pid_t pid, const char *path, uint64_t offset)
{
	struct process_mappings mappings = {};
	uint64_t address = 0;

	assert_int_equal(process__mappings(pid, &mappings), 0);
	for (size_t i = 0; i < mappings.count; i++) {
		const struct process_mapping *mapping = &mappings.items[i];

		if (!strcmp(mapping->path, path) && mapping->executable &&
		    offset >= mapping->offset &&
		    offset - mapping->offset < mapping->end - mapping->start)
			address = mapping->start + offset - mapping->offset;
	}
	process__mappings_free(&mappings);
	assert_int_not_equal(address, 0);
	return address;
}

/* _start is in no table of a stripped program: Debian's lua5.4 exports the API alone. */
static void shows_module_and_address_without_a_symbol(void **state)
{
	struct stage *stage = *state;
	const char *path = in_folder(stage, "host program");
	struct child *child;
	char expected[64];
	uint64_t entry, offset, address;
	size_t size;
	char *content;

	need_program("/usr/bin/lua5.4", "lua5.4");
	content = read_file("/usr/bin/lua5.4", &size);
	write_file(path, content, size);
	free(content);
	assert_int_equal(chmod(path, 0700), 0);
	child = start(stage, path, "-e", "print('up') io.stdout:flush() io.read()");
	child__await_output(stage, child, "up\n");
	entry = entry_of(path, &offset);
	address = address_of(child->pid, path, offset);
	snprintf(expected, sizeof(expected), "host program+0x%" PRIx64, entry);
	assert_named(child->pid, address, expected);
	if (!geteuid()) {
		assert_int_equal(unlink(path), 0);
		assert_named(child->pid, address, expected);
	}
}

struct place {
	uint64_t file, in_file;
};

/* The start of the code of the program at `path`; 0: the process does not run it yet. */
static uint64_t find_code(pid_t pid, const char *path)
{
	struct process_mappings mappings = {};
	uint64_t address = 0;

	assert_int_equal(process__mappings(pid, &mappings), 0);
	for (size_t i = 0; i < mappings.count && !address; i++)
		if (mappings.items[i].executable && !strcmp(mappings.items[i].path, path))
			address = mappings.items[i].start;
	process__mappings_free(&mappings);
	return address;
}

static uint64_t code_of(pid_t pid, const char *path)
{
	double end = now_seconds() + 10;
	uint64_t address;

	while (!(address = find_code(pid, path))) {
		if (now_seconds() > end)
			fail_msg("process %d does not run %s", pid, path);
		sleep_seconds(0.005);
	}
	return address;
}

static struct place place_of(struct elf_files *files, pid_t pid, const char *path)
{
	struct native_names *names = native_names__new(pid, files);
	struct place place;

	assert_non_null(names);
	assert_true(native_names__place(names, code_of(pid, path), &place.file, &place.in_file));
	assert_int_not_equal(place.file, 0);
	native_names__free(names);
	return place;
}

static void assert_same_place(struct place one, struct place other)
{
	assert_int_equal(one.file, other.file);
	assert_int_equal(one.in_file, other.in_file);
}

/* A program that waits to be killed, which may be without its build id. */
static char *read_program(size_t *size, bool has_id)
{
	static const char note[] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
	char *content = read_file("/usr/bin/sleep", size);
	char *id = memmem(content, *size, note, sizeof(note));

	if (!id) {
		free(content);
		skip_because("/usr/bin/sleep has no build id");
	}
	if (!has_id)
		id[8] = 99;
	return content;
}

static pid_t run_program(struct stage *stage, const char *path, bool has_id)
{
	size_t size;
	char *content = read_program(&size, has_id);
	pid_t pid;

	write_file(path, content, size);
	free(content);
	assert_int_equal(chmod(path, 0700), 0);
	pid = start(stage, path, "1000")->pid;
	code_of(pid, path);
	return pid;
}

static void has_one_place_for_all_processes_of_a_file(void **state)
{
	struct stage *stage = *state;
	const char *path = in_folder(stage, "program");
	struct elf_files *files = elf_files__new();
	pid_t one = run_program(stage, path, false);
	pid_t other = start(stage, path, "1000")->pid;
	struct place before;

	assert_non_null(files);
	before = place_of(files, one, path);
	assert_same_place(place_of(files, other, path), before);
	/* However often it is opened. */
	elf_files__close_idle(files, 0);
	assert_same_place(place_of(files, one, path), before);
	elf_files__free(files);
}

/* As containers have them. */
static void has_one_place_for_copies_of_a_build(void **state)
{
	struct stage *stage = *state;
	const char *path = in_folder(stage, "program"), *copy = in_folder(stage, "copy");
	struct elf_files *files = elf_files__new();
	pid_t one = run_program(stage, path, true), other = run_program(stage, copy, true);

	assert_non_null(files);
	assert_same_place(place_of(files, one, path), place_of(files, other, copy));
	elf_files__free(files);
}

static void tells_two_files_of_one_path_apart(void **state)
{
	struct stage *stage = *state;
	const char *path = in_folder(stage, "program");
	struct elf_files *files = elf_files__new();
	pid_t one = run_program(stage, path, false), other, third;

	assert_non_null(files);
	if (geteuid())
		skip_because("only root opens a file that was deleted");
	assert_int_equal(unlink(path), 0);
	other = run_program(stage, path, false);
	assert_int_equal(unlink(path), 0);
	third = run_program(stage, path, true);
	assert_int_not_equal(place_of(files, one, path).file, place_of(files, other, path).file);
	assert_int_not_equal(place_of(files, other, path).file, place_of(files, third, path).file);
	elf_files__free(files);
}

static void has_no_place_where_no_file_is_mapped(void **state)
{
	struct elf_files *files = elf_files__new();
	struct native_names *names = native_names__new(getpid(), files);
	uint64_t file, place;
	int on_stack = 0;

	(void)state;
	assert_non_null(files);
	assert_non_null(names);
	assert_false(native_names__place(names, (uint64_t)(uintptr_t)&on_stack, &file, &place));
	assert_int_equal(place, (uint64_t)(uintptr_t)&on_stack);
	native_names__free(names);
	elf_files__free(files);
}

static volatile int data_of_our_own = 7;

/* The program comes first. */
static int note_program(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

/* The address of data differs from its offset in the file; tools show the address. */
static void shows_the_address_in_the_file_rather_than_the_offset(void **state)
{
	uint64_t address = (uint64_t)(uintptr_t)&data_of_our_own, bias = 0;
	char expected[64];

	(void)state;
	dl_iterate_phdr(note_program, &bias);
	snprintf(expected, sizeof(expected), "test_native_names+0x%" PRIx64, address - bias);
	assert_named(getpid(), address, expected);
}

static void frees_nothing(void **state)
{
	(void)state;
	native_names__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_a_function_by_its_symbol),
		cmocka_unit_test(names_a_function_of_the_c_library),
		cmocka_unit_test(shows_an_address_where_no_file_is_mapped),
		cmocka_unit_test(has_a_symbol_only_where_there_is_one),
		cmocka_unit_test(shows_an_address_of_a_process_that_is_gone),
		cmocka_unit_test(names_code_of_a_process_that_has_ended),
		cmocka_unit_test(closes_files_that_nobody_asks_for),
		staged(finds_what_is_mapped_later),
		staged(shows_module_and_address_without_a_symbol),
		staged(has_one_place_for_all_processes_of_a_file),
		staged(has_one_place_for_copies_of_a_build),
		staged(tells_two_files_of_one_path_apart),
		cmocka_unit_test(has_no_place_where_no_file_is_mapped),
		cmocka_unit_test(shows_the_address_in_the_file_rather_than_the_offset),
		cmocka_unit_test(frees_nothing),
	};

	return cmocka_run_group_tests_name("native_names", tests, NULL, NULL);
}
