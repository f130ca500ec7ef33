#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# cross_make.sh ARCHITECTURE WORD...: `make WORD...` for another architecture (arm64), with the
# libraries that Debian has for it, into $OUTPUT/ARCHITECTURE. ./luaspy, which is the own
# architecture's, must not be among the WORDs: $OUTPUT/ARCHITECTURE/guest/luaspy is the other's.
#
# Exit status 3, with a reason: it cannot be built here.
set -euo pipefail

cd "$(dirname "$0")/../.."
architecture=$1
shift

# What is built with, and the programs that guests have (GUEST_SYSTEM in rules.mk).
packages=(libc6-dev libbpf-dev libelf-dev zlib1g-dev libncurses-dev uthash-dev libcmocka-dev
	libjansson-dev liblua5.1-0-dev liblua5.2-dev liblua5.3-dev liblua5.4-dev musl-dev
	lua5.1 lua5.2 lua5.3 lua5.4 luajit busybox-static redis-server
	util-linux)

case $architecture in
arm64) triple=aarch64-linux-gnu ;;
*)
	echo "cannot build for '$architecture' here (for arm64 alone)" >&2
	exit 3
	;;
esac
if ! command -v "$triple-gcc" >/dev/null; then
	echo "cannot build for $architecture: no $triple-gcc" >&2
	exit 3
fi

system=$(tests/kernels/packages.sh root "$architecture" "${packages[@]}")
export PKG_CONFIG_SYSROOT_DIR=$system
export PKG_CONFIG_LIBDIR=$system/usr/lib/$triple/pkgconfig:$system/usr/share/pkgconfig
# For programs that tests/hosts/build_host.sh builds.
export HOST_TRIPLE=$triple HOST_SYSTEM=$system

# With these gcc builds for musl. They name folders as on the machine that the package is for.
mkdir -p "${OUTPUT:-.output}/$architecture"
musl_specs=${OUTPUT:-.output}/$architecture/musl.specs
sed "s|/usr/|$system/usr/|g" "$system/usr/lib/${triple%-gnu}-musl/musl-gcc.specs" >"$musl_specs"

libraries=
for folder in "$system/lib/$triple" "$system/usr/lib/$triple"; do
	libraries+=" -Wl,-rpath-link,$folder"
done
"${MAKE:-make}" O="${OUTPUT:-.output}/$architecture" ARCH="$architecture" SYSTEM="$system" \
	CC="$triple-gcc --sysroot=$system" LDFLAGS="$libraries" \
	MUSL_GCC="$triple-gcc -specs=$musl_specs" "$@"
