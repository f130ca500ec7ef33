#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a machine can say about style: layout, scripts, lengths, comments, the README's commands.
set -euo pipefail

cd "$(dirname "$0")/.."
mapfile -t c_files < <(find bpf include tests user vmlinux -name '*.[ch]' | sort)
mapfile -t scripts < <(find .ci tests user vmlinux -type f -exec grep -lE '^#!.*\b(ba)?sh$' {} + | sort)
status=0

clang-format --dry-run -Werror "${c_files[@]}" || status=1
shellcheck "${scripts[@]}" || status=1
python3 tests/lint_c.py "${c_files[@]}" || status=1

# A command that the README tells to type has to exist.
if [ -e README.md ]; then
	while read -r target; do
		grep -qE "^$target:" Makefile ./*/*/rules.mk && continue
		echo "README.md: no target '$target' in Makefile or a rules.mk" >&2
		status=1
	done < <(grep -oE '(^|`|\$ |sudo |&& )make [a-z][a-z-]*' README.md | sed 's/.*make //' | sort -u)
fi

[ $status = 0 ] && echo "lint: ${#c_files[@]} C files and ${#scripts[@]} scripts are fine"
exit $status
