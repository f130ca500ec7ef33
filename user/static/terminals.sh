#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# terminals.sh: the compiled terminfo entries that the static luaspy carries, as initializers
# {name, size, bytes}; of those terminals that Debian, too, has on every machine (ncurses-base).
set -eu

for name in ansi linux rxvt-unicode-256color screen screen-256color tmux tmux-256color vt100 vt220 \
	xterm xterm-256color; do
	entry=$(infocmp -0qQ1 "$name" | sed -n 's/^hex://p')
	[ -n "$entry" ] || exit 1
	printf '{"%s", %d, "%s"},\n' "$name" "$((${#entry} / 2))" "$(echo "$entry" | sed 's/../\\x&/g')"
done
