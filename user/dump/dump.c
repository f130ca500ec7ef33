/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/dump.h"

size_t dump__script_threads(const struct dump *dump)
{
	size_t count = 0;

	for (size_t i = 0; i < dump->thread_count; i++)
		count += dump->threads[i].stack.count != 0;
	return count;
}
