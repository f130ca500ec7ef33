/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that forges a VM of Lua 5.MINOR in its own memory and burns CPU time as if it ran a
 * script there ("honest"). The VM does not change until the program reads a line. Then it prints
 * "mad", and a second thread writes lies into the VM, most of them for a fraction of a millisecond,
 * so that its stack is found again and again.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "objects.h"
#include "puc/layout_puc.h"
#include "tables.h"

#define JOURNAL      64
#define STACK_WORDS  2048
#define SOURCE_SIZE  500
#define CODE_COUNT   (4U << 20) /* instructions of the largest function */
#define MAPPINGS     8192
#define NATIVE_FIRST 0x700000000000ULL /* address of C functions that do not exist */

/* What luaspy recognizes a Lua by in a file: user/puc/family_puc.c. */
__attribute__((used)) static const char event[] = "__newindex";
#if MINOR == 1
__attribute__((used)) static const char ident[] = "$Lua: Lua 5.1.5 Copyright (C) 1994-2012 $";
__attribute__((used)) static const char first_marker[] = "=(tail call)";
__attribute__((used)) static const char second_marker[] = "%s: %s in precompiled chunk";
#else
__attribute__((used)) static const char ident[] = "$LuaVersion: Lua 5.4.4  Copyright (C) $";
__attribute__((used)) static const char first_marker[] = "break outside loop at line %d";
__attribute__((used)) static const char second_marker[] = "integer format mismatch";
#endif

/* Terminal titles, C1 controls, invalid UTF-8, markup, directions, a lone surrogate, JSON. */
static const char *const names[] = {
	"@\x1b]0;owned\x07\x1b[2J.lua",
	"=\xc2\x9b\x33\x31m\xc2\x85\x9b",
	"@\xff\xfe\xc0\x80\xed\xa0\x80\xf5",
	"</script><img src=x onerror=alert(1)><!--",
	"=\xe2\x80\xaegpj.\xe2\x81\xa6\xe2\x80\xa8",
	"@a\"b\\c\\x1b\\u0000\r\n\b\f\t\x7f",
	"@",
	"=(host)",
};

#define NAMES (sizeof(names) / sizeof(names[0]))

static const char *const function_names[] = {"\x1b]0;f\x07", "</script>", "\xc2\x9b", "\n\r\t"};

struct lie {
	uint64_t address, before;
};

static struct image image;
static uint64_t protos[4], source, strings[4], loaded, registry, huge, wide;
static struct lie journal[JOURNAL];
static size_t lies;
static uint64_t seed = 0x9e3779b97f4a7c15;
static uint64_t functions_made;
static uint32_t *code; /* of the largest function: nothing but calls */

static uint64_t next_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void lie_about(uint64_t address, uint64_t word)
{
	address &= ~7ULL;
	if (lies == JOURNAL)
		return;
	journal[lies++] = (struct lie){address, memory__get(&image.memory, address, 8)};
	memory__put(&image.memory, address, word, 8);
}

/* Replaces `size` bytes within a word. */
static void lie_within(uint64_t address, uint64_t number, size_t size)
{
	uint64_t at = address & ~7ULL, word = memory__get(&image.memory, at, 8);

	memcpy((uint8_t *)&word + (address - at), &number, size);
	lie_about(at, word);
}

static void tell_truth(void)
{
	while (lies) {
		lies--;
		memory__put(&image.memory, journal[lies].address, journal[lies].before, 8);
	}
}

static uint64_t some_call(void)
{
	const struct image_thread *thread = &image.threads[next_number() % image.thread_count];

	return thread->calls[next_number() % thread->call_count].ci;
}

static uint64_t some_place(void)
{
	const struct image_thread *thread = &image.threads[next_number() % image.thread_count];
	uint64_t number = next_number(), at = (number >> 20) % 256;

	switch (number % 6) {
	case 0:
		return thread->address + at % image.layout->state_size;
	case 1:
		return some_call() + at % image.layout->ci_size;
	case 2:
		return thread->stack + at * 2;
	case 3:
		return protos[number / 8 % 4] + at % image.layout->proto_size;
	case 4:
		return strings[number / 8 % 4] + at % 32;
	default:
		return (number & 64 ? loaded : registry) + at % table_fields.size;
	}
}

static void lie_at_random(void)
{
	for (int i = 0; i < 4; i++) {
		uint64_t word = next_number();

		lie_about(some_place(), word % 3 == 0   ? word
					: word % 3 == 1 ? some_place() & ~7ULL
							: 1ULL << (word >> 58));
	}
}

