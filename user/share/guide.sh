#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# guide.sh NAME LUASPY: the page luaspy-NAME(7) of the manual, made of doc/NAME.md: headings,
# paragraphs, lists, tables of two columns, blocks of code, bold text, inline code and links.
set -eu
name=$1 luaspy=$2
page=$(dirname "$0")/doc/$name.md

title=$(printf 'luaspy-%s' "$name" | tr '[:lower:]' '[:upper:]')
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$page")}" +%Y-%m-%d)
version=$("$luaspy" --version | sed 's/-/\\-/g')
summary=$(sed -n '1s/^# //p' "$page")

printf '.\\" Made of user/share/doc/%s.md by user/share/guide.sh\n' "$name"
printf '.TH %s 7 %s "%s" "Miscellaneous Information"\n' "$title" "$date" "$version"
printf '.SH NAME\nluaspy\\-%s \\- luaspy %s\n' "$name" \
	"$(printf '%s' "$summary" | tr '[:upper:]' '[:lower:]')"
printf '.SH DESCRIPTION\n'
awk '
BEGIN { first = 1 }
function escaped(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	gsub(/\047/, "\\(aq", text)
	gsub(/\^/, "\\(ha", text)
	gsub(/~/, "\\(ti", text)
	return text
}
# A line must not begin with what roff takes for a request.
function safe(text) { return text ~ /^[.]/ ? "\\&" text : text }
function inline(text,    out, part, at) {
	while (match(text, /`[^`]+`|\*\*[^*]+\*\*|\[[^]]*\]\([^)]*\)|\*[a-z]+\*/)) {
		out = out escaped(substr(text, 1, RSTART - 1))
		part = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		if (part ~ /^`/) {
			out = out "\\fB" escaped(substr(part, 2, length(part) - 2)) "\\fR"
		} else if (part ~ /^\*\*/) {
			out = out "\\fB" escaped(substr(part, 3, length(part) - 4)) "\\fR"
		} else if (part ~ /^\*/) {
			out = out "\\fI" escaped(substr(part, 2, length(part) - 2)) "\\fR"
		} else {
			at = index(part, "](")
			out = out inline(substr(part, 2, at - 2))
			if (part ~ /\]\(https?:/)
				out = out " (" escaped(substr(part, at + 2, length(part) - at - 2)) ")"
		}
	}
	return out escaped(text)
}
# The paragraph that was collected, at most 79 columns a line; "lead" stands before it.
function flush(    rest, at) {
	rest = inline(collected)
	collected = ""
	if (rest == "")
		return
	if (lead != "")
		print lead
	lead = ""
	while (length(rest) > 79) {
		for (at = 79; at > 0 && (substr(rest, at, 1) != " " || substr(rest, at + 1, 1) == "."); at--)
			;
		if (!at)
			break
		print safe(substr(rest, 1, at - 1))
		rest = substr(rest, at + 1)
	}
	print safe(rest)
}
function begin(request) { flush(); lead = request }
/^```/ {
	flush()
	if (!inside)
		print (first ? "" : ".PP\n") ".RS 4\n.EX"
	else
		print ".EE\n.RE"
	inside = !inside
	lead = ""
	first = 0
	next
}
inside { print $0 == "" ? "\\&" : safe(escaped($0)); next }
/^# / { next }
/^## / { flush(); print ".SH " toupper(escaped(substr($0, 4))); first = 1; lead = ""; next }
/^### / { flush(); print ".SS " escaped(substr($0, 5)); first = 1; lead = ""; next }
/^\|[-| ]*\|$/ { next }
/^\| / {
	flush()
	line = $0
	gsub(/\\\|/, "\001", line)
	split(line, cells, / *\| */)
	is_heading = !in_table
	in_table = 1
	if (is_heading)
		next
	print ".TP\n" safe(inline(cells[2]))
	collected = cells[3]
	flush()
	next
}
{ in_table = 0 }
/^$/ { flush(); lead = first ? "" : ".PP"; next }
/^[-] / { begin(".IP \\(bu 2"); collected = substr($0, 3); first = 0; next }
/^[0-9]+\. / { match($0, /^[0-9]+/); begin(".IP " substr($0, 1, RLENGTH) ". 3"); sub(/^[0-9]+\. /, ""); collected = $0; first = 0; next }
{ sub(/^ +/, ""); collected = collected (collected == "" ? "" : " ") $0; first = 0 }
END { flush() }
' "$page"
printf '.SH SEE ALSO\n'
for other in luaspy luaspy-record luaspy-top luaspy-dump luaspy-list luaspy-report luaspy-open luaspy-convert; do
	printf '.BR %s (1),\n' "$(printf '%s' "$other" | sed 's/-/\\-/g')"
done
printf '.BR luaspy\\-check (1)\n'
