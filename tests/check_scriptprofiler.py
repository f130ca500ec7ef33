#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Checks a ScriptProfiler v2 file as luaspy writes it: `check_scriptprofiler.py FILE` (- for standard
input). Exit status 0 and one line of figures, or 1 and one line for each rule that is broken.

It shares nothing with the writer but the format's description, and it is stricter than readers
are: what none of them may stumble over is refused here. Trees may be deep and wide, so nothing
recurses.
"""

import json
import sys

MOST_MESSAGES = 20
CLASSES = ("dropped", "unreadable", "host", "torn", "truncated", "complete")
TOP_LEVEL = {"Version", "SessionStartTime", "SessionEndTime", "Categories", "Nodes", "Functions",
             "GCFuncId", "Recorder", "Samples"}
FUNCTION_KEYS = ("Source", "Name", "Line", "Flags", "CurrentLine", "TotalDuration", "Lines")
IDENTITY_KEYS = FUNCTION_KEYS[:-2]
NATIVE, NATIVE_AND_PLUGIN = 1, 3
# What a virtual machine does that has a function of its own; see part_of().
ACTIVITIES = {"GC": "GC", "JIT compiler": "Compiler", "trace exit": "TraceExit"}
PARTS = ("Interpreted", "Compiled", "C", "GC", "Compiler", "TraceExit")


class Broken(Exception):
    """The rest cannot be checked any more."""


class Report:
    def __init__(self):
        self.messages = []
        self.count = 0

    def add(self, message):
        self.count += 1
        if self.count <= MOST_MESSAGES:
            self.messages.append(message)

    def stop_if_broken(self):
        if self.count:
            raise Broken()


def is_integer(value, least):
    return type(value) is int and value >= least


def is_number(value):
    return type(value) in (int, float) and 0 <= value < float("inf")


def has_text(value):
    """A string without halves of surrogate pairs, which strict readers refuse."""
    if type(value) is not str:
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def unique_keys(pairs):
    keys = dict(pairs)
    if len(keys) != len(pairs):
        seen = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"key {twice!r} occurs twice in one object")
    return keys


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def read_document(path, report):
    if path == "-":
        data = sys.stdin.buffer.read()
    else:
        with open(path, "rb") as file:
            data = file.read()
    try:
        text = data.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        report.add(f"not UTF-8: {error}")
        raise Broken() from error
    for character in set(text):
        if character != "\n" and (ord(character) < 0x20 or 0x7f <= ord(character) < 0xa0):
            report.add(f"control character U+{ord(character):04X} is not escaped")
    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        report.add(f"not strict JSON: {error}")
        raise Broken() from error


def check_top_level(document, report):
    if type(document) is not dict:
        report.add("the document is not an object")
        raise Broken()
    if not is_integer(document.get("Version"), 2) or document["Version"] != 2:
        report.add(f"Version is {document.get('Version')!r}, not 2")
    for key in ("Categories", "Nodes", "Functions"):
        if type(document.get(key)) is not list:
            report.add(f"{key} is not an array")
    for key in document:
        if key not in TOP_LEVEL:
            report.add(f"unknown key {key!r}")
    times = [document[key] for key in ("SessionStartTime", "SessionEndTime") if key in document]
    if not all(is_number(time) for time in times):
        report.add("a session time is not a number of milliseconds")
    elif len(times) == 2 and times[1] < times[0]:
        report.add("the session ends before it starts")
    report.stop_if_broken()


def check_ids(node, name, count, where, report):
    ids = node[name]
    if type(ids) is not list:
        report.add(f"{where}: {name} is not an array")
    elif not ids:
        report.add(f"{where}: {name} is empty instead of left out")
    elif not all(is_integer(item, 1) and item <= count for item in ids):
        wrong = next(item for item in ids if not (is_integer(item, 1) and item <= count))
        report.add(f"{where}: {wrong!r} in {name} is no id from 1 to {count}")
    elif len(set(ids)) != len(ids):
        report.add(f"{where}: an id occurs twice in {name}")


def check_nodes(document, report):
    node_count, function_count = len(document["Nodes"]), len(document["Functions"])
    for number, node in enumerate(document["Nodes"], 1):
        where = f"node {number}"
        if type(node) is not dict:
            report.add(f"{where} is not an object")
            continue
        if not is_integer(node.get("TotalDuration"), 0):
            report.add(f"{where}: TotalDuration is {node.get('TotalDuration')!r}, "
                       "not an integer from 0")
        if "Samples" in node and not is_integer(node["Samples"], 1):
            report.add(f"{where}: Samples are {node['Samples']!r}, not an integer from 1")
        if not node.keys() <= {"TotalDuration", "FunctionIds", "NodeIds", "Samples"}:
            report.add(f"{where} has an unknown key")
        if ("FunctionIds" in node) != ("NodeIds" in node):
            report.add(f"{where} has one of FunctionIds and NodeIds")
        elif "NodeIds" in node:
            check_ids(node, "FunctionIds", function_count, where, report)
            check_ids(node, "NodeIds", node_count, where, report)
            if (type(node["FunctionIds"]) is list and type(node["NodeIds"]) is list and
                    len(node["FunctionIds"]) != len(node["NodeIds"])):
                report.add(f"{where}: FunctionIds and NodeIds differ in length")


def check_categories(document, report):
    names, nodes = set(), set()
    for number, category in enumerate(document["Categories"], 1):
        where = f"category {number}"
        if type(category) is not dict or category.keys() != {"Name", "NodeId"}:
            report.add(f"{where} is not an object of Name and NodeId")
            continue
        if not has_text(category["Name"]):
            report.add(f"{where}: Name is not a string of valid characters")
        elif category["Name"] in names:
            report.add(f"{where}: there is one more {category['Name']!r}")
        else:
            names.add(category["Name"])
        node = category["NodeId"]
        if not is_integer(node, 1) or node > len(document["Nodes"]):
            report.add(f"{where}: NodeId {node!r} is no node's id")
        elif node in nodes:
            report.add(f"{where}: node {node} is another category's")
        else:
            nodes.add(node)


def check_lines(function, where, report):
    """Own time by line. What is missing of the function's own time is that of unknown lines."""
    lines = function["Lines"]
    if type(lines) is not list or not lines:
        report.add(f"{where}: Lines is not an array with something in it")
        return
    for line in lines:
        if (type(line) is not list or len(line) != 3 or not is_integer(line[0], 1) or
                not is_integer(line[1], 0) or not is_integer(line[2], 0)):
            report.add(f"{where}: {line!r} in Lines is not [line, microseconds, samples]")
            return
    numbers = [line[0] for line in lines]
    if numbers != sorted(set(numbers)):
        report.add(f"{where}: Lines are not in order, each once")
    if "CurrentLine" in function:
        report.add(f"{where} has Lines and a CurrentLine")


