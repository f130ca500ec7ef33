#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a machine can say about style: layout, scripts, lengths, comments, layers, the README's
# commands.
set -euo pipefail

cd "$(dirname "$0")/.."
mapfile -t c_files < <(find bpf include tests user vmlinux -name '*.[ch]' | sort)
mapfile -t scripts < <(find .ci tests user vmlinux -type f -exec grep -lE '^#!.*\b(ba)?sh$' {} + | sort)
status=0

clang-format --dry-run -Werror "${c_files[@]}" || status=1
shellcheck "${scripts[@]}" || status=1
python3 tests/lint_c.py "${c_files[@]}" || status=1
python3 tests/lint_layers.py || status=1

# A command that a page tells to type has to exist.
pages=(README.md tests/README.md bpf/README.md user/share/doc/*.md)
for page in "${pages[@]}"; do
	targets=$(grep -oE '(^|`|\$ |sudo |&& )make [a-z][a-z-]*' "$page" | sed 's/.*make //' | sort -u)
	for target in $targets; do
		grep -qE "^$target:" Makefile ./*/*/rules.mk && continue
		echo "$page: no target '$target' in Makefile or a rules.mk" >&2
		status=1
	done
	if [ "$(wc -L <"$page")" -gt 100 ]; then
		echo "$page: a line of more than 100 columns" >&2
		status=1
	fi
done
if [ "$(wc -l <README.md)" -gt 150 ]; then
	echo "README.md: more than 150 lines" >&2
	status=1
fi

[ $status = 0 ] && echo "lint: ${#c_files[@]} C files and ${#scripts[@]} scripts are fine"
exit $status
