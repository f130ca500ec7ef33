# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the scheduler says of a process (Documentation/scheduler/sched-stats.rst)."""

import collections
import glob

Schedstat = collections.namedtuple("Schedstat", "charged_ns waited_ns")


def read(pid):
    """What all its threads were charged, and how long they waited for a processor."""
    charged_ns = waited_ns = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as file:
            fields = file.read().split()
        charged_ns += int(fields[0])
        waited_ns += int(fields[1])
    return Schedstat(charged_ns, waited_ns)
