/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A PUC Lua prototype, copied from the target as far as naming a call needs it. */
#ifndef LS_PROTO_PUC_H
#define LS_PROTO_PUC_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/target_memory.h"
#include "offsets_puc.h"

#define PROTO_PUC_NAME_SIZE 256

/* A local variable lives from the instruction at start_pc to the one before end_pc. */
struct local_var_puc {
	uint64_t name;
	int32_t start_pc;
	int32_t end_pc;
};

struct proto_puc {
	const struct target_memory *memory;
	const struct ls_puc_layout *layout;
	uint32_t *code; /* the instructions 0 .. code_count - 1, owned */
	uint32_t code_count;
	uint32_t constant_count;
	uint32_t local_count;
	uint32_t upvalue_count; /* with names: 0 in a stripped chunk of 5.1 */
	uint32_t nested_count;
	uint64_t constants;
	uint64_t locals;
	uint64_t upvalues;
	uint64_t nested;
	bool is_stripped;           /* of lines, and so of the names of variables */
	bool is_beyond_fingerprint; /* the fingerprint does not cover all that was read so far */
};

/*
 * Copies the prototype at `address` with its instructions up to and including `pc`. Returns 0;
 * -ENOMEM; -EFAULT: cannot be read; -EINVAL: no prototype, or no such instruction. Close it in any
 * case.
 */
int proto_puc__open(struct proto_puc *proto, const struct target_memory *memory,
		    const struct ls_puc_layout *layout, uint64_t address, uint32_t pc);
void proto_puc__close(struct proto_puc *proto);

/*
 * The same, with all its instructions. -E2BIG: there are more than `most`, which is below
 * 4,194,304.
 */
int proto_puc__open_whole(struct proto_puc *proto, const struct target_memory *memory,
			  const struct ls_puc_layout *layout, uint64_t address, uint32_t most);

/* Reads all local variables into locals[local_count]. 0, -EFAULT or -EINVAL. */
int proto_puc__locals(struct proto_puc *proto, struct local_var_puc *locals);

/* The addresses of all nested prototypes, into nested[nested_count]. Likewise. */
int proto_puc__nested(struct proto_puc *proto, uint64_t *nested);

/*
 * The following functions write a name of at most 255 bytes, which ends at its first NUL. They
 * return 1; 0: there is no name, and *name is undefined; -EFAULT or -EINVAL as above.
 */

/* Constant `index`, if it is a string. */
int proto_puc__constant(struct proto_puc *proto, uint32_t index, char name[PROTO_PUC_NAME_SIZE]);

/* The name of a local variable, which is item `index`. */
int proto_puc__local_name(struct proto_puc *proto, const struct local_var_puc *local,
			  uint32_t index, char name[PROTO_PUC_NAME_SIZE]);

/* The local variable that lives in `reg` at `pc`. */
int proto_puc__local(struct proto_puc *proto, uint32_t reg, int64_t pc,
		     char name[PROTO_PUC_NAME_SIZE]);

/* Upvalue `index`; "?" if the chunk was stripped. */
int proto_puc__upvalue(struct proto_puc *proto, uint32_t index, char name[PROTO_PUC_NAME_SIZE]);

/* 5.1: how many upvalues nested function `index` captures. The count, or -errno as above. */
int proto_puc__captures(struct proto_puc *proto, uint32_t index);

#endif
