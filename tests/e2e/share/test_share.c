/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The manual and the completions name what the program's help names. */
#include <limits.h>
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

/* Checks that `text`, which writes "--" as `dashes`, has every option of a command's help. */
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

/* Calls `visit` with each page of the manual, such as "luaspy-record", and its command or NULL. */
static void for_each_page(struct stage *stage,
			  void (*visit)(struct stage *stage, const char *page, const char *command))
{
	char *pages = stage__own(stage, strdup(made(stage, "/manual.sh", "--list")), free);
	int count = 0;

	for (char *rest, *page = strtok_r(pages, "\n", &rest); page;
	     page = strtok_r(NULL, "\n", &rest), count++)
		visit(stage, page, strcmp(page, "luaspy") ? page + strlen("luaspy-") : NULL);
	assert_int_equal(count, 12);
}

/* Commands that read files need no privileges. */
static bool needs_root(const char *page)
{
	static const char *const offline[] = {"luaspy-report", "luaspy-open", "luaspy-convert",
					      "luaspy-merge",  "luaspy-trim", "luaspy-diff"};

	for (size_t i = 0; i < sizeof(offline) / sizeof(offline[0]); i++)
		if (!strcmp(page, offline[i]))
			return false;
	return true;
}

static void assert_page_is_whole(struct stage *stage, const char *page, const char *command)
{
	static const char *const sections[] = {"NAME",    "SYNOPSIS",    "DESCRIPTION",
					       "OPTIONS", "EXIT STATUS", "EXAMPLES",
					       "FILES",   "SEE ALSO"};
	const char *text = without_backslashes(stage, made(stage, "/manual.sh", page));
	const char *content;
	char heading[32];

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		snprintf(heading, sizeof(heading), "\n.SH %s\n", sections[i]);
		content = strstr(text, heading);
		if (!content || !strncmp(content + strlen(heading), ".SH", 3))
			fail_msg("no section '%s', or an empty one, in %s:\n%s", sections[i], page,
				 text);
	}
	assert_non_null(strstr(text, needs_root(page) ? "\nfBsudo luaspy " : "\nfBluaspy "));
	if (command)
		assert_complete(stage, command, text, "--");
}

static void the_manual_of_each_command_has_all_its_options(void **state)
{
	need_to_record();
	for_each_page(*state, assert_page_is_whole);
}

static void formats_are_a_list_in_the_manual(void **state)
{
	need_to_record();
	assert_non_null(
		strstr(without_backslashes(*state, made(*state, "/manual.sh", "luaspy-convert")),
		       ".TP\nfBflamegraphfR\nflame graph in SVG\n.br\n&.svg\n"));
}

static void assert_overview_names(struct stage *stage, const char *page, const char *command)
{
	const char *overview = without_backslashes(stage, made(stage, "/manual.sh", "luaspy"));
	char link[64];

	snprintf(link, sizeof(link), ".TP\n.BR %s (1)\n", page);
	if (command && !strstr(overview, link))
		fail_msg("no '%s' in:\n%s", link, overview);
}

static void the_overview_of_the_manual_names_each_page(void **state)
{
	need_to_record();
	for_each_page(*state, assert_overview_names);
}

static void assert_formatters_accept_text(struct stage *stage, const char *page, const char *text)
{
	struct child *man, *lint;

	write_text(stage, page, text);
	man = start(stage, "man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z",
		    in_folder(stage, page));
	assert_int_equal(child__wait(man, PATIENCE), 0);
	assert_string_equal(child__errors(stage, man), "");
	lint = start(stage, "mandoc", "-T", "lint", "-W", "style", in_folder(stage, page));
	assert_int_equal(child__wait(lint, PATIENCE), 0);
	assert_string_equal(child__output(stage, lint), "");
}

static void assert_formatters_accept(struct stage *stage, const char *page, const char *command)
{
	(void)command;
	assert_formatters_accept_text(stage, page, made(stage, "/manual.sh", page));
}

static void man_and_mandoc_find_no_fault_with_the_manual(void **state)
{
	need_to_record();
	need_program("man", "man-db");
	need_program("mandoc", "mandoc");
	for_each_page(*state, assert_formatters_accept);
}

