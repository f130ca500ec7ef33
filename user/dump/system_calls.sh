#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# system_calls.sh: the system calls of the machine that $CC builds for, as lines {__NR_read, "read"},
set -eu
echo '#include <sys/syscall.h>' | ${CC:-cc} -E -dM - | sed -n \
	-e '/__NR_syscalls\|__NR_arch_specific/d' \
	-e 's/^#define __NR_\([a-z][a-z0-9_]*\) .*/{__NR_\1, "\1"},/p' | sort
