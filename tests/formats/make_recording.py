#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Writes a ScriptProfiler v2 recording to standard output: `make_recording.py SEED`. It is as another
program might write it, with what a format may stumble over: recursion, functions of one name,
names of other scripts, control characters and markup, a deep stack, the collector, flags, samples
in order of time, and children with lower ids than their parents.
"""

import json
import random
import sys

NAMES = ["work", "init", "init", "a;b", "#hash", "<b>&\"quoted\"</b>", "é ü 日本", "\x1b[31m", "line\nfeed",
         "]]>", "(host)", "x 12", "fn=(3)", None, None, "", "string.rep", "\\xff",
         "lua5.4+0x8060", "(idle)", "(program)", "(root)"]
NODES = 400
DEEP = 300


def make_functions(rng):
    functions = [{"Source": "GC", "Name": "GC"}]
    for number, name in enumerate(NAMES):
        function = {"Source": f"src/module {number % 5}.lua", "Name": name, "Line": 10 + number}
        if name == "(host)":
            del function["Source"], function["Line"]
        elif name == "string.rep":
            function["Source"] = "[C]"
            del function["Line"]
        elif name is None:
            del function["Name"]
        if number % 7 == 3:
            function["Flags"] = 1 + number % 3
        functions.append(function)
    rng.shuffle(functions)
    return functions


class Tree:
    def __init__(self):
        self.parent, self.function, self.self_us, self.samples = [0], [0], [0], [0]
        self.children = [{}]

    def add(self, parent, function):
        if parent and function in self.children[parent]:
            return self.children[parent][function]
        self.parent.append(parent)
        self.function.append(function)
        self.self_us.append(0)
        self.samples.append(0)
        self.children.append({})
        if parent:
            self.children[parent][function] = len(self.parent) - 1
        return len(self.parent) - 1


def grow(rng, functions):
    gc = 1 + next(i for i, function in enumerate(functions) if function.get("Source") == "GC")
    callable_ids = [i for i in range(1, len(functions) + 1) if i != gc]
    tree = Tree()
    roots = [tree.add(0, 0), tree.add(0, 0)]
    for _ in range(NODES):
        parent = rng.choice(roots) if rng.random() < 0.1 else rng.randrange(1, len(tree.parent))
        if tree.function[parent] != gc:
            tree.add(parent, gc if rng.random() < 0.05 else rng.choice(callable_ids))
    node = roots[0]
    for depth in range(DEEP):
        node = tree.add(node, callable_ids[depth % 3])
    for node in range(3, len(tree.parent)):
        tree.samples[node] = rng.choice((0, 1, 1, 2, 7))
        tree.self_us[node] = tree.samples[node] * 1000 + rng.randrange(-9, 9) * bool(tree.samples[node])
    return tree, roots


def main():
    rng = random.Random(int(sys.argv[1]))
    functions = make_functions(rng)
    tree, roots = grow(rng, functions)
    count = len(tree.parent) - 1
    total = tree.self_us[:]
    for node in range(count, 0, -1):
        if tree.parent[node]:
            total[tree.parent[node]] += total[node]
    renumbered = [0] + rng.sample(range(1, count + 1), count)
    nodes = [None] * (count + 1)
    for node in range(1, count + 1):
        entry = nodes[renumbered[node]] = {"TotalDuration": total[node]}
        if tree.children[node]:
            entry["FunctionIds"] = list(tree.children[node])
            entry["NodeIds"] = [renumbered[child] for child in tree.children[node].values()]
        if tree.samples[node]:
            entry["Samples"] = tree.samples[node]
    timeline = [node for node in range(1, count + 1) for _ in range(tree.samples[node])]
    rng.shuffle(timeline)
    for function in functions:
        function["TotalDuration"] = 0  # readers add up nodes
    json.dump({"Version": 2, "SessionStartTime": 1700000000123, "SessionEndTime": 1700000009123,
               "Categories": [{"Name": name, "NodeId": renumbered[root]}
                              for name, root in zip(("#lua; 5.4", "other"), roots)],
               "Nodes": nodes[1:], "Functions": functions,
               "Recorder": {"Tool": "luaspy", "Version": "0", "Period": 1000, "Frequency": 1000,
                            "Target": "lua <5.4> & co",
                            "Samples": {"total": len(timeline), "complete": len(timeline)}},
               "Samples": [[renumbered[node], 1000, 42 + node % 2] for node in timeline]},
              sys.stdout)


main()
