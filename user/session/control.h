/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A FIFO through which a session is told what to do, a command a line: pause, resume, mark TEXT,
 * write, stop. Whoever may write to it may tell it; writers come and go as they like. A line ends
 * with a line feed or NUL; blanks around it do not count.
 */
#ifndef LS_CONTROL_H
#define LS_CONTROL_H

/* Bytes of a line. Less than PIPE_BUF: lines of writers at the same time do not mix. */
#define CONTROL_LINE_MAX 1024

struct control;

enum control_command {
	CONTROL_NONE, /* no whole line is there, or not now: ask again when there is more to read */
	CONTROL_PAUSE,
	CONTROL_RESUME,
	CONTROL_MARK,
	CONTROL_WRITE,
	CONTROL_STOP,
};

/*
 * Opens the FIFO at `path`, or makes one there, for the invoking user alone: control__close()
 * removes that again. Says what is wrong: a symbolic link is not followed, and what is no FIFO not
 * touched. 0 or -errno; *control is then NULL.
 */
int control__open(const char *path, struct control **control);

/* Takes NULL. Says how many commands were not understood. */
void control__close(struct control *control);

/* Polls readable when there is something to take. */
int control__fd(const struct control *control);

/*
 * The next command; of a mark *text is the text, valid until the next call. Warns of the first that
 * it does not understand. Hands out no more than a buffer of commands for each time that it reads,
 * so the caller has its turn whatever is written: CONTROL_NONE is then not the end.
 */
enum control_command control__take(struct control *control, const char **text);

#endif
