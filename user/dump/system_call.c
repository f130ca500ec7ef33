/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/system_call.h"

#include <stddef.h>
#include <sys/syscall.h>

static const struct {
	int64_t number;
	const char *name;
} system_calls[] = {
#include "system_calls.inc"
};

const char *system_call__name(int64_t number)
{
	for (size_t i = 0; i < sizeof(system_calls) / sizeof(system_calls[0]); i++)
		if (system_calls[i].number == number)
			return system_calls[i].name;
	return NULL;
}
