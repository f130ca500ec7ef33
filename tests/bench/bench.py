#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures what sampling costs a Lua program: run by run.sh, which says what may be set.

One process per script runs throughout. In each round every condition is attached to it once, for a
window, in an order drawn anew; conditions that are compared stand side by side. What counts is the
time that the target was on a processor per unit of its work, as a ratio between two windows of the
same round: noise that lasts longer than a round cancels out.

The target has one processor for itself, and everything else the others, where there are several.
"""

import collections
import contextlib
import json
import os
import random
import shutil
import sys
import tempfile
import time

import report
from sampler import Sampler, bpf_statistics
from target import Target

SCRIPTS = ["shallow", "depth10", "depth100", "coroutines", "mostly_c"]
PAIRS = [("nothing", "perf 10k"), ("empty 1k", "luaspy 1k"), ("empty 10k", "luaspy 10k")]
HERTZ = {"1k": "1000", "10k": "10000"}

SETTLE_SECONDS = 0.15  # luaspy decides on the layout, and meets the functions
WINDOW_SECONDS = 0.5
STATISTICS_SECONDS = 0.15

# `unit_ns`: per unit of the target's work. `bpf_ns`: per sample. None where there is no such thing.
Window = collections.namedtuple(
    "Window", "unit_ns bpf_ns samples_per_second cpu_share peak_bytes start_ms incomplete"
)


class Bench:
    def __init__(self, folder):
        self.profile = os.path.join(folder, "profile.json")
        self.perf_data = os.path.join(folder, "perf.data")
        self.empty_timer = os.path.join(os.environ["OUTPUT"], "tests/bench/empty_timer")
        self.luaspy = os.environ["LUASPY"]

    def command(self, condition, pid):
        tool, hertz = condition.split()
        return {
            "empty": [self.empty_timer, str(pid), HERTZ[hertz]],
            "luaspy": [self.luaspy, "record", "-q", "-p", str(pid), "-F", HERTZ[hertz]]
            + ["-o", self.profile],
            "perf": ["perf", "record", "-q", "-g", "-e", "task-clock", "-F", HERTZ[hertz]]
            + ["-p", str(pid), "--no-buildid", "--no-buildid-cache", "-o", self.perf_data],
        }[tool]

    def measure(self, condition, target):
        if condition == "nothing":
            time.sleep(SETTLE_SECONDS)
            return self.window(target)
        with Sampler(self.command(condition, target.pid)) as sampler:
            time.sleep(SETTLE_SECONDS)
            window = self.window(target, sampler)
            if not condition.startswith("perf"):
                window = self.with_statistics(window, target, sampler)
        if condition.startswith("luaspy"):
            window = window._replace(incomplete=self.incomplete())
        return window

    def window(self, target, sampler=None):
        cpu_ns = sampler.cpu_ns() if sampler else 0
        begin_ns = time.monotonic_ns()
        begin = target.point()
        time.sleep(WINDOW_SECONDS)
        end = target.point()
        unit_ns = (end.busy_ns - begin.busy_ns) / (end.units - begin.units)
        if not sampler:
            return Window(unit_ns, None, None, None, None, None, None)
        cpu_share = (sampler.cpu_ns() - cpu_ns) / (time.monotonic_ns() - begin_ns)
        return Window(unit_ns, None, None, cpu_share, sampler.peak_bytes(), sampler.start_ms, None)

    def with_statistics(self, window, target, sampler):
        with bpf_statistics():
            begin, first = target.point(), sampler.runs()
            time.sleep(STATISTICS_SECONDS)
            end, last = target.point(), sampler.runs()
        count = last.count - first.count
        return window._replace(
            bpf_ns=(last.time_ns - first.time_ns) / count if count else 0,
            samples_per_second=count / (end.busy_ns - begin.busy_ns) * 1e9,
        )

    def incomplete(self):
        """The share of the samples that luaspy lost or could not read to the end."""
        with open(self.profile, encoding="utf-8") as file:
            samples = json.load(file)["Recorder"]["Samples"]
        return 1 - (samples["complete"] + samples["host"]) / max(samples["total"], 1)

    def run(self, lua, script, rounds, pairs, cpus):
        """Returns one {condition: Window} per round."""
        print(f"measuring with {lua} {script}.lua, {rounds} rounds", file=sys.stderr)
        results = []
        with Target(lua, script, cpus) as target:
            target.point()
            for _ in range(rounds):
                shuffled = random.sample(pairs, len(pairs))
                order = [name for pair in shuffled for name in random.sample(pair, len(pair))]
                results.append({name: self.measure(name, target) for name in order})
        return results


def separate_processors():
    """Moves this process, with what it starts, off one processor, which is for the target."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) > 1:
        os.sched_setaffinity(0, allowed[:-1])
    # What ends a window has to be seen at once; what this process starts is not to inherit that.
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    return {allowed[-1]}


def main():
    rounds = int(os.environ.get("BENCH_ROUNDS", 12))
    scripts = os.environ.get("BENCH_SCRIPTS", "").split() or SCRIPTS
    interpreters = os.environ["LUA"].split()
    unknown = sorted(set(scripts) - set(SCRIPTS))
    if unknown or rounds < 1:
        raise SystemExit(f"BENCH_SCRIPTS may name {', '.join(SCRIPTS)}; BENCH_ROUNDS is at least 1")
    has_perf = shutil.which("perf") is not None
    pairs = PAIRS if has_perf else [("nothing",)] + PAIRS[1:]
    if os.environ.get("BENCH_HERTZ") == "10k":
        pairs = [("nothing",), PAIRS[2]]
    cpus = separate_processors()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        results = {
            (os.path.basename(lua), script): bench.run(lua, script, rounds, pairs, cpus)
            for lua in interpreters
            for script in scripts
        }
    report.print_all(results, rounds)
    if not has_perf:
        print("perf: not measured, for there is none (try Debian's linux-perf)")


main()
