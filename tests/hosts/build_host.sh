#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# build_host.sh RELEASE VARIANT OUTPUT [WORD]...: builds a program that embeds a release of PUC Lua
# (5.1.5, 5.4.8), in one of the ways in which programs embed it:
#
#   gcc      gcc -O2, static, stripped
#   clang    clang -O3, static, stripped
#   lto      gcc -O2 -flto, static, stripped: its version string is gone
#   small    gcc -Os, static, stripped, sections collected: likewise
#   cxx      as C++: errors are exceptions, not longjmp; static, stripped
#   O0       gcc -O0, static, with symbols
#   shared   gcc -O2, liblua in OUTPUT.so
#   m32      gcc -m32 -O2, static, stripped
#   signed   gcc -O2 -mbranch-protection=standard, static, stripped: return addresses are signed, and
#            functions and stubs begin with BTI; arm64 only
#   noframe  gcc -O2 -fomit-frame-pointer, static, stripped: no frame records, which arm64 has otherwise
#
# and as nobody can follow them, otherwise like gcc:
#
#   wide         lua_Number is long double, so that a value takes 32 bytes (5.3 on)
#   moved-state  l_G and ci of lua_State have changed places, as in a fork
#   moved-call   previous and next of CallInfo (5.2 on)
#   moved-proto  k and code of Proto
#
# The program is tests/programs/host.c, or the words that end in .c; other words are flags for these
# and for linking. They are compiled as C in every variant. HOST_PATCH is a shell command that
# changes a copy of Lua's sources first, in their folder; HOST_FLAGS are further flags for them.
#
# HOST_TRIPLE (aarch64-linux-gnu) is built for instead of this machine, with the C library that is in
# the folder HOST_SYSTEM, or that the cross compiler brought along.
#
# Lua's objects are kept in ${XDG_CACHE_HOME:-~/.cache}/luaspy-tests, by all that they depend on.
# Exit status 3, with a reason: the sources, or the compiler for it, are not there.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
release=$1 variant=$2 output=$3
shift 3
cache=${XDG_CACHE_HOME:-$HOME/.cache}/luaspy-tests

# PATTERN OTHER FILE: two declarations that follow each other change places.
swap() { printf '/%s/{h;d};/%s/G' "$1" "$2" | sed -i -f - "$3"; }

patch=${HOST_PATCH:-}
compiler=(gcc) language=(-std=gnu99) lua_flags=() link_flags=(-static -s)
case $variant in
gcc) flags=(-O2) ;;
clang) compiler=(clang) flags=(-O3) ;;
lto) flags=(-O2 -flto=auto) ;;
small) flags=(-Os -ffunction-sections -fdata-sections) link_flags+=('-Wl,--gc-sections') ;;
cxx) flags=(-O2 -fexceptions) language=(-x c++ '-DLUA_LINKAGE=extern "C"') ;;
O0) flags=(-O0) link_flags=(-static) ;;
shared) flags=(-O2) lua_flags=(-fPIC) link_flags=() ;;
# Headers of the kernel are where the gcc-multilib package would have a link to.
m32) flags=(-O2 -m32 -idirafter /usr/include/x86_64-linux-gnu) ;;
signed) flags=(-O2 -mbranch-protection=standard) ;;
noframe) flags=(-O2 -fomit-frame-pointer) ;;
wide)
	flags=(-O2)
	patch+="sed -i '/define LUA_FLOAT_/s/LUA_FLOAT_DOUBLE$/LUA_FLOAT_LONGDOUBLE/' luaconf.h"
	;;
moved-state) flags=(-O2) patch+="swap 'global_State [*]l_G;' 'CallInfo [*]ci;' lstate.h" ;;
moved-call) flags=(-O2) patch+="sed -i 's/[*]previous, [*]next;/*next, *previous;/' lstate.h" ;;
moved-proto) flags=(-O2) patch+="swap 'TValue [*]k;' 'Instruction [*]code;' lobject.h" ;;
*)
	echo "unknown variant '$variant'" >&2
	exit 2
	;;
esac
if [ -n "${HOST_TRIPLE:-}" ]; then
	case ${compiler[0]} in
	gcc) compiler=("$HOST_TRIPLE-gcc") ;;
	clang) compiler=(clang "--target=$HOST_TRIPLE") ;;
	esac
	compiler+=(${HOST_SYSTEM:+"--sysroot=$HOST_SYSTEM"})
fi
read -ra more <<<"${HOST_FLAGS:-}"
lua_flags+=("${flags[@]}" -w -DLUA_USE_POSIX "${more[@]}")

if ! echo 'int main(void) { return 0; }' |
	"${compiler[@]}" "${flags[@]}" "${link_flags[@]}" -x c - -o /dev/null 2>/dev/null; then
	echo "cannot compile with ${compiler[*]} ${flags[*]}" >&2
	exit 3
fi

sources=$("$here/sources.sh" "$release")
key=$(
	{
		echo "$sources" "$release" "$patch" "${lua_flags[@]}" "${language[@]}" "${compiler[@]}"
		"${compiler[@]}" --version
		cat "$0" "$sources"/*.[ch]
	} | sha256sum
)
built=$cache/objects/$release-$variant-${key:0:16}

# luaconf.h leaves it to others to make the API C's where the rest is C++.
set_linkage() {
	sed -i 's/^#define LUA_API[ \t]*extern/#define LUA_API LUA_LINKAGE/' luaconf.h
	printf '#ifndef LUA_LINKAGE\n#define LUA_LINKAGE extern\n#endif\n' >>luaconf.h
}

build_lua() (
	work=$(mktemp -d "$cache/objects/.new.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	cp "$sources"/*.[ch] "$work"
	cd "$work"
	rm -f lua.c luac.c ltests.c onelua.c
	eval "$patch"
	set_linkage
	printf '%s\0' ./*.c | xargs -0 -n 4 -P "$(nproc)" \
		"${compiler[@]}" "${language[@]}" "${lua_flags[@]}" -c
	mv -T "$work" "$built" 2>/dev/null || [ -d "$built" ]
)

mkdir -p "$cache/objects"
exec 9>"$cache/lock-$release-$variant"
flock 9
[ -d "$built" ] || build_lua
exec 9>&-

program=() host_flags=()
for word in "$@"; do
	case $word in
	*.c) program+=("$word") ;;
	*) host_flags+=("$word") ;;
	esac
done
[ ${#program[@]} != 0 ] || program=("$here/../programs/host.c")
mkdir -p "$(dirname "$output")"
rm -f "$output"

libraries=("$built"/*.o)
if [ "$variant" = shared ]; then
	"${compiler[@]}" -shared -s "${libraries[@]}" -lm -Wl,-soname,"$(basename "$output").so" \
		-o "$output.so"
	# shellcheck disable=SC2016 # the dynamic linker's
	libraries=("$output.so" '-Wl,-rpath,$ORIGIN')
fi
[ "$variant" = cxx ] && libraries+=(-lstdc++)
"${compiler[@]}" -std=gnu11 "${flags[@]}" -w -I"$built" "${host_flags[@]}" "${program[@]}" \
	"${libraries[@]}" "${link_flags[@]}" -lm -o "$output.new"
mv "$output.new" "$output"
