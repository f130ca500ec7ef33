/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process/container.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ID_DIGITS  64
#define HEX_DIGITS "0123456789abcdef"

#define LABEL_MAX (COMMAND_LINE_LABEL_SIZE - 1)
#define COMM_MAX  15

pid_t container__parse_pid(const char *status)
{
	static const char key[] = "\nNSpid:";
	/* The kernel escapes newlines in the process's name, so the first such line is its own. */
	const char *at = strstr(status, key);
	long pid = 0;
	int count = 0;

	if (!at)
		return 0;
	for (at += sizeof(key) - 1; *at == '\t' || *at == ' ';) {
		char *end;

		pid = strtol(at, &end, 10);
		/* strtol() skips newlines, so it may run past the end of the line. */
		if (end == at || memchr(at, '\n', (size_t)(end - at)))
			break;
		count++;
		at = end;
	}
	return count > 1 && pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

/* Whether a component of a path is an id: 64 digits, then its end or `ending`. */
static bool is_id(const char *at, const char *end, const char *ending)
{
	size_t length = strlen(ending);

	if (end - at < ID_DIGITS || strspn(at, HEX_DIGITS) != ID_DIGITS)
		return false;
	at += ID_DIGITS;
	return at == end || (end - at == (ptrdiff_t)length && !strncmp(at, ending, length));
}

/*
 * Whether `component` is in a folder of plain ids: Docker's, ECS's, or one of Kubernetes's, which
 * contains the folders of pods.
 */
static bool holds_plain_ids(const char *path, const char *component)
{
	const char *parent = component - 1;

	while (parent > path && parent[-1] != '/')
		parent--;
	if (component - parent == 7 && !strncmp(parent, "docker/", 7))
		return true;
	return !strncmp(path, "/ecs/", 5) || !strncmp(path, "/kubepods", 9) ||
	       memmem(path, (size_t)(component - path), "/kubepods/", 10);
}

/*
 * The id in a component of a path that is named as container runtimes name their cgroups; NULL: it
 * is none of theirs. Others name cgroups by 64 digits, too.
 */
static const char *id_in(const char *path, const char *component, const char *end)
{
	static const char *const prefixes[] = {"docker-", "cri-containerd-", "crio-", "libpod-",
					       "nerdctl-"};
	/* Kubernetes with containerd, if only one of them leaves cgroups to systemd. */
	static const char joint[] = ":cri-containerd:";
	const char *found;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t length = strlen(prefixes[i]);

		if (!strncmp(component, prefixes[i], length) &&
		    is_id(component + length, end, ".scope"))
			return component + length;
	}
	found = memmem(component, (size_t)(end - component), joint, strlen(joint));
	if (found && is_id(found + strlen(joint), end, ""))
		return found + strlen(joint);
	return is_id(component, end, "") && holds_plain_ids(path, component) ? component : NULL;
}

/* Calls stat() on a cgroup where all distributions mount its hierarchy by convention. */
static int look_at(const char *hierarchy, const char *path, size_t length, struct stat *status)
{
	char folder[PATH_MAX];

	if (snprintf(folder, sizeof(folder), "/sys/fs/cgroup/%s%.*s", hierarchy, (int)length,
		     path) >= (int)sizeof(folder))
		return -1;
	return stat(folder, status);
}

/*
 * Whether a user can have created the cgroup at that position of the path, and so chosen its name:
 * its parent is the user's. If the parent cannot be examined, as from inside a container, the names
 * that systemd gives to users' cgroups decide.
 */
static bool is_of_a_user(const char *line, const char *path, size_t length)
{
	const char *controllers = strchr(line, ':') + 1;
	struct stat status;
	char name[64];
	int error;

	if (!strncmp(controllers, "name=", 5))
		controllers += 5;
	snprintf(name, sizeof(name), "%.*s", (int)(path - 1 - controllers), controllers);
	error = look_at(*name ? name : "unified", path, length, &status);
	if (error && !*name)
		error = look_at("", path, length, &status);
	/* Cgroups above our own root are not visible below the mounts. */
	if (!error && strncmp(path, "/..", 3))
		return status.st_uid != 0 || status.st_mode & (S_IWGRP | S_IWOTH);
	return memmem(path, length, "/user.slice/", 12) || memmem(path, length, "/user@", 6);
}

/* Stores the id of the innermost container in a line "HIERARCHY:CONTROLLERS:PATH", cgroups(7). */
static void parse_line(const char *line, const char *line_end, char id[13])
{
	const char *path = memchr(line, ':', (size_t)(line_end - line)), *end;

	path = path ? memchr(path + 1, ':', (size_t)(line_end - path - 1)) : NULL;
	if (!path || path[1] != '/')
		return;
	path++;
	for (const char *at = path + 1; at <= line_end; at = end + 1) {
		const char *found;

		end = memchr(at, '/', (size_t)(line_end - at));
		if (!end)
			end = line_end;
		found = id_in(path, at, end);
		if (found && !is_of_a_user(line, path, (size_t)(at - path)))
			snprintf(id, 13, "%.12s", found);
	}
}

void container__parse_id(const char *cgroups, char id[13])
{
	*id = '\0';
	while (*cgroups) {
		const char *end = cgroups + strcspn(cgroups, "\n");

		parse_line(cgroups, end, id);
		cgroups = *end ? end + 1 : end;
	}
}

void container__title(const struct container *container, const char *label, pid_t pid,
		      char title[CONTAINER_TITLE_SIZE])
{
	if (!container->pid)
		snprintf(title, CONTAINER_TITLE_SIZE, "%.*s (pid %d)", LABEL_MAX, label, pid);
	else if (!*container->id)
		snprintf(title, CONTAINER_TITLE_SIZE, "%.*s (pid %d, %d inside)", LABEL_MAX, label,
			 pid, container->pid);
	else
		snprintf(title, CONTAINER_TITLE_SIZE, "%.*s (pid %d, %d in %s)", LABEL_MAX, label,
			 pid, container->pid, container->id);
}

/*
 * The end of the label, which has any content. NULL: this is no such title. What is longer than a
 * comm and begins with '/' is a cgroup: labels lack their folders.
 */
static const char *end_of_label(const char *title)
{
	ptrdiff_t most = *title == '/' ? COMM_MAX : LABEL_MAX;
	const char *end = NULL, *found = title;

	while ((found = strstr(found, " (pid ")) && found - title <= most) {
		end = found;
		found++;
	}
	return end;
}

void container__short_title(const char *title, char *to, size_t size)
{
	const char *label_end = end_of_label(title), *digits, *rest;
	size_t count, length = strlen(title);

	digits = label_end ? label_end + strlen(" (pid ") : title;
	count = label_end ? strspn(digits, "0123456789") : 0;
	rest = digits + count;
	if (!count || (*rest != ')' && *rest != ',') || title[length - 1] != ')') {
		snprintf(to, size, "%s", title);
		return;
	}
	snprintf(to, size, "%.*s %.*s%.*s", (int)count, digits, (int)(label_end - title), title,
		 (int)(title + length - 1 - rest), rest);
}
