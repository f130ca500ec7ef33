#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh: boots the kernels of kernels.txt under QEMU, runs guest.sh in them, and prints a line for
# each. It fails if one of them did anything that it should not, or could not be had. KERNELS has
# patterns of names ("6.1-* arm64-*"), else those are run that CI runs. What each wrote is in
# $OUTPUT/kernels/NAME.log.
# run.sh --markdown: prints the lines of the last run as a table, and runs nothing.
#
# Emulated in software, whether or not this machine has KVM, so that results are the same everywhere.
# So many at a time as there are processors (KERNEL_JOBS): each keeps one of them busy.
set -euo pipefail

cd "$(dirname "$0")/../.."
output=${OUTPUT:-.output}
logs=$output/kernels
limit=${KERNEL_TIMEOUT:-900} # seconds for each
jobs=${KERNEL_JOBS:-$(nproc)}

mkdir -p "$logs"

# The lines of kernels.txt that are asked for, without comments.
selected() {
	local name suite architecture release set rest pattern
	while read -r name suite architecture release set rest; do
		if [ -z "${KERNELS:-}" ]; then
			[ "$set" != ci ] || echo "$name $suite $architecture $release $rest"
			continue
		fi
		set -f
		for pattern in $KERNELS; do
			# shellcheck disable=SC2053 # a pattern
			[[ $name == $pattern ]] || continue
			echo "$name $suite $architecture $release $rest"
			break
		done
		set +f
	done < <(grep -v '^#' tests/kernels/kernels.txt)
}

# QEMU 7.2 trips over some kernels with a thread for each processor, and leaves arbitrary flags
# after a cmpxchg16b, which crashes one in a few. Without 5-level page tables it is faster.
emulate() {
	local architecture=$1 kernel=$2 initrd=$3 append=$4
	local common=(-accel "tcg,thread=single" -m 1G -smp 2 -nodefaults -nographic -no-reboot
		-serial stdio -monitor none -kernel "$kernel" -initrd "$initrd")
	case $architecture in
	amd64)
		qemu-system-x86_64 -cpu max,cx16=off,la57=off "${common[@]}" -append "console=ttyS0 $append"
		;;
	arm64)
		qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on "${common[@]}" \
			-append "console=ttyAMA0 $append"
		;;
	esac </dev/null
}

# Where the file system of guests of this architecture is.
initrd_of() {
	case $1 in
	"$own_architecture") echo "$output/guest/initrd" ;;
	*) echo "$output/$1/guest/initrd" ;;
	esac
}

# Builds what the guests of these architectures boot into.
prepare() {
	local architecture
	for architecture in $architectures; do
		case $architecture in
		"$own_architecture") "${MAKE:-make}" O="$output" guest ;;
		*) tests/kernels/cross_make.sh "$architecture" guest ;;
		esac
	done
}

# What went wrong, one thing a line; nothing: nothing.
faults() {
	local log=$1 status=$2
	sed -n 's/^= failed //p' "$log"
	if [ "$status" = 124 ] || [ "$status" = 137 ]; then
		echo "stopped after $limit s"
	elif ! grep -q '^= end' "$log"; then
		echo "ended before its tests did"
	fi
}

# name release arch check steps samples complete oracle wrong verified seconds verdict
summarize() {
	local log=$1 name=$2 release=$3 architecture=$4 seconds=$5 verified_max=$6 verdict=$7
	awk -v OFS='\t' -v name="$name" -v release="$release" -v arch="$architecture" \
		-v seconds="$seconds" -v most="$verified_max" -v verdict="$verdict" '
		function known(text) { return text == "" ? "-" : text }
		$1 != "=" { next }
		$2 == "passed" { passed++; steps++ }
		$2 == "failed" { steps++ }
		$2 == "check" { check = $3 }
		$2 == "samples" { samples += $3; complete += $4 }
		$2 == "oracle" { oracle += $3; wrong += $4 }
		$2 == "verified" && $3 { verified = $3 "/" most }
		END {
			share = samples ? sprintf("%.2f%%", 100 * complete / samples) : "-"
			print name, release, arch, known(check), (passed + 0) "/" (steps + 0),
				known(samples), share, known(oracle), known(wrong), known(verified),
				seconds, verdict
		}' "$log"
}

columns='%-15s %-26s %-6s %-6s %-6s %8s %8s %8s %6s %12s %4s  %s\n'

print_header() {
	# shellcheck disable=SC2059 # of columns
	printf "$columns" kernel release arch check steps samples complete oracle wrong verified s ''
}

# Boots one kernel; its line goes to NAME.result.
boot() {
	local name=$1 suite=$2 architecture=$3 release=$4 expect=$5 verified_max=$6 more=${*:7}
	local log=$logs/$name.log kernel status=0 begun=0 seconds=0 reasons verdict=$5
	: >"$log"
	if kernel=$(tests/kernels/packages.sh kernel "$suite" "$architecture" "$release" 2>"$log"); then
		release=${kernel##*/vmlinuz-}
		begun=$SECONDS
		timeout --kill-after=5 "$limit" "$0" --emulate "$architecture" "$kernel" \
			"$(initrd_of "$architecture")" "panic=-1 quiet expect=$expect verified_max=$verified_max $more" \
			2>&1 | tr -d '\r' >"$log" || status=$?
		seconds=$((SECONDS - begun))
		reasons=$(faults "$log" "$status")
	else
		reasons="cannot be had: $(tail -n 1 "$log")"
	fi
	[ -z "$reasons" ] || verdict=FAILED
	summarize "$log" "$name" "$release" "$architecture" "$seconds" "$verified_max" "$verdict" \
		>"$logs/$name.result"
	# In one piece, for others write, too.
	# shellcheck disable=SC2046,SC2059 # of columns
	printf '%s\n' "$(
		printf "$columns" $(<"$logs/$name.result")
		[ -z "$reasons" ] || echo "    ${reasons//$'\n'/$'\n'    }"
	)"
	[ -z "$reasons" ]
}

print_markdown() {
	echo '| kernel | architecture | check | steps | samples | complete | oracle | wrong | |'
	echo '|---|---|---|---|---|---|---|---|---|'
	while read -r name _; do
		[ ! -e "$logs/$name.result" ] || awk -F '\t' \
			'{ printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", $2, $3, $4, $5, $6, $7, $8, $9, $NF }' \
			"$logs/$name.result"
	done < <(grep -v '^#' tests/kernels/kernels.txt)
}

run_all() {
	local running=0 passed=0 failed=0 line
	rm -f "$logs"/*.result
	print_header
	while read -r line; do
		if [ "$running" = "$jobs" ]; then
			if wait -n; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
			running=$((running - 1))
		fi
		# shellcheck disable=SC2086 # its words
		boot $line &
		running=$((running + 1))
	done < <(selected)
	while [ "$running" != 0 ]; do
		if wait -n; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
		running=$((running - 1))
	done
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ] && [ "$passed" != 0 ]
}

own_architecture=$(dpkg --print-architecture)
case ${1:-} in
'')
	architectures=$(selected | awk '{ print $3 }' | sort -u)
	if [ -z "$architectures" ]; then
		echo "no kernel of tests/kernels/kernels.txt has a name like '$KERNELS'" >&2
		exit 1
	fi
	prepare
	run_all
	;;
--markdown) print_markdown ;;
--emulate)
	shift
	emulate "$@"
	;;
*)
	echo "usage: run.sh [--markdown]" >&2
	exit 2
	;;
esac
