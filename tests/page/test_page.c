/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The page that shows a profile: what node computes in its model, and what headless Chromium shows.
 * The cases are in model.mjs and browser.mjs; each is a test here.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "skip.h"
#include "stage.h"

#define PATIENCE 240

#define CASES(X)                                                                                   \
	X(model, nodesAddUp, a_node_has_the_time_of_its_stacks_whatever_is_hidden)                 \
	X(model, functionsAddUp, a_function_has_the_time_of_its_stacks_and_recursion_counts_once)  \
	X(model, functionsOfTheFocusAddUp, functions_have_the_time_below_the_focus)                \
	X(model, callersAndCalleesAddUp, callers_add_up_to_the_function_and_callees_count_once)    \
	X(model, bottomUpAddsUp, bottom_up_rows_have_the_time_of_stacks_that_end_so)               \
	X(model, searchLeavesWhatLeadsToAMatch, a_search_leaves_what_leads_to_a_match)             \
	X(model, linesAddUp, lines_have_the_self_time_of_the_files_lines_or_of_its_entries)        \
	X(model, averagesAreOfTheSession, averages_are_of_the_sessions_length)                     \
	X(model, boxesLieInTheirCallers, boxes_lie_in_their_callers_and_in_order)                  \
	X(model, theTimelineIsInOrder, the_calls_of_the_timeline_are_those_of_its_samples)         \
	X(model, deepAndHostileFilesEnd, cycles_and_ids_of_nothing_are_left_out_and_counted)       \
	X(model, textIsHarmless, text_has_no_control_characters_and_times_have_units)              \
	X(model, theSummarySaysWhatIsHot, the_summary_says_what_is_hot_and_what_was_lost)          \
	X(model, aFunctionNeedsNoSource, the_headline_names_functions_of_files_without_sources)    \
	X(browser, opensInASecond, opens_200000_nodes_in_a_second)                                 \
	X(browser, searchesAtOnce, searches_200000_nodes_in_100_ms_in_every_view)                  \
	X(browser, hostileNamesAreText, names_are_shown_as_text_and_nothing_of_them_runs)          \
	X(browser, nothingElseMayRun, the_policy_blocks_scripts_markup_frames_and_requests)        \
	X(browser, aHotFunctionLeadsToItsLine, the_headline_leads_to_the_hot_line_and_its_text)    \
	X(browser, totalsFollowWhatIsHidden, totals_follow_what_is_hidden_and_the_average)         \
	X(browser, keysReachEverything, keys_reach_every_view_the_search_and_the_focus)            \
	X(browser, aClickGivesTheFocus, a_click_gives_the_focus_and_escape_takes_it_back)          \
	X(browser, theOrderOfTimeIsShown, the_order_of_time_is_shown_with_its_gaps)                \
	X(browser, luaspyWritesThePage, the_page_that_luaspy_writes_shows_what_it_was_given)       \
	X(browser, aBrokenProfileIsExplained,                                                      \
	  a_broken_profile_is_explained_and_an_empty_one_shown)                                    \
	X(browser, textIsReadableInBothThemes, text_is_readable_in_both_themes)                    \
	X(browser, followsTheWindow, the_canvas_follows_the_window_and_its_pixel_ratio)

static const char *output_folder(void)
{
	const char *folder = getenv("OUTPUT");

	return folder && *folder ? folder : ".output";
}

/* Runs a shell script in the folder of the sources, with $built as the folder of node's build. */
static void assert_holds(struct stage *stage, const char *script)
{
	char sources[PATH_MAX], *text;
	struct child *child;

	assert_non_null(getcwd(sources, sizeof(sources)));
	assert_true(asprintf(&text, "cd '%s'; output='%s'; built=$output/page\n%s", sources,
			     output_folder(), script) > 0);
	stage__own(stage, text, free);
	child = start(stage, "sh", "-c", text);
	if (child__wait(child, PATIENCE))
		fail_msg("%s%s", child__output(stage, child), child__errors(stage, child));
	print_message("%s", child__output(stage, child));
}

/* A macro, for cmocka's skip() leaves the test from where it is. */
#define need_build()                                                                               \
	do {                                                                                       \
		char ready[PATH_MAX];                                                              \
		need_program("node", "nodejs");                                                    \
		need_program("npm", "npm");                                                        \
		snprintf(ready, sizeof(ready), "%s/tests/page/ready", output_folder());            \
		if (access(ready, F_OK) && skips_are_failures())                                   \
			fail_msg("npm could not fetch the packages of user/page/");                \
		if (access(ready, F_OK))                                                           \
			skip_because("npm could not fetch the packages of user/page/");            \
	} while (0)

static void run_case(struct stage *stage, const char *file, const char *name)
{
	char *script;

	assert_true(asprintf(&script,
			     "export LUASPY=${LUASPY:-$PWD/luaspy} PAGE=$PWD/user/page/page.html "
			     "CHROMIUM=$(command -v chromium)\n"
			     "exec node $built/tests/%s.mjs %s",
			     file, name) > 0);
	stage__own(stage, script, free);
	assert_holds(stage, script);
}

static void need_nothing_more(void)
{
}

#define need_for_model()   need_nothing_more()
#define need_for_browser() need_program("chromium", "chromium")

#define X(file, name, sentence)                                                                    \
	static void sentence(void **state)                                                         \
	{                                                                                          \
		need_build();                                                                      \
		need_for_##file();                                                                 \
		run_case(*state, #file, #name);                                                    \
	}
CASES(X)
#undef X

static void the_page_in_the_tree_is_what_node_builds(void **state)
{
	need_build();
	assert_holds(*state, "cmp $built/page.html user/page/page.html && exit\n"
			     "echo \"'make page' builds another page\" >&2; exit 1");
}

static void the_types_are_strict(void **state)
{
	need_build();
	assert_holds(*state, "cd $built && node_modules/.bin/tsc -p .");
}

static void no_source_parses_markup_or_loads_anything(void **state)
{
	assert_holds(*state, "! grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\\.write|"
			     "DOMParser|createContextualFragment|srcdoc|\\beval\\(|new Function\\(|"
			     "import\\(|fetch\\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|"
			     "https?://' user/page/*.ts user/page/*/*.ts user/page/*.css "
			     "user/page/template.html");
}

/* By the same measure as C; lint does not know the language. */
static void files_and_functions_are_short(void **state)
{
	assert_holds(
		*state,
		"awk 'FNR > 500 { print FILENAME \": more than 500 lines\"; bad = 1; exit 1 }\n"
		"/^(export |async |function |\\t)[^ \\t}].*\\{$/ && !/^\\t(if|for|while|else|switch)/ "
		"{ from = FNR }\n"
		"/^\\t?\\}/ && from && FNR - from > 60 "
		"{ print FILENAME \":\" from \": more than 60 lines\"; bad = 1 }\n"
		"/^\\t?\\}/ { from = 0 } END { exit bad }' user/page/*.ts user/page/*/*.ts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {staged(the_page_in_the_tree_is_what_node_builds),
					   staged(the_types_are_strict),
					   staged(no_source_parses_markup_or_loads_anything),
					   staged(files_and_functions_are_short),
#define X(file, name, sentence) staged(sentence),
					   CASES(X)
#undef X
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
