/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a test skips itself, with a reason in the output. If the run promised to have all packages
 * (LUASPY_CI_STRICT, which tests/run.sh sets), a missing one fails the test instead. Include it
 * after cmocka.h; each macro is a statement of a test function.
 */
#ifndef LS_SKIP_H
#define LS_SKIP_H

#include <stdbool.h>
#include <unistd.h>

/* Whether `program` is in PATH, in /usr/sbin or /sbin; or, with a slash, is an executable file. */
bool has_program(const char *program);

/* Whether a missing package is a failure. */
bool skips_are_failures(void);

#define skip_because(reason)                                                                       \
	do {                                                                                       \
		print_message("skipped: %s\n", reason);                                            \
		skip();                                                                            \
	} while (0)

/* `package`, as Debian calls it, is missing. */
#define lacks_package(package)                                                                     \
	do {                                                                                       \
		if (skips_are_failures())                                                          \
			fail_msg("package '%s' is missing", package);                              \
		skip_because("package '" package "' is missing");                                  \
	} while (0)

#define need_program(program, package)                                                             \
	do {                                                                                       \
		if (!has_program(program))                                                         \
			lacks_package(package);                                                    \
	} while (0)

/* A program that tests/hosts/build_host.sh builds, which needs crates from cargo. */
#define need_host(program)                                                                         \
	do {                                                                                       \
		if (!has_program(program)) {                                                       \
			print_message("no host '%s' ('make hosts' tells why)\n", program);         \
			lacks_package("cargo");                                                    \
		}                                                                                  \
	} while (0)

#define need_root()                                                                                \
	do {                                                                                       \
		if (geteuid() != 0)                                                                \
			skip_because("needs root");                                                \
	} while (0)

#endif
