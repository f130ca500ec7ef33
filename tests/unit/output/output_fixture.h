/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A folder in which output files are written. To be included after cmocka.h. */
#ifndef TEST_OUTPUT_FIXTURE_H
#define TEST_OUTPUT_FIXTURE_H

#include <sys/types.h>

#include "output/output_file.h"

struct output_fixture {
	char folder[64];
	char path[96]; /* of a file in it, which is not there yet */
	int stdout_fd; /* what standard output was; -1: what it is */
	mode_t mask;
};

/* Setup and teardown of cmocka, with a umask of 022 and without sudo. */
int output_fixture__make(void **state);
int output_fixture__free(void **state);
#define with_output(name)                                                                          \
	cmocka_unit_test_setup_teardown(name, output_fixture__make, output_fixture__free)

int output_fixture__count(const struct output_fixture *fixture);
void point_stdout_back(struct output_fixture *fixture);

/* Makes a file as other programs do; reads one. */
void put_file(const char *path, const char *content);
void assert_content(const char *path, const char *expected);
mode_t mode_of(const char *path);

/* Opens it, all is well; opens it and lets it be, 0 or -errno; writes it, 0 or -errno. */
struct output_file *open_output(const char *path);
int try_output(const char *path);
int write_output(const char *path, const char *content);

#endif
