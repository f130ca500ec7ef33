/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "container.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_DIGITS  64
#define HEX_DIGITS "0123456789abcdef"

pid_t container__parse_pid(const char *status)
{
	static const char key[] = "\nNSpid:";
	/* A newline in the process's name is escaped there: the first such line is the kernel's. */
	const char *at = strstr(status, key);
	long pid = 0;
	int count = 0;

	if (!at)
		return 0;
	for (at += sizeof(key) - 1; *at == '\t' || *at == ' ';) {
		char *end;

		pid = strtol(at, &end, 10);
		/* strtol() goes on over the end of the line. */
		if (end == at || memchr(at, '\n', (size_t)(end - at)))
			break;
		count++;
		at = end;
	}
	return count > 1 && pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

void container__parse_id(const char *cgroups, char id[13])
{
	*id = '\0';
	while (*cgroups) {
		size_t digits = strspn(cgroups, HEX_DIGITS);

		if (digits == ID_DIGITS)
			snprintf(id, 13, "%.12s", cgroups);
		cgroups += digits ? digits : 1;
	}
}

void container__title(const struct container *container, const char *name, pid_t pid,
		      char title[CONTAINER_TITLE_SIZE])
{
	if (!container->pid)
		snprintf(title, CONTAINER_TITLE_SIZE, "%.15s (pid %d)", name, pid);
	else if (!*container->id)
		snprintf(title, CONTAINER_TITLE_SIZE, "%.15s (pid %d, %d inside)", name, pid,
			 container->pid);
	else
		snprintf(title, CONTAINER_TITLE_SIZE, "%.15s (pid %d, %d in %s)", name, pid,
			 container->pid, container->id);
}

/* Where a name of 15 bytes at most ends, which may hold anything. NULL: it is no such title. */
static const char *end_of_name(const char *title)
{
	const char *end = NULL, *found = title;

	while ((found = strstr(found, " (pid ")) && found - title <= 15) {
		end = found;
		found++;
	}
	return end;
}

void container__short_title(const char *title, char *to, size_t size)
{
	const char *name_end = end_of_name(title), *digits, *rest;
	size_t count, length = strlen(title);

	digits = name_end ? name_end + strlen(" (pid ") : title;
	count = name_end ? strspn(digits, "0123456789") : 0;
	rest = digits + count;
	if (!count || (*rest != ')' && *rest != ',') || title[length - 1] != ')') {
		snprintf(to, size, "%s", title);
		return;
	}
	snprintf(to, size, "%.*s %.*s%.*s", (int)count, digits, (int)(name_end - title), title,
		 (int)(title + length - 1 - rest), rest);
}
