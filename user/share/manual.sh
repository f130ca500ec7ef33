#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# manual.sh PAGE LUASPY: a manual page, luaspy(1) or that of a command, such as luaspy-record(1).
# manual.sh --list LUASPY: the names of these pages. guide.sh makes the others.
# Options, examples and exit status are what the program's own help says, so they cannot differ.
set -eu
page=$1 luaspy=$2
overview=$("$luaspy" help)
# "NAME<tab>what it does" of each command, in the order of the help.
commands=$(printf '%s\n' "$overview" | awk '
	/^[A-Z][^:]*:$/ { inside = $0 == "Commands:"; next }
	inside && /^  [a-z]+  / && $1 != "help" { name = $1; sub(/^ +[a-z]+ +/, ""); print name "\t" $0 }')
names=$(printf '%s\n' "$commands" | cut -f 1)

if [ "$page" = --list ]; then
	echo luaspy
	printf '%s\n' "$names" | sed 's/^/luaspy-/'
	exit
fi
if [ "$page" = luaspy ]; then
	command=
	help=$overview
	purpose="sampling profiler for Lua"
else
	command=${page#luaspy-}
	help=$("$luaspy" help "$command")
	purpose=$(printf '%s\n' "$commands" | awk -F '\t' -v name="$command" '$1 == name { print $2 }')
fi
if [ -z "$purpose" ]; then
	echo "manual.sh: '$luaspy help' does not name the command of page '$page'" >&2
	exit 1
fi

# roff KIND: that part of the help on standard input. Headings stand at the margin and end in a
# colon. A line of an option begins with a dash; its text begins two columns after it, or on the
# next line. That of a format begins with its name, and its endings are on the line below.
roff() {
	awk -v kind="$1" '
	function escaped(text) {
		gsub(/\\/, "\\e", text)
		gsub(/-/, "\\-", text)
		gsub(/\047/, "\\(aq", text)
		gsub(/\^/, "\\(ha", text)
		gsub(/~/, "\\(ti", text)
		return text ~ /^\./ ? "\\&" text : text
	}
	# Bold, but the words that stand for a value, such as PID, in italics.
	function styled(text,    out, word) {
		while (match(text, /[A-Z][A-Z]+|N$/)) {
			word = substr(text, RSTART, RLENGTH)
			out = out "\\fB" escaped(substr(text, 1, RSTART - 1)) "\\fI" escaped(word)
			text = substr(text, RSTART + RLENGTH)
		}
		return out "\\fB" escaped(text) "\\fR"
	}
	function item(name, text) {
		print ".TP\n" name
		if (text != "")
			print escaped(text)
	}
	function begin(heading) {
		section = heading
		if (kind != "options" || heading ~ /^(Examples|Usage|Exit status|Commands)$/)
			return
		if (heading != "Options")
			print ".SS " escaped(heading)
		else if (groups)
			print ".SS Other options"
		groups++
	}
	/^[A-Z][^:]*:$/ { begin(substr($0, 1, length($0) - 1)); next }
	/^Usage: / { section = "Usage"; sub(/^Usage: /, "") }
	/^$/ { if (section == "Usage" || section == "Text") section = "Text"
	       paragraph = section == "Text"
	       next }
	/^[^ ]/ && section != "Usage" { section = "Text" }
	{
		line = $0
		sub(/^ +/, "", line)
		at = match(line, /  +/)
		left = at ? substr(line, 1, at - 1) : line
		right = at ? substr(line, at + RLENGTH) : ""
		if (section == "Usage" && kind == "usage") {
			print lines++ ? ".br\n" styled(line) : styled(line)
		} else if (section == "Examples" && kind == "examples") {
			item("\\fB" escaped(left) "\\fR", right)
		} else if (section == "Text" && kind == "text") {
			if (paragraph && lines++)
				print ".PP"
			print escaped(line)
		} else if (section == "Exit status" && kind == "status") {
			item("\\fB" substr(line, 1, 1) "\\fR", substr(line, 4))
		} else if (kind == "options" && section !~ /^(Usage|Examples|Text|Exit status|Commands)$/) {
			if (line ~ /^-/)
				item(styled(left), right)
			else if (section ~ /^Formats/ && $0 ~ /^  [a-z]/)
				item("\\fB" left "\\fR", right)
			else
				print (section ~ /^Formats/ ? ".br\n" : "") escaped(line)
		}
		paragraph = 0
	}'
}

# part HEADING KIND: a section of the page, of the help of its command.
part() {
	printf '.SH %s\n' "$1"
	printf '%s\n' "$help" | roff "$2"
}

plain() {
	printf '%s\n' "$1" | sed 's/\\/\\e/g; s/-/\\-/g'
}

# reference PAGE SECTION [AFTER]
reference() {
	printf '.BR %s (%s)%s\n' "$(plain "$1")" "$2" "${3:-}"
}

commands_section() {
	echo ".SH COMMANDS"
	printf '%s\n' "$commands" | while IFS="$(printf '\t')" read -r name text; do
		printf '.TP\n'
		reference "luaspy-$name" 1
		plain "$text"
	done
	printf '.TP\n.BR "luaspy help " [\\fICOMMAND\\fR]\nthe options of a command, as in its page\n'
}

privileges_section() {
	cat <<-'END'
	.SH PRIVILEGES
	luaspy needs root, or the capabilities CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH
	and CAP_CHECKPOINT_RESTORE.
	With CAP_SYS_NICE it drops fewer samples on a busy host.
	.B luaspy check
	tells which of them are missing, and what each is for.
	END
}

# file NAME TEXT
file() {
	printf '.TP\n.I %s\n' "$(plain "$1")"
	plain "$2"
}

files_section() {
	echo ".SH FILES"
	case $command in
	record)
		file NAME-PID-DATE.json "the profile, in the current folder, without --output"
		file FILE-DATE.json "with --interval: the profile of the interval that began at DATE"
		file rest-DATE.json "with --output-dir: CPU time that belongs to no file of a process"
		;;
	open)
		file luaspy-NAME-XXXXXX.html "the page, in XDG_RUNTIME_DIR, TMPDIR or /tmp"
		return
		;;
	convert | report | merge | trim | diff)
		file FILE.json "a recording: what record writes, or a ScriptProfiler file of Roblox"
		return
		;;
	top) file NAME-PID-DATE.json "the profile that the key w writes, in the current folder" ;;
	esac
	case $command in
	'' | record)
		file /etc/default/luaspy "the options of the systemd service luaspy, as LUASPY_OPTIONS"
		file /var/log/luaspy "where that service writes its profiles"
		;;
	esac
	file /proc/PID "where luaspy reads what a process has mapped, and its memory"
	[ "$command" = list ] || file /sys/kernel/btf/vmlinux "the types of the kernel, which BPF needs"
}