def check_function(function, where, report):
    keys = tuple(function)
    if keys != tuple(key for key in FUNCTION_KEYS if key in function):
        report.add(f"{where}: keys are {keys!r}, not of {', '.join(FUNCTION_KEYS)} "
                   "in this order")
    if not is_integer(function.get("TotalDuration"), 0):
        report.add(f"{where}: TotalDuration is {function.get('TotalDuration')!r}, "
                   "not an integer from 0")
    for key in ("Source", "Name"):
        if key in function and not has_text(function[key]):
            report.add(f"{where}: {key} is not a string of valid characters")
    if "Line" in function and not is_integer(function["Line"], 1):
        report.add(f"{where}: Line is {function['Line']!r}, not an integer from 1")
    if "CurrentLine" in function and not is_integer(function["CurrentLine"], 1):
        report.add(f"{where}: CurrentLine is {function['CurrentLine']!r}, not an integer from 1")
    if "Flags" in function and (not is_integer(function["Flags"], 1) or
                                function["Flags"] > NATIVE_AND_PLUGIN):
        report.add(f"{where}: Flags are {function['Flags']!r}, not 1 to {NATIVE_AND_PLUGIN}")
    if function.get("Source") == "[C]" and "Line" in function:
        report.add(f"{where} is a C function and has a Line")
    if "Source" not in function and "Line" in function:
        report.add(f"{where} has a Line and no Source")
    if "Source" not in function or function["Source"] == "[C]":
        for key in {"CurrentLine", "Lines"} & function.keys():
            report.add(f"{where} is not script and has {key}")
    if "Lines" in function:
        check_lines(function, where, report)


def check_functions(document, report):
    first_of = {}
    for number, function in enumerate(document["Functions"], 1):
        where = f"function {number}"
        if type(function) is not dict:
            report.add(f"{where} is not an object")
            continue
        check_function(function, where, report)
        identity = repr([function.get(key) for key in IDENTITY_KEYS])
        if identity in first_of:
            report.add(f"{where} is the same as function {first_of[identity]}")
        first_of.setdefault(identity, number)


def is_gc(function):
    return function.get("Source") == "GC" and function.get("Name") == "GC"


