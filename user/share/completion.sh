#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# completion.sh bash|zsh|fish LUASPY: what completes luaspy's command line in that shell, made of
# the program's own help, so that every option is there.
set -eu
shell=$1 luaspy=$2
commands="record top dump check list report open convert merge trim diff"
of_process="record top dump check" # those that take a process id

# Its options, one a line: letter or "-", name, VALUE or "-", the first clause of its text.
options() {
	"$luaspy" help "$1" | awk '
	function end() {
		if (name != "") {
			sub(/;.*|\. .*|,? \(.*/, "", text)
			if (match(text, /: /) && RSTART > 20) text = substr(text, 1, RSTART - 1)
			print letter "\t" name "\t" value "\t" text
		}
		name = ""
	}
	/^  (-[a-zA-Z], |    )--[a-z-]+/ {
		end()
		letter = "-"
		if (match($0, /^ +-[a-zA-Z],/))
			letter = substr($0, RSTART + RLENGTH - 2, 1)
		match($0, /--[a-z-]+(=[A-Z]+)?/)
		split(substr($0, RSTART + 2, RLENGTH - 2), parts, "=")
		name = parts[1]
		value = parts[2] == "" ? "-" : parts[2]
		text = substr($0, RSTART + RLENGTH)
		sub(/^\[[=,A-Z]+\]\.*/, "", text)
		sub(/^ +/, "", text)
		next
	}
	/^          +[^ ]/ && name != "" { sub(/^ +/, ""); text = text " " $0; next }
	{ end() }
	END { end() }'
}

# What options choose among, on one line.
choices() {
	"$luaspy" record "--$1=help" | tr '\n' ' ' | sed 's/ $//'
}

layouts=$(choices layout)
categories=$(choices category)
groups=$(choices merge-by)
presets=$(choices plugin-preset)
formats=$(choices format)
frequencies="100 1khz 10khz"
limits="none 0.5% 1% 5%"
spans="1s 1m 5m 10m"
views="functions tree bottom-up callgraph lines processes summary"
sorts="self total name"

words() {
	options "$1" | awk -F '\t' '{
		if ($1 != "-") printf "-%s ", $1
		printf "--%s%s ", $2, $3 == "-" ? "" : "="
	}'
}

bash_completion() {
	cat <<-END
	# bash completion for luaspy
	_luaspy_pids() {
		local pids=\$(luaspy list 2>/dev/null | awk 'NR > 1 { print \$1 }')
		echo "\${pids:-\$(ps -eo pid=)}"
	}
	_luaspy() {
		local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
		local command=\${COMP_WORDS[1]} i part
		if [ "\$COMP_CWORD" -eq 1 ]; then
			COMPREPLY=(\$(compgen -W "$commands help --help --version" -- "\$word"))
			return
		fi
		for ((i = 2; i < COMP_CWORD; i++)); do
			[ "\${COMP_WORDS[i]}" != -- ] || { COMPREPLY=(\$(compgen -c -o default -- "\$word")); return; }
		done
		# "--option=value" is three words to bash.
		if [ "\$word" = = ]; then word=; elif [ "\$before" = = ]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
		case \$before in
		-p | --pid) COMPREPLY=(\$(compgen -W "\$(_luaspy_pids)" -- "\$word")); return ;;
		-F | --frequency | -r | --rate) COMPREPLY=(\$(compgen -W "$frequencies" -- "\$word")); return ;;
		--max-overhead) COMPREPLY=(\$(compgen -W "$limits" -- "\$word")); return ;;
		--average) COMPREPLY=(\$(compgen -W "$spans" -- "\$word")); return ;;
		--view) COMPREPLY=(\$(compgen -W "$views" -- "\$word")); return ;;
		--sort) COMPREPLY=(\$(compgen -W "$sorts" -- "\$word")); return ;;
		--layout) COMPREPLY=(\$(compgen -W "$layouts" -- "\$word")); return ;;
		--category) COMPREPLY=(\$(compgen -W "$categories" -- "\$word")); return ;;
		-f | --format) COMPREPLY=(\$(compgen -W "$formats" -- "\$word")); return ;;
		--merge-by) COMPREPLY=(\$(compgen -W "$groups" -- "\$word")); return ;;
		--plugin-preset)
			part=\${word##*,}
			COMPREPLY=(\$(compgen -P "\${word%"\$part"}" -W "$presets" -- "\$part"))
			return
			;;
		--output-dir) compopt -o dirnames; return ;;
		-o | --output | --control | --control-ack) compopt -o default; return ;;
		esac
		case " $of_process ,\$before,\$word" in
		*,-*) ;;
		*" \$command "*) COMPREPLY=(\$(compgen -W "\$(_luaspy_pids)" -- "\$word")); return ;;
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
		case \$command in report | open | convert | merge | trim | diff) compopt -o default ;; esac
		[ "\${COMPREPLY[0]: -1}" != = ] || compopt -o nospace
	}
	complete -F _luaspy luaspy
	END
}

