/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output_name.h"

#include <stdio.h>

void output_name__date(time_t time, char to[OUTPUT_NAME_DATE_SIZE])
{
	struct tm local = {};

	localtime_r(&time, &local);
	strftime(to, OUTPUT_NAME_DATE_SIZE, "%Y%m%d-%H%M%S", &local);
}

static void make(const char *name, pid_t pid, const char *date, char to[OUTPUT_NAME_SIZE])
{
	char safe[32], number[16] = "";
	size_t length = 0;

	for (; name[length] && length < sizeof(safe) - 1; length++) {
		char c = name[length];
		int keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			   (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';

		safe[length] = keep && !(c == '.' && !length) ? c : '_';
	}
	safe[length] = '\0';
	if (pid)
		snprintf(number, sizeof(number), "-%d", pid);
	snprintf(to, OUTPUT_NAME_SIZE, "%s%s%s%s.json", length ? safe : "process", number,
		 *date ? "-" : "", date);
}

void output_name__make(const char *name, pid_t pid, char to[OUTPUT_NAME_SIZE])
{
	char date[OUTPUT_NAME_DATE_SIZE];

	output_name__date(time(NULL), date);
	make(name, pid, date, to);
}

void output_name__make_dateless(const char *name, pid_t pid, char to[OUTPUT_NAME_SIZE])
{
	make(name, pid, "", to);
}
