/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#define SOURCE_MAX (4 << 20)

static const char *const patterns[] = {
	"/usr/share/lua/5.[1-4]/*.lua",
	"/usr/share/lua/5.[1-4]/*/*.lua",
	"/usr/share/lua/5.[1-4]/*/*/*.lua",
	"/usr/lib/prosody/*/*.lua",
	"/usr/lib/prosody/*/*/*.lua",
	"/usr/share/nmap/nselib/*.lua",
	"/usr/share/imapfilter/*.lua",
	"/usr/share/luajit-*/jit/*.lua",
	"/usr/share/wireshark/*.lua",
	"/usr/share/pandoc/data/*.lua",
	"tests/*/*.lua",
};

void corpus__list(const char *list)
{
	FILE *stream = fopen(list, "we");
	glob_t found = {};

	assert_non_null(stream);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		fprintf(stream, "%s\n", found.gl_pathv[i]);
	globfree(&found);
	assert_int_equal(fclose(stream), 0);
}

struct definitions *corpus__definitions(const char *file)
{
	struct definitions *definitions = NULL;
	char *text = malloc(SOURCE_MAX);
	FILE *stream = fopen(file, "re");
	size_t size;

	assert_non_null(text);
	if (stream) {
		size = fread(text, 1, SOURCE_MAX, stream);
		fclose(stream);
		definitions__find(text, size, &definitions);
	}
	free(text);
	return definitions;
}
