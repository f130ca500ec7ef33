/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "captured.h"

void captured__start(struct captured *captured, int fd)
{
	fflush(NULL);
	captured->fd = fd;
	captured->saved = dup(fd);
	captured->file = tmpfile();
	assert_return_code(captured->saved, 0);
	assert_non_null(captured->file);
	assert_return_code(dup2(fileno(captured->file), fd), 0);
}

char *captured__end(struct captured *captured)
{
	long size;
	char *text;

	fflush(NULL);
	assert_return_code(dup2(captured->saved, captured->fd), 0);
	close(captured->saved);
	fseek(captured->file, 0, SEEK_END);
	size = ftell(captured->file);
	assert_in_range(size, 0, 1 << 20);
	rewind(captured->file);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)size, captured->file), size);
	fclose(captured->file);
	return text;
}
