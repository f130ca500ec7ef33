/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elf/machine_code.h"

#define ADDRESS 0x401000
#define MOST    16

struct seen {
	struct machine_event events[MOST];
	size_t count;
};

static void note(void *context, const struct machine_event *event)
{
	struct seen *seen = context;

	assert_in_range(seen->count, 0, MOST - 1);
	seen->events[seen->count++] = *event;
}

static struct seen visit(uint16_t machine, const void *code, size_t size)
{
	struct seen seen = {.count = 0};

	machine_code__visit(machine, code, size, ADDRESS, note, &seen);
	return seen;
}

static void assert_branch(const struct machine_event *event, enum machine_event_kind kind,
			  uint64_t target)
{
	assert_int_equal(event->kind, kind);
	assert_int_equal(event->target, target);
}

static void assert_other(const struct machine_event *event, enum machine_event_kind kind,
			 uint32_t offset, int value)
{
	assert_int_equal(event->kind, kind);
	assert_int_equal(event->offset, offset);
	assert_int_equal(event->value, value);
}

/* As gcc and clang assemble them. */
static void reads_x86_64(void **state)
{
	static const uint8_t code[] = {0xe8, 0xfb, 0xff, 0xff, 0xff,       /* call the first byte */
				       0xe9, 0x00, 0x01, 0x00, 0x00,       /* jmp */
				       0x0f, 0x84, 0x00, 0x02, 0x00, 0x00, /* je */
				       0xc6, 0x43, 0x55, 0x03,             /* movb $3, 0x55(%rbx) */
				       0x41, 0xc6, 0x44, 0x24, 0x65, 0x02, /* movb $2, 0x65(%r12) */
				       0x40, 0x88, 0x75, 0x21, /* mov %sil, 0x21(%rbp) */
				       0xc1, 0xeb, 0x17,       /* shr $23, %ebx */
				       0x41, 0xc1, 0xed, 0x0e, 0x90, 0x90}; /* shr $14, %r13d */
	struct seen seen = visit(EM_X86_64, code, sizeof(code));

	(void)state;
	assert_int_equal(seen.count, 8);
	assert_branch(&seen.events[0], MACHINE_CALL, ADDRESS);
	assert_branch(&seen.events[1], MACHINE_JUMP, ADDRESS + 10 + 0x100);
	assert_branch(&seen.events[2], MACHINE_JUMP, ADDRESS + 16 + 0x200);
	assert_other(&seen.events[3], MACHINE_STORE, 0x55, 3);
	assert_other(&seen.events[4], MACHINE_STORE, 0x65, 2);
	assert_other(&seen.events[5], MACHINE_STORE, 0x21, -1);
	assert_other(&seen.events[6], MACHINE_SHIFT, 23, 0);
	assert_other(&seen.events[7], MACHINE_SHIFT, 14, 0);
}

/* A store that several paths share, each with its own constant, as clang -O2 likes it. */
static void reads_what_paths_share_x86_64(void **state)
{
	static const uint8_t code[] = {
		0xb0, 0x02,                         /* mov $2, %al */
		0xeb, 0x0c,                         /* jmp to the store */
		0xb0, 0x03,                         /* mov $3, %al */
		0x84, 0xc9,                         /* test %cl, %cl */
		0x0f, 0x84, 0x02, 0x00, 0x00, 0x00, /* je to the store */
		0x31, 0xc0,                         /* xor %eax, %eax */
		0x41, 0x88, 0x47, 0x21,             /* mov %al, 0x21(%r15) */
		0x90, 0x90,
	};
	struct seen seen = visit(EM_X86_64, code, sizeof(code));

	(void)state;
	assert_int_equal(seen.count, 4);
	assert_other(&seen.events[0], MACHINE_STORE, 0x21, 2);
	assert_branch(&seen.events[1], MACHINE_JUMP, ADDRESS + 16);
	assert_other(&seen.events[2], MACHINE_STORE, 0x21, 3);
	assert_other(&seen.events[3], MACHINE_STORE, 0x21, 0);
}

