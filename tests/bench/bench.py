#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures what sampling costs a Lua program: run by run.sh, which says what may be set.

One process per script runs throughout, with luaspy, an empty BPF program and perf attached to it
throughout, all switched off; with $BEFORE another luaspy, too. In slices of a quarter of a second
one of them is switched on, or none, in an order drawn anew for each cycle. What counts is the time
per unit of the target's work, as a ratio between slices of one cycle: whatever lasts longer than a
cycle, such as another load of the machine, cancels out. In each cycle the empty program has two
slices, whose ratio is 1 but for what disturbs the measurement.

The target has one processor for itself, and everything else the others, where there are several.
"""

import collections
import contextlib
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time

import report
from sampler import Sampler, bpf_statistics
from target import Target

SCRIPTS = ["shallow", "depth10", "depth100", "coroutines", "sleepers", "mostly_c"]
CYCLE = ["nothing", "empty", "empty", "luaspy", "luaspy", "before", "before", "perf"]

SLICE_SECONDS = 0.25
SETTLE_SECONDS = 0.5  # luaspy decides on the layout, and meets the functions
STATISTICS_SLICES = 4

# `slices`: {condition: [ns per unit of the target's work, in order]} of each cycle. `bpf_ns`: per
# sample. The rest is of luaspy.
Result = collections.namedtuple(
    "Result", "slices bpf_ns samples_per_second cpu_share peak_bytes start_ms incomplete"
)


class Switch:
    """A sampler that is told by a FIFO when to sample, and says by another that it obeys."""

    def __init__(self, stack, folder, name, command, words=(b"resume", b"pause")):
        self.words = words
        self.files = []
        for path in f"{folder}/{name}.control", f"{folder}/{name}.ack":
            os.mkfifo(path)
            stack.callback(os.remove, path)
            self.files.append(os.open(path, os.O_RDWR))
            stack.callback(os.close, self.files[-1])
        self.sampler = stack.enter_context(Sampler(command))
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, self.sampler.pid, -20)  # it is to obey at once

    def turn(self, is_on):
        os.write(self.files[0], self.words[0 if is_on else 1] + b"\n")
        answer = os.read(self.files[1], 100)
        if not answer.startswith((b"ok", b"ack")):
            raise SystemExit(f"cannot measure: it answers '{answer.decode(errors='replace')}'")


class Bench:
    def __init__(self, folder, target, hertz):
        self.folder = folder
        self.target = target
        self.hertz = str(hertz)
        self.profile = os.path.join(folder, "profile.json")
        self.switches = {}
        self.luaspy_ns = self.luaspy_on_ns = 0

    def attach(self, stack):
        pid = str(self.target.pid)
        empty = os.path.join(os.environ["OUTPUT"], "tests/bench/empty_timer")
        control = [f"{self.folder}/empty.control", f"{self.folder}/empty.ack"]
        self.add(stack, "empty", [empty, pid, self.hertz] + control)
        self.add_luaspy(stack, "luaspy", os.environ["LUASPY"], self.profile)
        if os.environ.get("BEFORE"):
            self.add_luaspy(stack, "before", os.environ["BEFORE"], f"{self.folder}/before.json")
        if shutil.which("perf"):
            command = ["perf", "record", "-q", "-g", "-e", "task-clock", "-F", self.hertz]
            command += ["-p", pid, "--no-buildid", "--no-buildid-cache", "--delay=-1"]
            command += [f"--control=fifo:{self.folder}/perf.control,{self.folder}/perf.ack"]
            command += ["-o", os.path.join(self.folder, "perf.data")]
            self.add(stack, "perf", command, (b"enable", b"disable"))

    def add_luaspy(self, stack, name, luaspy, profile):
        command = [luaspy, "record", "-q", "-p", str(self.target.pid), "-F", self.hertz]
        command += ["--paused", "--control", f"{self.folder}/{name}.control"]
        command += ["--control-ack", f"{self.folder}/{name}.ack", "-o", profile]
        self.add(stack, name, command)

    def add(self, stack, name, *arguments):
        self.switches[name] = Switch(stack, self.folder, name, *arguments)

    @contextlib.contextmanager
    def on(self, condition):
        switch = self.switches.get(condition)
        if switch:
            switch.turn(True)
        yield
        if switch:
            switch.turn(False)

    def cycle(self):
        order = [name for name in CYCLE if name in self.switches or name == "nothing"]
        values = {name: [] for name in order}
        luaspy = self.switches["luaspy"].sampler
        for name in random.sample(order, len(order)):
            with self.on(name):
                cpu_ns, begin_ns = luaspy.cpu_ns(), time.monotonic_ns()
                values[name].append(self.target.unit_ns(SLICE_SECONDS))
                if name == "luaspy":
                    self.luaspy_ns += luaspy.cpu_ns() - cpu_ns
                    self.luaspy_on_ns += time.monotonic_ns() - begin_ns
        return values

    def statistics(self):
        """ns of BPF per sample, and samples per second of the target's CPU time."""
        luaspy = self.switches["luaspy"].sampler
        costs, rates = [], []
        with self.on("luaspy"), bpf_statistics():
            for _ in range(STATISTICS_SLICES):
                first, charged_ns = luaspy.runs(), self.target.charged_ns()
                time.sleep(SLICE_SECONDS)
                last, charged_ns = luaspy.runs(), self.target.charged_ns() - charged_ns
                count = last.count - first.count
                costs.append((last.time_ns - first.time_ns) / max(count, 1))
                rates.append(count * 1e9 / max(charged_ns, 1))
        return statistics.median(costs), statistics.median(rates)

    def run(self, seconds):
        with contextlib.ExitStack() as stack:
            self.attach(stack)
            for name in "luaspy", "before":
                with self.on(name):
                    time.sleep(SETTLE_SECONDS)
            end = time.monotonic() + seconds
            slices = []
            while time.monotonic() < end or not slices:
                slices.append(self.cycle())
            bpf_ns, rate = self.statistics()
            luaspy = self.switches["luaspy"].sampler
            peak = luaspy.peak_bytes()
        share = self.luaspy_ns / self.luaspy_on_ns
        return Result(slices, bpf_ns, rate, share, peak, luaspy.start_ms, self.incomplete())

    def incomplete(self):
        """The share of the samples that luaspy lost or could not read to the end."""
        with open(self.profile, encoding="utf-8") as file:
            samples = json.load(file)["Recorder"]["Samples"]
        return 1 - (samples["complete"] + samples["host"]) / max(samples["total"], 1)


