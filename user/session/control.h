/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A FIFO through which a session is told what to do, a command a line: pause, resume, mark TEXT,
 * write, stop. Whoever may write to it may tell it; writers come and go as they like. A line ends
 * with a line feed or NUL; blanks around it do not count.
 *
 * Through another FIFO, where there is one, goes a line for each command, in their order, when it
 * was done: "ok WORD", or "failed WORD: REASON", or "failed: not understood". An end of file there
 * says that the session is over, whatever was written to it since. Who does not read them loses
 * the later ones.
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
 * Opens the FIFO at `path`, and that for answers unless `answers_path` is NULL; or makes them, for
 * the invoking user alone: control__close() removes those again. Says what is wrong: a symbolic
 * link is not followed, and what is no FIFO not touched. 0 or -errno; *control is then NULL.
 */
int control__open(const char *path, const char *answers_path, struct control **control);

/* Takes NULL. Says how many commands were not understood, and how many answers were lost. */
void control__close(struct control *control);

/* Polls readable when there is something to take. */
int control__fd(const struct control *control);

/*
 * The next command; of a mark *text is the text, valid until the next call. Warns of the first that
 * it does not understand. Hands out no more than a buffer of commands for each time that it reads,
 * so the caller has its turn whatever is written: CONTROL_NONE is then not the end.
 */
enum control_command control__take(struct control *control, const char **text);

/* To be called once for each that was taken, in their order. `failure` is why; NULL: it is done. */
void control__answer(struct control *control, enum control_command command, const char *failure);

#endif
