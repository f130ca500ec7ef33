/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "captured.h"
#include "parsing.h"

enum options_verdict parsing__run(struct options *options, char **out, char **err, ...)
{
	struct captured captured_out, captured_err;
	/* Options point to it. */
	static char *argv[16];
	char *word;
	enum options_verdict vote;
	va_list words;
	int argc = 1;

	memset(argv, 0, sizeof(argv));
	argv[0] = (char *)"luaspy";
	va_start(words, err);
	while ((word = va_arg(words, char *)) && argc < 15)
		argv[argc++] = word;
	va_end(words);
	captured__start(&captured_out, STDOUT_FILENO);
	captured__start(&captured_err, STDERR_FILENO);
	vote = options__parse(argc, argv, options);
	*err = captured__end(&captured_err);
	*out = captured__end(&captured_out);
	return vote;
}
