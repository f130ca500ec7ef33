/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app_recording.h"
#include "local_inspector.h"

struct recording *new_recording(enum category_kind kind)
{
	struct recording *recording = recording__new(kind, 0, local_inspector());

	if (recording && !recording__add_process(recording, NO_PID, "lua (pid 1)"))
		return recording;
	recording__free(recording);
	return NULL;
}

int make_recording(void **state)
{
	*state = new_recording(CATEGORY_THREAD);
	return *state ? 0 : -1;
}

int free_recording(void **state)
{
	recording__free(*state);
	return 0;
}

void define(struct recording *recording, uint32_t line)
{
	struct ls_function function = {.type = LS_RECORD_FUNCTION,
				       .tgid = NO_PID,
				       .function = MAIN + line,
				       .fingerprint = 7,
				       .line_defined = line,
				       .last_line_defined = line,
				       .source_length = 8,
				       .text = "@app.lua"};

	assert_int_equal(recording__function(recording, &function), 0);
}
