#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# sysroot.sh ARCHITECTURE FOLDER: makes FOLDER what luaspy is built against for another machine: the
# headers and libraries of this Debian release for ARCHITECTURE (arm64, amd64), from where this
# machine's own packages come. FOLDER/packages has the libraries' packages one by one, by which
# dpkg-shlibdeps tells what a package of luaspy depends on. Nothing is installed, no root is needed.
set -euo pipefail

architecture=$1
folder=$(realpath -m "$2")
packages=(libbpf-dev libelf-dev zlib1g-dev libncurses-dev libc6-dev uthash-dev)

for tool in apt-get dpkg-deb; do
	command -v "$tool" >/dev/null && continue
	echo "cannot make a sysroot for $architecture: no '$tool' (it takes Debian's packages)" >&2
	exit 1
done

mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/apt/{state/lists/partial,cache/archives/partial} "$work/root/packages"
: >"$work/apt/status"

# A package manager of its own, which knows this machine's sources and none of its packages.
cat >"$work/apt/conf" <<END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
Debug::NoLocking "true";
Dir::State "$work/apt/state";
Dir::State::status "$work/apt/status";
Dir::Cache "$work/apt/cache";
END
export APT_CONFIG=$work/apt/conf

echo "downloading libraries for $architecture"
apt-get update -qq
apt-get install -qq --download-only --no-install-recommends --yes "${packages[@]}" >/dev/null

for package in "$work"/apt/cache/archives/*.deb; do
	name=$(dpkg-deb --field "$package" Package)
	dpkg-deb --extract "$package" "$work/root"
	dpkg-deb --raw-extract "$package" "$work/root/packages/$name"
	[ -e "$work/root/packages/$name/DEBIAN/shlibs" ] || rm -r "$work/root/packages/$name"
done

# Links to the root of a machine lead to this one's.
find "$work/root" -xtype l -lname '/*' -printf '%p %l\n' | while read -r link target; do
	[ ! -e "$work/root$target" ] || ln -sfr "$work/root$target" "$link"
done

rm -rf "$folder"
mv "$work/root" "$folder"
