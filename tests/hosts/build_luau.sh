#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# build_luau.sh RELEASE VARIANT OUTPUT [WORD]...: builds a program that embeds Luau, of a release by
# the number that its authors give it (736), in one of the ways in which programs have it:
#
#   gcc      by g++ -O2, static, stripped
#   clang    by clang++ -O2, static, stripped
#   small    by g++ -Os, static, stripped, sections collected: its version string is gone
#   lto      by g++ -O2 -flto, static, stripped
#   vector4  like gcc; vectors have four components, so that a value takes 24 bytes
#   native   like gcc; with the compiler of machine code, which the host has compile all functions
#   longjmp  like gcc; errors are longjmp(), not exceptions
#   sandbox  like gcc; the host makes what scripts share read-only, each script has globals of its own
#   symbols  by g++ -O2, static, with symbols
#   dynamic  like gcc, but it can open libraries: the C library is shared
#   signed   like gcc; return addresses are signed, functions and stubs begin with BTI; arm64 only
#
# and as no release has it, otherwise like gcc:
#
#   moved-call   base and func of CallInfo have changed places
#   moved-flags  nresults and flags of CallInfo
#   moved-name   cont and debugname of the Closure of a C function
#   moved-proto  source and debugname of Proto
#   moved-lines  lineinfo and abslineinfo of Proto
#   grown        Closure and Proto have more members, in several places
#
# The program is tests/programs/host_luau.cpp, or the words that end in .cpp or .c; other words are
# flags for these and for linking. HOST_PATCH is a shell command that changes a copy of the sources of
# the VM first, in their folder. Luau's objects are kept in
# ${XDG_CACHE_HOME:-~/.cache}/luaspy-tests, by all that they depend on. Its sources are cargo's, in
# crates luau0-src, or in $LUA_SOURCES/luau-RELEASE. HOST_TRIPLE (aarch64-linux-gnu) is built for
# instead of this machine, by gcc, with the C library that the cross compiler brought along.
# Exit status 3, with a reason: the sources, or the compiler for it, are not there.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
release=$1 variant=$2 output=$3
shift 3
cache=${XDG_CACHE_HOME:-$HOME/.cache}/luaspy-tests
cargo_home=${CARGO_HOME:-$HOME/.cargo}

# PATTERN OTHER FILE: two declarations that follow each other, but for empty lines, change places.
swap() { printf '/%s/{h;d};/%s/G' "$1" "$2" | sed -i -f - "$3"; }

parts=(VM) host_flags=()
prefix=${HOST_TRIPLE:+$HOST_TRIPLE-}
compiler=${prefix}g++ flags=(-O2) link_flags=(-static -s) patch=${HOST_PATCH:-}
case $variant in
gcc) ;;
lto) flags=(-O2 -flto) link_flags=(-O2 -flto=2 -static -s) ;;
clang) compiler=clang++ ;;
small) flags=(-Os -ffunction-sections -fdata-sections) link_flags+=('-Wl,--gc-sections') ;;
native) parts=(VM CodeGen) host_flags=(-DWITH_NATIVE) ;;
vector4) flags+=(-DLUA_VECTOR_SIZE=4) ;;
longjmp) flags+=(-DLUA_USE_LONGJMP=1) ;;
sandbox) host_flags=(-DWITH_SANDBOX) ;;
symbols) link_flags=(-static) ;;
signed) flags+=(-mbranch-protection=standard) ;;
dynamic) host_flags=(-DWITH_LIBRARIES) link_flags=(-s) ;;
moved-call) patch="sed -i '1,/^} CallInfo;/{/StkId base;/{h;d};/StkId func;/G}' lstate.h" ;;
moved-flags) patch="swap 'int nresults;' 'unsigned int flags;' lstate.h" ;;
moved-name) patch="swap 'lua_Continuation cont;' 'const char[*] debugname_DEPRECATED;' lobject.h" ;;
moved-proto) patch="swap 'TString[*] source;' 'TString[*] debugname;' lobject.h" ;;
moved-lines) patch="swap 'uint8_t[*] lineinfo;' 'int[*] abslineinfo;' lobject.h" ;;
grown) patch="sed -i -e 's/^    uint8_t preload;/&\n    void *one[2];/; s/^    TValue[*] k;/    void *two[2];\n&/' \
	-e 's/^    TString[*] source;/    void *three;\n&/; s/^    int sizecode;/    int four[3];\n&/' lobject.h" ;;
*)
	echo "unknown variant '$variant'" >&2
	exit 2
	;;
esac

give_up() {
	echo "no Luau $release: $1" >&2
	exit 3
}

case $release in
516) crate=0.1.0 ;;
561) crate=0.5.2 ;;
577) crate=0.5.8 ;;
635) crate=0.10.2 ;;
690) crate=0.15.7 ;;
722) crate=0.20.2 ;;
727) crate=0.20.6 ;;
736) crate=0.21.0 ;;
740) crate=0.22.0 ;;
745) crate=0.23.0 ;;
*)
	crate=""
	[ -d "${LUA_SOURCES:-}/luau-$release" ] || give_up "no crate is known to have it"
	;;
