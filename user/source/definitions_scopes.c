/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/definitions_scopes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/definition_name.h"

void parser__fail(struct parser *parser, int error)
{
	if (!parser->error)
		parser->error = error;
}

struct scope *parser__current(struct parser *parser)
{
	return &parser->scopes[parser->depth - 1];
}

/* ---- paths, such as "M.a.b": that of a scope is the last one in the text */

static int reserve(struct parser *parser, size_t more)
{
	size_t room = parser->room ? parser->room : 4096;
	char *text;

	while (room < parser->used + more)
		room *= 2;
	if (room == parser->room)
		return 0;
	text = room <= NAMES_MAX ? realloc(parser->text, room) : NULL;
	if (!text) {
		parser__fail(parser, room <= NAMES_MAX ? -ENOMEM : -E2BIG);
		return -1;
	}
	parser->text = text;
	parser->room = (uint32_t)room;
	return 0;
}

void parser__append(struct parser *parser, const char *text, size_t length)
{
	struct scope *scope = parser__current(parser);

	if (scope->path == NO_PATH)
		return;
	if (parser->used - scope->path + length > DEFINITION_NAME_SIZE) {
		parser->used = scope->path;
		scope->path = NO_PATH;
		return;
	}
	/* The NUL is overwritten by what is appended. */
	if (reserve(parser, length))
		return;
	memcpy(parser->text + parser->used - 1, text, length);
	parser->used += (uint32_t)length;
	parser->text[parser->used - 1] = '\0';
}

void parser__begin_path(struct parser *parser)
{
	struct scope *scope = parser__current(parser);

	if (reserve(parser, 1))
		return;
	scope->path = parser->used++;
	scope->is_nameless = false;
	parser->text[scope->path] = '\0';
	if (scope->kind == SCOPE_TABLE && scope->prefix != NO_PATH) {
		size_t length = strlen(parser->text + scope->prefix);

		if (!reserve(parser, length))
			parser__append(parser, parser->text + scope->prefix, length);
	}
}

bool parser__has_text(const struct parser *parser, uint32_t path)
{
	return path != NO_PATH && parser->text[path];
}

void parser__append_name(struct parser *parser, const char *separator, const struct token *token)
{
	if (parser__has_text(parser, parser__current(parser)->path))
		parser__append(parser, separator, 1);
	parser__append(parser, token->text, token->length);
}

/* ---- scopes */

struct scope *parser__push(struct parser *parser, enum scope_kind kind)
{
	struct scope *scope = &parser->scopes[parser->depth];

	if (parser->depth == SCOPES_MAX) {
		parser__fail(parser, -E2BIG);
		return NULL;
	}
	parser->depth++;
	*scope = (struct scope){.kind = kind,
				.phase = kind == SCOPE_TABLE ? PHASE_START : PHASE_OTHER,
				.expects_operand = true,
				.mark = parser->used,
				.path = NO_PATH,
				.prefix = NO_PATH};
	return scope;
}

void parser__begin_statement(struct parser *parser, enum phase phase)
{
	struct scope *scope = parser__current(parser);

	scope->phase = phase;
	scope->expects_operand = true;
	scope->is_local = scope->is_type = scope->is_attribute = scope->is_label = false;
	scope->is_nameless = false;
	scope->path = NO_PATH;
	scope->target_count = scope->value = scope->ifs = 0;
	parser->used = scope->mark;
}

void parser__pop(struct parser *parser)
{
	parser->used = parser__current(parser)->mark;
	parser->depth--;
}

void parser__end_operand(struct parser *parser)
{
	struct scope *scope = parser__current(parser);

	scope->expects_operand = false;
	if (scope->phase == PHASE_START)
		scope->phase = PHASE_TARGETS;
	if (scope->is_type)
		return;
	scope->path = NO_PATH;
	scope->is_nameless = true;
}

bool scope__holds_statements(const struct scope *scope)
{
	return scope->kind == SCOPE_BLOCK || scope->kind == SCOPE_FUNCTION;
}
