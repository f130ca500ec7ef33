#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `make fuzz-corpus`: first inputs for the fuzzers, from real targets, into tests/fuzz/corpus, which
# is checked in. To be run where a fuzzer's format has changed.
set -euo pipefail

cd "$(dirname "$0")/../.."
output=${OUTPUT:-.output}
corpus=tests/fuzz/corpus
mkdir -p "$corpus"/{walk,elf,symbols,records}

"$output/tests/fuzz/make_corpus" "$corpus"

# Programs and libraries of some kilobytes: with symbols, without, without section headers.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/lua.c" <<'EOF'
const char lua_ident[] = "$LuaVersion: Lua 5.4.4  Copyright (C) 1994-2022 Lua.org, PUC-Rio $";
const char *const messages[] = {"break outside loop at line %d", "integer format mismatch"};
static int hidden(int n) { return n * 3; }
__attribute__((noinline)) int lua_call(int n) { return hidden(n) + (int)(long)messages[n & 1]; }
int lua_callk(int n) __attribute__((alias("lua_call"), weak));
int _lua_call(int n) __attribute__((alias("lua_call")));
int luaopen_base(int n) { return lua_call(n) + lua_ident[n]; }
EOF
cat >"$work/start.c" <<'EOF'
int lua_call(int n);
void _start(void) { for (;;) lua_call(0); }
EOF
flags=(-O1 -fno-asynchronous-unwind-tables -nostdlib '-Wl,-z,noseparate-code' '-Wl,--build-id=none')
gcc "${flags[@]}" -shared -fPIC "$work/lua.c" -o "$corpus/elf/library"
gcc "${flags[@]}" -static "$work/lua.c" "$work/start.c" -o "$corpus/elf/program"
gcc "${flags[@]}" -fPIE -pie "$work/lua.c" "$work/start.c" -o "$corpus/elf/pie"
strip -o "$corpus/elf/stripped" "$corpus/elf/library"
# e_shoff, e_shnum and e_shstrndx become 0.
cp "$corpus/elf/stripped" "$corpus/elf/headless"
for place in '40 8' '60 4'; do
	read -r seek count <<<"$place"
	dd if=/dev/zero of="$corpus/elf/headless" bs=1 seek="$seek" count="$count" conv=notrunc status=none
done
chmod -x "$corpus"/elf/*
du -sb "$corpus"/*