environment_section() {
	case $command in
	record | '')
		cat <<-'END'
		.SH ENVIRONMENT
		.TP
		.B COLUMNS
		the width of the summary if standard output is no terminal
		END
		;;
	report)
		cat <<-'END'
		.SH ENVIRONMENT
		.TP
		.B COLUMNS
		the width of the text if standard output is no terminal
		.TP
		.B NO_COLOR
		if it is not empty, no colors on a terminal
		.TP
		.B PAGER
		the command that shows the text on a terminal, page by page; none if it is empty or
		.B cat
		(default: less, with
		.B LESS=FRX
		where LESS is not set)
		END
		;;
	open)
		cat <<-'END'
		.SH ENVIRONMENT
		.TP
		.BR DISPLAY ", " WAYLAND_DISPLAY
		whether there is a desktop: one of them is set
		.TP
		.BR XDG_RUNTIME_DIR ", " TMPDIR
		the folder for the page
		END
		;;
	esac
}

see_also_section() {
	echo ".SH SEE ALSO"
	for other in $names; do
		[ "$other" = "$command" ] || reference "luaspy-$other" 1 ,
	done
	[ -z "$command" ] || reference luaspy 1 ,
	reference luaspy-recipes 7 ,
	reference luaspy-troubleshooting 7 ,
	reference perf 1
}

# Long lines of text are broken at blanks, as the linters of manuals want it.
wrapped() {
	awk '{
		while (length($0) > 79 && $0 !~ /^[.]/) {
			for (at = 79; at > 0 && (substr($0, at, 1) != " " || substr($0, at + 1, 1) == "."); at--)
				;
			if (!at)
				break
			print substr($0, 1, at - 1)
			$0 = substr($0, at + 1)
		}
		print
	}'
}

write_page() {
	title=$(printf '%s\n' "$page" | tr '[:lower:]' '[:upper:]')
	date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$luaspy")}" +%Y-%m-%d)
	version=$(plain "$("$luaspy" --version)")
	printf '.\\" Made of the help of luaspy by user/share/manual.sh\n'
	printf '.TH %s 1 %s "%s" "User Commands"\n' "$title" "$date" "$version"
	printf '.SH NAME\n%s \\- %s\n' "$(plain "$page")" "$(plain "$purpose")"
	part SYNOPSIS usage
	part DESCRIPTION text
	[ -n "$command" ] || commands_section
	part OPTIONS options
	part "EXIT STATUS" status
	part EXAMPLES examples
	[ -n "$command" ] || privileges_section
	environment_section
	files_section
	see_also_section
}

write_page | wrapped
