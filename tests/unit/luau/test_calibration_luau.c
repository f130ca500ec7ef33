/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout that is derived from a running program must be the one that is known for it; forks
 * that moved members must come out as their sources have them.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "dump/vm_search.h"
#include "luau/calibration_luau.h"
#include "luau/gc_pages_luau.h"
#include "luau/layout_luau.h"
#include "memory/page_cache.h"
#include "skip.h"
#include "stage.h"

#define PATIENCE         60
#define ROUNDS           300
#define ROUND_NS_MAX     2000000000ULL
#define WORDS_PER_CHANGE 400

/* Functions of several sizes, with and without names, upvalues and functions of their own. */
static const char script[] =
	"local Shape = {}\n"
	"function Shape.area(n)\n"
	"	local sum = 0\n"
	"	for i = 1, n do sum = sum + i % 7 end\n"
	"	return sum\n"
	"end\n"
	"function Shape:perimeter(n) return self.area(n) * 2 end\n"
	"local function nest(a, b, c)\n"
	"	return function(...)\n"
	"		local x = a\n"
	"		return function() x = x + b + c return x end\n"
	"	end\n"
	"end\n"
	"local kept = {nest(1, 2, 3), nest(4, 5, 6)(), Shape.area, Shape.perimeter}\n"
	"local function waits(value) write('READY\\n') wait() return value end\n"
	"local t = {}\n"
	"t.run = function(...) local value = waits(...) return value end\n"
	"t.run(kept)\n";

static const char *host(const char *build)
{
	char program[64];

	snprintf(program, sizeof(program), "../../hosts/luau_%s", build);
	return built_program(program);
}

static struct child *start_host(struct stage *stage, const char *build)
{
	struct child *target;

	need_host(host(build));
	write_text(stage, "app.luau", script);
	target = start(stage, host(build), "app.luau");
	child__await_output(stage, target, "READY");
	child__await_state(stage, target, 'S');
	return target;
}

static struct vm_found find_vm(const struct child *target)
{
	struct ls_candidates candidates[LS_FAMILY_COUNT] = {};
	struct vm_search search;

	candidates[LS_FAMILY_LUAU].layouts = layout_luau__all();
	assert_int_equal(vm_search__find(target->pid, candidates, &search), 0);
	assert_int_equal(search.count, 1);
	return search.items[0];
}

static int calibrate(const struct child *target, uint64_t state, struct ls_luau_layout *layout,
		     char reason[160])
{
	struct target_memory memory = {.pid = target->pid, .pages = page_cache__new()};
	int error;

	assert_non_null(memory.pages);
	error = calibration_luau__run(&memory, state, layout, reason, 160);
	page_cache__free(memory.pages);
	return error;
}

static void assert_derived(struct stage *stage, const char *build,
			   const struct ls_luau_layout *expected)
{
	struct child *target = start_host(stage, build);
	struct vm_found vm = find_vm(target);
	struct ls_luau_layout layout;
	char reason[160];

	if (calibrate(target, vm.main_thread, &layout, reason))
		fail_msg("%s: %s", build, reason);
	child__kill(target);
	assert_memory_equal(&layout, expected ? expected : vm.layout.offsets, sizeof(layout));
}

static void derives_what_is_known_of_a_release(void **state)
{
	static const char *const builds[] = {"516-gcc",    "561-gcc",     "722-gcc", "577-gcc",
					     "635-gcc",    "727-longjmp", "736-gcc", "736-vector4",
					     "736-native", "736-clang"};

	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++)
		assert_derived(*state, builds[i], NULL);
}

static void derives_what_a_fork_has_moved(void **state)
{
	const struct ls_luau_layout *known = &layouts_luau[0].offsets;
	struct ls_luau_layout names = *known, lines = *known;

	names.proto_source = known->proto_name;
	names.proto_name = known->proto_source;
	assert_derived(*state, "736-moved-proto", &names);
	lines.proto_line_info = known->proto_line_bases;
	lines.proto_line_bases = known->proto_line_info;
	lines.proto_native = known->proto_native;
	assert_derived(*state, "736-moved-lines", &lines);
}

/* As tests/hosts/build_luau.sh builds it. */
static void derives_what_a_fork_has_more(void **state)
{
	static const struct ls_luau_layout grown = {
		.string_type = 4,
		.function_type = 2,
		.closure_function = 40,
		.proto_size = 204,
		.proto_constants = 24,
		.proto_code = 32,
		.proto_children = 40,
		.proto_line_info = 72,
		.proto_line_bases = 80,
		.proto_source = 112,
		.proto_name = 120,
		.proto_code_count = 172,
		.proto_child_count = 176,
		.proto_constant_count = 188,
		.proto_line_info_size = 192,
		.proto_line_gap = 196,
		.proto_line_defined = 200,
		.proto_parameters = 4,
		.proto_is_vararg = 5,
		.proto_upvalues = 3,
		.proto_native = 64,
	};

	assert_derived(*state, "736-grown", &grown);
}

