#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh PROGRAM...: runs cmocka programs, sums up, fails if any failed. First those in
# $SIDE_BY_SIDE and, in a PID namespace each, those in $ISOLATED, one more at a time than there are
# processors, because they also wait; then the others, one after the other.
#
# A program has passed if it exits with 0 and cmocka's closing line is in its output, has been
# skipped if it skipped all of its tests. It gets $TEST_TIMEOUT seconds (600). With CI=true a test
# that lacks a package fails instead of being skipped (tests/support/skip.h).
set -euo pipefail

cd "$(dirname "$0")/.."
output=${OUTPUT:-.output}
limit=${TEST_TIMEOUT:-600}
export LUASPY=${LUASPY:-$PWD/luaspy}
# No test depends on the shell or the terminal of whoever calls it, or on there being none.
unset SHELL LINES COLUMNS
export TERM=xterm
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
if [ "${CI:-}" = true ]; then
	export LUASPY_CI_STRICT=1
fi

if [ $# = 0 ]; then
	echo "no test programs (TESTS names folders of tests/, or programs in them)" >&2
	exit 1
fi

# The number in cmocka's line "[  PASSED  ] 3 test(s)."; several groups add up.
count() {
	sed -n "s/^\[ *$1 *\] \([0-9]*\) test(s).*/\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'
}

begin=$(date +%s) passed=0 skipped=0 tests_passed=0 tests_skipped=0
failed=()
times=()

# Sorts the program $1 by what it wrote into its log, and how it exited.
judge() {
	local name=${1#"$output"/tests/} log status seconds cpu ok left
	log=$output/tests/$name.log
	read -r status seconds cpu <"$log.status"
	times+=("$seconds s, $cpu s of CPU  $name")
	ok=$(count PASSED)
	left=$(count SKIPPED)
	tests_passed=$((tests_passed + ok))
	tests_skipped=$((tests_skipped + left))
	if [ "$status" = 124 ] || [ "$status" = 137 ]; then
		failed+=("$name: stopped after $limit s")
	elif [ "$status" != 0 ]; then
		failed+=("$name: exit status $status")
	elif ! grep -q '^\[  PASSED  \]' "$log"; then
		failed+=("$name: ended without cmocka's closing line")
	elif [ "$ok" = 0 ] && [ "$left" != 0 ]; then
		skipped=$((skipped + 1))
	else
		passed=$((passed + 1))
	fi
}

# What cmocka said of a failed program, or how its log $1 ends: nobody should search for it.
show_reason() {
	if ! grep -a -m 8 -B 1 -A 3 '^\[  ERROR   \]\|^ERROR: ' "$1"; then
		tail -n 8 "$1"
	fi | sed 's/^/    /'
}

# CPU time of all that this shell has waited for, in seconds: the second line of its times.
waited_for() {
	awk 'NR == 2 { split($1 "s" $2, part, "[ms]")
	               printf "%.0f", part[1] * 60 + part[2] + part[4] * 60 + part[5] }'
}

# Runs the program $1, in a PID namespace if it is to be isolated. How it exits and how long it
# takes is written beside its log. To be called once by a shell.
run() {
	local name=${1#"$output"/tests/} log status=0 apart=()
	log=$output/tests/$name.log
	mkdir -p "$(dirname "$log")"
	echo "---- $name"
	if is_in "$isolated" "$1"; then
		read -ra apart <<<"$namespace"
	fi
	SECONDS=0
	timeout --kill-after=10 "$limit" "${apart[@]}" "$1" </dev/null 2>&1 |
		tee "$log" || status=$?
	times >"$log.status"
	echo "$status $SECONDS $(waited_for <"$log.status")" >"$log.status"
}

# The same, but prints all at once: what several programs print must not mix.
run_beside_others() {
	local whole
	whole=$(mktemp)
	run "$1" >"$whole"
	{ flock 0 && cat "$whole"; } <"$output/tests"
	rm "$whole"
}

# Whether the list $1 has the program $2.
is_in() {
	case " $1 " in
	*" $2 "*) ;;
	*) return 1 ;;
	esac
}

namespace='unshare --pid --fork --kill-child --mount-proc'
isolated=${ISOLATED:-}
if ! $namespace true 2>/dev/null; then
	isolated=
fi
export -f run run_beside_others is_in waited_for
export output limit isolated namespace

beside=() alone=()
for program in "$@"; do
	if is_in "${SIDE_BY_SIDE:-} $isolated" "$program"; then
		beside+=("$program")
	else
		alone+=("$program")
	fi
done
printf '%s\n' "${beside[@]}" | xargs -r -I{} -P $(($(nproc) + 1)) \
	bash -euo pipefail -c 'run_beside_others {}'
for program in "${alone[@]}"; do
	bash -euo pipefail -c 'run "$1"' - "$program"
done
for program in "$@"; do
	judge "$program"
done

took=$(($(date +%s) - begin))
echo
echo "the slowest:"
printf '  %s\n' "${times[@]}" | sort -rn | sed -n 1,10p
echo "test programs: $passed passed, ${#failed[@]} failed, $skipped skipped" \
	"(tests: $tests_passed passed, $tests_skipped skipped) in $((took / 60)) min $((took % 60)) s"
for line in "${failed[@]}"; do
	echo "  FAILED   $line"
	show_reason "$output/tests/${line%%:*}.log"
done
[ ${#failed[@]} = 0 ]
