/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The surroundings of an end-to-end test: a folder of its own, the processes that it started
 * (luaspy and its targets), and what it allocated. However the test ends, stage__close() kills the
 * processes, removes the folder and frees the rest; no process outlives the test program. A
 * function that cannot do its work fails the test.
 */
#ifndef TEST_STAGE_H
#define TEST_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define STAGE_CHILDREN 128
#define STAGE_THINGS   1024

struct child {
	pid_t pid;
	int number;
	int input; /* write end of its standard input; -1: closed */
	bool is_over;
	int status; /* exit status, or 128 plus the signal */
	struct rusage usage;
	double begun_us; /* its CPU time when luaspy began to count; 0: luaspy counts all of it */
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

/* Hands `thing` over to the stage, which destroys it when it closes. Returns it. */
void *stage__own(struct stage *stage, void *thing, void (*destroy)(void *thing));

/*
 * Starts a program in the stage's folder, with a pipe as its standard input and files there for its
 * output and errors. `words` ends with NULL; the first is looked up in PATH. Returns once the
 * program is executed.
 */
struct child *stage__start(struct stage *stage, const char *const *words);
#define start(stage, ...) stage__start(stage, (const char *const[]){__VA_ARGS__, NULL})

/* All that the child has written so far; the stage owns it. */
char *child__output(struct stage *stage, const struct child *child);
char *child__errors(struct stage *stage, const struct child *child);

/* The size of its output so far in bytes, NULs included. */
size_t child__output_size(struct stage *stage, const struct child *child);

/* Whether its output, or its errors, contain `text` so far. */
bool child__has_said(const struct stage *stage, const struct child *child, const char *text);
bool child__has_complained(const struct stage *stage, const struct child *child, const char *text);

/* Fails, and prints its errors so far, unless they contain `text`. */
void child__assert_complained(struct stage *stage, const struct child *child, const char *text);

/*
 * Waits until its output contains `text`: at most ten seconds, or a minute if it works meanwhile.
 */
void child__await_output(struct stage *stage, const struct child *child, const char *text);

/* The same for its errors. */
void child__await_errors(struct stage *stage, const struct child *child, const char *text);

/* Writes a line to its standard input. */
void child__tell(struct child *child, const char *line);

/* Waits until it ends, at most `seconds`. Returns its status. */
int child__wait(struct child *child, double seconds);

void child__kill(struct child *child);

/* CPU time of all its threads, those that have exited included. */
double child__cpu_seconds(const struct child *child);

/* Waits until /proc shows its main thread in that state: 'S' sleeping, 'T' stopped. */
void child__await_state(struct stage *stage, const struct child *child, char state);

/* Waits until at most `awake` of its threads are not asleep. No thread may end meanwhile. */
void child__await_asleep(struct stage *stage, const struct child *child, size_t awake);

/* Waits until it has used `seconds` more of CPU time, however busy the machine is. */
void child__let_work(const struct child *child, double seconds);

/* The path of a name in the stage's folder, valid until four more paths were returned. */
const char *in_folder(const struct stage *stage, const char *name);

/* The paths of tests/programs/NAME and of what was built from it, valid as above. */
const char *program_source(const char *name);
const char *built_program(const char *name);

/* The number of the line of tests/programs/NAME that contains `mark`, from 1. */
int line_in(const char *name, const char *mark);

void write_file(const char *path, const void *content, size_t size);

/* Writes a file of that name in the stage's folder. */
void write_text(const struct stage *stage, const char *name, const char *text);

/* Reads a whole file, NUL-terminated; the caller frees it. `size` may be NULL. */
char *read_file(const char *path, size_t *size);

/* Waits until there is a file of that name in the stage's folder, at most ten seconds. */
void stage__await_file(struct stage *stage, const struct child *maker, const char *name);

/* The number of entries in a folder, without . and .. */
int count_files(const char *folder);

double now_seconds(void);
void sleep_seconds(double seconds);

#endif
