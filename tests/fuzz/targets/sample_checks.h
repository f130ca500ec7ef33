/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What must hold for each sample of a walker, whatever memory holds. */
#ifndef FUZZ_SAMPLE_CHECKS_H
#define FUZZ_SAMPLE_CHECKS_H

#include <stdbool.h>
#include <string.h>

#include "input.h"
#include "record.h"

static inline void check_definitions(const struct ls_function *functions, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct ls_function *function = &functions[i];

		require(function->type == LS_RECORD_FUNCTION);
		require(function->source_length < LS_SOURCE_LEN);
		require(memchr(function->text, 0, function->source_length + 1));
		require(function->name_length < LS_NAME_LEN);
	}
}

/* The frames of a family whose scripts may be compiled. */
static inline void check_frames(const struct ls_frame *frames, uint32_t count, bool is_complete)
{
	uint32_t placeholders = 0, empty = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct ls_frame *frame = &frames[i];

		require(frame->kind <= LS_FRAME_TRUNCATED);
		require(!frame->padding && frame->flags < 2 * LS_FRAME_NATIVE);
		require(frame->kind == LS_FRAME_LUA || !(frame->flags & LS_FRAME_NATIVE));
		placeholders += frame->kind == LS_FRAME_TRUNCATED;
		empty += !frame->kind;
	}
	/* Only a stack that was cut in the middle has places without a frame. */
	require(placeholders <= 1);
	require(!is_complete || (count && !placeholders && !empty));
}

#endif
