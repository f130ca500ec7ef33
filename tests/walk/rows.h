/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs every test once for each layout of a family, each time with a fixture of its own. */
#ifndef TEST_ROWS_H
#define TEST_ROWS_H

#include <stddef.h>

struct fixture; /* an image and a walker, of the family */

struct fixture_test {
	const char *name;
	void (*run)(struct fixture *fixture);
};

/* clang-format off */
#define TEST(function) {#function, function}
/* clang-format on */

struct rows {
	size_t count; /* of layouts */
	const char *(*name)(size_t row);
	struct fixture *(*start)(size_t row); /* NULL: no memory. end() frees what it returns. */
	void (*end)(struct fixture *fixture);
};

/* Returns what the test program's main() has to return. */
int rows__run(const char *group, const struct rows *rows, const struct fixture_test *tests,
	      size_t count);

#endif
