/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "worker/allowance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/generations.h"
#include "base/log.h"
#include "process/process.h"
#include "process/time_budget.h"
#include "system/processor_speed.h"

/* Entries that a generation takes; a cache keeps at most twice as many. */
#define PROCESSES_MOST 16384
#define USERS_MOST     4096

/*
 * Cases after which a user is banned. Root has more, because root's id is also that of every
 * container without a user namespace of its own.
 */
#define STRIKES_MAX      3
#define STRIKES_MAX_ROOT 24

/*
 * A user's processes may run on all processors, and scripts that end soon cost 2 ms each. More than
 * this is not needed: the worker runs on one.
 */
#define PROCESSORS_MOST 4

#define TOLD_MOST 4 /* processes of one user that warnings name */

#define TITLE_SIZE 40

#define TELL_NS 1000000 /* processes that took less are not logged */

/* Tolerance, because process__birth_ns() reads two clocks, one after the other. */
#define SAME_BIRTH_NS 1000000

struct user {
	struct time_budget budget;
	unsigned int strikes;
	unsigned int told; /* processes that warnings have named */
	bool was_told;     /* a warning said that the budget is used up */
};

struct reading {
	bool is_known; /* `pid` and `user` are set */
	pid_t pid;
	uint64_t user;
	uint64_t memory_ns, mapped_ns; /* CPU time that it took, for the log */
	struct time_budget memory, mapped;
	bool told_memory, told_mapped; /* a warning said that this is not read in full */
	bool is_banned_itself;
	bool leaves_command; /* its command line is not read any more */
	uint64_t birth_ns;   /* of the banned process */
};

struct allowances {
	struct generations *users;              /* struct user by uid */
	struct generations *processes;          /* struct reading by pid */
	uint64_t memory_ns, mapped_ns, user_ns; /* the grants of each */
	unsigned int processors;                /* whose time a user's budget grows with */
};

/* By this, BENCH=reading make bench shows how far honest processes stay below the budgets. */
static void log_reading(void *context, void *value)
{
	const struct reading *reading = value;

	(void)context;
	if (reading->memory_ns + reading->mapped_ns < TELL_NS)
		return;
	log_debug("reading pid %d took %.1f ms of CPU time for its mapped files, %.1f ms for its "
		  "memory",
		  reading->pid, (double)reading->mapped_ns / 1e6, (double)reading->memory_ns / 1e6);
}

static unsigned int count_processors(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	if (count < 1)
		return 1;
	return count < PROCESSORS_MOST ? (unsigned int)count : PROCESSORS_MOST;
}

struct allowances *allowances__new(void)
{
	struct allowances *allowances = calloc(1, sizeof(*allowances));

	if (!allowances)
		return NULL;
	allowances->memory_ns = processor_speed__scale(TIME_BUDGET_PROCESS_NS);
	allowances->mapped_ns = processor_speed__scale(TIME_BUDGET_MAPPED_NS);
	allowances->user_ns = processor_speed__scale(TIME_BUDGET_USER_NS);
	allowances->processors = count_processors();
	allowances->users = generations__new(sizeof(uint64_t), sizeof(struct user), NULL);
	allowances->processes = generations__new(sizeof(uint64_t), sizeof(struct reading), NULL);
	if (allowances->users && allowances->processes)
		return allowances;
	allowances__free(allowances);
	return NULL;
}

void allowances__free(struct allowances *allowances)
{
	if (!allowances)
		return;
	if (allowances->processes)
		generations__visit(allowances->processes, log_reading, NULL);
	generations__free(allowances->users);
	generations__free(allowances->processes);
	free(allowances);
}

void allowances__set_grant(struct allowances *allowances, uint64_t ns)
{
	allowances->memory_ns = allowances->mapped_ns = allowances->user_ns = ns;
}

void allowances__set_mapped_grant(struct allowances *allowances, uint64_t ns)
{
	allowances->mapped_ns = ns;
	allowances->user_ns = processor_speed__scale(TIME_BUDGET_USER_NS) + ns;
}

static void *find_or_add(struct generations *kept, uint64_t key, uint32_t most)
{
	void *value = generations__find(kept, &key);

	if (value)
		return value;
	if (generations__young(kept) >= most)
		generations__age(kept);
	return generations__add(kept, &key);
}

/* NULL when out of memory. */
static struct reading *reading_of(struct allowances *allowances, pid_t pid)
{
	uint64_t key = (uint64_t)pid;
	struct reading *reading = find_or_add(allowances->processes, key, PROCESSES_MOST);
	uid_t user = 0;

	if (!reading || reading->is_known)
		return reading;
	/* If the process has ended, its user does not matter: nothing can be read. */
	if (!process__user(pid, &user))
		reading->user = user;
	reading->pid = pid;
	reading->is_known = true;
	return reading;
}

/* Finds or makes both entries. False: out of memory. */
static bool find(struct allowances *allowances, pid_t pid, struct reading **reading,
		 struct user **user)
{
	*reading = reading_of(allowances, pid);
	*user = *reading ? find_or_add(allowances->users, (*reading)->user, USERS_MOST) : NULL;
	return *user != NULL;
}

/* "lua5.4 (pid 42)" */
static const char *title_of(pid_t pid, char title[TITLE_SIZE])
{
	char name[16] = "";

	process__name(pid, name);
	snprintf(title, TITLE_SIZE, "%s (pid %d)", name, pid);
	return title;
}

