/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parser that finds definitions. It knows statements only as far as names need it: it follows
 * blocks and brackets, the targets of assignments, and the keys of tables.
 */
#ifndef LS_DEFINITIONS_PARSER_H
#define LS_DEFINITIONS_PARSER_H

#include "source/definitions_scopes.h"

/* Finds the definitions in the text of the lexer. 0; -EINVAL; -E2BIG; -ENOMEM. */
int parser__parse(struct parser *parser);

#endif
