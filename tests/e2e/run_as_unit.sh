#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run_as_unit.sh LUASPY FOLDER WITHOUT [WORD]...: runs LUASPY as the unit would, by the lines that it
# has: its command, options and capabilities, all but WITHOUT; as nobody's user, where nothing but
# FOLDER, which takes the place of the logs, can be written. With WORDs, these instead of its command
# and options. To be run as root in the folder of the sources.
set -eu
luaspy=$1 folder=$2 without=$3
shift 3
user=64321 # among those that systemd takes for DynamicUser=

of_unit() { sed -n "s/^$1=//p" user/share/luaspy.service.in | tr -d '"'; }

if [ "${AS_UNIT-}" != inside ]; then
	chown $user "$folder"
	AS_UNIT=inside exec unshare --mount "$0" "$luaspy" "$folder" "$without" "$@"
fi
mount --bind "$folder" "$folder"
mount -o remount,bind,ro /

capabilities=-all$(of_unit AmbientCapabilities | tr ' ' '\n' | grep -vx "$without" | tr -d '\n' |
	sed 's/CAP_/,+/g' | tr '[:upper:]' '[:lower:]')
if [ $# = 0 ]; then
	# The command has it.
	# shellcheck disable=SC2034
	LUASPY_OPTIONS=$(of_unit Environment | sed 's/^LUASPY_OPTIONS=//')
	# shellcheck disable=SC2086 # words
	eval "set -- $(of_unit ExecStart | sed "s|@PREFIX@/bin/luaspy||; s|%L/luaspy|$folder|")" $NARROWED
fi
cd "$folder"
exec setpriv --reuid=$user --regid=$user --clear-groups --no-new-privs \
	--inh-caps="$capabilities" --ambient-caps="$capabilities" --bounding-set="$capabilities" \
	"$luaspy" "$@"