/* A cycle of calls, or a call that called itself. */
static void lie_about_calls(void)
{
	uint64_t call = some_call();

	if (image.layout->ci_is_array) {
		lie_about(image.threads[0].address + image.layout->state_base_ci, call - 1000000);
		return;
	}
	lie_about(call + image.layout->ci_previous, next_number() & 1 ? call : some_call());
	lie_about(call + image.layout->ci_next, call);
}

static void lie_about_sizes(void)
{
	const struct ls_puc_layout *layout = image.layout;
	uint64_t proto = protos[next_number() % 4], number = next_number();
	uint32_t huge_count = number & 1 ? 0x7fffffff : 0x80000000;

	lie_within(proto + layout->proto_code_count, huge_count, 4);
	lie_within(proto + layout->proto_constant_count, huge_count, 4);
	lie_within(proto + layout->proto_local_var_count, number & 2 ? 32767 : huge_count, 4);
	lie_about(proto + layout->proto_local_vars, number & 4 ? NATIVE_FIRST : proto);
	lie_about(proto + layout->proto_constants, number & 8 ? proto : 0xfffffffffffff000);
	lie_about(strings[number / 16 % 4] + layout->string_length, 1ULL << (number >> 58));
	lie_about(proto + layout->proto_source, number & 32 ? proto : source);
}

static void lie_about_tables(void)
{
	uint64_t number = next_number();
	uint64_t table = number & 1 ? registry : loaded;

	switch (number / 2 % 6) {
	case 0:
		lie_within(table + table_fields.log_slots, number & 64 ? 63 : 26, 1);
		return;
	case 1:
		lie_about(table + table_fields.node, table);
		return;
	case 2:
		lie_within(table + table_fields.array_count, 0x80000000, 4);
		lie_about(table + table_fields.array, NATIVE_FIRST);
		return;
	case 3:
	case 4: /* the slots of another table: a million, or as many as luaspy reads */
		table = number & 64 ? huge : wide;
		lie_about(loaded + table_fields.node,
			  memory__get(&image.memory, table + table_fields.node, 8));
		lie_within(loaded + table_fields.log_slots, number & 64 ? 20 : 16, 1);
		return;
	default:
		lie_within(table + table_fields.log_slots, 0, 1);
		return;
	}
}

/*
 * A function longer than any compiler makes, at another of its calls every time: naming the callee
 * takes a look at all instructions before it. C frames in between keep their callers.
 */
static void lie_about_code(void)
{
	const struct ls_puc_layout *layout = image.layout;
	uint64_t pc = CODE_COUNT - 2 - next_number() % 4096;
	uint64_t proto = protos[next_number() % 4];

	for (size_t i = 0; i < image.threads[0].call_count; i++)
		if (image.threads[0].calls[i].function == proto)
			lie_about(image.threads[0].calls[i].ci + layout->ci_savedpc,
				  (uint64_t)(code + pc + 1));
	lie_about(proto + layout->proto_code, (uint64_t)code);
	lie_within(proto + layout->proto_code_count, CODE_COUNT, 4);
}

/* Another function with another name in every sample: none of this is undone. */
static void make_functions(void)
{
	char text[SOURCE_SIZE];

	for (size_t i = 0; i < 4; i++) {
		functions_made++;
		snprintf(text, sizeof(text), "%s%llu", names[functions_made % NAMES],
			 (unsigned long long)functions_made);
		memory__put_bytes(&image.memory, strings[i] + image.layout->string_contents, text,
				  strlen(text) + 1);
		memory__put(&image.memory, protos[i] + image.layout->proto_line_defined,
			    functions_made, 4);
	}
}

/* Makes C functions of addresses that no file contains. */
static void make_c_functions(void)
{
	const struct image_thread *thread = &image.threads[0];

	for (size_t i = 0; i < thread->call_count; i++)
		if (thread->calls[i].kind == LS_FRAME_C && !thread->calls[i].closure)
			lie_about(thread->calls[i].value,
				  NATIVE_FIRST + next_number() % 65536 * 64);
		else if (thread->calls[i].kind == LS_FRAME_C)
			lie_about(thread->calls[i].closure + image.layout->closure_function,
				  NATIVE_FIRST + next_number() % 65536 * 64);
}

static void rename_threads(void)
{
	prctl(PR_SET_NAME, names[next_number() % NAMES]);
}

static void pause_briefly(long most_ns)
{
	struct timespec time = {.tv_nsec = (long)(next_number() % (uint64_t)most_ns)};

	nanosleep(&time, NULL);
}

