/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two adjacent operands never occur within an expression of Lua: the second begins a statement. */
#include "source/definitions_parser.h"

#include <errno.h>
#include <string.h>

#include "source/definition_name.h"

/* ---- definitions */

static void add_name(struct parser *parser, uint32_t path, struct definition *definition)
{
	int error = 0;

	if (parser__has_text(parser, path))
		error = definition_list__add_name(parser->found, parser->text + path,
						  &definition->name);
	if (error)
		parser__fail(parser, error);
}

/*
 * What the value that begins here is assigned to. The right side of "and" and "or" is the value of
 * the whole, if it is evaluated and nothing follows it.
 */
static uint32_t path_of_value(const struct parser *parser, const struct scope *scope)
{
	bool is_whole = parser->previous == '=' || parser->previous == ',' ||
			parser->previous == TOKEN_OR || parser->previous == TOKEN_AND;

	if (scope->phase != PHASE_VALUES || !is_whole || scope->ifs ||
	    scope->value >= scope->target_count || scope->value >= TARGETS_MAX)
		return NO_PATH;
	return scope->targets[scope->value];
}

static void begin_function(struct parser *parser)
{
	struct scope *around = parser__current(parser), *scope;
	bool is_statement = scope__holds_statements(around) &&
			    (around->phase == PHASE_START || !around->expects_operand);
	uint32_t path = is_statement ? NO_PATH : path_of_value(parser, around);

	if (is_statement)
		parser__begin_statement(parser, PHASE_OTHER);
	scope = parser__push(parser, SCOPE_FUNCTION);
	if (!scope)
		return;
	scope->phase = PHASE_HEAD;
	scope->is_named = is_statement;
	scope->definition.line = parser->token.line;
	add_name(parser, path, &scope->definition);
	if (is_statement)
		parser__begin_path(parser);
}

/* The value is not the function if it is an operand of anything but "or". */
static void check_value(struct parser *parser)
{
	struct definition *last = &parser->found->items[parser->found->count - 1];
	int kind = parser->token.kind;

	if (kind == TOKEN_AND || kind == TOKEN_OPERATOR ||
	    (kind > 0 && kind < TOKEN_END && strchr("+-*/%^<>&|~", kind)))
		last->name = 0;
}

static void end_function(struct parser *parser)
{
	struct scope *scope = parser__current(parser);
	bool is_named = scope->is_named;
	int error;

	scope->definition.last_line = parser->token.line;
	error = definition_list__add(parser->found, &scope->definition);
	if (error)
		parser__fail(parser, error);
	parser__pop(parser);
	if (is_named) {
		parser__begin_statement(parser, PHASE_START);
		return;
	}
	parser__end_operand(parser);
	parser__current(parser)->is_callable = false;
	parser->has_closed = !parser->error;
}

/* ---- tokens */

/* The name and the parameters of a function. */
static void read_head(struct parser *parser)
{
	struct scope *scope = parser__current(parser);
	const struct token *token = &parser->token;

	switch (token->kind) {
	case TOKEN_NAME:
		if (scope->is_named && !scope->is_attribute)
			parser__append_name(parser, parser->previous == ':' ? ":" : ".", token);
		break;
	case '<': /* type parameters */
		scope->is_attribute = true;
		break;
	case '(':
		if (scope->is_named)
			add_name(parser, scope->path, &scope->definition);
		scope->definition.open_line = token->line;
		parser__push(parser, SCOPE_PAREN);
		break;
	case '.':
	case ':':
		break;
	default:
		if (!scope->is_attribute)
			parser__fail(parser, -EINVAL);
	}
}

/* "[key]" has ended: ".key" if that is the same, "[i]" otherwise. */
static void append_key(struct parser *parser, const struct scope *bracket)
{
	const struct token *key = &bracket->key;
	bool is_string = key->kind == TOKEN_STRING;
	bool is_plain = bracket->tokens == 1 &&
			definition_name__is_printable(key->text, key->length) &&
			(is_string || key->kind == TOKEN_NAME || key->kind == TOKEN_NUMBER);
	struct scope *scope = parser__current(parser);

	if (is_plain && is_string && definition_name__is_identifier(key->text, key->length)) {
		parser__append_name(parser, ".", key);
	} else if (is_plain && parser__has_text(parser, scope->path)) {
		parser__append(parser, "[", 1);
		if (is_string)
			parser__append(parser, "\"", 1);
		parser__append(parser, key->text, key->length);
		parser__append(parser, is_string ? "\"]" : "]", is_string ? 2 : 1);
	} else {
		scope->path = NO_PATH;
		scope->is_nameless = true;
	}
}

static void begin_brackets(struct parser *parser)
{
	struct scope *around = parser__current(parser);
	bool is_key = around->kind == SCOPE_TABLE && around->phase == PHASE_START;

	if (is_key) {
		parser__begin_path(parser);
		around->phase = PHASE_TARGETS;
	}
	parser__push(parser, SCOPE_BRACKET);
}

