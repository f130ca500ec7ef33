# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The Lua program whose throughput is measured."""

import collections
import os
import select
import subprocess
import time

import schedstat

HERE = os.path.dirname(os.path.abspath(__file__))

# Units of work done, and nanoseconds that it was on a processor, both since some beginning.
Point = collections.namedtuple("Point", "units busy_ns")


class Target:
    """A script that runs until the `with` block ends. It writes a byte after each unit of work."""

    def __init__(self, lua, script, cpus):
        environment = dict(os.environ, LUA_PATH=f"{HERE}/?.lua")
        self.process = subprocess.Popen(
            [lua, f"{HERE}/{script}.lua"], stdout=subprocess.PIPE, env=environment
        )
        self.pid = self.process.pid
        self.output = self.process.stdout.fileno()
        self.units = 0
        os.sched_setaffinity(self.pid, cpus)
        os.set_blocking(self.output, False)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def point(self):
        """Waits for the end of the unit that is being done. The time comes from the wall clock,
        less what the target waited for a processor: its own CPU time leaves out, on most
        distributions' kernels, the interrupts in which it is sampled."""
        self._count()
        select.select([self.output], [], [])
        now_ns = time.monotonic_ns()
        self._count()
        return Point(self.units, now_ns - schedstat.read(self.pid).waited_ns)

    def _count(self):
        try:
            while True:
                done = len(os.read(self.output, 65536))
                if not done:
                    raise SystemExit(f"cannot measure: '{self.process.args[1]}' has ended")
                self.units += done
        except BlockingIOError:
            pass