static void *go_mad(void *nothing)
{
	static void (*const kinds[])(void) = {lie_at_random,    lie_about_calls, lie_about_sizes,
					      lie_about_tables, lie_about_code,  make_functions,
					      make_c_functions, rename_threads};
	char line[16];

	(void)nothing;
	if (!fgets(line, sizeof(line), stdin))
		exit(0);
	puts("mad");
	fflush(stdout);
	for (;;) {
		for (int i = next_number() % 3; i >= 0; i--)
			kinds[next_number() % (sizeof(kinds) / sizeof(kinds[0]))]();
		pause_briefly(400000);
		tell_truth();
		pause_briefly(400000);
	}
	return NULL;
}

static void forge_tables(void)
{
	uint64_t library = table__new(&image, 2), outer = table__new(&image, 2);

	for (size_t i = 0; i < 4; i++)
		table__set(&image, library, i, function_names[i], NATIVE_FIRST + i * 64,
			   table_fields.function_tag);
	registry = table__new(&image, 2);
	loaded = table__new(&image, 2);
	table__set(&image, registry, 0, "_LOADED", loaded, table_fields.tag);
	table__set(&image, registry, 1, "_LOADED", registry, table_fields.tag);
	table__set(&image, registry, 2, "\x1b[31m*", outer, table_fields.tag);
	table__set(&image, outer, 0, "__index", outer, table_fields.tag);
	table__set(&image, loaded, 0, "\x1b]2;lib\x07", library, table_fields.tag);
	table__set(&image, loaded, 1, "_G", loaded, table_fields.tag);
	table__set(&image, loaded, 2, "</script>", registry, table_fields.tag);
	table__set_element(&image, registry, 2, loaded, table_fields.tag);
	huge = table__of_itself(&image, 20, "huge");
	wide = table__of_itself(&image, 16, "wide");
	memory__put(&image.memory, image.global + image.layout->global_registry, registry, 8);
	memory__put(&image.memory, image.global + image.layout->global_registry + 8,
		    table_fields.tag, 8);
}

/* The main thread has called a C function, which runs a coroutine. */
static void forge_calls(void)
{
	size_t coroutine;
	char text[SOURCE_SIZE] = "";

	memset(text, 'x', SOURCE_SIZE - 1); /* names find room in it later */
	for (size_t i = 0; i < 4; i++) {
		protos[i] = image__proto(&image, text, (uint32_t)i * 10);
		strings[i] = memory__get(&image.memory, protos[i] + image.layout->proto_source, 8);
	}
	source = strings[0];
	image__protect(&image, IMAGE_MAIN);
	image__call_lua(&image, IMAGE_MAIN, protos[0], 7, 10);
	for (uint32_t i = 0; i < 12; i++)
		image__call_lua(&image, IMAGE_MAIN, protos[i % 4], i, 9);
	image__call_light(&image, IMAGE_MAIN, NATIVE_FIRST, 4);
	coroutine = image__coroutine(&image);
	image__protect(&image, coroutine);
	image__call_lua(&image, coroutine, protos[1], 11, 8);
	image__call_light(&image, coroutine, NATIVE_FIRST + 64, 4);
	image__call_lua(&image, coroutine, protos[2], 5, 6);
}

/* Creates a list of mappings that takes long to read, and a function that takes long to scan. */
static void take_room(void)
{
	uint32_t call = image.layout->op_call | 5U << image.layout->op_bits;
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < MAPPINGS; i++)
		mmap(NULL, 4096, PROT_READ, MAP_SHARED, self, (off_t)(i % 2) * 4096);
	code = malloc(CODE_COUNT * sizeof(*code));
	if (!code)
		exit(1);
	for (size_t i = 0; i < CODE_COUNT; i++)
		code[i] = call;
}

static __attribute__((noinline)) void burn(void)
{
	volatile uint64_t count = 0;

	for (;;)
		count += count ^ 1;
}

/* luaspy searches everything above SP for states: here are the words that lead to them. */
static __attribute__((noinline)) void run_script(void)
{
	volatile uint64_t words[STACK_WORDS] = {0};

	image.stack_low = (uint64_t)words;
	image.stack_high = image.stack_low + sizeof(words);
	image.sp = image.stack_high;
	forge_calls();
	puts("honest");
	fflush(stdout);
	burn();
}

int main(void)
{
	pthread_t thread;

	for (size_t i = 0; i < layouts_puc_count; i++)
		if (!strcmp(layouts_puc[i].name, LAYOUT_NAME))
			image__start(&image, &layouts_puc[i].offsets);
	forge_tables();
	take_room();
	prctl(PR_SET_NAME, "\x1b]0;me\x07\n\xc2\x9b\xe2\x80\xae");
	if (pthread_create(&thread, NULL, go_mad, NULL))
		return 1;
	run_script();
	return 0;
}
