/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy open: the page, and whose browser shows it. A script stands in for the desktop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 30
#define NOBODY   "65534"

static const char recording[] =
	"{\"Version\":2,\"SessionStartTime\":1000,\"SessionEndTime\":3000,"
	"\"Categories\":[{\"Name\":\"main\",\"NodeId\":1}],\"Nodes\":["
	"{\"TotalDuration\":1000,\"FunctionIds\":[1],\"NodeIds\":[2]},{\"TotalDuration\":1000}],"
	"\"Functions\":[{\"Source\":\"a.lua\",\"Name\":\"quarry\",\"TotalDuration\":1000}]}\n";

/* A recording, a folder bin with an xdg-open of that text, and a folder for pages. */
static void prepare(struct stage *stage, const char *opener)
{
	assert_int_equal(chmod(stage->folder, 0755), 0);
	assert_int_equal(mkdir(in_folder(stage, "bin"), 0755), 0);
	assert_int_equal(mkdir(in_folder(stage, "run"), 0777), 0);
	assert_int_equal(chmod(in_folder(stage, "run"), 0777), 0);
	write_text(stage, "my profile.json", recording);
	assert_int_equal(chmod(in_folder(stage, "my profile.json"), 0644), 0);
	write_text(stage, "bin/xdg-open", opener);
	assert_int_equal(chmod(in_folder(stage, "bin/xdg-open"), 0755), 0);
}

/* Runs "luaspy open" with these words of env(1) before it. */
static struct child *open_with(struct stage *stage, const char *words)
{
	char command[900];

	snprintf(command, sizeof(command),
		 "env -u DISPLAY -u WAYLAND_DISPLAY -u TMPDIR -u SUDO_UID -u SUDO_GID "
		 "XDG_RUNTIME_DIR=%s/run PATH=%s/bin:/usr/bin:/bin %s %s open 'my profile.json'",
		 stage->folder, stage->folder, words, luaspy_program());
	return start(stage, "sh", "-c", command);
}

/* The page that an opener has noted in run/shown. */
static const char *shown(struct stage *stage, const struct child *child)
{
	char *path;

	stage__await_file(stage, child, "run/shown");
	path = stage__own(stage, read_file(in_folder(stage, "run/shown"), NULL), free);
	path[strcspn(path, "\n")] = '\0';
	return path;
}

#define NOTES "#!/bin/sh\n(echo \"$1\"; id -u) > ${1%/*}/new; mv ${1%/*}/new ${1%/*}/shown\n"

static void the_desktop_shows_the_page(void **state)
{
	struct stage *stage = *state;
	struct stat status;
	struct child *child;
	const char *path, *page;

	prepare(stage, NOTES "sleep 3 # as a browser that stays\n");
	child = open_with(stage, "DISPLAY=:7");
	assert_int_equal(child__wait(child, PATIENCE), 0);
	path = shown(stage, child);
	assert_non_null(strstr(path, "/run/luaspy-my_profile-"));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	page = stage__own(stage, read_file(path, NULL), free);
	assert_non_null(strstr(page, "<html"));
	assert_non_null(strstr(page, "\"quarry\""));
	child__assert_complained(stage, child, "opened ");
}

static void under_sudo_it_is_the_callers(void **state)
{
	struct stage *stage = *state;
	struct stat status;
	struct child *child;
	const char *path;

	if (geteuid())
		skip();
	prepare(stage, NOTES);
	child = open_with(stage, "DISPLAY=:7 SUDO_UID=" NOBODY " SUDO_GID=" NOBODY);
	assert_int_equal(child__wait(child, PATIENCE), 0);
	path = shown(stage, child);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_uid, atoi(NOBODY));
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_non_null(strstr(path + strlen(path) + 1, NOBODY));
}

static void without_a_desktop_it_says_where_the_page_is(void **state)
{
	struct stage *stage = *state;
	struct child *child;

	prepare(stage, NOTES);
	child = open_with(stage, "");
	assert_int_equal(child__wait(child, PATIENCE), 1);
	child__assert_complained(stage, child, "/run/luaspy-my_profile-");
	child__assert_complained(stage, child, "there is no desktop, for DISPLAY");
	/* Nothing was run; the page is there. */
	assert_int_equal(count_files(in_folder(stage, "run")), 1);
}

static void says_that_the_opener_failed(void **state)
{
	struct stage *stage = *state;
	struct child *child;

	prepare(stage, "#!/bin/sh\nexit 3\n");
	child = open_with(stage, "WAYLAND_DISPLAY=wayland-0");
	assert_int_equal(child__wait(child, PATIENCE), 1);
	child__assert_complained(stage, child, ": xdg-open failed (open it in a browser");
}

/* The page that is made with these options. */
static const char *page_with(struct stage *stage, const char *options)
{
	struct child *child;
	char words[600], *path;

	snprintf(words, sizeof(words), "XDG_RUNTIME_DIR=%s %s open app.json --no-browser %s",
		 stage->folder, luaspy_program(), options);
	child = start(stage, "sh", "-c", words);
	assert_int_equal(child__wait(child, PATIENCE), 0);
	path = child__output(stage, child);
	path[strcspn(path, "\n")] = '\0';
	return stage__own(stage, read_file(path, NULL), free);
}

static void the_page_has_the_text_of_hot_lines(void **state)
{
	struct stage *stage = *state;

	need_lua();
	write_text(stage, "app.lua",
		   "local stop = os.clock() + 0.5\n"
		   "while os.clock() < stop do\n"
		   "\tfor i = 1, 1e5 do end -- </script> hot\n"
		   "end\n\n\n\n\n-- far away\n");
	spying__finish(stage, start(stage, luaspy_program(), "record", "-o", "app.json", "--",
				    "lua5.4", "app.lua"));
	assert_non_null(
		strstr(page_with(stage, ""),
		       "[3,\"        for i = 1, 1e5 do end -- \\u003c/script\\u003e hot\"]"));
	assert_null(strstr(page_with(stage, ""), "far away"));
	assert_null(strstr(page_with(stage, "--no-source"), "script\\u003e hot"));
}

static void a_bad_recording_leaves_no_page(void **state)
{
	struct stage *stage = *state;

	prepare(stage, NOTES);
	write_text(stage, "my profile.json", "{\"Version\":2,");
	assert_int_equal(child__wait(open_with(stage, "DISPLAY=:7"), PATIENCE), 1);
	assert_int_equal(count_files(in_folder(stage, "run")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(the_desktop_shows_the_page),
		staged(under_sudo_it_is_the_callers),
		staged(without_a_desktop_it_says_where_the_page_is),
		staged(says_that_the_opener_failed),
		staged(the_page_has_the_text_of_hot_lines),
		staged(a_bad_recording_leaves_no_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
