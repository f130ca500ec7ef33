/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output_name.h"

#include <stdio.h>
#include <time.h>

void output_name__make(const char *name, pid_t pid, char to[OUTPUT_NAME_SIZE])
{
	time_t now = time(NULL);
	struct tm local;
	char date[32], safe[32];
	size_t length = 0;

	for (; name[length] && length < sizeof(safe) - 1; length++) {
		char c = name[length];
		int keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			   (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';

		safe[length] = keep && !(c == '.' && !length) ? c : '_';
	}
	safe[length] = '\0';
	localtime_r(&now, &local);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &local);
	if (pid)
		snprintf(to, OUTPUT_NAME_SIZE, "%s-%d-%s.json", length ? safe : "process", pid,
			 date);
	else
		snprintf(to, OUTPUT_NAME_SIZE, "%s-%s.json", safe, date);
}
