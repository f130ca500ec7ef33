#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Profiles a real Lua program: luacheck, reading its own sources again and again.
set -euo pipefail

cd "$(dirname "$0")/.."
output=${OUTPUT:-.output}
profile=$output/demo.json
seconds=5
rounds=200 # of a third of a second each: it is stopped long before it ends

sources=$(find /usr/share/lua /usr/local/share/lua "$HOME/.luarocks/share/lua" \
	-type d -name luacheck -path '*/luacheck' 2>/dev/null | head -n 1 || true)
if [ -z "$sources" ]; then
	echo "cannot find the sources of 'luacheck' (try 'luarocks install luacheck')" >&2
	exit 1
fi

arguments=()
for ((i = 0; i < rounds; i++)); do
	arguments+=("$sources")
done
luacheck --no-cache --no-config -qqq "${arguments[@]}" >/dev/null &
target=$!
trap 'kill "$target" 2>/dev/null || true' EXIT

record=(./luaspy record -p "$target" -d "$seconds" -o "$profile")
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "cannot profile without root (install sudo, or run this as root)" >&2
		exit 1
	fi
	record=(sudo "${record[@]}")
fi
echo "profiling luacheck, which checks '$sources', for $seconds seconds:"
echo "  ${record[*]}"
"${record[@]}"
bytes=$(wc -c <"$profile")
echo "the profile is in '$profile' ($bytes bytes)"
