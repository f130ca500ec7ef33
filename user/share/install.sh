#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# install.sh ROOT LIST put MODE FROM TO: copies FROM to ROOT/TO. Folders that are made for it are
# noted in the file ROOT/LIST.
# install.sh ROOT LIST remove FILE...: removes ROOT/FILE..., the list, and of the folders on it those
# that are empty: who was there before stays.
set -eu
root=$1 list=$2 action=$3
shift 3
made=

make_folder() {
	[ ! -d "$root$1" ] || return 0
	if [ "$1" = / ]; then
		mkdir -p "$root/"
	else
		make_folder "$(dirname "$1")"
		mkdir "$root$1"
	fi
	made="$made$1
"
}

put() {
	make_folder "$(dirname "$3")"
	make_folder "$(dirname "$list")"
	printf '%s' "$made" >>"$root$list"
	install -m "$1" "$2" "$root$3"
}

remove() {
	for file in "$@"; do
		rm -f "$root$file"
	done
	[ -e "$root$list" ] || return 0
	folders=$(sort -r "$root$list")
	rm "$root$list"
	echo "$folders" | while read -r folder; do
		[ ! -d "$root$folder" ] || rmdir --ignore-fail-on-non-empty "$root$folder"
	done
}

"$action" "$@"
