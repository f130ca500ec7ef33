/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks of the process of app_recording.h, as a recording takes them. */
#ifndef TEST_STACKS_H
#define TEST_STACKS_H

#include "app_recording.h"

#define PERIOD 1000000U

/* A call of the function that define() has defined on that line. */
struct ls_frame script_frame(uint32_t line);

/* Of thread 1, which is called "lua". */
struct ls_sample make_sample(uint8_t class);

/* Frames are leaf first. */
void take_sample(struct recording *recording, struct ls_sample sample,
		 const struct ls_frame *frames, uint16_t count);

/* A complete stack of thread 1, leaf first. */
#define take_stack(recording, ...)                                                                 \
	take_sample(recording, make_sample(LS_SAMPLE_COMPLETE), (struct ls_frame[]){__VA_ARGS__},  \
		    sizeof((struct ls_frame[]){__VA_ARGS__}) / sizeof(struct ls_frame))

/* The node of "category;root;...;leaf", or NULL. Valid until the next sample. */
const struct ls_profile_node *find_node(struct recording *recording, const char *path);

/* Fails unless that node exists and has so many samples of its own. */
void assert_samples(struct recording *recording, const char *path, uint64_t expected);

/* Returns the program's output so far. */
struct ls_profile_recorder recorder_of(struct recording *recording);

#endif
