#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# unpack_nginx.sh FOLDER: makes a folder with Debian's nginx, its Lua module, and wrk: they bring
# OpenResty's LuaJIT along, which cannot be installed beside Debian's own. FOLDER/root has their
# files, FOLDER/lib the libraries for LD_LIBRARY_PATH: those that they need, but not the C library.
#
# Exit status 3, with a reason: they cannot be had here.
set -euo pipefail

folder=$1
here=$(cd "$(dirname "$0")" && pwd)

if ! command -v dpkg >/dev/null || ! command -v apt-get >/dev/null; then
	echo "no nginx: its packages are Debian's" >&2
	exit 3
fi
root=$("$here/../kernels/packages.sh" root "$(dpkg --print-architecture)" \
	nginx libnginx-mod-http-lua wrk)
rm -rf "$folder"
mkdir -p "$folder/lib"
for library in libluajit-5.1.so.2 libpcre.so.3 libpcre2-8.so.0 libssl.so.3 libcrypto.so.3; do
	find "$root" -name "$library" -exec ln -sf '{}' "$folder/lib/$library" ';'
done
ln -s "$root" "$folder/root"
