/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages, to standard error. One line each: lower case, the failure first, the subject quoted,
 * no full stop, then a hint in brackets:
 *
 *	luaspy: cannot open '/proc/42/maps': permission denied (try sudo or CAP_SYS_PTRACE)
 *
 * The whole message goes through log__printable(), so arguments need no escaping of their own and
 * none of them reaches the terminal as a control sequence or as a second line.
 */
#ifndef LS_LOG_H
#define LS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Messages above `level` are not shown. LOG_INFO at start; -q sets LOG_ERROR, -v LOG_DEBUG. */
void log__set_level(enum log_level level);
enum log_level log__level(void);

/*
 * Sets a function to call before each message that is shown, to clear the terminal of anything that
 * is not a message (the progress line). NULL: none.
 */
void log__call_before(void (*callback)(void));

/*
 * Sends messages to `sink` instead of standard error, for when something else uses the terminal.
 * Each is one line without "luaspy: ", already escaped for a terminal. NULL: back to standard
 * error.
 */
void log__divert(void (*sink)(void *context, enum log_level level, const char *line),
		 void *context);

/*
 * Whether a message may block until standard error accepts it; the default. If not, messages that
 * would block are dropped and counted, and the count is logged once messages may block again.
 */
void log__wait(bool waits);

/*
 * Prints "luaspy: " and the message, as "luaspy: warning: " or "luaspy: debug: " for those levels.
 * Clears the progress line from the terminal first (log__call_before()). Gives each line a priority
 * if systemd's journal reads it. Leaves errno unchanged.
 */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Copies `text` into `to`, with every byte of invalid UTF-8 and of characters that mislead
 * (code_point.h) as \xNN. If `size` bytes are too few, "..." stands for the rest. Always
 * NUL-terminated and valid UTF-8. Use this for anything that comes from the target and goes to a
 * terminal. Returns `to`; NULL is taken as "".
 */
char *log__printable(const char *text, char *to, size_t size);

#endif
