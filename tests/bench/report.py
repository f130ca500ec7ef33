# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The table of what was measured, and whether that is within the aims."""

import os
import statistics

from interval import ROUNDS_MIN, Interval

MIB = 1024 * 1024
COLUMNS = "{:<15} {:<11} {:<21} {:<21} {:<21} {:<21} {:>6} {:>9} {:>6} {:>6} {:>6} {:>5}"
OVER_EMPTY_MAX = {"depth100": 1.08}  # others: 1.05


def ratio(result, condition, base):
    """Between slices of one cycle. None where one of the two was not measured."""
    if not {condition, base} <= result.slices[0].keys():
        return None
    mean = statistics.mean
    return Interval([mean(one[condition]) / mean(one[base]) for one in result.slices])


def ratio_to_itself(result):
    return Interval([first / second for first, second in (one["empty"] for one in result.slices)])


def print_table(results):
    print(
        "Time per unit of work, as a ratio between slices of a cycle: median [95% interval]. ns of\n"
        "the BPF programs per sample; samples per second; percent of them lost, unreadable, torn or\n"
        "cut. Of luaspy itself: percent of a core, peak MiB, ms from its start to the timer's.\n"
    )
    print(
        COLUMNS.format(
            *("lua", "script", "luaspy over empty", "empty over itself", "empty over nothing"),
            *("perf over empty", "ns", "samples/s", "lost%", "cpu%", "MiB", "ms"),
        )
    )
    for (lua, script), result in results.items():
        perf = ratio(result, "perf", "empty")
        print(
            COLUMNS.format(
                *(lua, script, ratio(result, "luaspy", "empty").format()),
                *(ratio_to_itself(result).format(), ratio(result, "empty", "nothing").format()),
                *(perf.format() if perf else "", f"{result.bpf_ns:.0f}"),
                *(f"{result.samples_per_second:.0f}", f"{result.incomplete * 100:.2f}"),
                *(f"{result.cpu_share * 100:.2f}", f"{result.peak_bytes / MIB:.1f}"),
                f"{result.start_ms:.0f}",
            )
        )


def print_before(results):
    """What a change costs: luaspy beside the one that BEFORE names."""
    for (lua, script), result in results.items():
        before = ratio(result, "luaspy", "before")
        if before:
            print(f"{lua} {script}, luaspy over the one before: {before.format()}")


def judge(what, interval, limit, digits, unit=""):
    if interval.high <= limit:
        verdict = "meets"
    elif interval.low > limit:
        verdict = "misses"
    else:
        verdict = "open"  # the interval has the limit in it: more time would tell
    print(f"{verdict:<7} {what}: {interval.format(digits)}{unit}, at most {limit}{unit}")


def print_verdicts(results):
    for (lua, script), result in results.items():
        limit = OVER_EMPTY_MAX.get(script, 1.05)
        judge(f"{lua} {script}, luaspy over empty", ratio(result, "luaspy", "empty"), limit, 3)
    every = results.values()
    for what, worst, limit, digits, unit in (
        ("luaspy's CPU", max(result.cpu_share * 100 for result in every), 5, 2, "%"),
        ("luaspy's memory", max(result.peak_bytes / MIB for result in every), 32, 1, " MiB"),
        ("from start to timer", max(result.start_ms for result in every), 100, 0, " ms"),
    ):
        judge(what, Interval([worst]), limit, digits, unit)


def print_all(results, hertz):
    system = os.uname()
    cycles = min(len(result.slices) for result in results.values())
    print(
        f"Linux {system.release} on {system.machine}, {os.cpu_count()} processors, {hertz} Hz,"
        f" {cycles} cycles\n"
    )
    print_table(results)
    print()
    print_before(results)
    print_verdicts(results)
    if cycles < ROUNDS_MIN:
        print(f"these intervals are not 95%: that takes {ROUNDS_MIN} cycles")
