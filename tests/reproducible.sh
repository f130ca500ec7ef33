#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# reproducible.sh ARCH...: builds what is released (the static program, the package of Debian, the
# image) for each ARCH (x86, arm64) twice, in two folders whose names differ in length, one after the
# other, and fails unless the files are equal. What is built is the work tree, uncommitted changes
# included.
set -euo pipefail

cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Of the sources, whenever they are built.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)}
export SOURCE_DATE_EPOCH
export DEBFULLNAME=${DEBFULLNAME:-luaspy} DEBEMAIL=${DEBEMAIL:-luaspy@localhost}

# build FOLDER ARCH...
build() {
	local where=$1 each
	shift
	cp -r "$folder/sources" "$where"
	make -s -j"$(nproc)" -C "$where" >/dev/null
	for each in "$@"; do
		make -s -j"$(nproc)" -C "$where" ARCH="$each" static deb >/dev/null
	done
	make -s -j"$(nproc)" -C "$where" image >/dev/null
}

# What comes out, by name and content.
sums() {
	(cd "$1/.output" && find . -path '*/static/luaspy' -o -name 'luaspy_*.deb' -o \
		-name 'luaspy-*.tar' | LC_ALL=C sort | xargs sha256sum)
}

unset MAKEFLAGS CC
mkdir "$folder/sources"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$folder/sources"
build "$folder/first" "$@"
# Later, elsewhere, as somebody with other habits.
(
	umask 077
	export TZ=Pacific/Apia LC_ALL=C
	build "$folder/the second one" "$@"
)
sums "$folder/first" >"$folder/sums"
if ! sums "$folder/the second one" | diff "$folder/sums" -; then
	echo "the same sources gave other bytes" >&2
	exit 1
fi
[ "$(wc -l <"$folder/sums")" -gt $((2 * $#)) ] || {
	echo "not all files were built" >&2
	exit 1
}
echo "the same, built twice:"
cat "$folder/sums"
