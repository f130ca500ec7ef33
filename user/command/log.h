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

#include <stddef.h>
#include <stdio.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Messages above `level` are not shown. LOG_INFO at start; -q sets LOG_ERROR, -v LOG_DEBUG. */
void log__set_level(enum log_level level);
enum log_level log__level(void);

/* Called before each message that is shown, to clear the terminal of what is not one; or NULL. */
void log__call_before(void (*callback)(void));

/*
 * Messages go to `sink`, as one line without "luaspy: ", ready for a terminal, and not to standard
 * error: somebody has the terminal. NULL: as before.
 */
void log__divert(void (*sink)(void *context, enum log_level level, const char *line),
		 void *context);

/*
 * Whether a message waits until somebody takes it; where not, those that nobody takes are counted,
 * and told when messages wait again. They do at first.
 */
void log__wait(int waits);

/*
 * "luaspy: " and the message; "luaspy: warning: " and "luaspy: debug: " where it is one. The
 * progress line is taken off the terminal first (log__call_before). Systemd's journal is told how
 * important each is. errno stays as it was.
 */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Copies `text` into `to`, with every byte of control characters (C0, DEL, C1), of characters that
 * turn the direction of text or break lines (U+2028, U+202E ...) and of invalid UTF-8 as \xNN.
 * Where `size` bytes are too few, "..." stands for the rest. Always ended by NUL, and valid UTF-8.
 * For whatever came from the target and goes to a terminal. Returns `to`; NULL is taken as "".
 */
char *log__printable(const char *text, char *to, size_t size);

#endif
