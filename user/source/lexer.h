/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Splits source text into the tokens of Lua, in all of its dialects at once. It accepts more than
 * any compiler does, because it reads text that one has already accepted.
 */
#ifndef LS_LEXER_H
#define LS_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A token of one character is that character; other operators are TOKEN_OPERATOR. */
enum token_kind {
	TOKEN_END = 256, /* of the text */
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_OPERATOR, /* binary, such as "==" or ".." */
	TOKEN_DOTS,     /* "..." */
	TOKEN_LABEL,    /* "::" */
	/* Keywords. "goto", "continue" and "global" are names in some dialects, so here too. */
	TOKEN_AND,
	TOKEN_BREAK,
	TOKEN_DO,
	TOKEN_ELSE,
	TOKEN_ELSEIF,
	TOKEN_END_BLOCK, /* "end" */
	TOKEN_FALSE,
	TOKEN_FOR,
	TOKEN_FUNCTION,
	TOKEN_IF,
	TOKEN_IN,
	TOKEN_LOCAL,
	TOKEN_NIL,
	TOKEN_NOT,
	TOKEN_OR,
	TOKEN_REPEAT,
	TOKEN_RETURN,
	TOKEN_THEN,
	TOKEN_TRUE,
	TOKEN_UNTIL,
	TOKEN_WHILE,
};

struct token {
	int kind;         /* enum token_kind, or a character */
	const char *text; /* in the source; of a string: between its quotes, with its escapes */
	size_t length;
	uint32_t line; /* where it ends, as compilers count */
};

struct lexer {
	const char *at, *end;
	uint32_t line;
};

/* Begins at the first line, after a byte order mark and a line that begins with '#'. */
void lexer__start(struct lexer *lexer, const char *text, size_t size);

/* False: a string or a comment does not end. */
bool lexer__next(struct lexer *lexer, struct token *token);

#endif
