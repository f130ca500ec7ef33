/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/output_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void output_name__date(time_t time, char to[OUTPUT_NAME_DATE_SIZE])
{
	struct tm local = {};

	localtime_r(&time, &local);
	strftime(to, OUTPUT_NAME_DATE_SIZE, "%Y%m%d-%H%M%S", &local);
}

/* How much of a group's name is kept: its end, since that is the most specific part of a path. */
#define GROUP_LENGTH 64

static bool is_kept(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

/* Copies the start of `name`. The file is not hidden, and no program takes it for an option. */
static void make_safe(const char *name, size_t size, char *to)
{
	size_t length = 0;

	for (; name[length] && length < size - 1; length++)
		to[length] = is_kept(name[length]) ? name[length] : '_';
	if (*to == '.' || *to == '-')
		*to = '_';
	to[length] = '\0';
}

static void make(const char *name, pid_t pid, const char *date, const char *ending,
		 char to[OUTPUT_NAME_SIZE])
{
	char safe[32], number[16] = "";

	make_safe(name, sizeof(safe), safe);
	if (pid)
		snprintf(number, sizeof(number), "-%d", pid);
	snprintf(to, OUTPUT_NAME_SIZE, "%s%s%s%s%s", *safe ? safe : "process", number,
		 *date ? "-" : "", date, ending);
}

void output_name__make_of_group(const char *name, const char *ending, char to[OUTPUT_NAME_SIZE])
{
	char safe[GROUP_LENGTH + 1];
	size_t length = strlen(name);

	if (length > GROUP_LENGTH)
		name += length - GROUP_LENGTH;
	name += strspn(name, "/");
	make_safe(name, sizeof(safe), safe);
	snprintf(to, OUTPUT_NAME_SIZE, "%s%s", *safe ? safe : "group", ending);
}

void output_name__make(const char *name, pid_t pid, const char *ending, char to[OUTPUT_NAME_SIZE])
{
	char date[OUTPUT_NAME_DATE_SIZE];

	output_name__date(time(NULL), date);
	make(name, pid, date, ending, to);
}

void output_name__make_dateless(const char *name, pid_t pid, const char *ending,
				char to[OUTPUT_NAME_SIZE])
{
	make(name, pid, "", ending, to);
}
