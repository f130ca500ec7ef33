/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The scopes of the parser of definitions, and the paths of what they assign to. */
#ifndef LS_DEFINITIONS_SCOPES_H
#define LS_DEFINITIONS_SCOPES_H

#include <stdbool.h>

#include "source/definition_list.h"
#include "source/lexer.h"

#define SCOPES_MAX  1000 /* compilers allow 200 levels (LUAI_MAXCCALLS) */
#define TARGETS_MAX 16   /* of one assignment; further ones give no name */

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
	bool is_callable;  /* the last operand: a name, a parenthesis or a call, no literal */
	bool is_local;     /* the statement began with "local" */
	bool is_type;      /* what follows ':' in it, up to ',' or '=' */
	bool is_attribute; /* what follows '<' among its targets */
	bool is_label;     /* what follows "::" */
	bool is_nameless;  /* what the next field is in, as in "f().x", which is called "x" */
	bool is_named;     /* SCOPE_FUNCTION: by its own statement */
	uint32_t ifs;      /* open if expressions (of a dialect), which have no "end" */
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
