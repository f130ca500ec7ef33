/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make_corpus FOLDER: what luaspy reads of Debian's interpreters, stopped in a script, as first
 * inputs for fuzz_symbols and fuzz_records. Their layout is told there.
 */
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture.h"
#include "fixture.h"
#include "input.h"
#include "memory/target_memory.h"
#include "puc/call_site_puc.h"
#include "puc/family_puc.h"
#include "puc/prototype_puc.h"
#include "symbols/c_functions.h"

#define SCRIPT     "tests/walk/puc/script.lua"
#define RANGES_MAX 8192
#define PROTOTYPES 8

struct range {
	uint64_t address;
	size_t size;
	uint8_t *bytes;
};

static struct range ranges[RANGES_MAX];
static size_t range_count;

/* In place of user/memory/target_memory.c: notes what was read. */
ssize_t target_memory__read_some(const struct target_memory *memory, uint64_t address, void *to,
				 size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t count = process_vm_readv(memory->pid, &local, 1, &remote, 1, 0);

	if (count <= 0)
		return count < 0 ? -errno : count;
	for (size_t i = 0; i < range_count; i++)
		if (ranges[i].address == address && ranges[i].size >= (size_t)count)
			return count;
	require(range_count < RANGES_MAX);
	ranges[range_count] = (struct range){address, (size_t)count, malloc((size_t)count)};
	memcpy(ranges[range_count++].bytes, to, (size_t)count);
	return count;
}

int target_memory__read(const struct target_memory *memory, uint64_t address, void *to, size_t size)
{
	ssize_t count = target_memory__read_some(memory, address, to, size);

	if (count < 0)
		return (int)count;
	return (size_t)count == size ? 0 : -EFAULT;
}

static void put(FILE *file, uint64_t number, size_t size)
{
	require(fwrite(&number, 1, size, file) == size);
}

static void put_ranges(FILE *file)
{
	for (size_t i = 0; i < range_count; i++) {
		put(file, ranges[i].address, 8);
		put(file, ranges[i].size, 2);
		require(fwrite(ranges[i].bytes, 1, ranges[i].size, file) == ranges[i].size);
	}
}

static size_t ranges_size(void)
{
	size_t size = 0;

	for (size_t i = 0; i < range_count; i++)
		size += 10 + ranges[i].size;
	return size;
}

static FILE *create(const char *folder, const char *kind, const char *program)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s", folder, kind, program);
	file = fopen(path, "w");
	require(file);
	return file;
}

static void write_symbols(const char *folder, const char *program, size_t layout,
			  const struct walker *walker)
{
	FILE *file = create(folder, "symbols", program);
	uint64_t function = 0;
	size_t count = 0;

	for (uint32_t i = 0; i < walker__count(walker); i++)
		if (walker->scratch->frames[i].kind == LS_FRAME_C)
			function = walker->scratch->frames[i].function;
	put(file, layout, 1);
	put(file, 0, 1);
	put(file, walker->scratch->sample.state, 8);
	put(file, function, 8);
	for (uint32_t i = 0; i < walker__count(walker) && count < PROTOTYPES; i++) {
		const struct ls_frame *frame = &walker->scratch->frames[i];

		if (frame->kind != LS_FRAME_LUA)
			continue;
		put(file, frame->function, 8);
		put(file, frame->pc, 4);
		count++;
	}
	for (; count < PROTOTYPES; count++)
		put(file, 0, 12);
	put_ranges(file);
	fclose(file);
}

/* As take_number() of fuzz_records.c reads it. */
static void put_number(FILE *file, uint64_t number)
{
	put(file, 0xff, 1);
	put(file, number, 8);
}

