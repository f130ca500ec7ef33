# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The Lua program whose throughput is measured."""

import collections
import contextlib
import os
import select
import statistics
import subprocess
import time

import schedstat

HERE = os.path.dirname(os.path.abspath(__file__))

# Units of work done, the time, and for how long it has waited for a processor.
Point = collections.namedtuple("Point", "units time_ns waited_ns")


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
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, self.pid, -20)
        os.set_blocking(self.output, False)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def charged_ns(self):
        return schedstat.read(self.pid).charged_ns

    def unit_ns(self, seconds):
        """Wall-clock time per unit of work. Units in which it waited for the processor are left
        out, and of the others the fastest and the slowest quarter: what disturbs single units on a
        busy machine does not count. Its own CPU time would not do: that leaves out, on most
        distributions' kernels, the interrupts in which it is sampled."""
        units = []
        last = self._point()
        end_ns = last.time_ns + seconds * 1e9
        while last.time_ns < end_ns or not units:
            now = self._point()
            if now.units == last.units + 1 and now.waited_ns == last.waited_ns:
                units.append(now.time_ns - last.time_ns)
            last = now
        units.sort()
        quarter = len(units) // 4
        return statistics.mean(units[quarter : len(units) - quarter])

    def _point(self):
        """Waits for the end of the unit that is being done."""
        self._count()
        select.select([self.output], [], [])
        time_ns = time.monotonic_ns()
        self._count()
        return Point(self.units, time_ns, schedstat.read(self.pid).waited_ns)

    def _count(self):
        try:
            while True:
                done = len(os.read(self.output, 65536))
                if not done:
                    raise SystemExit(f"cannot measure: '{self.process.args[1]}' has ended")
                self.units += done
        except BlockingIOError:
            pass
