/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "json/json_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"

#define NUMBER_LENGTH_MAX 64

void json_reader__init(struct json_reader *reader, char *text, size_t size)
{
	*reader = (struct json_reader){.start = text, .at = text, .end = text + size};
}

bool json_reader__fail(struct json_reader *reader, const char *failure)
{
	if (!reader->failure) {
		reader->failure = failure;
		reader->failed_at = (size_t)(reader->at - reader->start);
	}
	return false;
}

bool json_reader__has_failed(const struct json_reader *reader)
{
	return reader->failure != NULL;
}

size_t json_reader__place(const struct json_reader *reader)
{
	return (size_t)(reader->at - reader->start);
}

/* The text ends with NUL, which is no white space. */
static char peek(struct json_reader *reader)
{
	while (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\r' ||
	       *reader->at == '\t')
		reader->at++;
	return *reader->at;
}

static bool take(struct json_reader *reader, char wanted, const char *failure)
{
	if (reader->failure)
		return false;
	if (peek(reader) != wanted)
		return json_reader__fail(reader, reader->at == reader->end ? "the text ends here"
									   : failure);
	reader->at++;
	return true;
}

/* Enters, goes on or leaves, for both kinds of brackets. */
static bool next(struct json_reader *reader, bool *first, char open, char close,
		 const char *not_opened, const char *not_closed)
{
	bool is_first = *first;

	*first = false;
	if (is_first && !take(reader, open, not_opened))
		return false;
	if (reader->failure)
		return false;
	if (peek(reader) == close) {
		reader->at++;
		return false;
	}
	if (is_first)
		return true;
	/* A comma in front of the bracket fails at whatever is to follow it. */
	return take(reader, ',', not_closed);
}

bool json_reader__next_element(struct json_reader *reader, bool *first)
{
	return next(reader, first, '[', ']', "expected an array", "expected ',' or ']'");
}

