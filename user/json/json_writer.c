/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/code_point.h"
#include "json/json_writer.h"

void json_writer__init(struct json_writer *writer, FILE *stream)
{
	*writer = (struct json_writer){.stream = stream};
}

static void fail(struct json_writer *writer, int error)
{
	if (!writer->error)
		writer->error = error;
}

static void put(struct json_writer *writer, const char *text, size_t length)
{
	if (writer->error)
		return;
	errno = 0;
	/* Many short pieces, of one thread: taking the lock for each would cost the most. */
	if (fwrite_unlocked(text, 1, length, writer->stream) != length)
		fail(writer, errno ? -errno : -EIO);
}

static void put_text(struct json_writer *writer, const char *text)
{
	put(writer, text, strlen(text));
}

/* The innermost open scope; scope 0 is the document, whose only element is the root. */
static struct json_scope *scope_of(struct json_writer *writer)
{
	return &writer->scopes[writer->depth];
}

static void start_element(struct json_writer *writer)
{
	struct json_scope *scope = scope_of(writer);

	if (scope->has_elements)
		put(writer, ",", 1);
	if (scope->has_lines)
		put(writer, "\n", 1);
	scope->has_elements = true;
}

static void start_value(struct json_writer *writer)
{
	struct json_scope *scope = scope_of(writer);

	if (scope->is_object ? !scope->has_key : !writer->depth && scope->has_elements)
		fail(writer, -EINVAL);
	if (!scope->is_object)
		start_element(writer);
	scope->has_key = false;
}

static void open_scope(struct json_writer *writer, const char *bracket, bool has_lines)
{
	start_value(writer);
	if (writer->depth + 1 >= JSON_WRITER_DEPTH)
		fail(writer, -EINVAL);
	if (writer->error)
		return;
	put_text(writer, bracket);
	writer->depth++;
	*scope_of(writer) = (struct json_scope){
		.is_object = *bracket == '{',
		.has_lines = has_lines,
	};
}

static void close_scope(struct json_writer *writer, bool is_object)
{
	const struct json_scope *scope = scope_of(writer);

	if (!writer->depth || scope->is_object != is_object || scope->has_key)
		fail(writer, -EINVAL);
	if (writer->error)
		return;
	put_text(writer, is_object ? "}" : "]");
	writer->depth--;
}

void json_writer__object(struct json_writer *writer)
{
	open_scope(writer, "{", false);
}

void json_writer__end_object(struct json_writer *writer)
{
	close_scope(writer, true);
}

void json_writer__array(struct json_writer *writer)
{
	open_scope(writer, "[", false);
}

void json_writer__array_lines(struct json_writer *writer)
{
	open_scope(writer, "[", true);
}

void json_writer__end_array(struct json_writer *writer)
{
	close_scope(writer, false);
}

void json_writer__uint(struct json_writer *writer, uint64_t value)
{
	char digits[20], *at = digits + sizeof(digits);

	start_value(writer);
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	put(writer, at, (size_t)(digits + sizeof(digits) - at));
}

void json_writer__int(struct json_writer *writer, int64_t value)
{
	char digits[24];

	start_value(writer);
	put(writer, digits, (size_t)snprintf(digits, sizeof(digits), "%" PRId64, value));
}

void json_writer__thousandths(struct json_writer *writer, uint64_t value)
{
	unsigned int rest = (unsigned int)(value % 1000);
	char fraction[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
			   (char)('0' + rest % 10)};
	size_t length = sizeof(fraction);

	json_writer__uint(writer, value / 1000);
	while (rest && fraction[length - 1] == '0')
		length--;
	if (rest)
		put(writer, fraction, length);
}

void json_writer__bool(struct json_writer *writer, bool value)
{
	start_value(writer);
	put_text(writer, value ? "true" : "false");
}

void json_writer__null(struct json_writer *writer)
{
	start_value(writer);
	put_text(writer, "null");
}

/*
 * Returns the length of the UTF-8 sequence at `at`, in bytes; 0 if it is invalid. The second byte's
 * range depends on the first (RFC 3629, section 4), which excludes overlong forms, surrogates and
 * code points beyond U+10FFFF.
 */
static size_t decode_utf8(const unsigned char *at, size_t left, uint32_t *code)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t length = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

	*code = *at;
	if (length == 1)
		return 1;
	if (*at < 0xc2 || *at > 0xf4 || length > left)
		return 0;
	if (*at == 0xe0)
		low = 0xa0;
	else if (*at == 0xed)
		high = 0x9f;
	else if (*at == 0xf0)
		low = 0x90;
	else if (*at == 0xf4)
		high = 0x8f;
	*code = *at & (0x7fU >> length);
	for (size_t i = 1; i < length; i++) {
		if (at[i] < low || at[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
		*code = *code << 6 | (at[i] & 0x3f);
	}
	return length;
}

/* A JSON escape is one code unit of UTF-16, 16 bits (RFC 8259, section 7). */
static void format_escape(uint32_t code, char *to, size_t size)
{
	if (code < 0x10000)
		snprintf(to, size, "\\u%04x", code);
	else
		snprintf(to, size, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
			 0xdc00 + (code & 0x3ff));
}

/* Whether a reader would take this backslash and what follows for a byte escaped as \xNN. */
static bool looks_escaped(const unsigned char *at, size_t left)
{
	return left >= 4 && at[1] == 'x' && isxdigit(at[2]) && isxdigit(at[3]);
}

/*
 * Writes the character at `at` and returns how many bytes it is. `raw`: a backslash is just that.
 */
static size_t put_character(struct json_writer *writer, const unsigned char *at, size_t left,
			    bool raw)
{
	uint32_t code;
	size_t length = decode_utf8(at, left, &code);
	char escape[16] = "";

	if (!length || (code == '\\' && !raw && looks_escaped(at, left)))
		snprintf(escape, sizeof(escape), "\\\\x%02x", *at);
	else if (code == '"' || code == '\\')
		snprintf(escape, sizeof(escape), "\\%c", (int)code);
	else if (code == '\n')
		strcpy(escape, "\\n");
	else if (code_point__misleads(code) || (code == '<' && left > 1 && strchr("/!", at[1])))
		format_escape(code, escape, sizeof(escape));
	if (*escape)
		put_text(writer, escape);
	else
		put(writer, (const char *)at, length);
	return length ? length : 1;
}

static void put_string(struct json_writer *writer, const char *bytes, size_t length, bool raw)
{
	const unsigned char *at = (const unsigned char *)bytes;

	start_value(writer);
	put(writer, "\"", 1);
	while (length && !writer->error) {
		size_t taken = put_character(writer, at, length, raw);

		at += taken;
		length -= taken;
	}
	put(writer, "\"", 1);
}

void json_writer__bytes(struct json_writer *writer, const char *bytes, size_t length)
{
	put_string(writer, bytes, length, false);
}

void json_writer__printable(struct json_writer *writer, const char *text)
{
	put_string(writer, text, strlen(text), true);
}

void json_writer__text(struct json_writer *writer, const char *text)
{
	json_writer__bytes(writer, text, strlen(text));
}

void json_writer__key(struct json_writer *writer, const char *key)
{
	struct json_scope *scope = scope_of(writer);

	if (!scope->is_object || scope->has_key)
		fail(writer, -EINVAL);
	start_element(writer);
	put(writer, "\"", 1);
	put_text(writer, key);
	put(writer, "\":", 2);
	scope->has_key = true;
}

int json_writer__finish(struct json_writer *writer)
{
	if (writer->depth || !scope_of(writer)->has_elements)
		fail(writer, -EINVAL);
	put(writer, "\n", 1);
	return writer->error;
}
