#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures what sampling a whole host takes: run by run.sh, which says what may be set.

Every process has a name of its own, and luaspy is told to look at these alone: whatever else the
host runs costs time, but is no part of what is counted. What luaspy itself takes is the CPU time
that the scheduler has charged it, as a share of a processor.
"""

import collections
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from host import HERE, SPINNER, Processes
from interval import ROUNDS_MIN, Interval
from report import MIB, judge
from sampler import Sampler, bpf_statistics

SETTLE_SECONDS = 2.2  # for longer luaspy never looks at its layouts more often
WINDOWS = 12
WINDOW_SECONDS = 2
STATISTICS_SECONDS = 1
CPUS = os.cpu_count()
COUNTS = [1, 20, 200]
TIMERS_AT_10K = 4  # that a thread has at least: timer_set.c


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.profile = os.path.join(folder, "profile.json")
        self.luaspy = os.environ["LUASPY"]
        self.lua = shutil.which(os.environ["LUA"].split()[0])
        self.rounds = max(int(os.environ.get("BENCH_ROUNDS", 12)) // 2, 1)
        self.seconds = float(os.environ.get("BENCH_DROP_SECONDS", 60))
        self.processes = int(os.environ.get("BENCH_PROCESSES", 1000))
        usage = subprocess.run([self.luaspy, "record", "--help"], stdout=subprocess.PIPE, check=True)
        self.budget = ["--max-overhead", "off"] if b"--max-overhead" in usage.stdout else []

    def sampler(self, names, hertz, timers=1):
        command = [self.luaspy, "record", "-q", "--system", "--name", f"^({names})$", "-F", hertz]
        return Sampler(command + self.budget + ["-o", self.profile], timers)

    def scripts(self, name, script, count, cpus=None, is_nice=False):
        path = os.path.join(HERE, f"{script}.lua")
        return Processes(self.folder, name, [self.lua, path], count, cpus, is_nice)

    def samples(self):
        with open(self.profile, encoding="utf-8") as file:
            return json.load(file)["Recorder"]["Samples"]


def shares(sampler, windows, seconds):
    """Of a core that luaspy took, in each of `windows`, in percent."""
    values = []
    for _ in range(windows):
        cpu_ns, begin_ns = sampler.cpu_ns(), time.monotonic_ns()
        time.sleep(seconds)
        cpu_ns = sampler.cpu_ns() - cpu_ns
        values.append(cpu_ns / (time.monotonic_ns() - begin_ns) * 100)
    return Interval(values)


def measure_busy(bench):
    """As many busy processes as processors."""
    what = f"{CPUS} busy processes"
    with bench.scripts("bench_10", "depth10", CPUS):
        with bench.sampler("bench_10", "1000") as sampler:
            time.sleep(SETTLE_SECONDS)
            share = shares(sampler, WINDOWS, WINDOW_SECONDS)
        judge(f"own CPU at 1 kHz, {what}", share, 1, 2, "%")
        measure_drops(bench, "bench_10", f"{what}, depth 10")
    with bench.scripts("bench_100", "depth100", CPUS):
        measure_drops(bench, "bench_100", f"{what}, depth 100")


def measure_drops(bench, name, what):
    with bench.sampler(name, "10000") as sampler:
        time.sleep(min(SETTLE_SECONDS, bench.seconds))
        share = shares(sampler, WINDOWS, (bench.seconds - SETTLE_SECONDS) / WINDOWS)
    judge(f"own CPU at 10 kHz, {what}", share, 5, 2, "%")
    samples = bench.samples()
    expected = bench.seconds * CPUS * 10000
    judge(
        f"dropped of {samples['total']:,} samples ({samples['total'] / expected:.0%} of what"
        f" {bench.seconds:.0f} s may have), {what}",
        Interval([samples["dropped"]]),
        0,
        0,
    )


def measure_one(bench):
    with bench.scripts("bench_pid", "depth100", 1) as busy:
        command = [bench.luaspy, "record", "-q", "-p", str(busy.items[0].pid), "-F", "10000"]
        with Sampler(command + ["-o", bench.profile]) as sampler:
            time.sleep(SETTLE_SECONDS)
            peak = sampler.peak_bytes() / MIB
    judge("peak memory, one PID at 10 kHz, depth 100", Interval([peak]), 32, 1, " MiB")


def measure_many(bench, name, processes, timers, what):
    """Among many processes: how long it takes to begin, and what is kept in the end."""
    starts = []
    for _ in range(bench.rounds - 1):
        with bench.sampler(f"bench_few|{name}", "1000", timers) as sampler:
            starts.append(sampler.start_ms)
    with bench.sampler(f"bench_few|{name}", "1000", timers) as sampler:
        starts.append(sampler.start_ms)
        for _ in range(20):
            processes.write(len(processes.items) // 10)
            time.sleep(0.2)
        share = shares(sampler, 1, WINDOW_SECONDS)
        peak = sampler.peak_bytes() / MIB
    judge(f"start-up, {what}", Interval(starts), 1000, 0, " ms")
    judge(f"peak memory, {what}", Interval([peak]), 128, 1, " MiB")
    judge(f"own CPU at 1 kHz, {what}", share, 1, 2, "%")


def measure_thousand(bench):
    count = bench.processes
    with bench.scripts("bench_few", "depth10", CPUS):
        with bench.scripts("bench_naps", "nap", count) as naps:
            what = f"{CPUS} busy among {count} with Lua"
            measure_many(bench, "bench_naps", naps, count + CPUS, what)
        sleep = [shutil.which("sleep"), "1000000"]
        with Processes(bench.folder, "bench_sleeps", sleep, count) as sleeps:
            what = f"{CPUS} busy among {count} without Lua"
            measure_many(bench, "bench_sleeps", sleeps, CPUS, what)


Costs = collections.namedtuple("Costs", "bpf_ns own_ns per_second start_ms")


def costs(bench, name, group, timers):
    """What a sample costs while the `group` runs, and luaspy samples it at 10 kHz."""
    group.go_on()
    with bench.sampler(name, "10000", timers) as sampler, bpf_statistics():
        time.sleep(SETTLE_SECONDS)
        cpu_ns, first, begin_ns = sampler.cpu_ns(), sampler.runs(), time.monotonic_ns()
        time.sleep(STATISTICS_SECONDS)
        cpu_ns, last = sampler.cpu_ns() - cpu_ns, sampler.runs()
        seconds = (time.monotonic_ns() - begin_ns) / 1e9
    group.stop()
    count = max(last.count - first.count, 1)
    bpf_ns = last.time_ns - first.time_ns
    return Costs(bpf_ns / count, cpu_ns / count, count / seconds, sampler.start_ms)


def measure_flatness(bench):
    """One processor's samples, of one process or of many that share it; the others are as busy.
    They give way to luaspy: this is of what a sample costs, not of who waits for whom."""
    cpus = sorted(os.sched_getaffinity(0))
    rounds = []
    with contextlib.ExitStack() as stack:
        groups = {}
        shell = [shutil.which("sh"), "-c", SPINNER]
        for cpu in cpus[:-1]:
            spinner = Processes(bench.folder, f"bench_spin{cpu}", shell, 1, {cpu}, True)
            stack.enter_context(spinner)
        for count in COUNTS:
            group = bench.scripts(f"bench_of{count}", "depth10", count, {cpus[-1]}, True)
            groups[count] = stack.enter_context(group)
            time.sleep(0.2 + count / 100)  # until they are past their start
            group.stop()
        for _ in range(bench.rounds):
            order = random.sample(COUNTS, len(COUNTS))
            one = {n: costs(bench, f"bench_of{n}", groups[n], TIMERS_AT_10K * n) for n in order}
            rounds.append(one)
    print_flatness(rounds)


def print_flatness(rounds):
    starts = Interval([one[1].start_ms for one in rounds])
    judge("from start to first sample, 1 busy process", starts, 100, 0, " ms")
    columns = "        {:>9} {:>9}  {:<20} {:<18} {:<20} {:<18}"
    print("\nns per sample of one processor at 10 kHz, as a ratio to those of one process:\n")
    print(columns.format("processes", "samples/s", "BPF", "", "own CPU", "").rstrip())
    for count in COUNTS:
        cells = []
        for field in "bpf_ns", "own_ns":
            values = [getattr(one[count], field) for one in rounds]
            base = [getattr(one[1], field) for one in rounds]
            cells.append(Interval(values).format(0))
            cells.append(Interval([a / b for a, b in zip(values, base)]).format(2))
        rate = Interval([one[count].per_second for one in rounds])
        print(columns.format(count, f"{rate.median:.0f}", *cells).rstrip())


def main():
    # What ends a window has to be seen at once; what this process starts is not to inherit that.
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        print(f"\nThe whole host ({CPUS} processors, {bench.rounds} rounds):", flush=True)
        for measure in measure_one, measure_busy, measure_thousand, measure_flatness:
            print(f"measuring: {measure.__name__}", file=sys.stderr)
            measure(bench)
            sys.stdout.flush()
        if bench.rounds < ROUNDS_MIN:
            print(f"intervals of rounds are not 95%: that takes {2 * ROUNDS_MIN} BENCH_ROUNDS")


main()
