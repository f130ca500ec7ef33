/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The manual and the completions name what the program's help names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 20

static const char *output_of(struct stage *stage, const char *const *words)
{
	struct child *child = stage__start(stage, words);

	if (child__wait(child, PATIENCE))
		fail_msg("%s: %s", words[0], child__errors(stage, child));
	return child__output(stage, child);
}

static const char *made(struct stage *stage, const char *script, const char *shell)
{
	char path[256];

	assert_non_null(realpath("user/share", path));
	strncat(path, script, sizeof(path) - strlen(path) - 1);
	return output_of(stage,
			 shell ? (const char *const[]){"sh", path, shell, luaspy_program(), NULL}
			       : (const char *const[]){"sh", path, luaspy_program(), NULL});
}

/* Every option of a command's help is in `text`, which writes its dashes so. */
static void assert_complete(struct stage *stage, const char *command, const char *text,
			    const char *dashes)
{
	const char *help =
		output_of(stage, (const char *const[]){luaspy_program(), "help", command, NULL});
	char option[64];
	int count = 0;

	for (const char *at = help; (at = strstr(at, " --")); at++) {
		size_t length = strspn(at + 3, "abcdefghijklmnopqrstuvwxyz-");

		snprintf(option, sizeof(option), "%s%.*s", dashes, (int)length, at + 3);
		if (!strstr(text, option))
			fail_msg("no '%s' in:\n%s", option, text);
		count++;
	}
	assert_true(count >= 2);
}

static char *without_backslashes(struct stage *stage, const char *text)
{
	char *plain = stage__own(stage, calloc(1, strlen(text) + 1), free);

	for (char *to = plain; *text; text++)
		if (*text != '\\')
			*to++ = *text;
	return plain;
}

static void the_manual_has_every_option(void **state)
{
	struct stage *stage = *state;
	const char *manual;

	need_to_record();
	manual = without_backslashes(stage, made(stage, "/manual.sh", NULL));
	assert_complete(stage, "record", manual, "--");
	assert_complete(stage, "check", manual, "--");
	assert_non_null(strstr(manual, ".SH EXAMPLES"));
	assert_non_null(strstr(manual, "lua5.4 app.lua"));
}

static void every_shell_completes_every_option(void **state)
{
	struct stage *stage = *state;

	need_to_record();
	assert_complete(stage, "record", made(stage, "/completion.sh", "bash"), "--");
	assert_complete(stage, "record", made(stage, "/completion.sh", "zsh"), "--");
	assert_complete(stage, "record", made(stage, "/completion.sh", "fish"), "-l ");
}

static void bash_completes_what_was_begun(void **state)
{
	static const char ask[] =
		"compopt() { :; }\n"
		"ask() { COMP_WORDS=(luaspy \"$@\") COMP_CWORD=$#; COMPREPLY=(); _luaspy;\n"
		"	echo \"${COMPREPLY[@]}\"; }\n"
		"ask record --freq; ask che; ask record --category ''; ask dump --layout = 5.1\n"
		"ask record --plugin-preset = k; ask record --plugin-preset kong,a\n"
		"ask record --category =\n";
	struct stage *stage = *state;
	const char *completion;
	char *script;

	need_to_record();
	need_program("bash", "bash");
	completion = made(stage, "/completion.sh", "bash");
	assert_true(asprintf(&script, "%s\n%s", completion, ask) > 0);
	stage__own(stage, script, free);
	assert_string_equal(output_of(stage, (const char *const[]){"bash", "-c", script, NULL}),
			    "--frequency=\ncheck\nthread process state chunk\n5.1-5.1.5\nkong\n"
			    "kong,apisix\nthread process state chunk\n");
}

/* Where luaspy finds none that runs Lua, all processes are offered. */
static void bash_completes_the_processes_that_run_lua(void **state)
{
	static const char ask[] =
		"ask() { COMP_WORDS=(luaspy \"$@\") COMP_CWORD=$#; COMPREPLY=(); _luaspy;\n"
		"	echo \"${COMPREPLY[@]}\"; }\n"
		"luaspy() { echo '  PID USER'; echo '   42 root'; echo '  417 root'; }\n"
		"ps() { echo 7; }; ask record -p ''; ask top --pid = 4; ask dump -p 41\n"
		"luaspy() { return 3; }; ask record -p ''\n";
	struct stage *stage = *state;
	char *script;

	need_to_record();
	need_program("bash", "bash");
	assert_true(asprintf(&script, "%s\n%s", made(stage, "/completion.sh", "bash"), ask) > 0);
	stage__own(stage, script, free);
	assert_string_equal(output_of(stage, (const char *const[]){"bash", "-c", script, NULL}),
			    "42 417\n42 417\n417\n7\n");
}

/* What an option chooses among, as the program itself says. */
static void every_shell_completes_what_there_is_to_choose(void **state)
{
	static const char *const shells[] = {"bash", "zsh", "fish"};
	static const char *const lists[] = {"--category=help", "--plugin-preset=help",
					    "--layout=help"};
	struct stage *stage = *state;

	need_to_record();
	for (size_t i = 0; i < 3; i++) {
		char *choices = stage__own(
			stage,
			strdup(output_of(stage, (const char *const[]){luaspy_program(), "record",
								      lists[i], NULL})),
			free);

		assert_true(strlen(choices) > 10);
		choices[strlen(choices) - 1] = '\0';
		for (char *at = choices; (at = strchr(at, '\n')); at++)
			*at = ' ';
		for (size_t j = 0; j < 3; j++)
			if (!strstr(made(stage, "/completion.sh", shells[j]), choices))
				fail_msg("%s does not complete '%s'", shells[j], choices);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(the_manual_has_every_option),
		staged(every_shell_completes_every_option),
		staged(bash_completes_what_was_begun),
		staged(bash_completes_the_processes_that_run_lua),
		staged(every_shell_completes_what_there_is_to_choose),
	};

	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