/* The formatted page has each heading and block of code, and none of Markdown's marks. */
static void the_guides_are_pages_of_the_manual(void **state)
{
	static const char *const guides[] = {"recipes", "troubleshooting"};
	static const char compare[] =
		"mandoc -T utf8 -O width=200 \"$1\" | col -bx | tr -s ' ' >\"$1.text\"; set -e\n"
		"sed -n '/^```/,/^```/{/^```/d;p}' \"$2\" | tr -s ' ' | while read -r line; do\n"
		"	grep -qF -e \"$line\" \"$1.text\" || { echo \"no '$line'\"; exit 1; }\n"
		"done\n"
		"sed -n 's/^##* //p' \"$2\" | tail -n +2 | while read -r line; do\n"
		"	grep -qixF -e \" $line\" -e \"$line\" \"$1.text\" ||\n"
		"		{ echo \"no '$line'\"; exit 1; }\n"
		"done\n"
		"! grep -n '`[^ ]\\|[*][*]\\|](' \"$1.text\"\n";
	struct stage *stage = *state;

	need_to_record();
	need_program("man", "man-db");
	need_program("mandoc", "mandoc");
	for (size_t i = 0; i < sizeof(guides) / sizeof(guides[0]); i++) {
		char source[64], path[PATH_MAX];
		struct child *shell;

		snprintf(source, sizeof(source), "user/share/doc/%s.md", guides[i]);
		assert_non_null(realpath(source, path));
		assert_formatters_accept_text(stage, guides[i],
					      made(stage, "/guide.sh", guides[i]));
		shell = start(stage, "env", "LC_ALL=C.UTF-8", "bash", "-c", compare, "bash",
			      in_folder(stage, guides[i]), path);
		if (child__wait(shell, PATIENCE))
			fail_msg("%s: %s%s", guides[i], child__output(stage, shell),
				 child__errors(stage, shell));
	}
}

static void assert_helps_equal(struct stage *stage, const char *page, const char *command)
{
	const char *help;

	(void)page;
	if (!command)
		command = "help";
	help = output_of(stage, (const char *const[]){luaspy_program(), command, "--help", NULL});
	assert_true(strlen(help) > 200);
	assert_string_equal(
		output_of(stage, (const char *const[]){luaspy_program(), "help", command, NULL}),
		help);
}

static void help_of_a_command_is_what_its_option_says(void **state)
{
	need_to_record();
	for_each_page(*state, assert_helps_equal);
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

/* If luaspy finds no process that runs Lua, completion offers all processes. */
static void bash_completes_the_processes_that_run_lua(void **state)
{
	static const char ask[] =
		"ask() { COMP_WORDS=(luaspy \"$@\") COMP_CWORD=$#; COMPREPLY=(); _luaspy;\n"
		"	echo \"${COMPREPLY[@]}\"; }\n"
		"luaspy() { echo '  PID USER'; echo '   42 root'; echo '  417 root'; }\n"
		"ps() { echo 7; }; ask record -p ''; ask top --pid = 4; ask dump -p 41\n"
		"ask record ''; ask top 41; ask record -d ''  | cut -c1-3\n"
		"luaspy() { return 3; }; ask record -p ''\n";
	struct stage *stage = *state;
	char *script;

	need_to_record();
	need_program("bash", "bash");
	assert_true(asprintf(&script, "%s\n%s", made(stage, "/completion.sh", "bash"), ask) > 0);
	stage__own(stage, script, free);
	assert_string_equal(output_of(stage, (const char *const[]){"bash", "-c", script, NULL}),
			    "42 417\n42 417\n417\n42 417\n417\n-p \n7\n");
}

/* The values of an option, as the program itself lists them. */
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
		staged(the_manual_of_each_command_has_all_its_options),
		staged(formats_are_a_list_in_the_manual),
		staged(the_overview_of_the_manual_names_each_page),
		staged(man_and_mandoc_find_no_fault_with_the_manual),
		staged(the_guides_are_pages_of_the_manual),
		staged(help_of_a_command_is_what_its_option_says),
		staged(every_shell_completes_every_option),
		staged(bash_completes_what_was_begun),
		staged(bash_completes_the_processes_that_run_lua),
		staged(every_shell_completes_what_there_is_to_choose),
	};

	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
