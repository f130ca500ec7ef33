/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/report_recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combine/joined_recorder.h"

#define TARGET_SIZE       1024
#define INTERPRETERS_SIZE 4096

struct report_recorder {
	struct ls_profile_recorder recorder;
	char target[TARGET_SIZE], interpreters[INTERPRETERS_SIZE];
};

/* "Lua 5.1.5 in /usr/bin/x, static; Lua 5.4.6 in ...", each once; those beyond the size are cut. */
static void add_interpreter(struct report_recorder *joined, const char *interpreter)
{
	size_t length = strlen(joined->interpreters);

	if (!interpreter || strstr(joined->interpreters, interpreter))
		return;
	snprintf(joined->interpreters + length, sizeof(joined->interpreters) - length, "%s%s",
		 length ? "; " : "", interpreter);
	joined->recorder.interpreter = joined->interpreters;
}

static int join(struct report_recorder *joined, const struct ls_profile *const *profiles,
		size_t count)
{
	int error = joined_recorder__make(profiles, count, false, &joined->recorder);
	const char *target = joined->recorder.target;

	for (size_t i = 0; i < count; i++)
		add_interpreter(joined, profiles[i]->recorder.interpreter);
	snprintf(joined->target, sizeof(joined->target), "%zu recordings%s%s", count,
		 target ? " of " : "", target ? target : "");
	joined->recorder.target = joined->target;
	return error;
}

int report_recorder__new(const struct ls_profile *const *profiles, size_t count,
			 struct report_recorder **made)
{
	*made = calloc(1, sizeof(**made));
	if (!*made)
		return -ENOMEM;
	if (count > 1)
		return join(*made, profiles, count);
	(*made)->recorder = profiles[0]->recorder;
	return 0;
}

void report_recorder__free(struct report_recorder *recorder)
{
	free(recorder);
}

const struct ls_profile_recorder *report_recorder__get(const struct report_recorder *recorder)
{
	return &recorder->recorder;
}
