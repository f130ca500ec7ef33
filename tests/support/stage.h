/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where an end-to-end test plays: a folder of its own, the processes that it started, luaspy and
 * its targets, and what it allocated. Whatever becomes of the test, stage__close() kills them,
 * removes the folder and frees the rest; no process outlives the test program. What cannot be done
 * fails the test.
 */
#ifndef TEST_STAGE_H
#define TEST_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define STAGE_CHILDREN 24
#define STAGE_THINGS   256

struct child {
	pid_t pid;
	int number;
	int input; /* its standard input, to be written; -1: closed */
	bool is_over;
	int status; /* exit status, or 128 and the signal */
	struct rusage usage;
};

struct stage {
	char folder[64]; /* absolute */
	struct child children[STAGE_CHILDREN];
	int count;
	struct {
		void *thing;
		void (*destroy)(void *thing);
	} owned[STAGE_THINGS];
	int owned_count;
};

/* Setup and teardown of cmocka; *state is the stage. */
int stage__open(void **state);
int stage__close(void **state);
#define staged(test) cmocka_unit_test_setup_teardown(test, stage__open, stage__close)

/* From here on it is the stage's, which destroys it at its end. Returns it. */
void *stage__own(struct stage *stage, void *thing, void (*destroy)(void *thing));

/*
 * Starts a program in the stage's folder, its standard input a pipe, its output and errors in files
 * there. `words` ends with NULL; the first is looked for in PATH. It is executed already then.
 */
struct child *stage__start(struct stage *stage, const char *const *words);
#define start(stage, ...) stage__start(stage, (const char *const[]){__VA_ARGS__, NULL})

/* All that it has written so far; the stage owns it. */
char *child__output(struct stage *stage, const struct child *child);
char *child__errors(struct stage *stage, const struct child *child);

/* How many bytes that was, NULs included. */
size_t child__output_size(struct stage *stage, const struct child *child);

/* Until its output holds `text`, at most ten seconds, or a minute if it works meanwhile. */
void child__await_output(struct stage *stage, const struct child *child, const char *text);

/* The same for its errors. */
void child__await_errors(struct stage *stage, const struct child *child, const char *text);

/* Writes a line to its standard input. */
void child__tell(struct child *child, const char *line);

/* Until it ends, at most `seconds`; its status. */
int child__wait(struct child *child, double seconds);

void child__kill(struct child *child);

/* CPU time of all its threads, those that have exited included. */
double child__cpu_seconds(const struct child *child);

/* Until /proc shows its main thread in that state: 'S' sleeps, 'T' is stopped. */
void child__await_state(struct stage *stage, const struct child *child, char state);

/* Until it was charged so many more seconds, however busy the machine is. */
void child__let_work(const struct child *child, double seconds);

/* A name in the stage's folder, good until the next four calls. */
const char *in_folder(const struct stage *stage, const char *name);

/* tests/programs/NAME, and what was built from it. Good until the next four calls. */
const char *program_source(const char *name);
const char *built_program(const char *name);

/* The line of tests/programs/NAME that holds `mark`, from 1. */
int line_in(const char *name, const char *mark);

void write_file(const char *path, const void *content, size_t size);

/* A file of that name in the stage's folder. */
void write_text(const struct stage *stage, const char *name, const char *text);

/* All of a file, ended by NUL; the caller frees it. `size` may be NULL. */
char *read_file(const char *path, size_t *size);

/* Until there is a file of that name in the stage's folder, at most ten seconds. */
void stage__await_file(struct stage *stage, const struct child *maker, const char *name);

/* How many names there are in a folder, without . and .. */
int count_files(const char *folder);

double now_seconds(void);
void sleep_seconds(double seconds);

#endif