/* The constants of other registers are none of it, nor what was loaded too long ago. */
static void tells_registers_apart(void **state)
{
	static const uint8_t stores[][12] = {
		{0xb1, 0x02, 0x88, 0x47, 0x21, 0x90, 0x90},             /* cl; al */
		{0x41, 0xb0, 0x02, 0x88, 0x47, 0x21, 0x90},             /* r8b; al */
		{0x40, 0xb6, 0x02, 0x40, 0x88, 0x77, 0x21},             /* sil; sil */
		{0x41, 0xb8, 1, 0, 0, 0, 0x44, 0x88, 0x47, 0x21, 0x90}, /* r8d; r8b */
		{0xb8, 0, 1, 0, 0, 0x88, 0x47, 0x21, 0x90},             /* eax, but no byte */
		{0x45, 0x31, 0xc0, 0x44, 0x88, 0x47, 0x21, 0x90},       /* r8d; r8b */
	};
	static const int values[] = {-1, -1, 2, 1, -1, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		struct seen seen = visit(EM_X86_64, stores[i], sizeof(stores[i]));

		assert_int_equal(seen.count, 1);
		assert_other(&seen.events[0], MACHINE_STORE, 0x21, values[i]);
	}
}

static void reads_arm64(void **state)
{
	static const uint32_t code[] = {
		0x94000010, /* bl +0x40 */
		0x17ffffff, /* b -4 */
		0x54000080, /* b.eq +0x10 */
		0xb5ffffe0, /* cbnz x0, -4 */
		0x36000040, /* tbz w0, #0, +8 */
		0x52800062, /* mov w2, #3 */
		0x39015662, /* strb w2, [x19, #85] */
		0x3901567f, /* strb wzr, [x19, #85] */
		0x39019661, /* strb w1, [x19, #101] */
		0x53177c20, /* lsr w0, w1, #23 */
		0x530e5c20, /* ubfx w0, w1, #14, #10 */
		0xd3587c20, /* ubfx x0, x1, #24, #8 */
		0xd350fc20, /* lsr x0, x1, #16 */
		0x53175820, /* lsl w0, w1, #9, which is UBFM by 23 */
		0xd369a020, /* lsl x0, x1, #23 */
		0xd37c1c20, /* ubfiz x0, x1, #4, #8 */
	};
	struct seen seen = visit(EM_AARCH64, code, sizeof(code));

	(void)state;
	assert_int_equal(seen.count, 12);
	assert_branch(&seen.events[0], MACHINE_CALL, ADDRESS + 0x40);
	assert_branch(&seen.events[1], MACHINE_JUMP, ADDRESS);
	assert_branch(&seen.events[2], MACHINE_JUMP, ADDRESS + 8 + 0x10);
	assert_branch(&seen.events[3], MACHINE_JUMP, ADDRESS + 12 - 4);
	assert_branch(&seen.events[4], MACHINE_JUMP, ADDRESS + 16 + 8);
	assert_other(&seen.events[5], MACHINE_STORE, 85, 3);
	assert_other(&seen.events[6], MACHINE_STORE, 85, 0);
	assert_other(&seen.events[7], MACHINE_STORE, 101, -1);
	assert_other(&seen.events[8], MACHINE_SHIFT, 23, 0);
	assert_other(&seen.events[9], MACHINE_SHIFT, 14, 0);
	assert_other(&seen.events[10], MACHINE_SHIFT, 24, 0);
	assert_other(&seen.events[11], MACHINE_SHIFT, 16, 0);
}

struct addresses {
	uint64_t items[MOST];
	size_t count;
};

static void note_address(void *context, uint64_t address)
{
	struct addresses *addresses = context;

	assert_in_range(addresses->count, 0, MOST - 1);
	addresses->items[addresses->count++] = address;
}

