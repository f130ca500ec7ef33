/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads the product's BPF with the oracle's in front, and pairs what both send. */
#ifndef TEST_TAP_H
#define TEST_TAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpreter/layout_vote.h"
#include "record.h"
#include "target.h"
#include "truth.h"

struct tap;

struct tap_receiver {
	void *context;
	/* Both are from the same interrupt. A negative result ends the drain. */
	int (*pair)(void *context, const struct truth_record *record,
		    const struct ls_sample *sample, const struct ls_frame *frames);
	/* NULL: functions are ignored. */
	int (*function)(void *context, const struct ls_function *function);
};

/* Records that one of the two could not send. */
struct tap_losses {
	uint64_t samples, truths;
};

/* 0 or -errno. */
int tap__open(uint32_t max_depth, const struct tap_receiver *receiver, struct tap **tap);

/* The same with the programs that luaspy has for kernels before 6.1; newer ones take them, too. */
int tap__open_old(uint32_t max_depth, const struct tap_receiver *receiver, struct tap **tap);
void tap__close(struct tap *tap);

/* Loads the walkers of its families. 0 or -errno. */
int tap__set_target(struct tap *tap, pid_t pid, const struct ls_image *target);

/* Tells the walker the layout, as luaspy does once it knows it. 0 or -errno. */
int tap__decide(struct tap *tap, pid_t pid, enum ls_family family, uint32_t layout);

/*
 * Makes the walk unaware that stacks move (relocates_stack). Call it once there is a PUC target. 0
 * or -errno.
 */
int tap__forget_relocation(struct tap *tap);

/* Where the target publishes the instructions that it fetches. */
void tap__set_fetches(struct tap *tap, uint64_t address);

/*
 * Whether ORACLE_ONLY_WRONG is set and not empty. Then the machine is emulated: it is slow, and
 * timers interrupt it at other instructions than they would a real one.
 */
bool tap__is_emulated(void);

/* The average time between two samples: luaspy's at 10 kHz. */
#define TAP_PERIOD_NS 100000

/*
 * Half of that, for targets that never idle. Samples at the instruction of the one before are then
 * not handed out: in a virtual machine, whose interrupts are slow, they are 28% at 100 us, 45% at
 * 50, and 76% at 25, where fewer others are left in a second than at 50. An emulated machine would
 * do nothing but take samples, so it keeps TAP_PERIOD_NS.
 */
uint64_t tap__dense_period_ns(void);

/* Starts the timer on one thread, whose truth is at that address. 0 or -errno. */
int tap__attach(struct tap *tap, pid_t tid, uint64_t truth_address, uint64_t period_ns);

/* Waits a little, and hands out what has arrived. 0, or what a receiver returned. */
int tap__drain(struct tap *tap);

/* Likewise, and tells the walker the layout once the vote has decided it. */
int tap__drain_deciding(struct tap *tap, pid_t pid, const struct layout_vote *vote);

void tap__losses(const struct tap *tap, struct tap_losses *losses);

#endif
