/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/definition_name.h"

bool definition_name__is_identifier(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c >= '0' && c <= '9' && i)))
			return false;
	}
	return length > 0;
}

bool definition_name__is_printable(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '\\')
			return false;
	return true;
}
