#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# guest.sh EXPECT VERIFIED_MAX: what a guest runs, in /luaspy, by busybox. Lines that begin with "= " are for
# run.sh:
#
#   = passed STEP, = failed STEP: REASON
#   = check VERDICT, = samples COUNT COMPLETE, = verified COUNT, = oracle COUNT WRONG
#
# EXPECT is "works", "refused" where the kernel is too old, or "locked" where lockdown forbids BPF to
# read memory; VERIFIED_MAX, how many instructions its verifier may follow.
expect=$1 verified_max=$2
versions='5.1 5.3 5.4'
profile=/tmp/profile.json
hottest_line=$(grep -n '^local function hottest' tests/kernels/busy.lua | cut -d : -f 1)
complete_min=995 # per mille of the samples that have script on the stack
export LUASPY=/luaspy/luaspy OUTPUT=.output LUASPY_CI_STRICT=1 LUASPY_EMULATED=1

passed() { echo "= passed $1"; }
failed() { echo "= failed $1: $2"; }

# run STEP COMMAND...: its output is in /tmp/out, too, and its exit status in $status.
run() {
	step=$1
	shift
	read -r uptime _ </proc/uptime
	echo "---- $uptime s, $step: $*"
	"$@" >/tmp/out 2>&1
	status=$?
	cat /tmp/out
}

# What a test program says of each test that failed: its name, the error and the place.
failed_tests() {
	awk '/^\[  ERROR   \] --- / { error = $0; sub(/.*ERROR   \] --- /, "", error)
			sub(/\[   LINE .*/, "assertion failed", error) }
		/LINE   \] --- / { place = $0; sub(/.*LINE   \] --- /, "", place); sub(/: error.*/, "", place) }
		/^\[  FAILED  \] / && error { printf "%s%s (%s: %s)", comma, $4, place, error
			comma = "; "; error = "" }' /tmp/out
}

# The last message of luaspy, except those for debugging; if it printed none, the last line of output.
last_message() {
	{ grep '^luaspy: ' /tmp/out | grep -v '^luaspy: debug: ' || cat /tmp/out; } | tail -n 1
}

# judge [REASON]: the step has failed if luaspy said so, or for the reason.
judge() {
	if [ "$status" != 0 ]; then
		why=$(failed_tests)
		failed "$step" "exit status $status: ${why:-$(last_message)}"
	elif [ -n "$*" ]; then
		failed "$step" "$*"
	else
		passed "$step"
	fi
}

start() {
	"lua$1" tests/kernels/busy.lua &
	started="$started $!"
	sleep 0.2
}

stop() {
	# shellcheck disable=SC2086 # several
	kill $started
	# shellcheck disable=SC2086
	wait $started 2>/dev/null
	started=
}

# The first number of a row of the accounting (-v), which is that of the samples.
row() { awk -v name="$1" '$1 == name { gsub(",", "", $2); print $2; exit }' /tmp/out; }

