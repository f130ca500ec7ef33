/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tap.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "luaspy.skel.h"
#include "oracle.skel.h"
#include "puc/layout_puc.h"
#include "sampler/programs.h"
#include "sampler/sampler.h"
#include "sampler/timer_set.h"

#define RING_BYTES (64 * 1024 * 1024) /* a second's worth: the test may have to wait for a CPU */
#define POLL_MS    10

struct tap {
	uint32_t max_depth;
	bool is_old;
	struct programs product;
	struct oracle_bpf *oracle;
	struct ring_buffer *ring;
	struct timer_set timers;
	uint64_t period_ns;
	struct tap_receiver receiver;
	struct truth_record truth; /* waits for its sample */
	bool has_truth;
	uint64_t last_ip; /* of the sample before */
	bool is_decided;  /* the walker was told the layout */
	bool forgets_relocation;
	pid_t pid;             /* of its target */
	struct ls_image image; /* of that program, as the walker was told */
	uint64_t unpaired_truths, unpaired_samples;
};

/*
 * A closed tap, for the next one that is alike: to load BPF programs takes a fifth of a second of
 * CPU time. NULL: none. It lives as long as the process.
 */
static struct tap *idle;

/* A dense timer often interrupts a target again before it has run: there is nothing new to see. */
static bool is_repeat(struct tap *tap)
{
	bool stands = tap->truth.ip == tap->last_ip;

	tap->last_ip = tap->truth.ip;
	return stands && tap->period_ns < TAP_PERIOD_NS;
}

static int receive_sample(struct tap *tap, const struct ls_sample *sample)
{
	/* After a lost sample, the waiting truth may belong to that one. */
	if (!tap->has_truth || sample->dropped_before) {
		tap->unpaired_truths += tap->has_truth;
		tap->has_truth = false;
		tap->unpaired_samples++;
		return 0;
	}
	tap->has_truth = false;
	if (is_repeat(tap))
		return 0;
	return tap->receiver.pair(tap->receiver.context, &tap->truth, sample,
				  (const struct ls_frame *)(sample + 1));
}

static int receive(void *context, void *data, size_t size)
{
	struct tap *tap = context;

	(void)size;
	switch (*(const uint32_t *)data) {
	case TRUTH_RECORD:
		tap->unpaired_truths += tap->has_truth;
		memcpy(&tap->truth, data, sizeof(tap->truth));
		tap->has_truth = true;
		return 0;
	case LS_RECORD_SAMPLE:
		return receive_sample(tap, data);
	case LS_RECORD_FUNCTION:
		return tap->receiver.function ? tap->receiver.function(tap->receiver.context, data)
					      : 0;
	}
	return 0;
}

static int set_layouts(struct tap *tap, bool with_relocation)
{
	int map = tap->product.walkers[LS_FAMILY_PUC].files.layouts;

	for (uint32_t i = 0; i < layouts_puc_count; i++) {
		struct ls_puc_layout layout = layouts_puc[i].offsets;

		layout.relocates_stack &= with_relocation;
		if (bpf_map_update_elem(map, &i, &layout, BPF_ANY))
			return -errno;
	}
	return 0;
}

/* The truths go into the product's ring buffer, each before its sample. */
static int load_oracle(struct tap *tap)
{
	struct oracle_bpf *oracle = oracle_bpf__open();
	int entry = bpf_program__fd(tap->product.core->progs.sample), error;
	uint32_t zero = 0;

	tap->oracle = oracle;
	if (!oracle)
		return -errno;
	error = bpf_map__reuse_fd(oracle->maps.records,
				  bpf_map__fd(tap->product.core->maps.records));
	if (!error)
		error = oracle_bpf__load(oracle);
	if (error)
		return error;
	return bpf_map_update_elem(bpf_map__fd(oracle->maps.product), &zero, &entry, BPF_ANY)
		       ? -errno
		       : 0;
}

static int load(struct tap *tap, uint32_t max_depth, bool is_old)
{
	const struct sampler_options options = {.sampling.max_depth = max_depth,
						.buffer_bytes = RING_BYTES};
	int error = is_old ? programs__load_as(&options, true, &tap->product)
			   : programs__load(&options, &tap->product);

	return error ? error : load_oracle(tap);
}

static void unload_tap(struct tap *tap)
{
	if (!tap)
		return;
	ring_buffer__free(tap->ring);
	oracle_bpf__destroy(tap->oracle);
	programs__free(&tap->product);
	free(tap);
}

static int load_tap(uint32_t max_depth, bool is_old, const struct tap_receiver *receiver,
		    struct tap **opened)
{
	struct tap *tap = calloc(1, sizeof(*tap));
	int error;

	*opened = NULL;
	if (!tap)
		return -ENOMEM;
	tap->receiver = *receiver;
	tap->max_depth = max_depth;
	tap->is_old = is_old;
	error = load(tap, max_depth, is_old);
	if (error)
		goto cleanup;
	tap->ring =
		ring_buffer__new(bpf_map__fd(tap->product.core->maps.records), receive, tap, NULL);
	if (!tap->ring) {
		error = -errno;
		goto cleanup;
	}
	*opened = tap;
	return 0;
cleanup:
	unload_tap(tap);
	return error;
}

