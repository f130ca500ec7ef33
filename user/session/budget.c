/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/budget.h"

#include <stdbool.h>

#define NS_PER_S         1000000000ULL
#define WINDOW_NS        200000000
#define WINDOW_SAMPLES   32
#define SMOOTHING        8   /* windows: one outlier counts for an eighth */
#define STEPS_MAX        4   /* halvings after one window: down to a 16th */
#define MARGIN           0.8 /* of the allowance: limit for a higher frequency */
#define PATIENCE_NS      (3 * NS_PER_S)
#define PATIENCE_MOST_NS (96 * NS_PER_S)

bool budget_window__is_full(const struct budget_window *window)
{
	return window->time_ns >= WINDOW_NS && window->samples >= WINDOW_SAMPLES;
}

static double allowed(const struct budget *budget)
{
	double left = budget->share - budget->fixed;

	return left > budget->share / 2 ? left : budget->share / 2;
}

static bool is_slowest(const struct budget *budget)
{
	return budget->period_ns * budget->divisor * 2 > BUDGET_PERIOD_MAX_NS;
}

/* Whether samples of that cost are too many at the present frequency. */
static bool is_too_much(const struct budget *budget, double cost_ns)
{
	return cost_ns > allowed(budget) * (double)(budget->period_ns * budget->divisor);
}

static int lower(struct budget *budget, double cost_ns)
{
	uint32_t before = budget->divisor;

	for (int i = 0; i < STEPS_MAX && is_too_much(budget, cost_ns) && !is_slowest(budget); i++)
		budget->divisor *= 2;
	return budget->divisor != before;
}

void budget__start(struct budget *budget, double share, uint64_t period_ns, uint64_t tick_ns)
{
	*budget = (struct budget){
		.share = share, .period_ns = period_ns, .divisor = 1, .patience_ns = PATIENCE_NS};
	lower(budget, (double)tick_ns);
}

/*
 * Judges the last raise: resets the patience if the raise held for twice that long, doubles it if
 * it was wrong.
 */
static void learn_patience(struct budget *budget, bool is_wrong)
{
	if (!budget->has_raised)
		return;
	if (budget->raised_ns > 2 * budget->patience_ns) {
		budget->patience_ns = PATIENCE_NS;
		budget->has_raised = budget->has_undone = false;
	} else if (is_wrong) {
		if (budget->patience_ns < PATIENCE_MOST_NS)
			budget->patience_ns *= 2;
		budget->has_raised = budget->has_undone = false;
	}
}

static void smooth(double *value, double now)
{
	*value += (now - *value) / SMOOTHING;
}

static void take_in(struct budget *budget, const struct budget_window *window)
{
	double fixed = window->cpu_ns ? (double)window->fixed_ns / (double)window->cpu_ns : 0;

	/* Clamped: more would not change allowed() now, but would linger in the average. */
	smooth(&budget->fixed, fixed < budget->share ? fixed : budget->share);
	smooth(&budget->user_ns, (double)window->user_ns / (double)window->samples);
	if (budget->has_raised)
		budget->raised_ns += window->time_ns;
}

static bool is_cheap(const struct budget *budget, double cost_ns, uint32_t divisor)
{
	return cost_ns <= MARGIN * allowed(budget) * (double)(budget->period_ns * divisor);
}

static int raise(struct budget *budget, uint32_t divisor)
{
	budget->divisor = divisor;
	budget->cheap_ns = 0;
	budget->raised_ns = 0;
	budget->has_raised = true;
	budget->has_undone = false;
	return 1;
}

/* The last raise stays on trial: one outlier does not prove it wrong, a second one does. */
static int undo(struct budget *budget, uint32_t divisor)
{
	uint64_t raised_ns = budget->has_raised ? budget->raised_ns : 0;

	raise(budget, divisor);
	budget->raised_ns = raised_ns;
	budget->has_undone = true;
	return 1;
}

static int raise_with_patience(struct budget *budget, double cost_ns, uint64_t time_ns)
{
	if (budget->divisor == 1 || !is_cheap(budget, cost_ns, budget->divisor / 2)) {
		budget->cheap_ns = 0;
		return 0;
	}
	budget->cheap_ns += time_ns;
	if (budget->cheap_ns < budget->patience_ns)
		return 0;
	return raise(budget, budget->divisor / 2);
}

int budget__judge(struct budget *budget, const struct budget_window *window)
{
	uint32_t former = budget->former, divisor = budget->divisor;
	double cost_ns;
	bool is_lowered;

	take_in(budget, window);
	cost_ns = (double)window->target_ns / (double)window->samples + budget->user_ns;
	is_lowered = lower(budget, cost_ns);
	budget->former = is_lowered ? divisor : 0;
	if (!is_lowered && former && !budget->has_undone && budget->patience_ns == PATIENCE_NS &&
	    is_cheap(budget, cost_ns, former))
		return undo(budget, former);
	learn_patience(budget, former || (is_lowered && budget->has_undone));
	if (!is_lowered)
		return raise_with_patience(budget, cost_ns, window->time_ns);
	budget->cheap_ns = 0;
	return 1;
}
