# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What it takes to convert recordings: the largest that luaspy promises, and one of a minute.

Each is converted to every format in turn. The time is the CPU time of the whole command, which runs
on one processor: the best of BENCH_ROUNDS, for other programs only make it longer. Memory is the
peak of the process. Formats that write out all stacks are left out of the deep tree, since their
files would be many times as large as the input."""

import multiprocessing
import os
import random
import subprocess
import sys
import tempfile

LUASPY = os.environ["LUASPY"]
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
MIB = 1024 * 1024
FUNCTIONS = 400


def walk(rng, parents, children, samples):
    """Nodes as samples of a program find them: most of the stack is that of the sample before."""
    node = 1
    for _ in range(samples):
        for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
            node = parents[node] or node
        for _ in range(rng.choice((0, 0, 1, 2, 4, 8))):
            node = rng.choice(children[node]) if children[node] else node
        yield node


class Recording:
    """A ScriptProfiler file of so many nodes, and of so many samples in order of time.

    Another process makes it: what this one has in memory counts for the programs that it starts,
    since the kernel takes the peak before execve() into theirs."""

    def __init__(self, path, nodes, samples, depth, seconds, limits):
        self.path, self.limits = path, limits
        maker = multiprocessing.Process(target=self._make, args=(nodes, samples, depth, seconds))
        maker.start()
        maker.join()
        self.size = os.path.getsize(path)

    def _make(self, nodes, samples, depth, seconds):
        rng = random.Random(nodes + samples)
        parents, functions, depths = [0, 0], [0, 0], [0, 0]
        children, taken = [[], []], set()
        while len(parents) <= nodes:
            # Mostly below one of the last, as programs do.
            parent = max(1, len(parents) - 1 - int(rng.expovariate(1 / 40)))
            function = 1 + rng.randrange(FUNCTIONS)
            if depths[parent] >= depth or (parent, function) in taken:
                parent = 1 + rng.randrange(len(parents) - 1)
                if depths[parent] >= depth or (parent, function) in taken:
                    continue
            taken.add((parent, function))
            children[parent].append(len(parents))
            parents.append(parent)
            functions.append(function)
            depths.append(depths[parent] + 1)
            children.append([])
        own = [0] + [1000 * rng.randrange(3) for _ in range(nodes)]
        drawn = list(walk(rng, parents, children, samples))
        if samples:
            own = [0] * (nodes + 1)
            for node in drawn:
                own[node] += 1000
        self._write(parents, functions, children, own, drawn, seconds)

    def _write(self, parents, functions, children, own, drawn, seconds):
        total = own[:]
        for node in range(len(parents) - 1, 1, -1):
            total[parents[node]] += total[node]
        with open(self.path, "w", encoding="utf-8") as file:
            file.write('{"Version":2,"SessionStartTime":1700000000000,"SessionEndTime":'
                       f'{1700000000000 + 1000 * seconds},'
                       '"Categories":[{"Name":"main","NodeId":1}],"Nodes":[')
            for node in range(1, len(parents)):
                below = ""
                if children[node]:
                    ids = ",".join(str(functions[child]) for child in children[node])
                    below = f',"FunctionIds":[{ids}],"NodeIds":[{",".join(map(str, children[node]))}]'
                counted = f',"Samples":{own[node] // 1000}' if own[node] else ""
                file.write(f'{"," if node > 1 else ""}\n{{"TotalDuration":{total[node]}{below}{counted}}}')
            rows = ",\n".join(
                f'{{"Source":"src/module_{i % 40}.lua","Name":"function_{i}","Line":{i},"TotalDuration":0}}'
                for i in range(1, FUNCTIONS + 1))
            file.write(f'],"Functions":[{rows}],"Recorder":{{"Tool":"luaspy","Version":"0",'
                       '"Period":1000,"Frequency":1000}')
            if drawn:
                at = seconds * 1000000 // len(drawn)
                file.write(',"Samples":[' + ",".join(f"[{node},{at},42]" for node in drawn) + "]")
            file.write("}")


def measure(recording, ending, folder):
    """Milliseconds, bytes of memory and bytes written of one conversion."""
    out = os.path.join(folder, f"out{ending}")
    with subprocess.Popen([LUASPY, "convert", recording.path, "-o", out], stderr=subprocess.PIPE) as child:
        said = child.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    took = 1000 * (usage.ru_utime + usage.ru_stime)
    if child.returncode:
        sys.exit(f"cannot convert to {ending}: {said}")
    size = os.path.getsize(out)
    os.unlink(out)
    return took, usage.ru_maxrss * 1024, size


def report(what, recording, endings, folder):
    most_ms, most_bytes = recording.limits
    print(f"\n{what}: {recording.size / 1e6:.1f} MB; at most {most_ms} ms"
          + (f" and {most_bytes // MIB} MiB" if most_bytes else ""))
    print(f"{'':7} {'to':<18} {'CPU ms':>7} {'MiB':>6} {'MB written':>10}")
    for ending in endings:
        runs = [measure(recording, ending, folder) for _ in range(ROUNDS)]
        took, memory = min(run[0] for run in runs), max(run[1] for run in runs)
        meets = took <= most_ms and (not most_bytes or memory <= most_bytes)
        print(f"{'meets' if meets else 'misses':<7} {ending:<18} {took:>7.0f} {memory / MIB:>6.0f}"
              f" {runs[0][2] / 1e6:>10.1f}", flush=True)


def main():
    sums = [".json", ".html", ".svg", ".pb.gz", ".callgrind", ".gprof", ".lua"]
    stacks = [".folded", ".speedscope.json"]
    ordered = [".cpuprofile", ".firefox.json", ".devtools.json", ".trace.json", ".perf"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.json")
        report("2.4 million nodes, no deeper than 400", Recording(path, 2400000, 0, 400, 3600, (3000, 600 * MIB)),
               sums, folder)
        report("a million samples in 20,000 nodes, no deeper than 20",
               Recording(path, 20000, 1000000, 20, 1000, (3000, 600 * MIB)), sums + stacks + ordered, folder)
        report("a minute at 1 kHz in 3,000 nodes, no deeper than 20",
               Recording(path, 3000, 60000, 20, 60, (100, 0)), sums + stacks + ordered, folder)


main()
