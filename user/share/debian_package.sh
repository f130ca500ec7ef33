#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# debian_package.sh LUASPY FOLDER [PROGRAM SYSROOT]: makes FOLDER/luaspy_VERSION_ARCHITECTURE.deb of
# the program LUASPY and what it says of itself; says the file's name. PROGRAM is packed instead
# where it is for another machine, whose libraries are in SYSROOT (user/static/sysroot.sh). To be run
# in the folder of the sources. $STRIP is for the program; Debian's variables DEBFULLNAME, DEBEMAIL
# and SOURCE_DATE_EPOCH are heeded.
set -eu
luaspy=$(realpath "$1")
folder=$(mkdir -p "$2" && realpath "$2")
program=$(realpath "${3:-$1}")
sysroot=${4:-}
strip=${STRIP:-strip}
given=$#
here=$(dirname "$0")

for tool in dpkg-deb dpkg-shlibdeps "$strip" readelf gzip; do
	command -v "$tool" >/dev/null && continue
	echo "cannot make a package: no '$tool' (on Debian it is in dpkg-dev or binutils)" >&2
	exit 1
done

version=$("$luaspy" --version | cut -d ' ' -f 2)
case $(readelf --file-header "$program" | sed -n 's/.*Machine: *//p') in
*X86-64) architecture=amd64 ;;
AArch64) architecture=arm64 ;;
*) architecture=$(dpkg --print-architecture) ;;
esac
date=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y "$luaspy")}
export SOURCE_DATE_EPOCH="$date"
name=${DEBFULLNAME:-$(git config user.name 2>/dev/null || id -un)}
address=${DEBEMAIL:-${EMAIL:-$(git config user.email 2>/dev/null || echo "$(id -un)@$(uname -n)")}}

work=$(mktemp -d "$folder/.package-XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root
share=$root/usr/share
documents=$share/doc/luaspy
umask 022
mkdir -p "$root/DEBIAN" "$root/usr/bin" "$share/man/man1" "$share/man/man7" "$documents" \
	"$share/bash-completion/completions" "$share/zsh/vendor-completions" \
	"$share/fish/vendor_completions.d" "$root/lib/systemd/system" "$work/debian"

"$strip" --strip-unneeded --remove-section=.comment --remove-section=.note \
	-o "$root/usr/bin/luaspy" "$program"
for page in $(sh "$here/manual.sh" --list "$luaspy"); do
	sh "$here/manual.sh" "$page" "$luaspy" | gzip -9n >"$share/man/man1/$page.1.gz"
done
sh "$here/completion.sh" bash "$luaspy" >"$share/bash-completion/completions/luaspy"
sh "$here/completion.sh" zsh "$luaspy" >"$share/zsh/vendor-completions/_luaspy"
sh "$here/completion.sh" fish "$luaspy" >"$share/fish/vendor_completions.d/luaspy.fish"
sed 's|@PREFIX@|/usr|' "$here/luaspy.service.in" >"$root/lib/systemd/system/luaspy.service"
for page in "$here"/doc/*.md; do
	guide=$(basename "$page" .md)
	sh "$here/guide.sh" "$guide" "$luaspy" | gzip -9n >"$share/man/man7/luaspy-$guide.7.gz"
done
for page in README.md "$here"/doc/*.md; do
	install -m 644 "$page" "$documents"
	gzip -9n "$documents/${page##*/}"
done

gzip -9n >"$documents/changelog.gz" <<END
luaspy ($version) unstable; urgency=medium

  * Package of release $version.

 -- $name <$address>  $(date -u -R -d "@$date")
END

# The text of the BSD licence is in LICENSE; that of the GPL in every Debian system.
bsd_text() {
	sed -n '/^Redistribution and use/,/^POSSIBILITY/p' LICENSE | sed 's/^$/./; s/^/ /'
}

cat >"$documents/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: luaspy

Files: *
Copyright: $(date -u -d "@$date" +%Y) $(sed -n 's/^Copyright (c) //p' LICENSE | head -n 1)
License: GPL-2 or BSD-2-Clause

License: GPL-2
 This program is free software; you can redistribute it and/or modify it under
 the terms of version 2 of the GNU General Public License as published by the
 Free Software Foundation. On Debian systems its text is in
 /usr/share/common-licenses/GPL-2.

License: BSD-2-Clause
$(bsd_text)
END

# What libraries it needs, and of which versions, is in their packages.
printf 'Source: luaspy\n\nPackage: luaspy\nArchitecture: any\n' >"$work/debian/control"
for package in ${sysroot:+"$sysroot"/packages/*}; do
	set -- "$@" "-S$package"
done
shift "$given"
depends=$(cd "$work" && DEB_HOST_ARCH=$architecture dpkg-shlibdeps "$@" -O root/usr/bin/luaspy |
	sed -n 's/^shlibs:Depends=//p')

for script in postinst prerm postrm; do
	install -m 755 "$here/debian/$script" "$root/DEBIAN/$script"
done
find "$root" -exec touch -h -d "@$date" {} +
cat >"$root/DEBIAN/control" <<END
Package: luaspy
Version: $version
Architecture: $architecture
Maintainer: $name <$address>
Installed-Size: $(du -k -c -s --apparent-size "$root/usr" "$root/lib" | sed -n 's/\ttotal$//p')
Depends: $depends
Section: devel
Priority: optional
Description: sampling profiler for Lua that attaches from outside
 luaspy shows which Lua functions and lines a running process spends its CPU
 time in. It does not restart, stop or change the process, and needs no
 symbols, no debug information and no module: an eBPF program samples the Lua
 call stacks on a timer. It covers PUC Lua 5.1 to 5.5, also inside other
 programs.
 .
 luaspy writes the profile as a ScriptProfiler JSON file and prints a summary.
END
(cd "$root" && find usr lib -type f | LC_ALL=C sort | xargs md5sum) >"$root/DEBIAN/md5sums"

package=$folder/luaspy_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package"
