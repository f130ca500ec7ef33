/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For definitions*.c only: what the parser keeps. It knows statements only as far as names need it:
 * it follows blocks and brackets, the targets of assignments, and the keys of tables.
 */
#ifndef LS_DEFINITIONS_INTERNAL_H
#define LS_DEFINITIONS_INTERNAL_H

#include <stdbool.h>

#include "source/definitions.h"
#include "source/lexer.h"

#define SCOPES_MAX  1000      /* compilers allow 200 levels (LUAI_MAXCCALLS) */
#define NAMES_MAX   (8 << 20) /* bytes of all names */
#define TARGETS_MAX 16        /* of one assignment; further ones give no name */

struct definition {
	uint32_t line, open_line, last_line;
	uint32_t name; /* offset in the names; 0: none */
};

struct definitions {
	struct definition *items; /* in order of their last lines */
	uint32_t count, room;
	char *names; /* one after the other, each with its NUL; the first is empty */
	size_t names_size, names_room;
};

enum scope_kind {
	SCOPE_BLOCK,    /* of statements, up to "end" or "until" */
	SCOPE_FUNCTION, /* the same; from "function" */
	SCOPE_PAREN,
	SCOPE_BRACKET,
	SCOPE_TABLE,
};

/* Where in a statement, or in a table's field, the parser is. */
enum phase {
	PHASE_START,
	PHASE_HEAD,    /* of a function: its name and parameters */
	PHASE_TARGETS, /* what may turn out to be the left side of an assignment, or a key */
	PHASE_VALUES,  /* the right side */
	PHASE_OTHER,
};

#define NO_PATH UINT32_MAX

struct scope {
	enum scope_kind kind;
	enum phase phase;
	bool expects_operand;
	bool is_local;     /* the statement began with "local" */
	bool is_type;      /* what follows ':' in it, up to ',' or '=' */
	bool is_attribute; /* what follows '<' among its targets */
	bool is_label;     /* what follows "::" */
	bool is_nameless;  /* what the next field is in, as in "f().x", which is called "x" */
	bool is_named;     /* SCOPE_FUNCTION: by its own statement */
	uint32_t ifs;      /* open if expressions (Luau), which have no "end" */
	uint32_t tokens;   /* SCOPE_BRACKET: how many it holds */
	struct token key;  /* SCOPE_BRACKET: the first of them */
	struct definition definition;
	uint32_t prefix;               /* SCOPE_TABLE: what the table is called; NO_PATH */
	uint32_t mark;                 /* its paths begin here in the parser's text */
	uint32_t path;                 /* of the target that is being read; NO_PATH: none */
	uint32_t targets[TARGETS_MAX]; /* paths, or NO_PATH */
	uint32_t target_count, value;
};

struct parser {
	struct lexer lexer;
	struct token token;
	int previous; /* kind of the token before */
	struct definitions *found;
	struct scope *scopes;
	uint32_t depth;
	char *text; /* of all paths, each with its NUL */
	uint32_t used, room;
	bool has_closed; /* the last token ended a function that is part of an expression */
	int error;
};

/* ---- definitions.c */

/* Adds a definition. 0; -E2BIG; -ENOMEM. */
int definitions__add(struct definitions *definitions, const struct definition *definition);

/* Adds a name: *offset is where it is. Likewise. */
int definitions__add_name(struct definitions *definitions, const char *name, uint32_t *offset);

/* ---- definitions_parser.c */

/* Finds the definitions in the text of the lexer. 0; -EINVAL; -E2BIG; -ENOMEM. */
int parser__parse(struct parser *parser);

/* ---- definitions_scopes.c */

/* Keeps the first error. */
void parser__fail(struct parser *parser, int error);

struct scope *parser__current(struct parser *parser);

/* Enters a scope. NULL: it is nested too deep, which is an error of the parser. */
struct scope *parser__push(struct parser *parser, enum scope_kind kind);

/* Leaves the current scope, whose paths are dropped. */
void parser__pop(struct parser *parser);

void parser__begin_statement(struct parser *parser, enum phase phase);

/* An operand of the current scope has ended: a call or a parenthesis, which has no path. */
void parser__end_operand(struct parser *parser);

bool scope__holds_statements(const struct scope *scope);

/* The path of the current scope: begins one, which is empty or that of the table, or extends it. */
void parser__begin_path(struct parser *parser);
void parser__append(struct parser *parser, const char *text, size_t length);
void parser__append_name(struct parser *parser, const char *separator, const struct token *token);

/* Whether that path is not empty. */
bool parser__has_text(const struct parser *parser, uint32_t path);

#endif
