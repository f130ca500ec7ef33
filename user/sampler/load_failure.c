/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/load_failure.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "system/kernel.h"
#include "system/privileges.h"
#include "system/resource_limits.h"

/* Memory for the kernel's types (BTF), with a margin. */
#define LOADING_BYTES (16UL << 20)

/* File descriptors of maps, programs, links and libbpf's feature probes: 44 when measured. */
#define LOADING_FILES 80

/* A log message may have 6 KiB, and an escaped byte takes four. */
#define LINE_MOST 1400

/* libbpf's print callback has no context. */
static char reason[200];

static void show_line(const char *line, size_t length)
{
	do {
		size_t part = length < LINE_MOST ? length : LINE_MOST;

		log_debug("%.*s", (int)part, line);
		line += part;
		length -= part;
	} while (length);
}

static bool begins_with(const char *line, const char *words)
{
	return !strncmp(line, words, strlen(words));
}

/* The verifier's last line before its summary is its reason. */
static bool is_reason(const char *line, size_t length)
{
	return length && !begins_with(line, "processed ") &&
	       !begins_with(line, "verification time ") && !begins_with(line, "stack depth ") &&
	       !begins_with(line, "-- ");
}

static void take_line(const char *line, size_t length, bool is_verifiers)
{
	if (is_verifiers && is_reason(line, length))
		snprintf(reason, sizeof(reason), "%.*s", (int)length, line);
	if (log__level() >= LOG_DEBUG)
		show_line(line, length);
}

/* The verifier's log comes as one text of up to 16 MiB. */
static void take_text(const char *text)
{
	bool is_verifiers = strstr(text, "BEGIN PROG LOAD LOG") != NULL;

	while (*text) {
		size_t length = strcspn(text, "\n");

		take_line(text, length, is_verifiers);
		text += length + (text[length] == '\n');
	}
}

static int print_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char *text;
	int saved_errno = errno;

	if (level == LIBBPF_DEBUG)
		return 0;
	if (vasprintf(&text, format, arguments) >= 0) {
		take_text(text);
		free(text);
	}
	errno = saved_errno;
	return 0;
}

void load_failure__listen(void)
{
	*reason = '\0';
	libbpf_set_print(print_libbpf);
}

/* libbpf returns -ESRCH for the kernel's types (BTF) if there is no memory for them. */
static bool lacks_memory(int error)
{
	void *memory = error == -ESRCH ? malloc(LOADING_BYTES) : NULL;

	free(memory);
	return error == -ENOMEM || (error == -ESRCH && !memory);
}

/* The verifier also returns EACCES for a program that it rejects, but then gives a reason. */
static bool is_permission(int error)
{
	return (error == -EPERM || error == -EACCES) && !*reason;
}

static void explain_permission(char *to, size_t size)
{
	char missing[128];

	if (*privileges__missing(missing, sizeof(missing)))
		snprintf(to, size, "permission denied (missing: %s; try sudo)", missing);
	else if (privileges__are_namespaced())
		snprintf(to, size,
			 "permission denied (in a user namespace: run luaspy outside of it)");
	else
		snprintf(to, size,
			 "permission denied (no capability is missing: a seccomp filter, as in "
			 "containers, or a security module forbids it)");
}

char *load_failure__explain(int error, char *to, size_t size)
{
	char lacking[160];

	if (lacks_memory(error))
		snprintf(to, size, "out of memory");
	else if (resource_limits__try_files(LOADING_FILES))
		snprintf(to, size, "too many open files (try a higher 'ulimit -n')");
	else if (is_permission(error))
		explain_permission(to, size);
	else if (*kernel__lacks(lacking, sizeof(lacking)))
		snprintf(to, size, "this kernel lacks %s", lacking);
	else if (kernel__btf())
		snprintf(to, size,
			 "this kernel has no BTF in '/sys/kernel/btf/vmlinux' (it needs "
			 "CONFIG_DEBUG_INFO_BTF)");
	else if (kernel__try_reading() == -EINVAL)
		snprintf(to, size,
			 "this kernel is locked down: BPF may not read its memory (boot without "
			 "'lockdown=confidentiality')");
	else if (*reason)
		snprintf(
			to, size,
			"the kernel's verifier refuses it: %s ('luaspy check -v' shows all it said)",
			reason);
	else
		snprintf(to, size, "%s ('luaspy check -v' shows what the kernel said)",
			 strerror(-error));
	return to;
}
