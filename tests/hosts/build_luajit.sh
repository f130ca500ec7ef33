#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# build_luajit.sh RELEASE VARIANT OUTPUT [WORD]...: builds a program that embeds LuaJIT. RELEASE is
# "rolling", for 2.1; "2020" for 2.1 as it was then; "openresty" for OpenResty's, whose lua_State is
# longer; or "2.0", for 2.0.5, whose references always have 32 bits. VARIANT is one of the ways in
# which programs have it:
#
#   gcc      by gcc, static, stripped
#   clang    by clang, static, stripped
#   symbols  by gcc, static, with symbols
#   shared   by gcc, libluajit in OUTPUT.so
#   nojit    without the compiler (LUAJIT_DISABLE_JIT), static, stripped
#   lua52    with more of Lua 5.2 (LUAJIT_ENABLE_LUA52COMPAT), static, stripped
#   noffi    without FFI (LUAJIT_DISABLE_FFI), static, stripped
#
# or a fork, static and stripped, that must be refused, or not be misread:
#
#   moved-state  lua_State has a word more before the list of open upvalues
#   moved-proto  GCproto has a word more before the name of the chunk
#   moved-lines  GCproto has the number of lines before the first line
#   moved-snapshots  SnapShot has mcofs before ref
#
# With "32" at its end, references have 32 bits (LUAJIT_DISABLE_GC64). A program finds the places in
# a GCfuncC of the C function and of its number defined, CODE_AT and NUMBER_AT.
#
# The program is tests/programs/host.c, or the words that end in .c; other words are flags for these
# and for linking. LuaJIT's library is kept in ${XDG_CACHE_HOME:-~/.cache}/luaspy-tests. Its sources
# are cargo's, in crates luajit-src, for 2.0 pip's, in lupa, or in $LUA_SOURCES/luajit-RELEASE.
# HOST_TRIPLE (aarch64-linux-gnu) is built for instead of this machine, by gcc.
#
# Exit status 3, with a reason: the sources, or the compiler for it, are not there.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
release=$1 variant=$2 output=$3
shift 3
cache=${XDG_CACHE_HOME:-$HOME/.cache}/luaspy-tests
cargo_home=${CARGO_HOME:-$HOME/.cargo}

prefix=${HOST_TRIPLE:+$HOST_TRIPLE-}
compiler=gcc flags="" link_flags=(-static -s) mode=static
case $variant in
*32) flags=-DLUAJIT_DISABLE_GC64 ;;
esac
[ "$release $variant" != "2020 gcc" ] || flags=-DLUAJIT_ENABLE_GC64 # not yet the default
case ${variant%32} in
gcc | moved-*) ;;
clang) compiler=clang ;;
symbols) link_flags=(-static) ;;
shared) link_flags=() mode=dynamic ;;
nojit) flags+=" -DLUAJIT_DISABLE_JIT" ;;
lua52) flags+=" -DLUAJIT_ENABLE_LUA52COMPAT" ;;
noffi) flags+=" -DLUAJIT_DISABLE_FFI" ;;
*)
	echo "unknown variant '$variant'" >&2
	exit 2
	;;
esac

give_up() {
	echo "no LuaJIT $release: $1" >&2
	exit 3
}

case $release in
rolling) crate=210.7.4 ;;
2020) crate=210.0.0 ;;
openresty) crate=210.4.8 ;;
2.0) crate="" ;;
*) give_up "no crate has it" ;;
esac
case ${HOST_TRIPLE:-$(uname -m)} in
aarch64*) [ "$variant" = "${variant%32}" ] || give_up "references have 64 bits there" ;;
esac
[ "$compiler" = gcc ] || [ -z "$prefix" ] || give_up "$compiler is not used for $HOST_TRIPLE"
command -v "$prefix$compiler" >/dev/null || give_up "$prefix$compiler is not installed"

unpacked() {
	compgen -G "$cargo_home/registry/src/*/luajit-src-$crate*/luajit*/src/lj_obj.h" | head -n 1
}

# A manifest for each: of compatible versions of a crate, one alone can have several.
fetch() {
	local manifest=$work/Cargo.toml
	command -v cargo >/dev/null || give_up "cargo is not installed (or set LUA_SOURCES)"
	printf '[package]\nname = "sources"\nversion = "0.0.0"\nedition = "2018"\n[lib]\npath = "lib.rs"\n' >"$manifest"
	printf '[dependencies]\nluajit-src = "=%s"\n' "$crate" >>"$manifest"
	: >"$work/lib.rs"
	cargo fetch -q --manifest-path "$manifest" </dev/null >&2 ||
		give_up "cargo cannot fetch luajit-src $crate"
}