# judge_record MIN: at least so many samples with script on the stack, nearly all complete, and the
# right function is hottest: by its line, for a starved guest may lack the time to read names.
judge_record() {
	all=$(row all) host=$(row host) complete=$(row complete)
	script=$((${all:-0} - ${host:-0}))
	echo "= samples $script ${complete:-0}"
	hottest=$(awk '/^Hottest/ { begun = 1 }
		begun && $1 == 1 { sub(/ [^ ]*:[0-9]+ [<>]?[0-9]+%$/, ""); print; exit }' /tmp/out)
	reason=
	if [ "$script" -lt "$1" ]; then
		reason="$script samples of script, not $1"
	elif [ $((${complete:-0} * 1000)) -lt $((script * complete_min)) ]; then
		reason="$complete of $script samples are complete"
	elif [ "${hottest%busy.lua:"$hottest_line"}" = "$hottest" ]; then
		reason="the hottest function is not the one that is"
	fi
	judge "$reason"
}

# what is said of the kernel, by itself and with a process
judge_check() {
	verdict=ok
	grep -q ^FAIL /tmp/out && verdict=FAIL
	echo "= check $verdict"
	judge
}

# However long so many samples take where everything is emulated.
profile() {
	start "$1"
	run "record $1 at 1 kHz" "$LUASPY" record -v -p "$!" -d 20 --until-samples 500 -o "$profile"
	judge_record 500
	[ "$status" = 0 ] || run "record $1 once more" "$LUASPY" record -v -p "$!" -d 1
	run "record $1 at 10 kHz" "$LUASPY" record -v -p "$!" -d 20 --until-samples 2000 -F 10khz \
		-o "$profile"
	judge_record 2000
	run "dump $1" "$LUASPY" dump --all -p "$!"
	missing=
	grep -q 'middle (' /tmp/out || missing="no function 'middle'"
	grep -q '^Coroutine .*suspended' /tmp/out || missing="no suspended coroutine"
	judge "$missing"
	stop
}

profile_system() {
	for v in $versions; do
		start "$v"
	done
	run "record --system" "$LUASPY" record -v --system --max-overhead none -d 20 --until-samples 500 \
		-o "$profile"
	judge_record 500
	run "check -p" "$LUASPY" check -p "$!"
	judge_check
	stop
}

verify() {
	run verifier .output/tests/e2e/sampler/test_verifier
	# Each family has a limit of its own: this one is that of the core and of PUC Lua. The test
	# itself knows the others'.
	verified=$(awk '/^walk_/ && !/^walk_(puc|nothing):/ { next }
		/ verified$/ { sum += $(NF - 1) } END { print sum + 0 }' /tmp/out)
	echo "= verified $verified"
	if [ "$verified" -gt "$verified_max" ]; then
		judge "$verified instructions followed, over $verified_max"
	else
		judge
	fi
}

# compare TARGET SAMPLES: with the oracle, so many of each run, steady and hasty.
compare() {
	run "oracle $1" env ORACLE_ONLY_WRONG=1 "ORACLE_SAMPLES=$2" "ORACLE_RUNS=*$1 *y" \
		.output/tests/oracle/test_oracle
	awk '/^(lib)?lua/ && NF == 12 { print "= oracle", $3, $(NF - 1) }' /tmp/out
	judge
}

# What LuaJIT's compiler made, if the guest was given the test.
compare_traces() {
	[ -e .output/tests/oracle/test_traces ] || return 0
	run "oracle traces" env ORACLE_ONLY_WRONG=1 ORACLE_SAMPLES=500 "ORACLE_RUNS=compiled_code_shows*" \
		.output/tests/oracle/test_traces
	awk '/ in machine code; / {
		wrong = $0
		sub(/.* other [^(]*[(]/, "", wrong)
		sub(/[)].*/, "", wrong)
		print "= oracle", $2, wrong
	}' /tmp/out
	judge
}

# PUC Lua on the main thread (lua5.4) and on another (liblua5.4), of the oldest release and the newest,
# and the other interpreters that the guest was given.
compare_all() {
	for v in 5.1 5.4; do
		compare "lua$v" 1000
	done
	for program in .output/tests/oracle/hosts/*; do
		compare "${program##*/}" 500
	done
	compare_traces
}

# Every other test program that the guest was given (GUEST_TESTS in rules.mk). Emulated timers go off
# between pieces of code that QEMU translates as one, again and again at the same instructions; of
# what test_collector and its like run, "tables" has none where the target and luaspy may well disagree.
run_tests() {
	export ORACLE_SAMPLES=1000 ORACLE_RUNS='* tables'
	find .output/tests -type f -name 'test_*' >/tmp/tests
	while read -r program <&3; do
		case $program in
		*/test_verifier | */test_oracle | */test_traces) continue ;;
		esac
		run "${program#.output/tests/}" "$program"
		reason=
		grep -q '^\[  PASSED  \] [1-9]' /tmp/out || reason="none of its tests has passed"
		judge "$reason"
	done 3</tmp/tests
}

# refuse WORDS WHAT: one line with these words (a pattern), nothing written, and check agrees.
refuse() {
	start 5.4
	run "record is refused" "$LUASPY" record -q -p "$!" -d 1 -o "$profile"
	reason=
	[ "$status" = 1 ] || reason="exit status $status"
	[ "$(wc -l </tmp/out)" = 1 ] || reason="not one line"
	grep -qE "$1" /tmp/out || reason="it does not say $2"
	[ ! -e "$profile" ] || reason="a profile was written"
	status=0
	judge "$reason"
	run "check is refused" "$LUASPY" check -p "$!"
	verdict=ok
	grep -q ^FAIL /tmp/out && verdict=FAIL
	echo "= check $verdict"
	reason=
	if [ "$verdict" = ok ] || [ "$status" = 0 ]; then reason="check takes the kernel"; fi
	status=0
	judge "$reason"
	stop
}

complain() {
	run kernel sh -c 'dmesg | grep -E "BUG:|WARNING:|Oops|Call Trace|rcu:.*stall"; true'
	judge "$(head -n 1 /tmp/out)"
}

# What stands still is read without BPF.
dump_idle() {
	mkfifo /tmp/questions
	lua5.4 -e 'local function ask() return (io.read()) end ask()' <>/tmp/questions &
	started=$!
	sleep 1
	run "dump of an idle process" "$LUASPY" dump -p "$started"
	reason=
	grep -q '^    ask (' /tmp/out || reason="no function 'ask'"
	judge "$reason"
	stop
}

uname -a
if [ "$expect" = refused ]; then
	refuse 'Linux [0-9]+\.[0-9]+' 'which kernel would do'
elif [ "$expect" = locked ]; then
	# As in a container, which has no securityfs that would tell the mode.
	refuse "locked down.*without 'lockdown=confidentiality'" 'that the kernel is locked down'
	dump_idle
else
	run check "$LUASPY" check
	judge_check
	for v in $versions; do
		profile "$v"
	done
	profile_system
	verify
	compare_all
	run_tests
fi
complain
