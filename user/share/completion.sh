#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# completion.sh bash|zsh|fish LUASPY: what completes luaspy's command line in that shell, made of
# the program's own help, so that every option is there.
set -eu
shell=$1 luaspy=$2
commands="record dump check"

# Its options, one a line: letter or "-", name, VALUE or "-", the first line of its text.
options() {
	"$luaspy" help "$1" | awk '
	/^ +(-[a-zA-Z], )?--[a-z-]+/ {
		letter = "-"
		if (match($0, /^ +-[a-zA-Z],/))
			letter = substr($0, RSTART + RLENGTH - 2, 1)
		match($0, /--[a-z-]+(=[A-Z]+)?/)
		split(substr($0, RSTART + 2, RLENGTH - 2), parts, "=")
		text = substr($0, RSTART + RLENGTH)
		sub(/^ +/, "", text)
		print letter "\t" parts[1] "\t" (parts[2] == "" ? "-" : parts[2]) "\t" text
	}'
}

words() {
	options "$1" | awk -F '\t' '{
		if ($1 != "-") printf "-%s ", $1
		printf "--%s%s ", $2, $3 == "-" ? "" : "="
	}'
}

bash_completion() {
	cat <<-END
	# bash completion for luaspy
	_luaspy() {
		local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
		local command=\${COMP_WORDS[1]} i
		if [ "\$COMP_CWORD" -eq 1 ]; then
			COMPREPLY=(\$(compgen -W "$commands help --help --version" -- "\$word"))
			return
		fi
		for ((i = 2; i < COMP_CWORD; i++)); do
			[ "\${COMP_WORDS[i]}" != -- ] || { COMPREPLY=(\$(compgen -c -o default -- "\$word")); return; }
		done
		case \$before in
		-p | --pid) COMPREPLY=(\$(compgen -W "\$(ps -eo pid=)" -- "\$word")); return ;;
		-F | --frequency) COMPREPLY=(\$(compgen -W "100 1khz 10khz" -- "\$word")); return ;;
		--layout) COMPREPLY=(\$(compgen -W "\$(luaspy record --layout=help 2>/dev/null)" -- "\$word")); return ;;
		-o | --output | --control) COMPREPLY=(\$(compgen -f -- "\$word")); return ;;
		esac
		case \$command in
	END
	for command in $commands; do
		# shellcheck disable=SC2016 # for the shell that reads it
		printf '\t%s) COMPREPLY=($(compgen -W "%s--" -- "$word")) ;;\n' "$command" "$(words "$command")"
	done
	cat <<-END
		help) COMPREPLY=(\$(compgen -W "$commands" -- "\$word")) ;;
		esac
		[ "\${COMPREPLY[0]: -1}" != = ] || compopt -o nospace
	}
	complete -F _luaspy luaspy
	END
}

zsh_options() {
	options "$1" | awk -F '\t' -v quote="'" '{
		gsub(/\[/, "\\[", $4)
		gsub(/\]/, "\\]", $4)
		gsub(/:/, "\\:", $4)
		gsub(quote, quote "\\" quote quote, $4)
		action = $2 == "pid" ? "_pids" : $2 == "output" || $2 == "control" ? "_files" : " "
		value = $3 == "-" ? "" : ":" $3 ":" action
		if ($1 != "-") printf " \\\n\t\t%s-%s%s[%s]%s%s", quote, $1, $3 == "-" ? "" : "+", $4, value, quote
		printf " \\\n\t\t%s--%s%s[%s]%s%s", quote, $2, $3 == "-" ? "" : "=", $4, value, quote
	}'
}

zsh_completion() {
	cat <<-END
	#compdef luaspy
	if ((CURRENT == 2)); then
		_values command $commands help --help --version
		return
	fi
	shift words
	((CURRENT--))
	case \$words[1] in
	END
	for command in $commands; do
		printf '%s)\n\t_arguments -s%s \\\n\t\t"*::command:_normal"\n\t;;\n' "$command" "$(zsh_options "$command")"
	done
	printf 'help) _values command %s ;;\nesac\n' "$commands"
}

fish_completion() {
	echo "# fish completion for luaspy"
	for command in $commands help; do
		echo "complete -c luaspy -f -n __fish_use_subcommand -a $command"
	done
	for command in $commands; do
		options "$command" | awk -F '\t' -v command="$command" -v quote="'" '{
			gsub(quote, "\\" quote, $4)
			printf "complete -c luaspy -n %s__fish_seen_subcommand_from %s%s", quote, command, quote
			if ($1 != "-") printf " -s %s", $1
			printf " -l %s", $2
			if ($2 == "pid") printf " -x -a %s(__fish_complete_pids)%s", quote, quote
			else if ($3 != "-") printf " -r"
			printf " -d %s%s%s\n", quote, $4, quote
		}'
	done
}

"${shell}_completion"