static void write_records(const char *folder, const char *program, size_t layout,
			  const struct walker *walker)
{
	FILE *file = create(folder, "records", program);
	uint32_t count = walker__count(walker) < 23 ? walker__count(walker) : 23;

	put(file, 0, 1);
	put(file, ranges_size(), 3);
	for (uint32_t i = 0; i < walker->definition_count && i < WALKER_DEFINITION_MAX; i++) {
		const struct ls_function *function = &walker->definitions[i];

		put(file, 0, 1);
		put_number(file, function->function);
		put_number(file, function->fingerprint);
		put_number(file, function->shape);
		put_number(file, function->line_defined);
		put_number(file, function->last_line_defined);
		put_number(file, function->source_length);
		put_number(file, function->name_length);
		fwrite(function->text, 1, function->source_length, file);
	}
	for (uint64_t i = 1; i <= 2; i++) {
		put(file, 8, 1); /* a sample */
		put(file, 7, 1); /* of thread 7 */
		put(file, 0, 1);
		put(file, i * 1000000, 5);
		put_number(file, walker->scratch->sample.state);
		put(file, LS_WALK_NONE, 1);
		put(file, LS_SAMPLE_COMPLETE, 1);
		put(file, layout, 1);
		put(file, 1, 1);
		put(file, 0, 1);
		put(file, count, 1);
		put(file, 3, 1);
		fputs("lua", file);
		for (uint32_t j = 0; j < count; j++) {
			const struct ls_frame *frame = &walker->scratch->frames[j];

			put_number(file, frame->function);
			put_number(file, frame->fingerprint);
			put_number(file, frame->pc);
			put(file, frame->kind, 1);
			put(file, frame->flags, 1);
		}
	}
	put_ranges(file);
	fclose(file);
}

/* All that a session would read. */
static void read_names(pid_t pid, const struct ls_puc_layout *layout, const struct walker *walker)
{
	const struct target_memory memory = {.pid = pid};
	struct c_function_names *functions = c_function_names__new();
	struct call_site site;
	uint64_t fingerprint;

	for (uint32_t i = 0; i < walker__count(walker); i++) {
		const struct ls_frame *frame = &walker->scratch->frames[i];

		if (frame->kind != LS_FRAME_LUA)
			continue;
		call_site_puc__read(&memory, layout, frame->function, frame->pc, &site);
		prototype_puc__fingerprint(&memory, layout, frame->function, &fingerprint);
	}
	c_functions__read(functions, &table_ops_puc, &memory, layout,
			  walker->scratch->sample.state);
	c_function_names__free(functions);
}

static void await_ready(const struct capture *capture)
{
	char text[16384] = "";
	size_t length = 0;

	while (!strstr(text, "ready\n")) {
		ssize_t count = read(capture->output, text + length, sizeof(text) - 1 - length);

		require(count > 0);
		length += (size_t)count;
		text[length] = '\0';
	}
}

static void capture_program(const char *folder, const char *program)
{
	struct capture capture;
	struct walker walker;
	struct image image;
	size_t i;

	require(capture__start(&capture, program, SCRIPT) == 0);
	await_ready(&capture);
	require(capture__stop(&capture) == 0);
	walker__start(&walker);
	for (i = 0; i < layouts_puc_count; i++) {
		capture__take(&capture, &layouts_puc[i].offsets, &image);
		walker__forget(&walker);
		walker__sample(&walker, &image);
		image__end(&image);
		if (walker.is_evidence)
			break;
	}
	require(i < layouts_puc_count);
	read_names(capture.pid, &layouts_puc[i].offsets, &walker);
	write_symbols(folder, program, i, &walker);
	write_records(folder, program, i, &walker);
	printf("%s: %s, %u frames, %zu bytes in %zu reads\n", program, layouts_puc[i].name,
	       walker__count(&walker), ranges_size(), range_count);
	while (range_count)
		free(ranges[--range_count].bytes);
	walker__end(&walker);
	capture__end(&capture);
}

int main(int argc, char **argv)
{
	static const char *const programs[] = {"lua5.1", "lua5.2", "lua5.3", "lua5.4"};

	require(argc == 2);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		capture_program(argv[1], programs[i]);
	return 0;
}
