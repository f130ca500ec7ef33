# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The table of what was measured, and whether that is within the aims."""

import os

from interval import ROUNDS_MIN, Interval

CONDITIONS = ["nothing", "empty 1k", "luaspy 1k", "empty 10k", "luaspy 10k", "perf 10k"]
MIB = 1024 * 1024
COLUMNS = "{:<9} {:<11} {:<11} {:<21} {:<21} {:>6} {:>9} {:>6} {:>6} {:>6} {:>6}"


def ratios(rounds, condition, base):
    return [one[condition].unit_ns / one[base].unit_ns for one in rounds]


def values_of(rounds, condition, field):
    return [getattr(one[condition], field) for one in rounds]


def middle(rounds, condition, field, digits, scale=1):
    values = values_of(rounds, condition, field)
    return "" if None in values else f"{Interval(values).median / scale:.{digits}f}"


def print_row(lua, script, rounds, condition):
    base = "empty " + condition.split()[-1]
    over_nothing = Interval(ratios(rounds, condition, "nothing"))
    over_empty = Interval(ratios(rounds, condition, base)) if base in rounds[0] else None
    print(
        COLUMNS.format(
            lua,
            script,
            condition,
            "" if condition == "nothing" else over_nothing.format(),
            "" if not over_empty or condition == base else over_empty.format(),
            middle(rounds, condition, "bpf_ns", 0),
            middle(rounds, condition, "samples_per_second", 0),
            middle(rounds, condition, "incomplete", 2, 0.01),
            middle(rounds, condition, "cpu_share", 2, 0.01),
            middle(rounds, condition, "peak_bytes", 1, MIB),
            middle(rounds, condition, "start_ms", 0),
        ).rstrip()
    )


def print_table(results):
    print(
        "Time on a processor per unit of work, as a ratio: median [95% interval]. ns of the BPF\n"
        "program per sample; samples per second of the target; percent of them lost, unreadable,\n"
        "torn or cut. Of the tool itself: percent of a core, peak MiB, ms from its start to the\n"
        "timer's.\n"
    )
    print(
        COLUMNS.format(
            *("lua", "script", "condition", "over nothing", "over empty"),
            *("ns", "samples/s", "lost%", "cpu%", "MiB", "ms"),
        )
    )
    for (lua, script), rounds in results.items():
        for condition in CONDITIONS:
            if condition in rounds[0]:
                print_row(lua, script, rounds, condition)


def judge(what, interval, limit, digits, unit=""):
    if interval.high <= limit:
        verdict = "meets"
    elif interval.low > limit:
        verdict = "misses"
    else:
        verdict = "open"  # the interval has the limit in it: more rounds would tell
    print(f"{verdict:<7} {what}: {interval.format(digits)}{unit}, at most {limit}{unit}")


def judge_equal(what, interval):
    verdict = "meets" if interval.low <= 1 else "misses"
    print(f"{verdict:<7} {what}: {interval.format()}, not to be told from 1")


def worst(results, field, scale=1):
    """Of the script where its median is highest."""
    intervals = [
        Interval([value / scale for value in values_of(rounds, "luaspy 10k", field)])
        for rounds in results.values()
    ]
    return max(intervals, key=lambda interval: interval.median)


def print_verdicts(results):
    limits = {"depth10": 1.05, "depth100": 1.25}
    for (lua, script), rounds in results.items():
        if script in limits:
            over_empty = Interval(ratios(rounds, "luaspy 10k", "empty 10k"))
            judge(f"{lua} {script}, luaspy 10k over empty", over_empty, limits[script], 3)
        if script == "depth10" and "luaspy 1k" in rounds[0]:
            over_empty = Interval(ratios(rounds, "luaspy 1k", "empty 1k"))
            judge_equal(f"{lua} depth10, luaspy 1k over empty", over_empty)
    judge("luaspy's CPU at 10k", worst(results, "cpu_share", 0.01), 5, 2, "%")
    judge("luaspy's memory at 10k", worst(results, "peak_bytes", MIB), 32, 1, " MiB")
    judge("from start to first sample", worst(results, "start_ms"), 100, 0, " ms")


def print_all(results, rounds):
    system = os.uname()
    print(
        f"Linux {system.release} on {system.machine}, {os.cpu_count()} processors,"
        f" {rounds} rounds\n"
    )
    print_table(results)
    print()
    print_verdicts(results)
    if rounds < ROUNDS_MIN:
        print(f"these intervals are not 95%: that takes {ROUNDS_MIN} rounds")