esac
[ "$compiler" != clang++ ] || [ -z "$prefix" ] || give_up "clang++ is not used for $HOST_TRIPLE"
command -v "$compiler" >/dev/null || give_up "$compiler is not installed"

unpacked() {
	compgen -G "$cargo_home/registry/src/*/luau0-src-$crate+luau$release/luau/VM/src/lobject.h" |
		head -n 1
}

# A manifest for each: of compatible versions of a crate, one alone can have several.
fetch() {
	local manifest=$work/Cargo.toml
	command -v cargo >/dev/null || give_up "cargo is not installed (or set LUA_SOURCES)"
	printf '[package]\nname = "sources"\nversion = "0.0.0"\nedition = "2018"\n[lib]\npath = "lib.rs"\n' >"$manifest"
	printf '[dependencies]\nluau0-src = "=%s"\n' "$crate" >>"$manifest"
	: >"$work/lib.rs"
	cargo fetch -q --manifest-path "$manifest" </dev/null >&2 ||
		give_up "cargo cannot fetch luau0-src $crate"
}

# Prints the folder with its sources: VM, Compiler and others.
sources() {
	local found
	if [ -d "${LUA_SOURCES:-}/luau-$release" ]; then
		echo "$LUA_SOURCES/luau-$release"
		return
	fi
	found=$(unpacked) || { fetch && found=$(unpacked); } || give_up "luau0-src $crate lacks it"
	dirname "$(dirname "$(dirname "$found")")"
}

# A copy of the sources, as a library for C as well as C++.
copy_sources() {
	cp -r "$(sources)" "$1"
	cd "$1"
	sed -i -E 's/^#define (LUA|LUACODE)_API extern$/#ifdef __cplusplus\n#define \1_API extern "C"\n#else\n&\n#endif/' \
		VM/include/luaconf.h Compiler/include/luacode.h
}

# compile LIBRARY FLAG... -- PART...: of the sources in the folder.
compile() {
	local library=$1 parts=() flags=() includes=(-IVM/src -IBytecode/src) part
	shift
	while [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	for part in */include; do
		includes+=("-I$part")
	done
	for part in "${@:2}"; do
		[ ! -d "$part/src" ] || parts+=("$part/src")
	done
	mkdir objects
	# shellcheck disable=SC2016 # for the inner shell
	find "${parts[@]}" -name '*.cpp' -print0 | xargs -0 -I{} -P "$(nproc)" sh -c \
		'name=$(echo "$1" | tr / _); shift; exec "$@" -o "objects/$name.o"' _ {} \
		"${ccache[@]}" "$compiler" -std=c++17 -w "${flags[@]}" "${includes[@]}" -c {}
	"${prefix}ar" rcs "$library" objects/*.o
	rm -r objects
}

# The compiler of scripts, the same for all variants; without the one that makes native code.
build_front() (
	copy_sources "$work/front"
	mkdir built
	compile built/libfront.a -O1 -- Ast Common Bytecode Compiler
	cp VM/include/*.h Compiler/include/luacode.h built
	mv -T built "$front" 2>/dev/null || [ -d "$front" ]
)

build_vm() (
	copy_sources "$work/vm"
	(cd VM/src && eval "$patch")
	mkdir built
	compile built/libvm.a "${flags[@]}" -- "${parts[@]}"
	cp "${parts[-1]}"/include/*.h built
	mv -T built "$vm" 2>/dev/null || [ -d "$vm" ]
)

ccache=()
! command -v ccache >/dev/null || ccache=(ccache)
key=$({
	echo "$release" "$crate" "$patch" "${flags[@]}"
	"$compiler" --version
	cat "$0"
} | sha256sum)
front=$cache/objects/luau-$release-$compiler-$({
	"$compiler" --version
	cat "$0"
} | sha256sum | head -c 16)
vm=$cache/objects/luau-$release-$variant-${key:0:16}
mkdir -p "$cache/objects"
exec 9>"$cache/lock-luau-$release"
flock 9
if [ ! -d "$front" ] || [ ! -d "$vm" ]; then
	work=$(mktemp -d "$cache/objects/.new.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	[ -d "$front" ] || build_front
	[ -d "$vm" ] || build_vm
fi
exec 9>&-

program=()
for word in "$@"; do
	case $word in
	*.c | *.cpp) program+=("$word") ;;
	*) host_flags+=("$word") ;;
	esac
done
[ ${#program[@]} != 0 ] || program=("$here/../programs/host_luau.cpp")

# compile_program FILE OBJECT
compile_program() {
	local language=(clang)
	[ "$compiler" != "${prefix}g++" ] || language=("${prefix}gcc")
	[ "${1##*.}" = c ] || language=("$compiler" -std=c++17)
	"${language[@]}" "${flags[@]}" -w -I"$front" -I"$vm" "${host_flags[@]}" -c "$1" -o "$2"
}

mkdir -p "$(dirname "$output")"
rm -f "$output"
objects=()
for word in "${program[@]}"; do
	objects+=("$output.${#objects[@]}.o")
	compile_program "$word" "${objects[-1]}"
done
"$compiler" "${objects[@]}" "$vm/libvm.a" "$front/libfront.a" "$vm/libvm.a" "${link_flags[@]}" -pthread \
	-o "$output.new"
rm "${objects[@]}"
mv "$output.new" "$output"