static void begin_table(struct parser *parser)
{
	struct scope *around = parser__current(parser), *scope;
	uint32_t path = around->expects_operand ? path_of_value(parser, around) : NO_PATH;

	around->is_callable = !around->expects_operand; /* f{...} is a call */
	scope = parser__push(parser, SCOPE_TABLE);
	if (scope)
		scope->prefix = path;
}

static void close_bracket(struct parser *parser, enum scope_kind kind)
{
	struct scope *scope = parser__current(parser), *around;
	struct scope closed = *scope;

	if (scope->kind != kind || parser->depth == 1) {
		parser__fail(parser, -EINVAL);
		return;
	}
	parser__pop(parser);
	around = parser__current(parser);
	around->is_callable |= kind != SCOPE_TABLE;
	if (around->phase == PHASE_HEAD) {
		parser__begin_statement(parser, PHASE_START);
	} else if (kind == SCOPE_BRACKET && around->phase == PHASE_TARGETS && !around->is_type) {
		append_key(parser, &closed);
		around->expects_operand = false;
	} else {
		parser__end_operand(parser);
	}
}

static void end_target(struct parser *parser)
{
	struct scope *scope = parser__current(parser);

	if (scope->target_count < TARGETS_MAX)
		scope->targets[scope->target_count++] =
			parser__has_text(parser, scope->path) ? scope->path : NO_PATH;
	scope->path = NO_PATH;
	scope->is_type = false;
	scope->expects_operand = true;
}

static void read_name(struct parser *parser)
{
	struct scope *scope = parser__current(parser);
	bool begins = scope->phase == PHASE_START ||
		      (scope->phase == PHASE_TARGETS && parser->previous == ',');

	if (begins) {
		scope->phase = PHASE_TARGETS;
		parser__begin_path(parser);
		parser__append_name(parser, ".", &parser->token);
	} else if (scope->phase == PHASE_TARGETS && !scope->is_type && parser->previous == '.') {
		if (scope->is_nameless)
			parser__begin_path(parser);
		parser__append_name(parser, ".", &parser->token);
	}
	scope->expects_operand = false;
	scope->is_callable = !scope->is_local || scope->phase != PHASE_TARGETS || scope->is_type;
}

/* A comma, or a semicolon between the fields of a table. */
static void read_separator(struct parser *parser)
{
	struct scope *scope = parser__current(parser);

	if (scope->kind == SCOPE_TABLE)
		parser__begin_statement(parser, PHASE_START);
	else if (scope->phase == PHASE_TARGETS)
		end_target(parser);
	else if (scope->phase == PHASE_VALUES)
		scope->value++;
	scope->expects_operand = true;
}

static void read_operator(struct parser *parser)
{
	struct scope *scope = parser__current(parser);

	if (scope->phase == PHASE_TARGETS && parser->token.kind == ':' && scope->is_local)
		scope->is_type = true;
	else if (scope->phase == PHASE_TARGETS && parser->token.kind == '<' &&
		 scope__holds_statements(scope))
		scope->is_attribute = true;
	else if (scope->phase == PHASE_TARGETS && parser->token.kind != '.' && !scope->is_type)
		scope->path = NO_PATH;
	else if (scope->phase == PHASE_START)
		scope->phase = PHASE_OTHER;
	scope->expects_operand = true;
}

static void read_equals(struct parser *parser)
{
	struct scope *scope = parser__current(parser);

	if (scope->phase == PHASE_TARGETS) {
		end_target(parser);
		scope->phase = PHASE_VALUES;
	}
	scope->expects_operand = true;
}

static void read_string(struct parser *parser)
{
	struct scope *scope = parser__current(parser);

	if (scope->phase == PHASE_START)
		scope->phase = PHASE_OTHER;
	scope->is_callable = !scope->expects_operand; /* f"..." is a call */
	parser__end_operand(parser);
}

static void read_semicolon(struct parser *parser)
{
	if (scope__holds_statements(parser__current(parser)))
		parser__begin_statement(parser, PHASE_START);
	else
		read_separator(parser);
}

/* "::name::"; in a dialect, "value :: type". */
static void read_label(struct parser *parser)
{
	struct scope *scope = parser__current(parser);

	if (!scope__holds_statements(scope)) {
		scope->expects_operand = true;
	} else if (scope->is_label) {
		parser__begin_statement(parser, PHASE_START);
	} else {
		parser__begin_statement(parser, PHASE_OTHER);
		scope->is_label = true;
	}
}

static void begin_block(struct parser *parser, enum phase phase)
{
	if (parser__push(parser, SCOPE_BLOCK))
		parser__begin_statement(parser, phase);
}

static void read_if(struct parser *parser)
{
	struct scope *scope = parser__current(parser);
	bool is_expression = !scope__holds_statements(scope) ||
			     (scope->phase != PHASE_START && scope->expects_operand);

	if (is_expression) {
		scope->ifs++;
		scope->expects_operand = true;
	} else {
		begin_block(parser, PHASE_OTHER);
	}
}

/* "then", "else" and "elseif". */
static void read_branch(struct parser *parser)
{
	struct scope *scope = parser__current(parser);

	if (scope->ifs) {
		scope->ifs -= parser->token.kind == TOKEN_ELSE;
		scope->expects_operand = true;
	} else {
		parser__begin_statement(parser, parser->token.kind == TOKEN_ELSEIF ? PHASE_OTHER
										   : PHASE_START);
	}
}

