# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The processes of a host that is sampled as a whole, by names of their own."""

import os
import signal
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SPINNER = "while :; do :; done"


class Processes:
    """`count` processes called `name` that run until the `with` block ends."""

    def __init__(self, folder, name, command, count, cpus=None, is_nice=False):
        program = os.path.join(folder, name)  # the kernel calls a process as its file
        os.symlink(os.path.realpath(command[0]), program)
        self.input, self.writing_end = os.pipe()
        environment = dict(os.environ, LUA_PATH=f"{HERE}/?.lua")
        self.items = [
            subprocess.Popen(
                [program, *command[1:]],
                stdin=self.input,
                stdout=subprocess.DEVNULL,
                env=environment,
            )
            for _ in range(count)
        ]
        for process in self.items:
            if cpus:
                os.sched_setaffinity(process.pid, cpus)
            if is_nice:
                os.setpriority(os.PRIO_PROCESS, process.pid, 19)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for process in self.items:
            process.kill()
        for process in self.items:
            process.wait()
        os.close(self.input)
        os.close(self.writing_end)

    def stop(self):
        self._tell(signal.SIGSTOP)

    def go_on(self):
        self._tell(signal.SIGCONT)

    def write(self, count):
        """A byte for each of `count` of them, into the input that they share."""
        os.write(self.writing_end, b"." * count)

    def _tell(self, number):
        for process in self.items:
            process.send_signal(number)