bool json_reader__next_key(struct json_reader *reader, bool *first, char **key)
{
	return next(reader, first, '{', '}', "expected an object", "expected ',' or '}'") &&
	       json_reader__text(reader, key) && take(reader, ':', "expected ':'");
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool json_reader__uint_to(struct json_reader *reader, uint64_t most, uint64_t *value)
{
	uint64_t sum = 0;
	const char *at;

	if (reader->failure)
		return false;
	peek(reader);
	at = reader->at;
	if (!is_digit(*at) || (*at == '0' && is_digit(at[1])))
		return json_reader__fail(reader, "expected a whole number from 0");
	for (; is_digit(*at); at++) {
		sum = sum * 10 + (uint64_t)(*at - '0');
		if (sum > most)
			return json_reader__fail(reader, "the number is too large");
	}
	if (*at == '.' || *at == 'e' || *at == 'E')
		return json_reader__fail(reader, "expected a whole number");
	reader->at += at - reader->at;
	*value = sum;
	return true;
}

bool json_reader__uint(struct json_reader *reader, uint64_t *value)
{
	return json_reader__uint_to(reader, JSON_READER_UINT_MAX, value);
}

bool json_reader__int(struct json_reader *reader, int64_t *value)
{
	bool is_negative;
	uint64_t size;

	if (reader->failure)
		return false;
	is_negative = peek(reader) == '-';
	reader->at += is_negative;
	/* No white space follows a sign. */
	if (is_negative && !is_digit(*reader->at))
		return json_reader__fail(reader, "expected a whole number");
	if (!json_reader__uint(reader, &size))
		return false;
	*value = is_negative ? -(int64_t)size : (int64_t)size;
	return true;
}

static const char *skip_digits(const char *at)
{
	while (is_digit(*at))
		at++;
	return at;
}

/* The end of the number at `at`; NULL: it is none. */
static const char *number_end(const char *at)
{
	const char *digits = at += *at == '-';

	at = skip_digits(at);
	if (at == digits || (*digits == '0' && at - digits > 1))
		return NULL;
	if (*at == '.') {
		digits = ++at;
		at = skip_digits(at);
		if (at == digits)
			return NULL;
	}
	if (*at == 'e' || *at == 'E') {
		at++;
		at += *at == '+' || *at == '-';
		digits = at;
		at = skip_digits(at);
		if (at == digits)
			return NULL;
	}
	return at;
}

bool json_reader__number(struct json_reader *reader, uint64_t *value)
{
	const char *end;
	double number;

	if (reader->failure)
		return false;
	peek(reader);
	end = number_end(reader->at);
	if (!end || end - reader->at > NUMBER_LENGTH_MAX)
		return json_reader__fail(reader, "expected a number");
	/* Only LC_CTYPE is set: the decimal point is '.'. */
	number = strtod(reader->at, NULL);
	if (!(number >= 0 && number <= (double)JSON_READER_UINT_MAX))
		return json_reader__fail(reader, "the number is out of range");
	reader->at += end - reader->at;
	*value = (uint64_t)number;
	return true;
}

static int hex_digit(char c)
{
	return is_digit(c) ? c - '0' : isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10 : -1;
}

/* The code of `count` hexadecimal digits; -1: they are not. */
static int hex_number(const char *at, int count)
{
	int value = 0;

	for (int i = 0; i < count; i++) {
		int digit = hex_digit(at[i]);

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

static char *put_utf8(uint32_t code, char *to)
{
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*to++ = (char)(0xe0 | code >> 12);
		} else {
			*to++ = (char)(0xf0 | code >> 18);
			*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (code & 0x3f));
	return to;
}

/* Decodes what follows "\u", from one unit of UTF-16 or two. NULL: a failure. */
static char *take_unit(struct json_reader *reader, char *to)
{
	int unit = hex_number(reader->at, 4), low;
	uint32_t code = (uint32_t)unit;

	if (unit < 0)
		goto fail;
	reader->at += 4;
	if (unit >= 0xdc00 && unit < 0xe000)
		goto fail;
	if (unit >= 0xd800 && unit < 0xdc00) {
		low = reader->at[0] == '\\' && reader->at[1] == 'u' ? hex_number(reader->at + 2, 4)
								    : -1;
		if (low < 0xdc00 || low > 0xdfff)
			goto fail;
		reader->at += 6;
		code = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
	}
	if (!code) {
		memcpy(to, "\\x00", 4);
		return to + 4;
	}
	return put_utf8(code, to);
fail:
	json_reader__fail(reader, "no valid \\u escape");
	return NULL;
}

/* Takes back what json_writer__bytes() made of a byte, after its backslash. */
static char *take_backslash(struct json_reader *reader, char *to)
{
	const char *at = reader->at;
	int byte = *at == 'x' ? hex_number(at + 1, 2) : -1;
	bool is_backslash = byte == '\\' && at[3] == 'x' && hex_number(at + 4, 2) >= 0;

	if (byte < 0x80 && !is_backslash) {
		*to++ = '\\';
		return to;
	}
	*to++ = (char)byte;
	reader->at += 3;
	return to;
}

/* Decodes an escape, whose backslash was read. NULL: a failure. */
static char *take_escape(struct json_reader *reader, char *to)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *letter = *reader->at ? strchr(letters, *reader->at) : NULL;

	if (*reader->at == 'u') {
		reader->at++;
		return take_unit(reader, to);
	}
	if (!letter) {
		json_reader__fail(reader, "no escape begins like this");
		return NULL;
	}
	reader->at++;
	if (*letter == '\\')
		return take_backslash(reader, to);
	*to++ = meant[letter - letters];
	return to;
}

/* Copies a character of more than one byte. NULL: it is no valid one. */
static char *take_character(struct json_reader *reader, char *to)
{
	uint32_t code;
	size_t length = terminal__decode(reader->at, &code);

	if (!length) {
		json_reader__fail(reader, "no valid UTF-8");
		return NULL;
	}
	memmove(to, reader->at, length);
	reader->at += length;
	return to + length;
}

/* Decoded, no character is longer than it was. */
bool json_reader__text(struct json_reader *reader, char **text)
{
	char *to;

	if (!take(reader, '"', "expected a string"))
		return false;
	*text = to = reader->at;
	while (to && *reader->at != '"') {
		unsigned char byte = (unsigned char)*reader->at;

		if (byte == '\\') {
			reader->at++;
			to = take_escape(reader, to);
		} else if (byte >= 0x80) {
			to = take_character(reader, to);
		} else if (byte < 0x20) {
			return json_reader__fail(reader,
						 reader->at == reader->end
							 ? "the text ends in a string"
							 : "a control character in a string");
		} else {
			*to++ = *reader->at++;
		}
	}
	if (!to)
		return false;
	reader->at++;
	*to = '\0';
	return true;
}

static bool take_word(struct json_reader *reader, const char *word)
{
	if (strncmp(reader->at, word, strlen(word)) != 0)
		return json_reader__fail(reader, "expected a value");
	reader->at += strlen(word);
	return true;
}

static bool skip_scalar(struct json_reader *reader)
{
	const char *end;
	char *text;

	switch (peek(reader)) {
	case '"':
		return json_reader__text(reader, &text);
	case 't':
		return take_word(reader, "true");
	case 'f':
		return take_word(reader, "false");
	case 'n':
		return take_word(reader, "null");
	}
	end = number_end(reader->at);
	if (!end)
		return json_reader__fail(reader, "expected a value");
	reader->at += end - reader->at;
	return true;
}

static bool skip_below(struct json_reader *reader, int depth)
{
	bool first = true;
	char open, *key;

	if (reader->failure)
		return false;
	open = peek(reader);
	if (open != '{' && open != '[')
		return skip_scalar(reader);
	if (depth == JSON_READER_SKIP_MAX)
		return json_reader__fail(reader, "nested too deeply");
	while (open == '{' ? json_reader__next_key(reader, &first, &key)
			   : json_reader__next_element(reader, &first))
		skip_below(reader, depth + 1);
	return !reader->failure;
}

bool json_reader__skip(struct json_reader *reader)
{
	return skip_below(reader, 0);
}

bool json_reader__finish(struct json_reader *reader)
{
	if (reader->failure)
		return false;
	peek(reader);
	return reader->at == reader->end || json_reader__fail(reader, "expected nothing more");
}
