/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/lexer.h"

#include <string.h>

static const struct keyword {
	const char *text;
	enum token_kind kind;
} keywords[] = {
	{"and", TOKEN_AND},       {"break", TOKEN_BREAK},   {"do", TOKEN_DO},
	{"else", TOKEN_ELSE},     {"elseif", TOKEN_ELSEIF}, {"end", TOKEN_END_BLOCK},
	{"false", TOKEN_FALSE},   {"for", TOKEN_FOR},       {"function", TOKEN_FUNCTION},
	{"if", TOKEN_IF},         {"in", TOKEN_IN},         {"local", TOKEN_LOCAL},
	{"nil", TOKEN_NIL},       {"not", TOKEN_NOT},       {"or", TOKEN_OR},
	{"repeat", TOKEN_REPEAT}, {"return", TOKEN_RETURN}, {"then", TOKEN_THEN},
	{"true", TOKEN_TRUE},     {"until", TOKEN_UNTIL},   {"while", TOKEN_WHILE},
};

#define KEYWORDS       (sizeof(keywords) / sizeof(keywords[0]))
#define KEYWORD_LENGTH 8 /* of the longest */

/* The character `ahead` of the current one; 0 beyond the end. */
static char peek(const struct lexer *lexer, size_t ahead)
{
	return ahead < (size_t)(lexer->end - lexer->at) ? lexer->at[ahead] : '\0';
}

/* The locale must not matter. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Some VMs allow every byte of UTF-8 in names. */
static bool is_name(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (unsigned char)c >= 0x80;
}

static bool is_newline(char c)
{
	return c == '\n' || c == '\r';
}

/* "\r\n" and "\n\r" end one line, like either alone (llex.c, inclinenumber()). */
static void skip_newline(struct lexer *lexer)
{
	char first = *lexer->at++;

	if (is_newline(peek(lexer, 0)) && *lexer->at != first)
		lexer->at++;
	lexer->line++;
}

static void skip_line(struct lexer *lexer)
{
	while (lexer->at < lexer->end && !is_newline(*lexer->at))
		lexer->at++;
}

void lexer__start(struct lexer *lexer, const char *text, size_t size)
{
	*lexer = (struct lexer){.at = text, .end = text + size, .line = 1};
	if (size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3))
		lexer->at += 3;
	if (peek(lexer, 0) == '#')
		skip_line(lexer);
}

/* The number of '=' between the brackets that open a long string here; -1: none opens here. */
static int long_level(const struct lexer *lexer)
{
	size_t level = 0;

	if (peek(lexer, 0) != '[')
		return -1;
	while (peek(lexer, level + 1) == '=' && level < INT16_MAX)
		level++;
	return peek(lexer, level + 1) == '[' ? (int)level : -1;
}

static bool closes(const struct lexer *lexer, int level)
{
	for (int i = 1; i <= level; i++)
		if (peek(lexer, (size_t)i) != '=')
			return false;
	return peek(lexer, (size_t)level + 1) == ']';
}

/* Skips a long string; `token`, unless NULL, gets its content. False: it does not end. */
static bool read_long(struct lexer *lexer, int level, struct token *token)
{
	const char *begin = lexer->at += level + 2;

	while (lexer->at < lexer->end) {
		if (*lexer->at == ']' && closes(lexer, level)) {
			if (token) {
				token->text = begin;
				token->length = (size_t)(lexer->at - begin);
			}
			lexer->at += level + 2;
			return true;
		}
		if (is_newline(*lexer->at))
			skip_newline(lexer);
		else
			lexer->at++;
	}
	return false;
}

/* After "--". False: a long comment does not end. */
static bool skip_comment(struct lexer *lexer)
{
	int level = long_level(lexer);

	if (level >= 0)
		return read_long(lexer, level, NULL);
	skip_line(lexer);
	return true;
}

/* White space and comments. False: a comment does not end. */
static bool skip_space(struct lexer *lexer)
{
	while (lexer->at < lexer->end) {
		char c = *lexer->at;

		if (is_newline(c)) {
			skip_newline(lexer);
		} else if (c == ' ' || c == '\t' || c == '\f' || c == '\v') {
			lexer->at++;
		} else if (c == '-' && peek(lexer, 1) == '-') {
			lexer->at += 2;
			if (!skip_comment(lexer))
				return false;
		} else {
			return true;
		}
	}
	return true;
}

/* A backslash and what follows it: a line that continues, "\z" with the space after it. */
static void skip_escape(struct lexer *lexer)
{
	bool skips_space = peek(lexer, 1) == 'z';

	lexer->at++;
	if (is_newline(peek(lexer, 0)))
		skip_newline(lexer);
	else if (lexer->at < lexer->end)
		lexer->at++;
	while (skips_space && lexer->at < lexer->end) {
		if (is_newline(*lexer->at))
			skip_newline(lexer);
		else if (strchr(" \t\f\v", *lexer->at) && *lexer->at)
			lexer->at++;
		else
			break;
	}
}