static void expect_addresses(uint16_t machine, const void *code, size_t size,
			     const uint64_t *expected, size_t count)
{
	struct addresses found = {.count = 0};

	machine_code__visit_addresses(machine, code, size, ADDRESS, note_address, &found);
	assert_int_equal(found.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(found.items[i], expected[i]);
}

/* As gcc and clang put a function's address into a register. */
static void reads_addresses_x86_64(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x8d, 0x35, 0x00, 0x01, 0x00, 0x00, /* lea 0x100(%rip), %rsi */
		0x4c, 0x8d, 0x05, 0xf9, 0xff, 0xff, 0xff, /* lea -7(%rip), %r8 */
		0xbe, 0x00, 0x12, 0x40, 0x00,             /* mov $0x401200, %esi */
		0x48, 0xc7, 0xc1, 0x00, 0x13, 0x40, 0x00, /* mov $0x401300, %rcx */
		0x48, 0xba, 0x00, 0x14, 0x40, 0x00, 0x01,
		0x00, 0x00, 0x00,                         /* movabs $0x100401400, %rdx */
		0x48, 0x8d, 0x74, 0x24, 0x08,             /* lea 8(%rsp), %rsi */
		0x48, 0x8b, 0x35, 0x00, 0x01, 0x00, 0x00, /* mov 0x100(%rip), %rsi */
	};
	static const uint64_t expected[] = {ADDRESS + 7 + 0x100, ADDRESS + 7, 0x401200, 0x401300,
					    0x100401400};

	(void)state;
	expect_addresses(EM_X86_64, code, sizeof(code), expected, 5);
}

static void reads_addresses_arm64(void **state)
{
	static const uint32_t code[] = {
		0x91004021, /* add x1, x1, #16 */
		0xb0000001, /* adrp x1, of the next page */
		0x90ffffe2, /* adrp x2, four pages before */
		0x91048021, /* add x1, x1, #0x120 */
		0x91000043, /* add x3, x2, #0 */
		0x10000104, /* adr x4, +0x20 */
	};
	static const uint64_t expected[] = {ADDRESS + 0x1120, ADDRESS - 0x4000, ADDRESS + 20 + 32};

	(void)state;
	expect_addresses(EM_AARCH64, code, sizeof(code), expected, 3);
}

/* On the heap, where the sanitizer sees a read beyond it. */
static void reads_no_byte_beyond_the_code(void **state)
{
	static const uint8_t starts[] = {0xe8, 0xe9, 0x0f, 0xc6, 0x88, 0xc1, 0x44, 0x84,
					 0xeb, 0x70, 0x48, 0x8d, 0xc7, 0xb8, 0xbf};

	(void)state;
	for (size_t size = 0; size < 12; size++) {
		uint8_t *code = test_malloc(size + 1);

		for (size_t i = 0; i < sizeof(starts); i++) {
			struct seen seen = {.count = 0};
			struct addresses addresses = {.count = 0};

			memset(code, starts[i], size + 1);
			machine_code__visit(EM_X86_64, code, size, ADDRESS, note, &seen);
			seen.count = 0;
			machine_code__visit(EM_AARCH64, code, size, ADDRESS, note, &seen);
			machine_code__visit_addresses(EM_X86_64, code, size, ADDRESS, note_address,
						      &addresses);
			addresses.count = 0;
			machine_code__visit_addresses(EM_AARCH64, code, size, ADDRESS, note_address,
						      &addresses);
		}
		test_free(code);
	}
}

static void knows_nothing_of_other_machines(void **state)
{
	static const uint8_t code[64] = {0xe8};

	(void)state;
	assert_int_equal(visit(EM_RISCV, code, sizeof(code)).count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_x86_64),
		cmocka_unit_test(reads_what_paths_share_x86_64),
		cmocka_unit_test(tells_registers_apart),
		cmocka_unit_test(reads_arm64),
		cmocka_unit_test(reads_addresses_x86_64),
		cmocka_unit_test(reads_addresses_arm64),
		cmocka_unit_test(reads_no_byte_beyond_the_code),
		cmocka_unit_test(knows_nothing_of_other_machines),
	};

	return cmocka_run_group_tests_name("machine_code", tests, NULL, NULL);
}