static int ignore(void *context, const struct truth_record *record, const struct ls_sample *sample,
		  const struct ls_frame *frames)
{
	(void)context;
	(void)record;
	(void)sample;
	(void)frames;
	return 0;
}

/* Makes the idle tap as good as new. */
static int renew(const struct tap_receiver *receiver)
{
	struct tap *tap = idle;
	int error = tap->forgets_relocation ? set_layouts(tap, true) : 0;

	tap->receiver = (struct tap_receiver){.pair = ignore};
	ring_buffer__consume(tap->ring);
	*tap = (struct tap){.max_depth = tap->max_depth,
			    .is_old = tap->is_old,
			    .product = tap->product,
			    .oracle = tap->oracle,
			    .ring = tap->ring,
			    .receiver = *receiver};
	tap->oracle->bss->fetch_address = 0;
	return error;
}

static int open_tap(uint32_t max_depth, bool is_old, const struct tap_receiver *receiver,
		    struct tap **opened)
{
	int error;

	if (idle && idle->max_depth == max_depth && idle->is_old == is_old) {
		error = renew(receiver);
		*opened = idle;
		idle = NULL;
		return error;
	}
	unload_tap(idle);
	idle = NULL;
	return load_tap(max_depth, is_old, receiver, opened);
}

int tap__open(uint32_t max_depth, const struct tap_receiver *receiver, struct tap **tap)
{
	return open_tap(max_depth, false, receiver, tap);
}

int tap__open_old(uint32_t max_depth, const struct tap_receiver *receiver, struct tap **tap)
{
	return open_tap(max_depth, true, receiver, tap);
}

/* Its process is still there, so its id has not come to belong to another one. */
static void forget_target(struct tap *tap)
{
	uint32_t tgid = (uint32_t)tap->pid;

	bpf_map_delete_elem(bpf_map__fd(tap->product.core->maps.targets), &tgid);
	bpf_map_delete_elem(bpf_map__fd(tap->product.core->maps.images), &tgid);
}

void tap__close(struct tap *tap)
{
	if (!tap)
		return;
	timer_set__close(&tap->timers);
	forget_target(tap);
	unload_tap(idle);
	idle = tap;
}

int tap__forget_relocation(struct tap *tap)
{
	tap->forgets_relocation = true;
	return set_layouts(tap, false);
}

/* Like the product, loads only the target's families: loading all takes as long as sampling. */
static int load_walkers(struct tap *tap, uint32_t families)
{
	int error = 0;

	for (uint32_t id = 0; !error && id < LS_FAMILY_COUNT; id++)
		if (families & 1U << id)
			error = programs__load_walker(&tap->product, id);
	return error;
}

int tap__set_target(struct tap *tap, pid_t pid, const struct ls_image *target)
{
	uint32_t tgid = pid;
	int error = load_walkers(tap, target->families);

	if (error)
		return error;
	tap->pid = pid;
	tap->image = *target;
	if (bpf_map_update_elem(bpf_map__fd(tap->product.core->maps.images), &tgid, target,
				BPF_ANY) ||
	    bpf_map_update_elem(bpf_map__fd(tap->product.core->maps.targets), &tgid, &tgid,
				BPF_ANY))
		return -errno;
	return 0;
}

int tap__decide(struct tap *tap, pid_t pid, enum ls_family family, uint32_t layout)
{
	struct ls_image image = tap->image;

	image.candidates[family] =
		(struct ls_candidates){.layouts = 1U << layout, .decided = 1U << layout};
	return tap__set_target(tap, pid, &image);
}

void tap__set_fetches(struct tap *tap, uint64_t address)
{
	tap->oracle->bss->fetch_address = address;
}

bool tap__is_emulated(void)
{
	const char *text = getenv("ORACLE_ONLY_WRONG");

	return text && *text;
}

uint64_t tap__dense_period_ns(void)
{
	return tap__is_emulated() ? TAP_PERIOD_NS : TAP_PERIOD_NS / 2;
}

/* Uses timers like luaspy's: a single one with a fixed period can run in step with a target. */
int tap__attach(struct tap *tap, pid_t tid, uint64_t truth_address, uint64_t period_ns)
{
	const struct timer_options options = {.period_ns = period_ns};

	tap->oracle->bss->truth_address = truth_address;
	tap->period_ns = period_ns;
	return timer_set__open(&tap->timers, tid, &options, tap->oracle->progs.take_truth);
}

int tap__drain(struct tap *tap)
{
	int count;

	usleep(POLL_MS * 1000);
	timer_set__vary(&tap->timers, tap->period_ns);
	count = ring_buffer__consume(tap->ring);
	return count < 0 ? count : 0;
}

int tap__drain_deciding(struct tap *tap, pid_t pid, const struct layout_vote *vote)
{
	int error = tap__drain(tap);

	if (error || tap->is_decided || !vote->is_decided)
		return error;
	tap->is_decided = true;
	return tap__decide(tap, pid, vote->family->id, vote->layout);
}

void tap__losses(const struct tap *tap, struct tap_losses *losses)
{
	losses->samples = tap->unpaired_truths;
	losses->truths = tap->unpaired_samples;
}