zsh_options() {
	options "$1" | awk -F '\t' -v quote="'" -v layouts="$layouts" -v categories="$categories" \
		-v groups="$groups" -v presets="$presets" -v frequencies="$frequencies" -v limits="$limits" \
		-v spans="$spans" -v formats="$formats" -v views="$views" -v sorts="$sorts" '
	function action_of(name) {
		if (name == "pid") return "_luaspy_pids"
		if (name == "output-dir") return "_files -/"
		if (name == "output" || name == "control" || name == "control-ack") return "_files"
		if (name == "frequency" || name == "rate") return "(" frequencies ")"
		if (name == "max-overhead") return "(" limits ")"
		if (name == "average") return "(" spans ")"
		if (name == "view") return "(" views ")"
		if (name == "sort") return "(" sorts ")"
		if (name == "layout") return "(" layouts ")"
		if (name == "category") return "(" categories ")"
		if (name == "merge-by") return "(" groups ")"
		if (name == "format") return "(" formats ")"
		if (name == "plugin-preset") return "_values -s , preset " presets
		return " "
	}
	{
		gsub(/\[/, "\\[", $4)
		gsub(/\]/, "\\]", $4)
		gsub(/:/, "\\:", $4)
		gsub(quote, quote "\\" quote quote, $4)
		value = $3 == "-" ? "" : ":" $3 ":" action_of($2)
		if ($1 != "-") printf " \\\n\t\t%s-%s%s[%s]%s%s", quote, $1, $3 == "-" ? "" : "+", $4, value, quote
		printf " \\\n\t\t%s--%s%s[%s]%s%s", quote, $2, $3 == "-" ? "" : "=", $4, value, quote
	}'
}

zsh_completion() {
	cat <<-END
	#compdef luaspy
	_luaspy_pids() {
		local -a pids
		pids=(\${(f)"\$(luaspy list 2>/dev/null | awk 'NR > 1 { pid = \$1; \$1 = ""; print pid ":" \$0 }')"})
		if ((\$#pids)); then _describe process pids; else _pids; fi
	}
	_luaspy_first() {
		if ((\${words[(I)--]})); then _command_names -e; else _luaspy_pids; fi
	}
	if ((CURRENT == 2)); then
		_values command $commands help --help --version
		return
	fi
	shift words
	((CURRENT--))
	case \$words[1] in
	END
	for command in $commands; do
		rest='"*::command:_normal"'
		case $command in report | open | convert | merge | trim | diff) rest='"*:file:_files"' ;; esac
		case " $of_process " in *" $command "*) rest="'1:process:_luaspy_first' $rest" ;; esac
		printf '%s)\n\t_arguments -s%s \\\n\t\t%s\n\t;;\n' "$command" "$(zsh_options "$command")" "$rest"
	done
	printf 'help) _values command %s ;;\nesac\n' "$commands"
}

fish_completion() {
	cat <<-END
	# fish completion for luaspy
	function __luaspy_pids
		set -l pids (luaspy list 2>/dev/null | awk 'NR > 1 { pid = \$1; \$1 = ""; print pid "\t" \$0 }')
		if test -n "\$pids"
			string join \n \$pids
		else
			__fish_complete_pids
		end
	end
	END
	for command in $commands help; do
		echo "complete -c luaspy -f -n __fish_use_subcommand -a $command"
	done
	echo "complete -c luaspy -f -n '__fish_seen_subcommand_from $of_process' -a '(__luaspy_pids)'"
	for command in $commands; do
		options "$command" | awk -F '\t' -v command="$command" -v quote="'" -v layouts="$layouts" \
			-v categories="$categories" -v groups="$groups" -v presets="$presets" \
			-v frequencies="$frequencies" -v limits="$limits" -v spans="$spans" \
			-v formats="$formats" -v views="$views" -v sorts="$sorts" '
		function values_of(name) {
			if (name == "pid") return "(__luaspy_pids)"
			if (name == "frequency" || name == "rate") return frequencies
			if (name == "max-overhead") return limits
			if (name == "view") return views
			if (name == "sort") return sorts
			if (name == "average") return spans
			if (name == "layout") return layouts
			if (name == "category") return categories
			if (name == "merge-by") return groups
			if (name == "format") return formats
			if (name == "output-dir") return "(__fish_complete_directories)"
			return name == "plugin-preset" ? "(__fish_append , " presets ")" : ""
		}
		{
			gsub(quote, "\\" quote, $4)
			printf "complete -c luaspy -n %s__fish_seen_subcommand_from %s%s", quote, command, quote
			if ($1 != "-") printf " -s %s", $1
			printf " -l %s", $2
			if (values_of($2) != "") printf " -x -a %s%s%s", quote, values_of($2), quote
			else if ($2 == "output" || $2 ~ /^control/) printf " -r"
			else if ($3 != "-") printf " -x"
			printf " -d %s%s%s\n", quote, $4, quote
		}'
	done
}

"${shell}_completion"
