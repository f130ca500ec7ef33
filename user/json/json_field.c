/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "json/json_field.h"

void json_field__uint(struct json_writer *writer, const char *key, uint64_t value)
{
	json_writer__key(writer, key);
	json_writer__uint(writer, value);
}

void json_field__int(struct json_writer *writer, const char *key, int64_t value)
{
	json_writer__key(writer, key);
	json_writer__int(writer, value);
}

void json_field__bool(struct json_writer *writer, const char *key, bool value)
{
	json_writer__key(writer, key);
	json_writer__bool(writer, value);
}

void json_field__null(struct json_writer *writer, const char *key)
{
	json_writer__key(writer, key);
	json_writer__null(writer);
}

void json_field__text(struct json_writer *writer, const char *key, const char *text)
{
	if (!text)
		return;
	json_writer__key(writer, key);
	json_writer__text(writer, text);
}

void json_field__printable(struct json_writer *writer, const char *key, const char *text)
{
	json_writer__key(writer, key);
	json_writer__printable(writer, text);
}

void json_field__object(struct json_writer *writer, const char *key)
{
	json_writer__key(writer, key);
	json_writer__object(writer);
}

void json_field__array(struct json_writer *writer, const char *key)
{
	json_writer__key(writer, key);
	json_writer__array(writer);
}

void json_field__array_lines(struct json_writer *writer, const char *key)
{
	json_writer__key(writer, key);
	json_writer__array_lines(writer);
}