# Prints the folder of 2.0.5 in what pip has as the sources of a module of Python's.
unpack_module() {
	python3 -m pip --version >/dev/null 2>&1 || give_up "pip is not installed (or set LUA_SOURCES)"
	python3 -m pip download -q --no-deps --no-binary lupa -d "$work" lupa==2.0 </dev/null >&2 ||
		give_up "pip cannot fetch lupa 2.0"
	tar -xzf "$work/lupa-2.0.tar.gz" -C "$work"
	echo "$work/lupa-2.0/third-party/luajit20"
}

# Prints the folder with its sources: Makefile, src.
sources() {
	local found
	if [ -d "${LUA_SOURCES:-}/luajit-$release" ]; then
		echo "$LUA_SOURCES/luajit-$release"
		return
	fi
	if [ "$release" = 2.0 ]; then
		unpack_module
		return
	fi
	found=$(unpacked) || { fetch && found=$(unpacked); } || give_up "luajit-src $crate lacks it"
	dirname "$(dirname "$found")"
}

# Makes a fork of the sources in the folder $1.
fork() {
	local header=$1/src/lj_obj.h
	[ "$variant" != moved-snapshots ] || header=$1/src/lj_jit.h
	case $variant in
	moved-state) sed -i '/^struct lua_State {/,/^}/s/^  GCRef openupval;/  void *more;\n&/' "$header" ;;
	moved-proto) sed -i '/^typedef struct GCproto {/,/^}/s/^  GCRef chunkname;/  void *more;\n&/' "$header" ;;
	moved-lines) sed -i '/^typedef struct GCproto {/,/^}/{/BCLine firstline;/{h;d};/BCLine numline;/G}' "$header" ;;
	moved-snapshots) sed -i '/^typedef struct SnapShot {/,/^}/{/IRRef1 ref;/{h;d};/uint16_t mcofs;/G}' "$header" ;;
	*) return ;;
	esac
	! cmp -s "$header" "$(sources)/src/${header##*/}" || give_up "its structures have other fields"
}

build_library() {
	cp -r "$(sources)" "$work/luajit"
	fork "$work/luajit"
	# Releases take their number from git, or from this file.
	cp "$work/luajit/../luajit_relver.txt" "$work/luajit/.relver" 2>/dev/null ||
		echo 1788856981 >"$work/luajit/.relver"
	# What make was called with for this project is not for that one.
	env -u MAKEFLAGS -u MFLAGS make -s -j2 -C "$work/luajit/src" BUILDMODE=$mode CC=$compiler \
		HOST_CC=$compiler CROSS="$prefix" \
		XCFLAGS="$flags" E=@: "$([ $mode = static ] && echo libluajit.a || echo libluajit.so)" >&2
	mv -T "$work/luajit/src" "$built" 2>/dev/null || [ -d "$built" ]
}

key=$({
	echo "$release" "$variant" "$crate"
	"$prefix$compiler" --version
	cat "$0"
} | sha256sum)
built=$cache/objects/luajit-$release-$variant-${key:0:16}
mkdir -p "$cache/objects"
exec 9>"$cache/lock-luajit-$release-$variant"
flock 9
if [ ! -d "$built" ]; then
	work=$(mktemp -d "$cache/objects/.new.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	build_library
fi
exec 9>&-

program=() host_flags=(-DCODE_AT=40 -DNUMBER_AT=10)
[ "$variant" = "${variant%32}" ] || host_flags=(-DCODE_AT=24 -DNUMBER_AT=6)
for word in "$@"; do
	case $word in
	*.c) program+=("$word") ;;
	*) host_flags+=("$word") ;;
	esac
done
[ ${#program[@]} != 0 ] || program=("$here/../programs/host.c")
mkdir -p "$(dirname "$output")"
rm -f "$output"

libraries=("$built/libluajit.a")
if [ $mode = dynamic ]; then
	cp "$built/libluajit.so" "$output.so"
	# shellcheck disable=SC2016 # the dynamic linker's
	libraries=("$output.so" '-Wl,-rpath,$ORIGIN')
	ln -sf "$(basename "$output").so" "$(dirname "$output")/libluajit-5.1.so.2"
fi
"$prefix$compiler" -std=gnu11 -O2 -w -I"$built" "${host_flags[@]}" "${program[@]}" \
	"${libraries[@]}" "${link_flags[@]}" -lm -ldl -o "$output.new"
mv "$output.new" "$output"
