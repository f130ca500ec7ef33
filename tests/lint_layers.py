#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that the folders of user/ depend on each other in one direction and are all documented.

Every include names the folder of the header, "elf/elf_file.h", and a folder includes headers of
lower layers only, or its own. Nothing but the table of families names a family of interpreters
(user/interpreter/family.h) outside its own folder. In bpf/, no file includes another family's.
"""

import glob
import os
import re
import sys

with open("include/families.h", encoding="utf-8") as families:
    # Each has a folder of its name.
    FAMILIES = re.findall(r"\bX\([A-Z0-9]+, (\w+)\)", families.read().split("#define LS_FAMILIES(X)")[1])

# The lowest first. Folders of one layer may include each other.
LAYERS = [
    ["base"],
    ["system", "json", "stream"],
    ["elf"],
    ["gc"],
    ["memory"],
    ["process"],
    ["source"],
    ["worker"],
    ["symbols"],
    ["profile"],
    ["combine", "derived", "flamegraph", "reader"],
    ["format"],
    ["output"],
    ["interpreter"],
    ["walk"],
    FAMILIES,
    ["naming"],
    ["sampler"],
    ["recording"],
    ["targets"],
    ["control"],
    ["session"],
    ["dump"],
    ["summary"],
    ["statistics"],
    ["top"],
    ["desktop"],
    ["report"],
    ["options"],
    ["command"],
    ["offline"],
]
FILES_MAX = 27  # in a folder
PAGE = "bpf/README.md"  # lists the folders, each on an indented line
NAMES_FAMILIES = {"user/interpreter/family.h"}
WITHOUT_LAYERS = {"static", "share", "page"}  # other programs' sources; what is no C

LAYER_OF = {folder: layer for layer, folders in enumerate(LAYERS) for folder in folders}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
HEADERS = {os.path.basename(path): path[len("user/"):] for path in glob.glob("user/*/*.h")}


def complaints(path):
    folder = path.split("/")[1]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for match in INCLUDE.finditer(text):
        line, name = text.count("\n", 0, match.start()) + 1, match.group(1)
        included = name.split("/")[0] if "/" in name else None
        if not included and name in HEADERS:
            yield line, f'"{name}" is to be included as "{HEADERS[name]}"'
        elif included and LAYER_OF.get(included, -1) > LAYER_OF[folder]:
            yield line, f'"{name}" is of a higher layer than {folder} (LAYERS in {__file__})'


def names_of_families(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for family in FAMILIES:
        # What is compiled a second time, in user/{family}32/, belongs to the family.
        folder = rf"user/{family.removesuffix('32')}(32)?/"
        if re.match(folder, path) or path in NAMES_FAMILIES:
            continue
        name = re.compile(rf"(?<![a-z]){family}(?![a-z])", re.I)
        for number, line in enumerate(lines, 1):
            if name.search(line):
                yield number, f"names the family {family}: only user/{family}/ does"


def walkers_included():
    """In bpf/, only the files of a family, in its folder, include its headers."""
    for path in sorted(glob.glob("bpf/*.[ch]") + glob.glob("bpf/*/*.[ch]")):
        with open(path, encoding="utf-8") as file:
            for line, text in enumerate(file, 1):
                match = INCLUDE.match(text)
                folder = match.group(1).rpartition("/")[0] if match else ""
                if folder in FAMILIES and folder != path.split("/")[1]:
                    yield f"{path}:{line}: includes a header of the family {folder}"


def folders_of_page():
    with open(PAGE, encoding="utf-8") as file:
        folders = re.search(r"^user/ .*?(?=^tests/)", file.read(), re.M | re.S)
    return set(re.findall(r"^  (\w+) ", folders.group() if folders else "", re.M))


def main():
    failed = False
    there = {folder.split("/")[1] for folder in glob.glob("user/*/")}
    for name in sorted(there ^ folders_of_page()):
        print(f"user/{name}: either the folder or its line in {PAGE} is missing", file=sys.stderr)
        failed = True
    for complaint in walkers_included():
        print(complaint, file=sys.stderr)
        failed = True
    for folder in sorted(glob.glob("user/*/")):
        name = folder.split("/")[1]
        files = sorted(glob.glob(folder + "*.[ch]"))
        if name in WITHOUT_LAYERS:
            continue
        if name not in LAYER_OF:
            print(f"{folder}: has no layer (LAYERS in {__file__})", file=sys.stderr)
            failed = True
            continue
        if len(files) > FILES_MAX:
            print(f"{folder}: {len(files)} files (at most {FILES_MAX})", file=sys.stderr)
            failed = True
        for path in files:
            for line, complaint in [*complaints(path), *names_of_families(path)]:
                print(f"{path}:{line}: {complaint}", file=sys.stderr)
                failed = True
    return 1 if failed else 0


sys.exit(main())
