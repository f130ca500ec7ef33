/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <ncurses.h>

#include "system/user_rights.h"

#define ESCAPE_MS 25 /* whatever follows an escape later than this is a separate key */

static SCREEN *terminal;

bool screen__is_there(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/*
 * Removes the variables that contain the terminal's description, or where ncurses looks for it. It
 * is parsed with all of luaspy's privileges, so if others set the environment, only the system's
 * own descriptions are used.
 */
static void forget_descriptions(void)
{
	static const char *const names[] = {"TERMINFO", "TERMINFO_DIRS", "TERMCAP", "TERMPATH",
					    "HOME"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

int screen__open(void)
{
	sigset_t resize;

	/*
	 * The size is queried at every update: ncurses's own SIGWINCH handler would interrupt
	 * system calls of the recording.
	 */
	sigemptyset(&resize);
	sigaddset(&resize, SIGWINCH);
	sigprocmask(SIG_BLOCK, &resize, NULL);
	fflush(NULL);
	if (!user_rights__own_environment())
		forget_descriptions();
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return -ENOTTY;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	return 0;
}

void screen__close(void)
{
	if (!terminal)
		return;
	endwin();
	delscreen(terminal);
	terminal = NULL;
}

bool screen__size(unsigned *width, unsigned *height)
{
	struct winsize size;
	bool has_changed = false;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		has_changed = is_term_resized(size.ws_row, size.ws_col);
	if (has_changed)
		resizeterm(size.ws_row, size.ws_col);
	*width = COLS > 0 ? (unsigned)COLS : 1;
	*height = LINES > 0 ? (unsigned)LINES : 1;
	return has_changed;
}

int screen__fd(void)
{
	return STDIN_FILENO;
}

static uint32_t special_key(wint_t code)
{
	static const struct {
		int code;
		enum listing_key key;
	} keys[] = {
		{KEY_UP, LISTING_UP},         {KEY_DOWN, LISTING_DOWN},
		{KEY_PPAGE, LISTING_PAGE_UP}, {KEY_NPAGE, LISTING_PAGE_DOWN},
		{KEY_HOME, LISTING_HOME},     {KEY_END, LISTING_END},
		{KEY_ENTER, LISTING_ENTER},   {KEY_BACKSPACE, LISTING_ERASE},
	};

	if (code == KEY_RESIZE)
		return 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if ((int)code == keys[i].code)
			return keys[i].key;
	return LISTING_OTHER;
}

uint32_t screen__key(void)
{
	wint_t code;

	switch (get_wch(&code)) {
	case KEY_CODE_YES:
		return special_key(code);
	case OK:
		break;
	default:
		return 0;
	}
	switch (code) {
	case '\r':
	case '\n':
		return LISTING_ENTER;
	case 27:
		return LISTING_ESCAPE;
	case 8:
	case 127:
		return LISTING_ERASE;
	case 0:
		return LISTING_OTHER;
	}
	return code;
}

bool screen__is_gone(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, 0) > 0 && input.revents & (POLLHUP | POLLERR | POLLNVAL);
}

static void paint(void *context, enum top_view_style style, const char *text)
{
	static const attr_t attributes[] = {
		[STYLE_TITLE] = A_BOLD,      [STYLE_HEAD] = A_REVERSE, [STYLE_FOUND] = A_BOLD,
		[STYLE_CURSOR] = A_STANDOUT, [STYLE_KEYS] = A_DIM,     [STYLE_GONE] = A_DIM,
	};
	int *line = context;

	attrset((int)attributes[style]);
	if (style == STYLE_HEAD || style == STYLE_CURSOR)
		mvhline(*line, 0, ' ', COLS);
	mvaddstr((*line)++, 0, text);
}

void screen__show(const struct top_view *top_view)
{
	int line = 0;

	erase();
	top_view__draw(top_view, paint, &line);
	attrset(A_NORMAL);
	refresh();
}
