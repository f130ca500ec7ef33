#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kubernetes_schemas.sh VERSION FILE: judges FILE by the schemas of that version of Kubernetes, which
# the Python package kubernetes-validate carries. pip fetches it where need be; it is kept in
# ${XDG_CACHE_HOME:-~/.cache}/luaspy-tests.
#
# Exit status 3: it cannot be had here.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/luaspy-tests/kubernetes-$(python3 -c \
	'import sys; print("%d.%d" % sys.version_info[:2])')
mkdir -p "$(dirname "$cache")"
exec 9>"$cache.lock"
flock 9
if ! [ -d "$cache" ]; then
	rm -rf "$cache.new"
	if ! python3 -m pip install --quiet --target "$cache.new" kubernetes-validate >&2; then
		echo "no schemas of Kubernetes: pip cannot install kubernetes-validate" >&2
		exit 3
	fi
	mv "$cache.new" "$cache"
fi
exec 9>&-
PYTHONPATH=$cache exec python3 -m kubernetes_validate --strict --kubernetes-version "$1" "$2"