def check_gc(document, report):
    functions, nodes = document["Functions"], document["Nodes"]
    collectors = {number for number, function in enumerate(functions, 1) if is_gc(function)}
    for number in collectors:
        if "Line" in functions[number - 1]:
            report.add(f"function {number} is the collector and has a Line")
    if "GCFuncId" in document:
        gc = document["GCFuncId"]
        if not is_integer(gc, 1) or gc not in collectors:
            report.add(f"GCFuncId {gc!r} is no function with Source and Name 'GC'")
    elif collectors:
        report.add(f"function {min(collectors)} is the collector, and there is no GCFuncId")
    for number, node in enumerate(nodes, 1):
        for function, child in zip(node.get("FunctionIds", ()), node.get("NodeIds", ())):
            if function in collectors and "NodeIds" in nodes[child - 1]:
                report.add(f"node {child} is the collector's and not a leaf (under node {number})")


def check_tree(document, report):
    """Every node hangs at one place, and that is below a category."""
    nodes = document["Nodes"]
    holder = [None] * (len(nodes) + 1)
    for category in document["Categories"]:
        holder[category["NodeId"]] = f"category {category['Name']!r}"
    for number, node in enumerate(nodes, 1):
        for child in node.get("NodeIds", ()):
            if holder[child] is not None:
                report.add(f"node {child} is under node {number} and under {holder[child]}")
            holder[child] = f"node {number}"
    report.stop_if_broken()

    reached = bytearray(len(nodes) + 1)
    waiting = [category["NodeId"] for category in document["Categories"]]
    while waiting:
        number = waiting.pop()
        reached[number] = 1
        waiting.extend(nodes[number - 1].get("NodeIds", ()))
    for number in range(1, len(nodes) + 1):
        if not reached[number]:
            report.add(f"node {number} cannot be reached from a category")
    report.stop_if_broken()


def self_time(nodes, number):
    node = nodes[number - 1]
    children = sum(nodes[child - 1]["TotalDuration"] for child in node.get("NodeIds", ()))
    return node["TotalDuration"] - children


def check_self_times(document, report):
    nodes = document["Nodes"]
    for number in range(1, len(nodes) + 1):
        own = self_time(nodes, number)
        if own < 0:
            report.add(f"node {number}: its children's time is {-own} us more than its own total")


def sum_functions(document):
    """
    On every path from a category the outermost use of a function counts, which has the inner ones
    in it.
    """
    nodes, totals = document["Nodes"], [0] * (len(document["Functions"]) + 1)
    uses = [0] * len(totals)
    depth_of = [0] * len(totals)
    for category in document["Categories"]:
        # (node, function, whether it is being left)
        waiting = [(category["NodeId"], 0, False)]
        while waiting:
            number, function, leaving = waiting.pop()
            if leaving:
                depth_of[function] -= 1
                continue
            node = nodes[number - 1]
            if function:
                uses[function] += 1
                if not depth_of[function]:
                    totals[function] += node["TotalDuration"]
                depth_of[function] += 1
                waiting.append((number, function, True))
            waiting.extend((child, callee, False) for child, callee in
                           zip(node.get("NodeIds", ()), node.get("FunctionIds", ())))
    return totals, uses


def self_times_of_functions(document):
    own = [0] * (len(document["Functions"]) + 1)
    for node in document["Nodes"]:
        for function, child in zip(node.get("FunctionIds", ()), node.get("NodeIds", ())):
            own[function] += self_time(document["Nodes"], child)
    return own


def check_line_times(document, report):
    own = self_times_of_functions(document)
    for number, function in enumerate(document["Functions"], 1):
        lines = sum(line[1] for line in function.get("Lines", ()))
        if lines > own[number]:
            report.add(f"function {number}: its lines add up to {lines} us, "
                       f"its own time is {own[number]}")


def check_function_totals(document, report):
    totals, uses = sum_functions(document)
    for number, function in enumerate(document["Functions"], 1):
        if not uses[number]:
            report.add(f"function {number} is used by no node")
        if function["TotalDuration"] != totals[number]:
            report.add(f"function {number}: TotalDuration is {function['TotalDuration']}, "
                       f"its nodes give {totals[number]} (recursion counted once)")


def part_of(function):
    """Where a function's own time is in ScriptDuration; None: nowhere."""
    source = function.get("Source")
    if source is None:
        return None
    if source == function.get("Name") and source in ACTIVITIES and "Line" not in function:
        return ACTIVITIES[source]
    if function.get("Flags", 0) & NATIVE:
        return "Compiled"
    return "C" if source == "[C]" else "Interpreted"


def check_script_duration(document, report):
    """Where something was compiled, the own time of all functions that have a Source."""
    recorder = document.get("Recorder")
    if type(recorder) is not dict:
        return
    expected = dict.fromkeys(PARTS, 0)
    for function, own in zip(document["Functions"], self_times_of_functions(document)[1:]):
        part = part_of(function)
        if part:
            expected[part] += own
    if not expected["Compiled"] and not expected["Compiler"]:
        expected = None
    if recorder.get("ScriptDuration") != expected:
        report.add(f"Recorder: ScriptDuration is {recorder.get('ScriptDuration')}, its functions "
                   f"give {expected}")