static bool is_banned(const struct reading *reading, const struct user *user)
{
	return reading->is_banned_itself ||
	       user->strikes >= (reading->user ? STRIKES_MAX : STRIKES_MAX_ROOT);
}

/* Warns once per process, and about at most TOLD_MOST processes of a user. */
static void tell_unread(struct user *user, pid_t pid, bool *was_told, const char *what)
{
	char title[TITLE_SIZE];

	if (*was_told || user->told >= TOLD_MOST)
		return;
	*was_told = true;
	user->told++;
	log_warn("%s %s%s", title_of(pid, title), what,
		 user->told == TOLD_MOST ? " (this user's other processes are not named)" : "");
}

static void tell_user(struct user *user, uint64_t id)
{
	if (user->was_told)
		return;
	user->was_told = true;
	log_warn("reading the processes of user %u takes too much CPU time: names, lines and "
		 "interpreters may be missing",
		 (unsigned int)id);
}

/* Whether the id was reused. */
static bool is_another(pid_t pid, const struct reading *reading)
{
	uint64_t birth_ns;

	return !process__birth_ns(pid, &birth_ns) &&
	       (birth_ns > reading->birth_ns + SAME_BIRTH_NS ||
		birth_ns + SAME_BIRTH_NS < reading->birth_ns);
}

int allowances__check(struct allowances *allowances, pid_t pid, bool is_of_memory)
{
	struct reading *reading;
	struct user *user;

	if (!find(allowances, pid, &reading, &user))
		return -ENOMEM;
	if (reading->is_banned_itself && is_another(pid, reading)) {
		log_reading(NULL, reading);
		*reading = (struct reading){};
		return allowances__check(allowances, pid, is_of_memory);
	}
	if (is_banned(reading, user))
		return -EOWNERDEAD;
	if (is_of_memory && !time_budget__allows(&reading->memory, allowances->memory_ns, 1)) {
		tell_unread(user, pid, &reading->told_memory,
			    "takes too much CPU time to read: names and lines may be missing");
		return -EDQUOT;
	}
	if (!is_of_memory && !time_budget__allows(&reading->mapped, allowances->mapped_ns, 1)) {
		tell_unread(user, pid, &reading->told_mapped,
			    "takes too much CPU time to search for interpreters");
		return -EDQUOT;
	}
	if (time_budget__allows(&user->budget, allowances->user_ns, allowances->processors))
		return 0;
	tell_user(user, reading->user);
	return -EDQUOT;
}

void allowances__spend(struct allowances *allowances, pid_t pid, bool is_of_memory, uint64_t ns)
{
	struct reading *reading;
	struct user *user;

	if (!find(allowances, pid, &reading, &user))
		return;
	*(is_of_memory ? &reading->memory_ns : &reading->mapped_ns) += ns;
	time_budget__spend(is_of_memory ? &reading->memory : &reading->mapped, ns);
	time_budget__spend(&user->budget, ns);
}

static void strike(struct user *user, uint64_t id)
{
	user->strikes++;
	if (user->strikes == (id ? STRIKES_MAX : STRIKES_MAX_ROOT))
		log_warn("stopped reading the processes of user %u: this happened %u times",
			 (unsigned int)id, user->strikes);
}

void allowances__ban_file(struct allowances *allowances, pid_t pid, const char *why)
{
	char title[TITLE_SIZE];
	struct reading *reading;
	struct user *user;

	if (!find(allowances, pid, &reading, &user))
		return;
	log_warn("stopped reading a file of %s: it %s", title_of(pid, title), why);
	strike(user, reading->user);
}

void allowances__ban(struct allowances *allowances, pid_t pid, const char *why)
{
	char title[TITLE_SIZE];
	struct reading *reading;
	struct user *user;

	if (!find(allowances, pid, &reading, &user))
		return;
	reading->is_banned_itself = true;
	process__birth_ns(pid, &reading->birth_ns);
	log_warn("stopped reading %s: its memory %s", title_of(pid, title), why);
	strike(user, reading->user);
}

void allowances__ban_command(struct allowances *allowances, pid_t pid, const char *why)
{
	char title[TITLE_SIZE];
	struct reading *reading;
	struct user *user;

	if (!find(allowances, pid, &reading, &user))
		return;
	reading->leaves_command = true;
	log_warn("the command line of %s is not read any more: it %s", title_of(pid, title), why);
	strike(user, reading->user);
}

bool allowances__takes_command(struct allowances *allowances, pid_t pid)
{
	struct reading *reading;
	struct user *user;

	return find(allowances, pid, &reading, &user) && !reading->leaves_command;
}

void allowances__forget(struct allowances *allowances, pid_t pid)
{
	uint64_t key = (uint64_t)pid;
	struct reading *reading = generations__find(allowances->processes, &key);

	if (!reading)
		return;
	log_reading(NULL, reading);
	*reading = (struct reading){};
}

void allowances__tell_unread(struct allowances *allowances, pid_t pid)
{
	struct reading *reading;
	struct user *user;

	if (find(allowances, pid, &reading, &user))
		tell_unread(user, pid, &reading->told_mapped,
			    "has mapped more than luaspy searches for interpreters");
}

void allowances__use_up_mapped(struct allowances *allowances, pid_t pid)
{
	struct reading *reading = reading_of(allowances, pid);

	if (reading)
		time_budget__use_up(&reading->mapped, allowances->mapped_ns, 1);
}
