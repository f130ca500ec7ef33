#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""definitions_in_bytecode.py <FILES: how compiled programs name their functions.

Reads names of files, and the listings that luac makes of them. Writes for each file "file", its
name and how many functions it has; then for each function that has its lines alone the first line,
the last, and the variable, field or upvalue that the instructions after its CLOSURE store it in
("-": none was found). This is another way to learn what luaspy reads from the source text.
"""

import re
import subprocess
import sys

HEAD = re.compile(r"^(main|function) <(.*):(\d+),(\d+)> \(\d+ instructions?.* at (0x[0-9a-f]+)\)$")
SIZES = re.compile(r"^\d+\+? params?, \d+ slots?, (\d+) upvalues?")
CODE = re.compile(r"^\t(\d+)\t\[[-\d]+\]\t(\w+)\s*((?:\s?-?\d+k?)*)\s*(?:;\s(.*))?$")
LOCAL = re.compile(r"^\t\d+\t(\S+)\t(\d+)\t(\d+)$")
STORES = {"SETGLOBAL", "SETTABUP", "SETTABLE", "SETFIELD", "SETUPVAL"}
REACH = 40  # instructions that a list of values may have between a closure and its store


class Function:
    def __init__(self, match):
        self.first, self.last = int(match.group(3)), int(match.group(4))
        self.address = match.group(5)
        self.captures = 0
        self.code = []  # (opcode, operands, comment)
        self.locals = []  # (name, first pc, pc after the last)
        self.name = None


def functions_of(listing):
    found, part = [], None
    for line in listing.split("\n"):
        head, local = HEAD.match(line), LOCAL.match(line)
        if head:
            found.append(Function(head))
            part = "code"
        elif SIZES.match(line):
            found[-1].captures = int(SIZES.match(line).group(1))
        elif re.match(r"^(constants|locals|upvalues) ", line):
            part = line.split()[0]
        elif part == "code" and CODE.match(line):
            _, opcode, operands, comment = CODE.match(line).groups()
            numbers = [int(word.rstrip("k")) for word in operands.split()]
            found[-1].code.append((opcode, numbers, comment or ""))
        elif part == "locals" and local:
            found[-1].locals.append((local.group(1), int(local.group(2)), int(local.group(3))))
    return found


def quoted(text):
    """The last string constant in a comment such as '_ENV "f"' or '"run" -'."""
    match = re.search(r'"((?:[^"\\]|\\.)*)"(?: -)?$', text)
    return match.group(1) if match else None


def stored_name(opcode, operands, comment, register, texts):
    """Under which name this instruction stores that register: "-" if it tells none, None if it
    stores another one. `texts` are the strings in registers: a key may be in one."""
    if opcode in ("SETGLOBAL", "SETUPVAL"):
        return (comment or "-") if operands[0] == register else None
    if operands[2] != register:
        return None
    return quoted(comment) or texts.get(operands[1]) or "-"


def local_in(function, register, pc):
    """The local variable in that register once instruction pc (from 1) is done."""
    active = [name for name, first, after in function.locals if first <= pc + 1 < after]
    return active[register] if register < len(active) else None


def name_of(function, index, captures, is_5_1):
    register = function.code[index][1][0]
    at = index + 1 + (captures if is_5_1 else 0)
    name = local_in(function, register, at)
    if name:
        return name
    texts = {operands[0]: quoted(comment) for opcode, operands, comment
             in function.code[max(0, index - 2):index] if opcode == "LOADK"}
    for pc, (opcode, operands, comment) in enumerate(function.code[at:at + REACH], at + 1):
        if opcode in STORES:
            name = stored_name(opcode, operands, comment, register, texts)
            if name:
                return name
        elif opcode == "LOADK":
            texts[operands[0]] = quoted(comment)
        # Another value in the register, or a use of it: what follows is about something else.
        elif not re.match(r"CLOSURE|LOAD|MOVE|GET|NEWTABLE|EXTRAARG", opcode):
            break
        elif operands and operands[0] == register:
            break
        # The locals of a list begin after its last value.
        name = local_in(function, register, pc)
        if name:
            return name
    return None


def functions_in(path):
    """The functions of a file, by the first compiler that takes it; [] if none does."""
    for luac in "luac5.4", "luac5.1", "luac5.3", "luac5.2":
        try:
            listing = subprocess.run([luac, "-l", "-l", "-p", path], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, check=True, encoding="utf-8",
                                     errors="replace").stdout
        except (OSError, subprocess.CalledProcessError):
            continue
        functions = functions_of(listing)
        by_address = {function.address: function for function in functions}
        for function in functions:
            for index, (opcode, _, comment) in enumerate(function.code):
                child = by_address.get(comment) if opcode == "CLOSURE" else None
                if child:
                    child.name = name_of(function, index, child.captures, luac == "luac5.1")
        return functions
    return []


for file in sys.stdin.read().splitlines():
    # Those that have their lines alone: the first is the main chunk.
    members = functions_in(file)[1:]
    lines = [(member.first, member.last) for member in members]
    print("file", file, len(members), sep="\t")
    for member in members:
        if lines.count((member.first, member.last)) == 1:
            print(member.first, member.last, member.name or "-", sep="\t")