def check_counters(counters, names, where, report):
    for name in names:
        if not is_integer(counters.get(name), 0):
            report.add(f"{where}: {name} is {counters.get(name)!r}, not an integer from 0")


def check_recorder(document, report):
    """What is ours: every sample is in one class."""
    recorder = document.get("Recorder")
    if recorder is None and "Recorder" not in document:
        return
    if type(recorder) is not dict or recorder.get("Tool") != "luaspy":
        report.add("Recorder is not an object whose Tool is 'luaspy'")
        return
    found, unknown = recorder.get("Collector"), recorder.get("CollectorUnknown")
    for text in (found, unknown):
        if text is not None and (not has_text(text) or not text):
            report.add("Recorder: how the collector was found is no text")
    # Of several interpreters some may have one that is known: the time of those is under GC.
    if unknown is not None and found is None and "GCFuncId" in document:
        report.add("Recorder: no collector is known, and there is a GCFuncId")
    samples, reasons = recorder.get("Samples"), recorder.get("Reasons")
    if type(samples) is not dict or type(reasons) is not list:
        report.add("Recorder has no object Samples or no array Reasons")
        return
    check_counters(recorder, ("WallDuration", "CpuDuration", "Collected", "Unsampled",
                              "UnnamedCalls", "UnknownLines", "UnkeptLines", "StackLookupsRefused",
                              "EvictedFunctions", "EvictedSamples", "LostRecords",
                              "MissedProcesses", "IgnoredSamples", "UntimedSamples"),
                   "Recorder", report)
    check_counters(samples, ("total",) + CLASSES, "Recorder.Samples", report)
    for reason in reasons:
        if (type(reason) is not dict or not has_text(reason.get("Name")) or
                not has_text(reason.get("Sentence")) or reason.get("Class") not in CLASSES or
                not is_integer(reason.get("Count"), 1)):
            report.add("Recorder.Reasons has an element without Name, Class, Count or Sentence")
    report.stop_if_broken()
    classes = sum(samples[name] for name in CLASSES)
    if samples["total"] != classes:
        report.add(f"Recorder: {samples['total']} samples, but {classes} in classes")


def check_samples(document, report):
    """In order of time; where all classes have a record, as many as there are of each node."""
    samples = document.get("Samples")
    if samples is None and "Samples" not in document:
        return
    if type(samples) is not list or not samples:
        report.add("Samples is not an array with something in it")
        return
    for number, sample in enumerate(samples, 1):
        if (type(sample) is not list or len(sample) != 3 or
                not is_integer(sample[0], 1) or sample[0] > len(document["Nodes"]) or
                not is_integer(sample[1], 0) or not is_integer(sample[2], 1)):
            report.add(f"sample {number} is {sample!r}, not [node, microseconds, thread]")
    report.stop_if_broken()
    times = [document.get(key) for key in ("SessionStartTime", "SessionEndTime")]
    if None not in times:
        span = sum(sample[1] for sample in samples) / 1000
        if span > times[1] - times[0] + 2:
            report.add(f"Samples last {span} ms, the session {times[1] - times[0]} ms")
    recorder = document.get("Recorder")
    if recorder:
        counts = recorder["Samples"]
        kept = counts["total"] - counts["dropped"] - recorder["UntimedSamples"]
        if len(samples) != kept:
            report.add(f"{len(samples)} Samples, but the Recorder counts {kept}")


def check(path, report):
    document = read_document(path, report)
    check_top_level(document, report)
    check_nodes(document, report)
    check_functions(document, report)
    check_categories(document, report)
    report.stop_if_broken()
    check_tree(document, report)
    check_gc(document, report)
    check_self_times(document, report)
    check_function_totals(document, report)
    check_line_times(document, report)
    check_recorder(document, report)
    check_script_duration(document, report)
    check_samples(document, report)
    report.stop_if_broken()
    return document


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 1
    path, report = sys.argv[1], Report()
    try:
        document = check(path, report)
    except Broken:
        for message in report.messages:
            print(f"{path!r}: {message}")
        if report.count > MOST_MESSAGES:
            print(f"{path!r}: {report.count - MOST_MESSAGES} more")
        return 1
    except OSError as error:
        print(f"cannot read {path!r}: {error.strerror}")
        return 1
    total = sum(document["Nodes"][category["NodeId"] - 1]["TotalDuration"]
                for category in document["Categories"])
    print(f"{path!r}: ok, {len(document['Categories'])} categories, {len(document['Nodes'])} nodes, "
          f"{len(document['Functions'])} functions, {total} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
