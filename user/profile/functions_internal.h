/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For functions*.c alone: the table of functions, and what names it has for each. */
#ifndef LS_FUNCTIONS_INTERNAL_H
#define LS_FUNCTIONS_INTERNAL_H

#include "profile/functions.h"

#include <stddef.h>

#include "base/hash_table.h"
#include "profile/name_votes.h"

enum kind { KIND_SCRIPT = 1, KIND_NATIVE, KIND_C, KIND_PSEUDO, KIND_LINE, KIND_CALLED };

/* The lookup key of a function is this, followed by its source or name, as bytes. */
struct key_head {
	uint64_t number; /* shape, place or function */
	uint64_t file;   /* of a C function; 0 elsewhere */
	uint32_t kind;
	uint32_t line;
	uint32_t last_line;
	uint32_t program; /* of a C function; 0 elsewhere */
};

struct entry {
	uint32_t id;
	size_t key_size;
	UT_hash_handle hh;
	struct key_head key; /* followed by the text */
};

/* Kept for each function in `shown`, by id. */
struct naming {
	struct entry *entry; /* NULL: it was evicted */
	struct name_votes votes;
	char *given;        /* set by functions__rename() or functions__rename_c() */
	char *called;       /* of a C function: callers' name for it, and its place */
	bool is_symbol;     /* of a C function: the name in its identity is a symbol */
	bool is_given;      /* `given`, even if disputed, is from the program or a module */
	bool is_disputed;   /* processes disagree, so `given` is NULL */
	bool is_defined;    /* `given` is from its definition in the source text, */
	bool is_inferred;   /* or in bytecode, */
	bool is_doubtful;   /* which has two names for it: callers' names do not count either */
	uint32_t definer;   /* the program that looked for its definition last; 0: none did */
	uint32_t next_free; /* if it was evicted: the next free id */
	uint32_t function;  /* not 0: this is that function at a line, or as callers call it */
	struct line_table *lines; /* those of a prototype, for others whose cannot be read */
};

struct functions {
	struct entry *entries;
	struct ls_profile_function *shown;
	struct naming *namings;
	uint32_t count; /* highest id */
	uint32_t room;
	uint32_t first_free; /* head of the list of evicted ids; 0: none */
	uint32_t free_count;
	uint32_t programs;
	size_t line_bytes; /* of all lines that are kept */
};

static inline const char *text_of(const struct entry *entry)
{
	return (const char *)&entry->key + sizeof(entry->key);
}

#endif