def separate_processors():
    """Moves this process, with what it starts, off one processor, which is for the target."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) > 1:
        os.sched_setaffinity(0, allowed[:-1])
    # The end of a unit has to be seen at once; what this process starts is not to inherit that.
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    return {allowed[-1]}


def measure(lua, script, hertz, seconds, cpus):
    print(f"measuring with {lua} {script}.lua for {seconds:.0f} s", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder, Target(lua, script, cpus) as target:
        return Bench(folder, target, hertz).run(seconds)


def main():
    seconds = float(os.environ.get("BENCH_SECONDS", 120))
    hertz = int(os.environ.get("BENCH_HERTZ", 10000))
    scripts = os.environ.get("BENCH_SCRIPTS", "").split() or SCRIPTS
    unknown = sorted(set(scripts) - set(SCRIPTS))
    if unknown:
        raise SystemExit(f"BENCH_SCRIPTS may name {', '.join(SCRIPTS)}")
    cpus = separate_processors()
    runs = [(lua, script) for lua in os.environ["LUA"].split() for script in scripts]
    results = {
        (os.path.basename(lua), script): measure(lua, script, hertz, seconds / len(runs), cpus)
        for lua, script in runs
    }
    report.print_all(results, hertz)
    if not shutil.which("perf"):
        print("perf: not measured, for there is none (try Debian's linux-perf)")


main()
