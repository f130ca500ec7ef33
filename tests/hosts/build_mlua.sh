#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# build_mlua.sh OUTPUT: builds tests/programs/host_mlua/, a Rust program that embeds Luau, by cargo.
# Cargo keeps what it has built in ${XDG_CACHE_HOME:-~/.cache}/luaspy-tests.
#
# Exit status 3, with a reason: cargo is not installed, or it cannot build the program, as Debian
# 12's cannot; its complaint is then in OUTPUT.refused.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
output=$1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/luaspy-tests/mlua

give_up() {
	echo "no host_mlua: $1" >&2
	exit 3
}

mkdir -p "$(dirname "$output")"
rm -f "$output.refused"
command -v cargo >/dev/null || give_up "cargo is not installed"
mkdir -p "$cache"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! timeout 900 cargo build -q --release --locked --manifest-path "$here/../programs/host_mlua/Cargo.toml" \
	--target-dir "$cache" </dev/null >"$log" 2>&1; then
	tail -n 5 "$log" | tee "$output.refused" >&2
	give_up "$(cargo --version) cannot build it"
fi
cp "$cache/release/host_mlua" "$output"
