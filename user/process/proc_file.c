/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process/proc_file.h"

#include <errno.h>
#include <stdarg.h>

int proc_file__error(int error)
{
	return error == ENOENT ? -ESRCH : -error;
}

FILE *proc_file__open(const char *format, ...)
{
	char path[64]; /* "/proc/", numbers and a constant name: nothing from the target */
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	return fopen(path, "re");
}
