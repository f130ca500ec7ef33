/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A luaspy that records the host, an honest Lua process, and attackers: programs of
 * tests/programs/attacks/ that an ordinary user runs. Checks what luaspy owes the honest process,
 * whatever the others do. Include this after cmocka.h.
 */
#ifndef TEST_SIEGE_H
#define TEST_SIEGE_H

#include <pthread.h>
#include <stdlib.h>

#include "spies.h"
#include "spying.h"

#define SIEGE_USER 12345

/*
 * What luaspy may take, and how late it may be, besides the time that a thread of its priority had
 * to wait for a processor that others had.
 */
#define SIEGE_LATE_SECONDS  0.1 /* the end of an interval, and its file */
#define SIEGE_TERM_SECONDS  0.9 /* from SIGTERM to its end */
#define SIEGE_KILL_SECONDS  1.0 /* from SIGKILL to the end of all its processes */
#define SIEGE_START_SECONDS 3.0 /* until it samples */
#define SIEGE_PEAK_KB       (256L << 10)
#define SIEGE_CPU_SHARE     0.2 /* of one processor */
#define SIEGE_CPU_START     0.6 /* seconds, to load and verify its programs */
#define SIEGE_TOLERANCE     0.01

struct siege;

struct attack {
	const char *name; /* a sentence: the test's */
	void (*launch)(struct siege *siege);
	const char *named; /* a process that luaspy must name, or its file; NULL: none */
	bool spends_grant; /* only the user's budget limits what reading it takes */
	bool holds_worker; /* the kernel may hold a worker that waits for it, SIGKILL or not */
};

struct siege {
	const struct attack *attack;
	struct stage *stage;
	struct child *honest, *spy;
	struct child *elder; /* NULL, or siege__start_elder()'s */
	struct child *attackers[STAGE_CHILDREN];
	int attacker_count;
	struct child *target;    /* the one that record -p and dump look at */
	int percent;             /* of a processor, that each attacker takes */
	bool is_crowded;         /* an attack that cannot be made is left out */
	double honest_before;    /* its CPU time when the session began */
	double begin;            /* of the session, now_seconds() */
	struct spies_cost *cost; /* of all processes of luaspy together */
	pthread_t watcher;
	volatile int is_watching;
};

/* Setup and teardown of cmocka; the initial state is a struct attack, or NULL. */
int siege__open(void **state);
int siege__close(void **state);

/* `program` of tests/programs/attacks/, run in the folder "field" by an ordinary user. */
struct child *siege__attack(struct siege *siege, const char *program, const char *const *words);
#define attack_with(siege, program, ...)                                                           \
	siege__attack(siege, program, (const char *const[]){__VA_ARGS__, NULL})

/* The same as root; the program drops its privileges itself, as a setuid program would. */
struct child *siege__attack_as_root(struct siege *siege, const char *program,
				    const char *const *words);
#define attack_as_root(siege, program, ...)                                                        \
	siege__attack_as_root(siege, program, (const char *const[]){__VA_ARGS__, NULL})

/*
 * Waits until the attacker says `text`. If this machine does not allow the attack, skips the test
 * with the attacker's own reason or, if is_crowded, goes on without the attack and returns false.
 */
bool siege__await(struct siege *siege, struct child *attacker, const char *text);

/* Makes an ELF file of that kind (tests/programs/attacks/elf_bomb.c). Its path in "field". */
const char *siege__make_bomb(struct siege *siege, const char *kind, const char *name);

/* A path in the folder that the attackers may write; the stage owns it. */
const char *siege__field(struct siege *siege, const char *name);

/* A node of /dev/fuse that everybody may open, as udev makes it. */
const char *siege__fuse_device(struct siege *siege);

/*
 * Starts another honest process, which works when the session begins, with 100 functions on its
 * stack. luaspy finds older processes first. So if this one is started before the attackers, luaspy
 * samples it but does not know its functions yet when they keep luaspy from reading anything.
 */
void siege__start_elder(struct siege *siege);

/* Starts an honest process, which does not work yet, and "luaspy record --system --interval". */
void siege__record(struct siege *siege, const char *interval);

/* Lets the honest process work for that much CPU time, once in a session. */
void siege__begin_work(struct siege *siege, double seconds);

/* Waits until it has, at most `seconds`, or longer if others compete for the processors. */
void siege__await_work(struct siege *siege, double seconds);

/* The time of a process in all files together. */
double siege__time_us(struct siege *siege, const char *name, pid_t pid);

/* Sends SIGTERM, and asserts all that luaspy owes. `interval` is in seconds. */
void siege__finish(struct siege *siege, double interval);

/* Waits until another luaspy of the test ends by itself, whatever its status. */
void siege__assert_ends(struct siege *siege, struct child *spy, const char *what, double seconds);

/* Kills another luaspy, and asserts that it and its children are soon gone. */
void siege__assert_killable(struct siege *siege, struct child *spy);

#endif
