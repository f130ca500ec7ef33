/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fields of the object that a JSON writer is in: a key and its value. json_writer.h has the rest.
 */
#ifndef LS_JSON_FIELD_H
#define LS_JSON_FIELD_H

#include "json/json_writer.h"

void json_field__uint(struct json_writer *writer, const char *key, uint64_t value);
void json_field__int(struct json_writer *writer, const char *key, int64_t value);
void json_field__bool(struct json_writer *writer, const char *key, bool value);
void json_field__null(struct json_writer *writer, const char *key);

/* As json_writer__text(). NULL: there is no such field. */
void json_field__text(struct json_writer *writer, const char *key, const char *text);
void json_field__printable(struct json_writer *writer, const char *key, const char *text);

/* The caller ends the object or the array. */
void json_field__object(struct json_writer *writer, const char *key);
void json_field__array(struct json_writer *writer, const char *key);
void json_field__array_lines(struct json_writer *writer, const char *key);

#endif
