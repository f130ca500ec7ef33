/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF side: loads the programs, starts timers on threads, and hands out the records. */
#ifndef LS_SAMPLER_H
#define LS_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record.h"
#include "sampler/timers.h"
#include "target.h"
#include "sampler/sampling.h"

struct sampler;

struct sampler_options {
	struct sampling sampling; /* with a limit of the overhead, ls_counters.bpf_ns is measured */
	bool follows_children;    /* processes that targets create are targets, with timers */
	bool is_system_wide; /* processes that targets create are targets, but inherit no timers */
	uint32_t buffer_bytes; /* of the ring buffer, a power of two; 0: as in bpf/maps.bpf.h */
};

/*
 * Called by sampler__drain(), in the order in which BPF sent the records. A negative return value
 * ends the drain.
 */
struct sampler_receiver {
	void *context;
	int (*sample)(void *context, const struct ls_sample *sample, const struct ls_frame *frames);
	int (*function)(void *context, const struct ls_function *function);
	int (*thread_exit)(void *context, const struct ls_thread_exit *exit);
	/* NULL: the CPU time of exiting threads is not needed. */
	int (*thread_rest)(void *context, const struct ls_thread_exit *rest);
	int (*exec)(void *context, const struct ls_exec *exec);
	int (*fork)(void *context, const struct ls_fork *fork); /* only if children are followed */
};

/* Logs in one line what the kernel lacks or forbids. 0 or -errno. */
int sampler__open(const struct sampler_options *options, const struct sampler_receiver *receiver,
		  struct sampler **sampler);

/* Stops everything. Takes NULL. */
void sampler__close(struct sampler *sampler);

/*
 * Loads the walkers of all families, or only of those that are common. sampler__set_target() loads
 * those that a target needs, but cannot once privileges are gone, unless
 * sampler__delegate_loading() has been called. A walker that cannot be loaded may never be needed:
 * -v tells. 0 or -errno of the last one that cannot; the others are loaded.
 */
int sampler__load_walkers(struct sampler *sampler, bool only_common);

/*
 * Starts a process that loads walkers from here on, with the privileges that luaspy has now. Call
 * it once, before sampler__attach_thread(). 0 or -errno.
 */
int sampler__delegate_loading(struct sampler *sampler);

/*
 * From here on, sampler__set_target() does not wait for that process. Samples that need a walker
 * which is still being loaded are unreadable: LS_WALK_NO_WALKER.
 */
void sampler__load_aside(struct sampler *sampler);

/* Can be read once a walker that is awaited can be taken; -1: none is. */
int sampler__loading_fd(const struct sampler *sampler);

/* Puts walkers to use that have been loaded meanwhile. 0, or -errno after logging why. */
int sampler__take_walkers(struct sampler *sampler);

/* CPU time of that process so far, in ns; 0: there is none. */
uint64_t sampler__loading_ns(const struct sampler *sampler);

/* Loads the walker of one family. 0, or -errno after logging why it cannot. */
int sampler__load_walker(struct sampler *sampler, uint32_t family);

/*
 * Tells BPF about a process, which is not sampled without that; loads the walkers that it needs,
 * and logs if it cannot. 0 or -errno.
 */
int sampler__set_target(struct sampler *sampler, pid_t pid, const struct ls_image *target);

/*
 * Forgets a process that has ended or is no longer a target. System-wide, also stops its timers,
 * which no other process has inherited.
 */
void sampler__forget_target(struct sampler *sampler, pid_t pid);

/*
 * Starts timers on one thread of process `pid`, which threads that it creates inherit. 0 or -errno;
 * -ESRCH: the thread is gone.
 */
int sampler__attach_thread(struct sampler *sampler, pid_t pid, pid_t tid);

/*
 * System-wide: what BPF noted when the process last executed a program, since the sampler was
 * opened. 0 or -ENOENT.
 */
int sampler__execution(const struct sampler *sampler, pid_t pid, struct ls_execution *execution);
void sampler__forget_execution(struct sampler *sampler, pid_t pid);

/*
 * System-wide: the process lives but is no longer a target; this much of its CPU time is recorded.
 */
void sampler__note_counted(struct sampler *sampler, pid_t pid, uint64_t runtime_ns);

/*
 * Switches all timers off or on, including those of threads attached or created later; initially
 * they are on. A thread that is just being created may inherit the previous state of its creator's
 * timers, so call this again soon after.
 */
void sampler__switch(struct sampler *sampler, int on);

/* Whether the thread has inherited a timer or got one from sampler__attach_thread(). */
bool sampler__has_thread(struct sampler *sampler, pid_t tid);

/*
 * Gives timers new random periods around the requested one, which stays their mean. A constant
 * period could run in step with the target and sample only part of what it does. To be called every
 * few dozen milliseconds; skips timers that have ticked too rarely since their last change.
 */
void sampler__vary_periods(struct sampler *sampler);

/* The timers, for changing their period and replacing inherited ones. */
struct timers *sampler__timers(struct sampler *sampler);

/* What a timer tick costs a thread, apart from its sample: see tick_cost.h. */
uint64_t sampler__measure_tick(const struct sampler *sampler);

/* Stops all timers; records sent before can still be drained. */
void sampler__stop(struct sampler *sampler);

/* A file descriptor that polls readable when the buffer fills up faster than it is drained. */
int sampler__poll_fd(const struct sampler *sampler);

/*
 * Hands out the records that are there, at most one bufferful, so that it ends even if BPF sends
 * faster than the receiver takes them. 0, what a receiver returned, or other -errno.
 */
int sampler__drain(struct sampler *sampler);

/*
 * Moves the records in the ring buffer to the backlog, for the next drain or the current one;
 * receivers may call this. If memory runs out, records stay in the buffer.
 */
void sampler__stash(struct sampler *sampler);

/*
 * Starts a thread that empties the ring buffer into the backlog, as far as there is memory for that
 * (backlog.h), while the caller is busy; sampler__stop_draining_aside() ends it, and the next drain
 * hands out everything. The caller must not drain in between.
 */
void sampler__drain_aside(struct sampler *sampler);
void sampler__stop_draining_aside(struct sampler *sampler);

/*
 * Whether the kernel refused the programs for Linux 6.1 and later and runs those for older kernels.
 */
bool sampler__is_old(const struct sampler *sampler);

/* CPU time of the BPF programs so far, in ns; 0 if kernel.bpf_stats_enabled is off. */
uint64_t sampler__runtime_ns(const struct sampler *sampler);

/* Luaspy's own time for handing out samples, in ns, as if each had taken the median time. */
uint64_t sampler__handing_ns(const struct sampler *sampler);

/* Sums over all CPUs. 0 or -errno. */
int sampler__counters(const struct sampler *sampler, struct ls_counters *sum);

#endif