static void says_what_it_could_not_tell(void **state)
{
	static const char too_few[] = "write('READY\\n') wait()\n";
	struct ls_luau_layout layout;
	struct child *target;
	char reason[160];

	need_host(host("736-gcc"));
	write_text(*state, "few.luau", too_few);
	target = start(*state, host("736-gcc"), "few.luau");
	child__await_output(*state, target, "READY");
	child__await_state(*state, target, 'S');
	assert_int_equal(calibrate(target, find_vm(target).main_thread, &layout, reason), -ENODATA);
	assert_string_equal(reason, "no two members are tables of lines whose sizes fit "
				    "(closures seen: 1)");
	assert_int_equal(calibrate(target, 8, &layout, reason), -EFAULT);
	assert_string_equal(reason, "");
}

/* The program's heap; a changed copy is written back to it. */
struct heap {
	pid_t pid;
	uint64_t address;
	size_t words;
	uint64_t *original, *changed;
};

static void write_heap(const struct heap *heap, const uint64_t *words)
{
	const struct iovec from = {(void *)words, heap->words * 8};
	const struct iovec to = {(void *)(uintptr_t)heap->address, heap->words * 8};

	assert_int_equal(process_vm_writev(heap->pid, &from, 1, &to, 1, 0), heap->words * 8);
}

static struct heap read_heap(struct stage *stage, const struct child *target)
{
	const struct target_memory memory = {.pid = target->pid};
	struct heap heap = {.pid = target->pid};
	char path[32], *maps;
	uint64_t end;

	snprintf(path, sizeof(path), "/proc/%d/maps", target->pid);
	maps = stage__own(stage, read_file(path, NULL), free);
	for (char *line = strtok(maps, "\n"); line; line = strtok(NULL, "\n"))
		if (strstr(line, "[heap]"))
			assert_int_equal(sscanf(line, "%" SCNx64 "-%" SCNx64, &heap.address, &end),
					 2);
	assert_int_not_equal(heap.address, 0);
	heap.words = (end - heap.address) / 8;
	heap.original = stage__own(stage, malloc(heap.words * 8), free);
	heap.changed = stage__own(stage, malloc(heap.words * 8), free);
	assert_int_equal(target_memory__read(&memory, heap.address, heap.original, heap.words * 8),
			 0);
	return heap;
}

static void change(const struct heap *heap)
{
	memcpy(heap->changed, heap->original, heap->words * 8);
	for (size_t i = 0; i < heap->words / WORDS_PER_CHANGE; i++) {
		uint64_t *word = &heap->changed[(size_t)rand() % heap->words];

		if (!*word)
			continue;
		if (rand() % 2)
			*word = heap->changed[(size_t)rand() % heap->words];
		else
			*word ^= 1ULL << rand() % 64;
	}
}

/* Whatever is in memory, the search ends soon and reads only what it may (a sanitizer checks). */
static void survives_whatever_is_there(void **state)
{
	struct child *target = start_host(*state, "736-gcc");
	const uint64_t main_thread = find_vm(target).main_thread;
	const struct heap heap = read_heap(*state, target);
	struct ls_luau_layout layout;
	int derived = 0;
	char reason[160];

	srand(1);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		change(&heap);
		write_heap(&heap, heap.changed);
		derived += !calibrate(target, main_thread, &layout, reason);
		assert_in_range(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns, 0, ROUND_NS_MAX);
	}
	print_message("derived something in %d of %d rounds\n", derived, ROUNDS);
	assert_in_range(derived, 1, ROUNDS - 1);
	write_heap(&heap, heap.original);
	assert_int_equal(calibrate(target, main_thread, &layout, reason), 0);
	assert_memory_equal(&layout, &layouts_luau[0].offsets, sizeof(layout));
}

/* A state that claims more calls than any memory has: reading them would take hours. */
static void reads_few_calls_of_a_state_that_claims_many(void **state)
{
	struct child *target = start_host(*state, "736-gcc");
	const uint64_t main_thread = find_vm(target).main_thread;
	const struct heap heap = read_heap(*state, target);
	uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct ls_luau_layout layout;
	struct ls_luau_state *claim;
	char reason[160];

	memcpy(heap.changed, heap.original, heap.words * 8);
	claim = (struct ls_luau_state *)((uint8_t *)heap.changed + (main_thread - heap.address));
	claim->ci_count = INT32_MAX;
	claim->base_ci = 1ULL << 44;
	claim->end_ci = claim->base_ci + 40ULL * (INT32_MAX - 1);
	claim->ci = claim->end_ci;
	write_heap(&heap, heap.changed);
	alarm(PATIENCE);
	assert_int_equal(calibrate(target, main_thread, &layout, reason), 0);
	alarm(0);
	assert_in_range(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns, 0, ROUND_NS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(derives_what_is_known_of_a_release),
		staged(derives_what_a_fork_has_moved),
		staged(derives_what_a_fork_has_more),
		staged(says_what_it_could_not_tell),
		staged(survives_whatever_is_there),
		staged(reads_few_calls_of_a_state_that_claims_many),
	};

	return cmocka_run_group_tests_name("calibration_luau", tests, NULL, NULL);
}
