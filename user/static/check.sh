#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# check.sh FILE: fails unless this program runs without any other file.
set -eu

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
