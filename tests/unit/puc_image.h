/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A prototype of PUC Lua in this process's own memory, and what call_site_puc.h reads from it. */
#ifndef TEST_PUC_IMAGE_H
#define TEST_PUC_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "offsets_puc.h"
#include "puc/bytecode_puc.h"
#include "puc/call_site_puc.h"

#define CODE_MAX   600
#define TABLE_MAX  300
#define STRING_MAX 400
#define TAG_STRING 68 /* LUA_TSTRING | BIT_ISCOLLECTABLE, 5.2 on */

struct value {
	uint64_t pointer;
	uint64_t tag;
};

struct local_var {
	uint64_t name;
	int32_t start_pc, end_pc;
};

struct image {
	struct ls_puc_layout layout;
	const struct bytecode_puc *bytecode;
	uint8_t proto[256];
	uint32_t code[CODE_MAX];
	uint32_t code_count;
	struct value constants[TABLE_MAX];
	uint32_t constant_count;
	struct local_var locals[TABLE_MAX];
	uint32_t local_count;
	struct value upvalues[TABLE_MAX]; /* Upvaldesc is as large, the name comes first as well */
	uint32_t upvalue_count;
	uint8_t strings[TABLE_MAX][STRING_MAX];
	size_t string_count;
};

extern struct image image;

/* Opcodes of 5.4, lopcodes.h */
enum op_5_4 {
	MOVE = 0,
	LOADK = 3,
	LOADKX = 4,
	GETUPVAL = 9,
	JMP = 56,
	CALL = 68,
	EXTRA = 82,
};

static inline uint64_t address_of(const void *object)
{
	return (uint64_t)(uintptr_t)object;
}

static inline uint32_t in_field(struct bytecode_field field, uint32_t number)
{
	return number << field.position;
}

/* Writes a number of `size` bytes. */
void image__put(void *at, size_t offset, uint64_t number, size_t size);

/* An empty prototype of Lua 5.`minor`, with the newest layout; 5.5 has that of 5.4. */
void image__start(int minor);

/* Each adds one; strings are returned by address, constants by index. */
uint64_t image__add_string(const char *text, size_t length);
uint32_t image__add_constant(const char *text);
void image__add_local(const char *name, int32_t start_pc, int32_t end_pc);
void image__add_upvalue(const char *name);
void image__add(uint32_t op, uint32_t a, uint32_t b, uint32_t c);
void image__add_wide(uint32_t op, uint32_t a, uint32_t bx);

/* Fills in the header, which a test may corrupt afterwards; reads the call at `pc`. */
void image__finish(void);
int image__read(uint32_t pc, struct call_site *site);

/* What reading the last instruction gives. */
void image__expect(enum call_site_kind kind, const char *name);
void image__expect_error(int error);

#endif
