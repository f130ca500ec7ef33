#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# manual.sh LUASPY: the manual page, made of what the program itself says, so that they are equal.
set -eu
luaspy=$1

# pick KIND: that part of a help text. Headings stand at the margin and end in a colon; a line of an
# option begins with a dash, its text stands two columns after it or on the following lines.
pick() {
	awk -v kind="$1" '
	function escaped(text) {
		gsub(/\\/, "\\e", text)
		gsub(/-/, "\\-", text)
		return text ~ /^[.'\'']/ ? "\\&" text : text
	}
	function begin(heading) {
		section = heading
		if (kind == "options" && heading !~ /^(Examples|Usage|Exit status|Commands)$/)
			print ".PP\n.B " escaped(heading)
	}
	function item(name, text) {
		print ".TP\n.B " escaped(name)
		if (text != "")
			print escaped(text)
	}
	/^[A-Z][^:]*:$/ { begin(substr($0, 1, length($0) - 1)); next }
	/^Usage: / { section = "Usage"; sub(/^Usage: /, "") }
	/^$/ { if (section == "Usage" || section == "Text") section = "Text"
	       if (section == "Text" && kind == "text") print ".PP"
	       next }
	/^[^ ]/ && section != "Usage" { section = "Text" }
	{
		line = $0
		sub(/^ +/, "", line)
		if (section == "Usage") {
			if (kind == "usage") print escaped(line) "\n.br"
		} else if (section == "Examples") {
			if (kind == "examples") print escaped(line)
		} else if (section == "Text") {
			if (kind == "text") print escaped(line)
		} else if (section == "Exit status") {
			if (kind == "status") item(substr(line, 1, 1), substr(line, 4))
		} else if (section != "Commands" && kind == "options") {
			at = match(line, /  +/)
			if (line ~ /^-/ && at)
				item(substr(line, 1, at - 1), substr(line, at + RLENGTH))
			else if (line ~ /^-/)
				item(line, "")
			else
				print escaped(line)
		}
	}'
}

commands="record top dump check list"
cat <<END
.\\" Made of luaspy's own help by user/share/manual.sh
.TH LUASPY 1 "" "$("$luaspy" --version)" "User Commands"
.SH NAME
luaspy \\- tells which Lua functions a running process spends its CPU time in
.SH SYNOPSIS
END
for command in $commands; do "$luaspy" help "$command" | pick usage; done
echo ".SH DESCRIPTION"
"$luaspy" help | pick text
for command in $commands; do
	echo ".SH LUASPY $(echo "$command" | tr '[:lower:]' '[:upper:]')"
	"$luaspy" help "$command" | pick text
	"$luaspy" help "$command" | pick options
done
echo ".SH EXIT STATUS"
for command in $commands; do
	echo ".SS luaspy $command"
	"$luaspy" help "$command" | pick status
done
printf '.SH EXAMPLES\n.nf\n'
for command in $commands; do "$luaspy" help "$command" | pick examples; done
echo ".fi"
