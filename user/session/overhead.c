/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/overhead.h"

#include <stdbool.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"

#define CHANGES_MAX 1000 /* events per profile: leaves room for marks */

static uint64_t time_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

static struct overhead_sum measure(const struct overhead *overhead,
				   const struct ls_counters *counters)
{
	struct overhead_sum sum = {.time_ns = clock_ns(CLOCK_MONOTONIC),
				   .samples = counters->ticks,
				   .ticks = counters->ticks + counters->spare_ticks,
				   .clocked_ns = counters->clocked_ns,
				   .bpf_ns = counters->bpf_ns,
				   .handing_ns = sampler__handing_ns(overhead->sampler)};
	struct rusage usage;

	if (!getrusage(RUSAGE_SELF, &usage))
		sum.own_ns = time_ns(&usage.ru_utime) + time_ns(&usage.ru_stime);
	sum.own_ns += inspector__cpu_ns(overhead->inspector);
	sum.own_ns += sampler__loading_ns(overhead->sampler);
	return sum;
}

static void note_frequency(struct overhead *overhead)
{
	uint64_t period_ns = overhead->period_ns * overhead->budget.divisor;
	char frequency[UNITS_SIZE];

	timers__set_period(sampler__timers(overhead->sampler), period_ns);
	if (overhead->budget.divisor > overhead->divisor_most)
		overhead->divisor_most = overhead->budget.divisor;
	units__format_frequency(period_ns, frequency, sizeof(frequency));
	if (overhead->changes++ < CHANGES_MAX)
		pauses__note(overhead->pauses, "frequency", frequency);
	else
		overhead->pauses->events.left_out++;
}

/* Only the first of each kind is logged as information: a varying load must not fill a log. */
static void tell(struct overhead *overhead)
{
	bool is_restored = overhead->budget.divisor == 1;
	bool *was_told = is_restored ? &overhead->was_restored : &overhead->was_lowered;
	char now[UNITS_SIZE], asked[UNITS_SIZE], limit[UNITS_SIZE];

	units__format_frequency(overhead->period_ns * overhead->budget.divisor, now, sizeof(now));
	units__format_frequency(overhead->period_ns, asked, sizeof(asked));
	units__format_percent(overhead->limit_ppm, limit, sizeof(limit));
	if (*was_told)
		log_debug("now at %s", now);
	else if (is_restored)
		log_info("sampling at %s again, as requested", now);
	else
		log_info("sampling at %s, not %s: more would cost over %s of the targets' CPU time "
			 "(--max-overhead)",
			 now, asked, limit);
	*was_told = true;
}

void overhead__open(struct overhead *overhead, struct inspector *inspector, uint32_t limit_ppm,
		    uint64_t period_ns, struct sampler *sampler, struct pauses *pauses)
{
	*overhead = (struct overhead){.limit_ppm = limit_ppm,
				      .inspector = inspector,
				      .sampler = sampler,
				      .pauses = pauses,
				      .period_ns = period_ns};
	if (!limit_ppm)
		return;
	overhead->tick_ns = sampler__measure_tick(sampler);
	log_debug("a tick of a timer takes %llu ns here", (unsigned long long)overhead->tick_ns);
	budget__start(&overhead->budget, (double)limit_ppm / PPM, period_ns, overhead->tick_ns);
}

void overhead__start(struct overhead *overhead, const struct ls_counters *counters)
{
	if (!overhead->limit_ppm)
		return;
	overhead->profile = overhead->window = measure(overhead, counters);
	overhead->changed_ns = overhead->profile.time_ns;
	overhead->divisor_most = 1;
	if (overhead->budget.divisor == 1)
		return;
	note_frequency(overhead);
	tell(overhead);
}

static void change(struct overhead *overhead, uint32_t divisor_before, uint64_t now_ns)
{
	if (divisor_before > 1)
		overhead->lowered_ns += now_ns - overhead->changed_ns;
	overhead->changed_ns = now_ns;
	note_frequency(overhead);
	/* Only leaving and reaching the requested frequency is reported. */
	if (divisor_before == 1 || overhead->budget.divisor == 1)
		tell(overhead);
}

int overhead__judge(struct overhead *overhead, const struct ls_counters *counters)
{
	const struct overhead_sum *since = &overhead->window;
	uint32_t divisor = overhead->budget.divisor;
	struct budget_window window;
	struct overhead_sum now;

	if (!overhead->limit_ppm)
		return 0;
	now = measure(overhead, counters);
	window = (struct budget_window){
		.time_ns = now.time_ns - since->time_ns,
		.cpu_ns = now.clocked_ns - since->clocked_ns,
		.samples = now.samples - since->samples,
		.target_ns =
			(now.ticks - since->ticks) * overhead->tick_ns + now.bpf_ns - since->bpf_ns,
		.user_ns = now.handing_ns - since->handing_ns,
	};
	window.fixed_ns = now.own_ns - since->own_ns;
	window.fixed_ns -= window.user_ns < window.fixed_ns ? window.user_ns : window.fixed_ns;
	if (!budget_window__is_full(&window))
		return 0;
	overhead->window = now;
	if (!budget__judge(&overhead->budget, &window))
		return 0;
	change(overhead, divisor, now.time_ns);
	return 1;
}

void overhead__restart(struct overhead *overhead, const struct ls_counters *counters,
		       uint64_t end_ns)
{
	if (!overhead->limit_ppm)
		return;
	overhead->profile = measure(overhead, counters);
	overhead->lowered_ns = 0;
	overhead->changed_ns = end_ns;
	overhead->divisor_most = 1;
	overhead->changes = 0;
	if (overhead->budget.divisor > 1)
		note_frequency(overhead);
}

void overhead__export(const struct overhead *overhead, const struct ls_counters *counters,
		      uint64_t end_ns, struct ls_profile_recorder *recorder)
{
	const struct overhead_sum *since = &overhead->profile;
	struct ls_profile_overhead *told = &recorder->overhead;
	struct overhead_sum now;

	if (!overhead->limit_ppm)
		return;
	now = measure(overhead, counters);
	told->limit_ppm = overhead->limit_ppm;
	told->interrupts_ns = (now.ticks - since->ticks) * overhead->tick_ns;
	told->bpf_ns = now.bpf_ns - since->bpf_ns;
	told->own_ns = now.own_ns - since->own_ns;
	told->period_ns = overhead->period_ns * overhead->budget.divisor;
	told->lowered_ns = overhead->lowered_ns;
	if (overhead->budget.divisor > 1 && end_ns > overhead->changed_ns)
		told->lowered_ns += end_ns - overhead->changed_ns;
	if (overhead->divisor_most > 1)
		told->period_most_ns = overhead->period_ns * overhead->divisor_most;
}
