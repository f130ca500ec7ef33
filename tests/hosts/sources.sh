#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# sources.sh RELEASE: prints a folder with the C sources of that release of PUC Lua (5.4.8), after
# fetching them where need be. Looked at, in this order: $LUA_SOURCES/lua-RELEASE, the cache
# (${XDG_CACHE_HOME:-~/.cache}/luaspy-tests), cargo, which has them in its crates lua-src.
#
# Exit status 3, with a reason: they cannot be had here.
set -euo pipefail

release=$1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/luaspy-tests/sources
cargo_home=${CARGO_HOME:-$HOME/.cargo}

give_up() {
	echo "no sources of Lua $release: $1 (install cargo, or set LUA_SOURCES to a folder" \
		"that has lua-$release/)" >&2
	exit 3
}

# The crate that carries a release as it was published.
crate_of() {
	case $release in
	5.1.5 | 5.2.4 | 5.3.6 | 5.4.9 | 5.5.1) echo 551.1.0 ;;
	5.3.5) echo 540.0.0 ;;
	5.4.0) echo 540.0.1 ;;
	5.4.1) echo 541.0.0 ;;
	5.4.2) echo 542.0.0 ;;
	5.4.3) echo 543.0.0 ;;
	5.4.4) echo 544.0.1 ;;
	5.4.6) echo 546.0.2 ;;
	5.4.7) echo 547.0.0 ;;
	5.4.8) echo 548.1.1 ;;
	5.5.0) echo 550.0.0 ;;
	*) give_up "no crate has them" ;;
	esac
}

unpacked() {
	compgen -G "$cargo_home/registry/src/*/lua-src-$crate/lua-$release/lstate.h" | head -n 1
}

# A manifest for each: of compatible versions of a crate, one alone can have several.
fetch() {
	local manifest=$work/Cargo.toml
	command -v cargo >/dev/null || give_up "cargo is not installed"
	printf '[package]\nname = "sources"\nversion = "0.0.0"\nedition = "2018"\n[lib]\npath = "lib.rs"\n' >"$manifest"
	printf '[dependencies]\nlua-src = "=%s"\n' "$crate" >>"$manifest"
	: >"$work/lib.rs"
	cargo fetch -q --manifest-path "$manifest" </dev/null >&2 ||
		give_up "cargo cannot fetch lua-src $crate"
}

if [ -d "${LUA_SOURCES:-}/lua-$release" ]; then
	echo "$LUA_SOURCES/lua-$release"
	exit
fi
if [ ! -d "$cache/lua-$release" ]; then
	crate=$(crate_of)
	mkdir -p "$cache"
	work=$(mktemp -d "$cache/.new.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	found=$(unpacked) || { fetch && found=$(unpacked); } || give_up "lua-src $crate lacks them"
	cp -r "$(dirname "$found")" "$work/lua-$release"
	# Whoever came first has the same.
	mv -T "$work/lua-$release" "$cache/lua-$release" 2>/dev/null || [ -d "$cache/lua-$release" ]
fi
echo "$cache/lua-$release"
