#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# guest_root.sh SYSTEM FOLDER FILE...: writes the file system that a guest boots into to standard
# output. A FILE whose name begins with a slash (/bin/busybox must be one) comes from the system that
# is in SYSTEM ("" for this machine's own) and keeps its place; any other comes from FOLDER and goes
# into /luaspy. The libraries that they are linked with come from SYSTEM, too.
set -euo pipefail

system=$1 folder=$2
shift 2

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

give_up() {
	echo "$1" >&2
	exit 1
}

# The path in the system of a library or program loader.
find_library() {
	local found
	found=$(compgen -G "$system/lib/*-linux-gnu/$1" || compgen -G "$system/usr/lib/*-linux-gnu/$1") ||
		give_up "cannot find '$1' in '$system/lib'"
	head -n 1 <<<"${found#"$system"}"
}

# What a file needs in memory beside it, and what this needs.
add_libraries() {
	local name path
	while read -r name; do
		[ ! -e "$(dirname "$1")/$name" ] || continue
		path=$(find_library "$(basename "$name")")
		# A loader has one place, whatever the folder it came in.
		[ "${name#/}" = "$name" ] || path=$name
		[ ! -e "$root$path" ] || continue
		install -D "$system$path" "$root$path"
		add_libraries "$root$path"
	done < <(readelf -ld "$1" 2>/dev/null |
		sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p; s/.*program interpreter: (.*)\]/\1/p')
}

# All of them before any library is looked for: it may be one of them, beside what needs it.
for file in "$@"; do
	case $file in
	/*) install -D "$system$file" "$root$file" ;;
	*) install -D "$folder/$file" "$root/luaspy/$file" ;;
	esac
done
for file in "$@"; do
	case $file in
	/*) add_libraries "$root$file" ;;
	*) add_libraries "$root/luaspy/$file" ;;
	esac
done
ln -s busybox "$root/bin/sh"
install -D tests/kernels/init "$root/init"
cd "$root"
find . | sort | cpio --quiet -oH newc -R 0:0 | gzip -1
