/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reader/parsed_label.h"

#include <ctype.h>
#include <stdlib.h>

#define ANONYMOUS   "<anonymous>"
#define EMPTY       "<empty>"
#define NATIVE      " <native>"
#define PLUGIN      " <plugin>"
#define LINE        ", line "
#define DIGITS_MOST 9 /* of a line: fits 32 bits */

static int hex_digit(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10
					    : -1;
}

/* The byte that "\xNN" stands for; 0: `at` is no escape, or that of a byte never escaped. */
static unsigned char escaped(const char *at)
{
	int high, low, byte;

	if (at[0] != '\\' || at[1] != 'x')
		return 0;
	high = hex_digit(at[2]);
	low = high < 0 ? -1 : hex_digit(at[3]);
	byte = low < 0 ? 0 : high << 4 | low;
	return byte < 0x20 || byte >= 0x7f || byte == ';' || byte == '#' ? (unsigned char)byte : 0;
}

char *parsed_label__text(char *label)
{
	char *to = label;

	for (const char *at = label; *at;) {
		unsigned char byte = escaped(at);

		*to++ = byte ? (char)byte : *at;
		at += byte ? 4 : 1;
	}
	*to = '\0';
	return label;
}

/* Cuts `ending` off. Returns whether it was there. */
static bool cut(char *label, const char *ending)
{
	size_t length = strlen(label), part = strlen(ending);

	if (length < part || strcmp(label + length - part, ending) != 0)
		return false;
	label[length - part] = '\0';
	return true;
}

/* Cuts `mark` and the number after it off the end. Returns the number; 0: there is none. */
static uint32_t cut_line(char *text, const char *mark)
{
	size_t length = strlen(text), digits = 0, mark_length = strlen(mark);
	uint32_t line;

	while (digits < length && digits < DIGITS_MOST &&
	       isdigit((unsigned char)text[length - digits - 1]))
		digits++;
	if (!digits || length - digits < mark_length ||
	    strncmp(text + length - digits - mark_length, mark, mark_length) != 0)
		return 0;
	line = (uint32_t)strtoul(text + length - digits, NULL, 10);
	if (line)
		text[length - digits - mark_length] = '\0';
	return line;
}

static void cut_flags(char *label, struct ls_profile_function *function)
{
	function->flags |= cut(label, PLUGIN) ? LS_FUNCTION_PLUGIN : 0;
	function->flags |= cut(label, NATIVE) ? LS_FUNCTION_NATIVE : 0;
}

static void set_name(char *label, struct ls_profile_function *function)
{
	if (!strcmp(label, EMPTY))
		*label = '\0';
	else if (!*label || !strcmp(label, ANONYMOUS))
		label = NULL;
	function->name = label ? parsed_label__text(label) : NULL;
}

void parsed_label__name(char *label, struct ls_profile_function *function)
{
	cut_flags(label, function);
	set_name(label, function);
}

/* The parenthesis that matches the one at the end, if a name and a blank precede it; else NULL. */
static char *opening(char *label)
{
	char *at = label + strlen(label) - 1;
	size_t open = 0;

	for (; at > label + 1; at--) {
		open += *at == ')';
		if (*at == '(' && !--open)
			return at[-1] == ' ' ? at : NULL;
	}
	return NULL;
}

void parsed_label__place(char *label, struct ls_profile_function *function)
{
	char *place;

	cut_flags(label, function);
	place = *label && label[strlen(label) - 1] == ')' ? opening(label) : NULL;
	if (place && place[1] != ')') {
		place[-1] = '\0';
		place[strlen(place) - 1] = '\0';
		function->current_line = cut_line(place + 1, LINE);
		function->line = cut_line(place + 1, ":");
		function->source = parsed_label__text(place + 1);
	}
	set_name(label, function);
}
