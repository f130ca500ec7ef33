/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "system/invoker.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_MAX (8U << 20) /* bytes: more than execve() takes by default */
#define ANCESTORS_MAX   16         /* sudo may put a process or two in between */

extern char **environ;

static int parse_id(const char *text, uint32_t *id)
{
	char *end;
	unsigned long long value;

	if (!text || *text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value >= UINT32_MAX)
		return -EINVAL;
	*id = (uint32_t)value;
	return 0;
}

bool invoker__find(struct invoker *invoker)
{
	return !geteuid() && !parse_id(secure_getenv("SUDO_UID"), &invoker->uid) &&
	       !parse_id(secure_getenv("SUDO_GID"), &invoker->gid);
}

/* Reads the parent and the real user of a process. 0 or -errno. */
static int read_status(pid_t pid, pid_t *parent, uid_t *uid)
{
	char path[32], line[256];
	int missing = 2;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	if (!status)
		return -errno;
	while (missing && fgets(line, sizeof(line), status))
		missing -=
			sscanf(line, "PPid: %d", parent) == 1 || sscanf(line, "Uid: %u", uid) == 1;
	fclose(status);
	return missing ? -ENODATA : 0;
}

/* The nearest ancestor whose parent belongs to the invoker: sudo itself. 0: there is none. */
static pid_t find_sudo(const struct invoker *invoker)
{
	pid_t pid = getppid(), parent, ignored;
	uid_t uid;

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		if (read_status(pid, &parent, &uid) || read_status(parent, &ignored, &uid))
			return 0;
		if (uid == invoker->uid)
			return pid;
		pid = parent;
	}
	return 0;
}

static char *read_environment(pid_t pid, size_t *size)
{
	char path[32], *bytes = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	bytes = malloc(ENVIRONMENT_MAX + 1);
	*size = bytes ? fread(bytes, 1, ENVIRONMENT_MAX, file) : 0;
	fclose(file);
	if (!*size || *size == ENVIRONMENT_MAX) {
		free(bytes);
		return NULL;
	}
	bytes[*size] = '\0';
	return bytes;
}

struct environment {
	char **entries; /* NULL-terminated */
	size_t count;
	bool is_lost; /* out of memory */
};

static void add(struct environment *environment, const char *entry)
{
	char **entries, *copy;

	if (environment->is_lost)
		return;
	copy = strdup(entry);
	entries =
		copy ? reallocarray(environment->entries, environment->count + 2, sizeof(*entries))
		     : NULL;
	if (!entries) {
		free(copy);
		environment->is_lost = true;
		return;
	}
	environment->entries = entries;
	entries[environment->count++] = copy;
	entries[environment->count] = NULL;
}

static void add_pair(struct environment *environment, const char *name, const char *value)
{
	char *entry;

	if (asprintf(&entry, "%s=%s", name, value) < 0) {
		environment->is_lost = true;
		return;
	}
	add(environment, entry);
	free(entry);
}

static bool is_named(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(entry, name, length) && entry[length] == '=';
}

/*
 * Takes the environment that sudo itself was called with, which does not contain sudo's variables.
 * False: it cannot be read, or contains SUDO_UID.
 */
static bool take_from_sudo(struct environment *environment, const struct invoker *invoker)
{
	pid_t sudo = find_sudo(invoker);
	size_t size;
	char *bytes = sudo ? read_environment(sudo, &size) : NULL;

	if (!bytes)
		return false;
	for (size_t at = 0; at < size; at += strlen(bytes + at) + 1)
		if (is_named(bytes + at, "SUDO_UID")) {
			free(bytes);
			return false;
		}
	for (size_t at = 0; at < size; at += strlen(bytes + at) + 1)
		if (bytes[at])
			add(environment, bytes + at);
	free(bytes);
	return true;
}

static void take_own(struct environment *environment, const struct invoker *invoker)
{
	static const char *const replaced[] = {"HOME", "USER", "LOGNAME", "SHELL"};
	const struct passwd *user = getpwuid(invoker->uid);

	for (char **entry = environ; *entry; entry++) {
		bool keep = strncmp(*entry, "SUDO_", 5) != 0;

		for (size_t i = 0; user && i < 4; i++)
			keep = keep && !is_named(*entry, replaced[i]);
		if (keep)
			add(environment, *entry);
	}
	if (!user)
		return;
	add_pair(environment, "HOME", user->pw_dir);
	add_pair(environment, "USER", user->pw_name);
	add_pair(environment, "LOGNAME", user->pw_name);
	add_pair(environment, "SHELL", user->pw_shell);
}

char **invoker__environment(const struct invoker *invoker)
{
	struct environment environment = {};

	if (!take_from_sudo(&environment, invoker))
		take_own(&environment, invoker);
	if (!environment.is_lost && environment.entries)
		return environment.entries;
	invoker__free_environment(environment.entries);
	return NULL;
}

void invoker__free_environment(char **environment)
{
	for (char **entry = environment; entry && *entry; entry++)
		free(*entry);
	free(environment);
}

int invoker__become(const struct invoker *invoker)
{
	const struct passwd *user = getpwuid(invoker->uid);
	int failed = user ? initgroups(user->pw_name, invoker->gid) : setgroups(1, &invoker->gid);

	if (failed || setresgid(invoker->gid, invoker->gid, invoker->gid) ||
	    setresuid(invoker->uid, invoker->uid, invoker->uid))
		return -errno;
	return 0;
}