/*
 * A string in quotes. A dialect's, in backticks, go over lines and have expressions in braces,
 * whose own strings may have backticks. False: it does not end.
 */
static bool read_string(struct lexer *lexer, struct token *token)
{
	char quote = *lexer->at++;
	uint32_t braces = 0;

	token->text = lexer->at;
	while (lexer->at < lexer->end) {
		char c = *lexer->at;

		if (c == quote && !braces) {
			token->length = (size_t)(lexer->at++ - token->text);
			return true;
		}
		if (c == '\\') {
			skip_escape(lexer);
			continue;
		}
		if (quote == '`')
			braces += (c == '{') - (c == '}' && braces);
		if (!is_newline(c))
			lexer->at++;
		else if (quote == '`')
			skip_newline(lexer);
		else
			return false;
	}
	return false;
}

/* In a hexadecimal number, "e" is a digit: 0xFE-1 is a difference. */
static void read_number(struct lexer *lexer)
{
	bool is_hexadecimal = peek(lexer, 0) == '0' && (peek(lexer, 1) | 0x20) == 'x';
	const char *exponents = is_hexadecimal ? "pP" : "eE";

	for (;;) {
		char c = peek(lexer, 0);

		if (!is_name(c) && c != '.')
			return;
		lexer->at++;
		if (strchr(exponents, c) && (peek(lexer, 0) == '+' || peek(lexer, 0) == '-'))
			lexer->at++;
	}
}

static int name_kind(const char *text, size_t length)
{
	for (size_t i = 0; length <= KEYWORD_LENGTH && i < KEYWORDS; i++)
		if (*text == *keywords[i].text && strlen(keywords[i].text) == length &&
		    !memcmp(text, keywords[i].text, length))
			return keywords[i].kind;
	return TOKEN_NAME;
}

/* Tokens whose second character must not be read as the next token; longest first. */
static const struct long_operator {
	const char *text;
	int kind;
} operators[] = {
	{"...", TOKEN_DOTS},    {"..=", TOKEN_OPERATOR}, {"//=", TOKEN_OPERATOR},
	{"..", TOKEN_OPERATOR}, {"//", TOKEN_OPERATOR},  {"==", TOKEN_OPERATOR},
	{"~=", TOKEN_OPERATOR}, {"!=", TOKEN_OPERATOR},  {"<=", TOKEN_OPERATOR},
	{">=", TOKEN_OPERATOR}, {"->", TOKEN_OPERATOR},  {"+=", TOKEN_OPERATOR},
	{"-=", TOKEN_OPERATOR}, {"*=", TOKEN_OPERATOR},  {"/=", TOKEN_OPERATOR},
	{"%=", TOKEN_OPERATOR}, {"^=", TOKEN_OPERATOR},  {"::", TOKEN_LABEL},
};

#define OPERATORS (sizeof(operators) / sizeof(operators[0]))

static void read_operator(struct lexer *lexer, struct token *token)
{
	size_t left = (size_t)(lexer->end - lexer->at);

	for (size_t i = 0; i < OPERATORS; i++) {
		size_t length = strlen(operators[i].text);

		if (*operators[i].text == *lexer->at && length <= left &&
		    !memcmp(lexer->at, operators[i].text, length)) {
			lexer->at += length;
			token->kind = operators[i].kind;
			return;
		}
	}
	token->kind = (unsigned char)*lexer->at++;
}

static bool read_token(struct lexer *lexer, struct token *token)
{
	char c = peek(lexer, 0);
	int level = long_level(lexer);

	if (level >= 0 || c == '"' || c == '\'' || c == '`') {
		token->kind = TOKEN_STRING;
		return level >= 0 ? read_long(lexer, level, token) : read_string(lexer, token);
	}
	if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
		token->kind = TOKEN_NUMBER;
		read_number(lexer);
	} else if (is_name(c)) {
		while (is_name(peek(lexer, 0)))
			lexer->at++;
		token->kind = name_kind(token->text, (size_t)(lexer->at - token->text));
	} else {
		read_operator(lexer, token);
	}
	token->length = (size_t)(lexer->at - token->text);
	return true;
}

bool lexer__next(struct lexer *lexer, struct token *token)
{
	bool is_whole = skip_space(lexer);

	*token = (struct token){.kind = TOKEN_END, .text = lexer->at, .line = lexer->line};
	if (!is_whole || lexer->at >= lexer->end)
		return is_whole;
	is_whole = read_token(lexer, token);
	token->line = lexer->line;
	return is_whole;
}
