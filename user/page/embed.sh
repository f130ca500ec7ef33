#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# embed.sh PAGE: prints the page as two C arrays, of what is before and after the place of a profile.
set -eu

bytes() { od -An -v -tu1 | sed 's/[0-9][0-9]*/&,/g'; }

[ "$(grep -c '^@PROFILE@$' "$1")" = 1 ] || {
	echo "'$1' has not one line '@PROFILE@'" >&2
	exit 1
}
echo 'static const unsigned char page_before[] = {'
sed '/^@PROFILE@$/,$d' "$1" | bytes
echo '};'
echo 'static const unsigned char page_after[] = {'
sed '1,/^@PROFILE@$/d' "$1" | bytes
echo '};'
