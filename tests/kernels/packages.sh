#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# packages.sh kernel SUITE ARCHITECTURE RELEASE: prints the file of the newest kernel of a suite of
# Debian whose release matches the pattern RELEASE (6.1.*-cloud-amd64).
# packages.sh root ARCHITECTURE PACKAGE...: prints a folder in which these packages of this
# machine's own suite are unpacked, with all that they depend on.
#
# Both are downloaded where need be, by an apt with a state of its own that leaves the machine's
# alone, from the machine's own mirror ($DEBIAN_MIRROR names another). All is kept in
# ${XDG_CACHE_HOME:-~/.cache}/luaspy-tests/kernels; lists of packages are fetched once a day.
#
# Exit status 3, with a reason: they cannot be had here.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/luaspy-tests/kernels
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
lists_max_age=1440 # minutes

give_up() {
	echo "$*" >&2
	exit 3
}

# The site of the first of the machine's own sources that is Debian's and has more than updates.
mirror() {
	if [ -n "${DEBIAN_MIRROR:-}" ]; then
		echo "$DEBIAN_MIRROR"
		return
	fi
	# shellcheck disable=SC2016 # apt's
	apt-get indextargets --format '$(RELEASE) $(SITE)' 'Origin: Debian' 'Created-By: Packages' |
		awk '$1 !~ /-/ { print $2; exit }'
}

# use_apt SUITE ARCHITECTURE: what apt is asked from here on, it answers for these.
use_apt() {
	local folder=$cache/apt/$1-$2 site
	site=$(mirror)
	[ -n "$site" ] || give_up "apt has no mirror of Debian (set DEBIAN_MIRROR)"
	mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial"
	: >"$folder/status"
	echo "deb [signed-by=$keyring] $site $1 main" >"$folder/sources.list"
	cat >"$folder/apt.conf" <<-END
		APT::Architecture "$2";
		#clear APT::Architectures;
		APT::Architectures { "$2"; };
		APT::Sandbox::User "root";
		APT::Install-Recommends "false";
		Acquire::Languages "none";
		Dir::State "$folder/state";
		Dir::State::status "$folder/status";
		Dir::Cache "$folder/cache";
		Dir::Etc::sourcelist "$folder/sources.list";
		Dir::Etc::sourceparts "-";
	END
	export APT_CONFIG=$folder/apt.conf
	exec 9>"$folder/lock"
	flock 9
	if [ -z "$(find "$folder/updated" -mmin -$lists_max_age 2>/dev/null)" ]; then
		apt-get update -q -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false >&2 &&
			touch "$folder/updated"
	fi
	exec 9>&-
}

# newest_release PATTERN: of a kernel that there is a package of.
newest_release() {
	local release found=
	while read -r release; do
		# shellcheck disable=SC2053 # a pattern
		[[ $release == $1 ]] && found=$release
	done < <(apt-cache pkgnames linux- | sed -nE 's/^linux-(image|binary)-([0-9])/\2/p' | sort -V)
	echo "$found"
}

# From 6.19 on linux-image-* is empty and linux-binary-* has the file.
package_of() {
	if apt-cache show "linux-binary-$1" >/dev/null 2>&1; then
		echo "linux-binary-$1"
	else
		echo "linux-image-$1"
	fi
}

kernel() {
	local release file
	use_apt "$1" "$2"
	release=$(newest_release "$3")
	[ -n "$release" ] || give_up "no kernel '$3' in Debian's $1 for $2"
	file=$cache/vmlinuz-$release
	if [ ! -s "$file" ]; then
		work=$(mktemp -d "$cache/.new.XXXXXX")
		trap 'rm -rf "$work"' EXIT
		(cd "$work" && apt-get download -q "$(package_of "$release")") >&2 ||
			give_up "cannot download Linux $release from Debian's $1"
		dpkg-deb --fsys-tarfile "$work"/*.deb | tar -xO --wildcards '*/vmlinuz*' >"$work/vmlinuz"
		[ -s "$work/vmlinuz" ] || give_up "no kernel in the package of Linux $release"
		mv "$work/vmlinuz" "$file"
	fi
	echo "$file"
}

# This machine's own, for its compilers and Debian's libraries of other architectures to agree.
own_suite() {
	# shellcheck disable=SC1091
	(. /etc/os-release && echo "$VERSION_CODENAME")
}

# Links that would lead out of the folder, to this machine's own files, are made to stay inside.
keep_inside() {
	local link
	find "$1" -type l -lname '/*' | while read -r link; do
		ln -sfn --relative "$1$(readlink "$link")" "$link"
	done
}

root() {
	local architecture=$1 packages key folder file
	shift
	use_apt "$(own_suite)" "$architecture"
	packages=$(apt-get install -y -qq --print-uris "$@") ||
		give_up "not in Debian's $(own_suite) for $architecture: one of $*"
	key=$(awk '{ print $2 }' <<<"$packages" | sort | sha256sum)
	folder=$cache/root-$architecture-${key:0:16}
	if [ ! -d "$folder" ]; then
		work=$(mktemp -d "$cache/.new.XXXXXX")
		trap 'rm -rf "$work"' EXIT
		mkdir -p "$work/archives/partial" "$work/root"
		apt-get install -y -q --download-only -o Dir::Cache::archives="$work/archives" "$@" >&2 ||
			give_up "cannot download libraries for $architecture"
		for file in "$work"/archives/*.deb; do
			dpkg-deb -x "$file" "$work/root"
		done
		keep_inside "$work/root"
		mv -T "$work/root" "$folder" 2>/dev/null || [ -d "$folder" ]
	fi
	echo "$folder"
}

case ${1:-} in
kernel) kernel "$2" "$3" "$4" ;;
root)
	shift
	root "$@"
	;;
*)
	echo "usage: packages.sh kernel SUITE ARCHITECTURE RELEASE" >&2
	echo "       packages.sh root ARCHITECTURE PACKAGE..." >&2
	exit 2
	;;
esac
