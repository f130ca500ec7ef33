#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks C files for what clang-format does not: lengths, // comments, the licence line."""

import re
import sys

FILE_LINES = 500
FUNCTION_LINES = 60
SPDX = "/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */"

# Comments and literals, so that "//" in a string or in a comment's URL is none of ours.
TOKEN = re.compile(r"""/\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | //""", re.S | re.X)


def line_comments(text):
    for match in TOKEN.finditer(text):
        if match.group() == "//":
            yield text.count("\n", 0, match.start()) + 1, "comment with // (use /* */)"


def long_functions(lines):
    """clang-format puts the braces of a function, and of nothing else, into column 0 alone."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            length = number - start + 1
            if length > FUNCTION_LINES:
                yield start, f"function of {length} lines (at most {FUNCTION_LINES})"
            start = None


def complaints(text):
    lines = text.splitlines()
    if not lines or lines[0] != SPDX:
        yield 1, f"the first line is not '{SPDX}'"
    if len(lines) > FILE_LINES:
        yield len(lines), f"file of {len(lines)} lines (at most {FILE_LINES})"
    yield from line_comments(text)
    yield from long_functions(lines)


def main():
    failed = False
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for number, complaint in complaints(text):
            print(f"{path}:{number}: {complaint}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


sys.exit(main())
