#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# generate.sh FILE: writes all types of the running kernel, as C, to FILE.
# BTF names a file other than the running kernel's, BPFTOOL another bpftool.
set -eu

file=${1:?usage: vmlinux/generate.sh FILE}
btf=${BTF:-/sys/kernel/btf/vmlinux}
PATH=$PATH:/usr/sbin:/sbin

if [ ! -r "$btf" ]; then
	echo "cannot read '$btf' (it needs a kernel with CONFIG_DEBUG_INFO_BTF=y)" >&2
	exit 1
fi
mkdir -p "$(dirname "$file")"
"${BPFTOOL:-bpftool}" btf dump file "$btf" format c >"$file.new"
mv "$file.new" "$file"
