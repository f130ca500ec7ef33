/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A FIFO through which a session takes commands, one per line: pause, resume, mark TEXT, write,
 * stop. Whoever may write to it may control the session; writers come and go as they like. A line
 * ends with a line feed or NUL; blanks around it do not count.
 *
 * If there is a second FIFO, each command is answered there in order, once it is done, with one
 * line: "ok WORD", "failed WORD: REASON", or "failed: not understood". An end of file there means
 * that the session is over, whatever commands were written since. If nobody reads the answers,
 * later ones are lost.
 */
#ifndef LS_CONTROL_H
#define LS_CONTROL_H

/* Bytes of a line. Less than PIPE_BUF: lines of concurrent writers do not mix. */
#define CONTROL_LINE_MAX 1024

struct control;

enum control_command {
	CONTROL_NONE, /* no complete line is there, or its turn is later: ask again when readable */
	CONTROL_PAUSE,
	CONTROL_RESUME,
	CONTROL_MARK,
	CONTROL_WRITE,
	CONTROL_STOP,
};

/*
 * Opens the FIFO at `path`, and the one for answers unless `answers_path` is NULL. A FIFO that does
 * not exist is created for the invoking user alone, and removed by control__close(). Logs what is
 * wrong: symbolic links are not followed, other file types are not touched, and another user's FIFO
 * is not obeyed. 0 or -errno; *control is then NULL.
 */
int control__open(const char *path, const char *answers_path, struct control **control);

/* Takes NULL. Logs how many commands were not understood, and how many answers were lost. */
void control__close(struct control *control);

/* Polls readable when there are commands to read. */
int control__fd(const struct control *control);

/*
 * Returns the next command; for a mark, *text is its text, valid until the next call. Warns about
 * the first command that it does not understand. Handles no more than one buffer of commands per
 * read, so that the caller gets its turn whatever is written: CONTROL_NONE does not mean that the
 * FIFO is empty.
 */
enum control_command control__take(struct control *control, const char **text);

/* To be called once for each command taken, in order. `failure` is the reason; NULL: it is done. */
void control__answer(struct control *control, enum control_command command, const char *failure);

#endif
