#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# check.sh FILE [ARCHITECTURE]: fails unless this program runs without any other file, and on that
# ARCHITECTURE (x86, arm64).
set -eu

case ${2:-} in
x86) machine=X86-64 ;;
arm64) machine=AArch64 ;;
*) machine= ;;
esac
if ! readelf --file-header "$1" | grep -q "Machine:.*$machine"; then
	echo "'$1' is not for $2" >&2
	exit 1
fi

headers=$(readelf --wide --program-headers --dynamic "$1")
case $headers in
*INTERP* | *"(NEEDED)"*)
	echo "'$1' needs other files to run:" >&2
	echo "$headers" | grep -E 'INTERP|interpreter|NEEDED' >&2
	exit 1
	;;
*LOAD*) ;;
*)
	echo "cannot read '$1' as a program" >&2
	exit 1
	;;
esac
