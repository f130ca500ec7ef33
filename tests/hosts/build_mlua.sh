#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# build_mlua.sh OUTPUT: builds tests/programs/host_mlua/, a Rust program that embeds Luau, by cargo.
# What it is made of is kept in ${XDG_CACHE_HOME:-~/.cache}/luaspy-tests.
#
# Exit status 3, with a reason: cargo is not there, or cannot build it, as Debian 12's cannot. Then
# there is an OUTPUT.refused.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
output=$1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/luaspy-tests/mlua

give_up() {
	echo "no host_mlua: $1" >&2
	exit 3
}

command -v cargo >/dev/null || give_up "cargo is not installed"
mkdir -p "$cache" "$(dirname "$output")"
rm -f "$output.refused"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! timeout 900 cargo build -q --release --locked --manifest-path "$here/../programs/host_mlua/Cargo.toml" \
	--target-dir "$cache" </dev/null >"$log" 2>&1; then
	tail -n 5 "$log" | tee "$output.refused" >&2
	give_up "$(cargo --version) cannot build it"
fi
cp "$cache/release/host_mlua" "$output"
