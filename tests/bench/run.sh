#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What luaspy costs its target and takes itself, as tables, and whether that is within the aims.
# Options, by the environment: BENCH ("process", "system", "reading" or "convert" alone), LUASPY,
# LUA (lua5.4, or several: "lua5.1 lua5.2"; "system" takes the first). Of "process": BENCH_SECONDS
# (120, in which a cost of 1% shows, and some more for each script), BENCH_SCRIPTS ("shallow
# depth10"), BENCH_HERTZ (10000), BEFORE (the path of another luaspy, which this one is compared
# with in the same cycles). Of "system": BENCH_ROUNDS (12, half of which are done; 4 minutes),
# BENCH_DROP_SECONDS (60, in which no sample may be dropped), BENCH_PROCESSES (1000). Of "convert":
# BENCH_ROUNDS (3).
set -euo pipefail

cd "$(dirname "$0")/../.."
PATH=$PATH:/usr/sbin:/sbin
export OUTPUT=${OUTPUT:-.output}
export LUASPY=${LUASPY:-$PWD/luaspy}
export LUA=${LUA:-lua5.4}

if [ "$(id -u)" != 0 ]; then
	echo "cannot measure: BPF and its statistics need root (try 'sudo make bench')" >&2
	exit 1
fi
for program in "$LUASPY" $LUA python3; do
	if ! command -v "$program" >/dev/null; then
		echo "cannot measure without '$program' (install it, or set LUA or LUASPY)" >&2
		exit 1
	fi
done
make O="$OUTPUT" "$OUTPUT/tests/bench/empty_timer"
for part in ${BENCH:-process system reading convert}; do
	case $part in
	process) python3 -B tests/bench/bench.py ;;
	system) python3 -B tests/bench/system.py ;;
	reading) python3 -B tests/bench/reading.py ;;
	convert) python3 -B tests/bench/convert.py ;;
	*)
		echo "cannot measure '$part' (BENCH may name process, system, reading, convert)" >&2
		exit 2
		;;
	esac
done