static void end_block(struct parser *parser)
{
	struct scope *scope = parser__current(parser);
	bool is_until = parser->token.kind == TOKEN_UNTIL;

	if (!scope__holds_statements(scope) || parser->depth == 1) {
		parser__fail(parser, -EINVAL);
	} else if (scope->kind == SCOPE_FUNCTION) {
		if (is_until || scope->phase == PHASE_HEAD)
			parser__fail(parser, -EINVAL);
		else
			end_function(parser);
	} else {
		parser__pop(parser);
		parser__begin_statement(parser, is_until ? PHASE_OTHER : PHASE_START);
	}
}

static void read_operand_or_operator(struct parser *parser)
{
	struct scope *scope = parser__current(parser);

	switch (parser->token.kind) {
	case TOKEN_NAME:
		read_name(parser);
		break;
	case TOKEN_STRING:
		read_string(parser);
		break;
	case TOKEN_NUMBER:
	case TOKEN_DOTS:
	case TOKEN_NIL:
	case TOKEN_TRUE:
	case TOKEN_FALSE:
		if (scope->phase == PHASE_START)
			scope->phase = PHASE_OTHER;
		scope->expects_operand = scope->is_callable = false;
		break;
	case '=':
		read_equals(parser);
		break;
	case ',':
		read_separator(parser);
		break;
	case ';':
		read_semicolon(parser);
		break;
	default:
		read_operator(parser);
	}
}

/* A statement ends where an operand follows another one that is not called with it. */
static void end_statement(struct parser *parser)
{
	const struct scope *scope = parser__current(parser);

	if (!scope__holds_statements(scope) || scope->phase == PHASE_START ||
	    scope->phase == PHASE_HEAD)
		return;
	switch (parser->token.kind) {
	case TOKEN_NAME:
	case TOKEN_IF:
		if (!scope->expects_operand)
			parser__begin_statement(parser, PHASE_START);
		break;
	case '(':
		if (!scope->expects_operand && !scope->is_callable)
			parser__begin_statement(parser, PHASE_START);
		break;
	case TOKEN_BREAK:
	case TOKEN_FOR:
	case TOKEN_LOCAL:
	case TOKEN_REPEAT:
	case TOKEN_RETURN:
	case TOKEN_WHILE:
		parser__begin_statement(parser, PHASE_START);
	}
}

static void read_keyword_or_bracket(struct parser *parser)
{
	switch (parser->token.kind) {
	case TOKEN_FUNCTION:
		begin_function(parser);
		break;
	case TOKEN_LOCAL:
		parser__current(parser)->is_local = true;
		break;
	case TOKEN_BREAK:
		parser__begin_statement(parser, PHASE_START);
		break;
	case TOKEN_FOR:
	case TOKEN_WHILE:
	case TOKEN_RETURN:
		parser__begin_statement(parser, PHASE_OTHER);
		break;
	case TOKEN_DO:
	case TOKEN_REPEAT:
		begin_block(parser, PHASE_START);
		break;
	case TOKEN_IF:
		read_if(parser);
		break;
	case TOKEN_THEN:
	case TOKEN_ELSE:
	case TOKEN_ELSEIF:
		read_branch(parser);
		break;
	case TOKEN_END_BLOCK:
	case TOKEN_UNTIL:
		end_block(parser);
		break;
	case TOKEN_LABEL:
		read_label(parser);
		break;
	case '(':
		parser__push(parser, SCOPE_PAREN);
		break;
	case '[':
		begin_brackets(parser);
		break;
	case '{':
		begin_table(parser);
		break;
	case ')':
		close_bracket(parser, SCOPE_PAREN);
		break;
	case ']':
		close_bracket(parser, SCOPE_BRACKET);
		break;
	case '}':
		close_bracket(parser, SCOPE_TABLE);
		break;
	default:
		read_operand_or_operator(parser);
	}
}

static void read_token(struct parser *parser)
{
	struct scope *scope = parser__current(parser);

	if (parser->has_closed)
		check_value(parser);
	parser->has_closed = false;
	if (scope->kind == SCOPE_BRACKET && parser->token.kind != ']' && !scope->tokens++)
		scope->key = parser->token;
	if (scope->phase == PHASE_HEAD) {
		read_head(parser);
	} else if (scope->phase == PHASE_TARGETS && scope->is_attribute) {
		scope->is_attribute = parser->token.kind != '>';
		scope->expects_operand = scope->is_callable = false;
	} else {
		end_statement(parser);
		read_keyword_or_bracket(parser);
	}
	parser->previous = parser->token.kind;
}

int parser__parse(struct parser *parser)
{
	begin_block(parser, PHASE_START);
	while (!parser->error) {
		if (!lexer__next(&parser->lexer, &parser->token))
			return -EINVAL;
		if (parser->token.kind == TOKEN_END)
			return parser->depth == 1 ? 0 : -EINVAL;
		read_token(parser);
	}
	return parser->error;
}
