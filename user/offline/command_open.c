/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "offline/command_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/exit_status.h"
#include "desktop/desktop.h"
#include "format/format.h"
#include "reader/profile_file.h"
#include "report/source_lines.h"
#include "system/folder.h"
#include "system/resource_limits.h"
#include "system/user_rights.h"

#define NAME_MOST 64 /* bytes of the recording's name that the page's has */

/* A page in a folder of its own user. */
struct page {
	char path[PATH_MAX]; /* absolute; "": it was not made */
	int fd;
};

/* "profile" of "/tmp/profile.json", of characters that need no escape anywhere. */
static void put_stem(const char *recording, char *to, size_t size)
{
	const char *name = strcmp(recording, "-") ? folder__name_in(recording) : "stdin";
	size_t length = format__stem_length(name), at = 0;

	for (; at < length && at < size - 1; at++) {
		char letter = name[at];
		bool is_plain = (letter >= 'a' && letter <= 'z') ||
				(letter >= 'A' && letter <= 'Z') ||
				(letter >= '0' && letter <= '9') || strchr("-_.", letter);

		to[at] = letter && is_plain ? letter : '_';
	}
	to[at] = '\0';
}

/* With the user's rights, in a folder that the user's environment names. */
static int make_page(const struct desktop *desktop, const char *recording, struct page *page)
{
	static const char *const variables[] = {"XDG_RUNTIME_DIR", "TMPDIR"};
	struct user_rights rights;
	char stem[NAME_MOST];
	int error = user_rights__take(&rights);

	if (error)
		return error;
	put_stem(recording, stem, sizeof(stem));
	page->fd = -1;
	for (size_t i = 0; i < 3 && page->fd < 0; i++) {
		const char *folder = i < 2 ? desktop__variable(desktop, variables[i]) : "/tmp";

		/* mkostemps() makes a file of mode 0600 that was not there before. */
		if (!folder || *folder != '/' ||
		    snprintf(page->path, sizeof(page->path), "%s/luaspy-%s-XXXXXX.html", folder,
			     stem) >= (int)sizeof(page->path))
			continue;
		page->fd = mkostemps(page->path, strlen(".html"), O_CLOEXEC);
		error = page->fd < 0 ? -errno : 0;
	}
	user_rights__give_back(&rights);
	if (page->fd < 0)
		page->path[0] = '\0';
	return page->fd < 0 && !error ? -ENOENT : error;
}

static int write_page(struct page *page, const struct ls_profile *profile)
{
	FILE *stream = fdopen(page->fd, "w");
	struct ls_totals totals;
	int error;

	if (!stream) {
		close(page->fd);
		return -ENOMEM;
	}
	error = totals__compute(profile, &totals);
	if (!error)
		error = format__by_name("html")->write(profile, &totals, stream);
	totals__free(&totals);
	errno = 0;
	if (fclose(stream) && !error)
		error = errno ? -errno : -EIO;
	return error;
}

static int remove_page(void *context, const struct user_rights *rights)
{
	const struct page *page = context;

	(void)rights;
	return unlink(page->path) ? -errno : 0;
}

/* With the text of hot lines, unless that was not asked for. */
static int write_with_text(const struct open_options *options, struct page *page,
			   const struct ls_profile *from)
{
	struct ls_profile profile = *from;
	struct source_lines lines = {};
	int error = options->no_source ? 0 : source_lines__read(from, options->file, &lines);

	profile.texts = lines.texts;
	profile.text_count = lines.count;
	if (!error)
		error = write_page(page, &profile);
	else
		close(page->fd);
	source_lines__free(&lines);
	return error;
}

/* 0, or -errno after reporting it: there is no page then. */
static int write_recording(const struct desktop *desktop, const struct open_options *options,
			   struct page *page)
{
	const char *recording = options->file;
	struct profile_file *file;
	int error = profile_file__open(recording, &file);

	if (error)
		return error;
	error = make_page(desktop, recording, page);
	if (error) {
		log_error("cannot make a page of '%s' in XDG_RUNTIME_DIR, TMPDIR or /tmp: %s",
			  recording, resource_limits__reason(error));
	} else {
		error = write_with_text(options, page, profile_file__profile(file));
		if (error) {
			log_error("cannot write '%s': %s", page->path,
				  resource_limits__reason(error));
			user_rights__try(remove_page, page);
		}
	}
	profile_file__close(file);
	return error;
}

/* What to do without a desktop, such as over ssh. */
static int tell_page(const struct page *page, const char *why)
{
	log_error("cannot show '%s' here: %s (open it in a browser, or copy it to a machine that "
		  "has one: it is one file)",
		  page->path, why);
	return EXIT_FAILED;
}

static int print_path(const struct page *page)
{
	if (printf("%s\n", page->path) > 0 && !fflush(stdout))
		return EXIT_OK;
	log_error("cannot write to standard output: %s", resource_limits__reason(-errno));
	return EXIT_FAILED;
}

static int show(const struct desktop *desktop, const struct page *page)
{
	int error;

	if (!desktop__has_screen(desktop))
		return tell_page(page, "there is no desktop, for DISPLAY and WAYLAND_DISPLAY are "
				       "not set");
	error = desktop__show(desktop, page->path);
	if (error == -ENOENT)
		return tell_page(page, "there is no xdg-open, which the package xdg-utils has");
	if (error)
		return tell_page(page, "xdg-open failed");
	log_info("opened %s", page->path);
	return EXIT_OK;
}

int command_open__run(const struct open_options *options)
{
	struct page page = {.path = ""};
	struct desktop desktop;
	int status = EXIT_FAILED;
	int error = desktop__find(&desktop);

	if (error)
		log_error("cannot open '%s': %s", options->file, resource_limits__reason(error));
	else
		error = write_recording(&desktop, options, &page);
	if (!error)
		status = options->no_browser ? print_path(&page) : show(&desktop, &page);
	desktop__close(&desktop);
	return status;
}
