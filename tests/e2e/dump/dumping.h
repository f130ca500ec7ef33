/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What luaspy dump shows, and comparing that with what programs say of themselves. */
#ifndef TEST_DUMPING_H
#define TEST_DUMPING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "spying.h"

const char *text_of(const json_t *object, const char *key);
json_int_t number_of(const json_t *object, const char *key);

/*
 * "luaspy dump -p PID" and these words, which exits with `status`. Programs say what callers call
 * their functions.
 */
struct child *run_dump(struct stage *stage, pid_t pid, int status, const char *first,
		       const char *second);
const json_t *dump_json(struct stage *stage, pid_t pid, int status, const char *word);
const char *dump_text(struct stage *stage, pid_t pid, int status, const char *word);

/* A thread by its name; fails where there is none. */
const json_t *thread_of(const json_t *dump, const char *name);

/* Frame `at` of a thread's innermost stack; NULL: there is none. */
const json_t *frame_of(const json_t *thread, size_t at);
bool has_name(const json_t *frame, const char *name);

/* `at` begins with this word. Returns what follows it. */
const char *expect_word(const char *at, const char *word);

/*
 * Compares a stack with the lines at `at`, which say it from below the C function, `leaf`, on in
 * which it stays. Returns what follows them.
 */
const char *compare_stack(const json_t *stack, const char *at, const char *leaf);

/*
 * Starts `program` with stacks.lua and compares all frames of all stacks with what it says: those
 * that wait for others and those that have yielded.
 */
void compare_all(struct stage *stage, const char *program);

/* A script that says "up" and then works for good: it does already, however slow the machine is. */
struct child *start_working(struct stage *stage, const char *interpreter, const char *script);

/* The thread has that status, and its innermost functions have these names. */
void expect_leaf(const json_t *dump, const char *thread, const char *status, const char *first,
		 const char *second);

/* One of them is where these two functions are. */
void expect_coroutine(const json_t *coroutines, const char *first, const char *second);

/*
 * Each stack is one that a coroutine of yielders.lua can have had, whose innermost function the VM
 * calls `leaf`. Returns how many there are.
 */
size_t check_yielders(const json_t *coroutines, const char *leaf);

/* Runs sleepers.c, whose threads have a Lua each: no stack has a function of another's. */
void tell_threads_apart(struct stage *stage, const char *program);

/*
 * Runs sleepers.c with "parked": its coroutine is found by memory alone. No stack leads to its VM,
 * nor is proof of a layout.
 */
void find_parked_coroutines(struct stage *stage, const char *program);

#endif
