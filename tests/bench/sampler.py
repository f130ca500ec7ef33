# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What samples the target during a window: luaspy, perf, or the empty program."""

import collections
import contextlib
import ctypes
import ctypes.util
import glob
import os
import signal
import subprocess
import time

import schedstat

START_SECONDS = 30
POLL_SECONDS = 0.002  # each takes some 50 us, maybe from what it waits for
PERF_EVENT_PROGRAM = "7"  # BPF_PROG_TYPE_PERF_EVENT, linux/bpf.h
PERF_EVENT_LINK = "perf"  # bpf_link_type_strs, kernel/bpf/syscall.c
STATISTICS_RUN_TIME = 0  # BPF_STATS_RUN_TIME, linux/bpf.h

Runs = collections.namedtuple("Runs", "count time_ns")


def heed_interrupts():
    """What a shell starts in the background ignores SIGINT, and so does what that starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Sampler:
    """Runs from when its timer ticks, or `timers` that BPF runs on do, until the `with` block
    ends."""

    def __init__(self, command, timers=0):
        self.timers = timers
        self.programs = None
        begin = time.monotonic()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=heed_interrupts,
        )
        self.pid = self.process.pid
        while not (self._has_timers() if timers else self._has_timer()):
            if self.process.poll() is not None or time.monotonic() - begin > START_SECONDS:
                self._fail()
            time.sleep(POLL_SECONDS)
        # The target is busy: its first sample comes within a period. That others had the processor
        # meanwhile is not luaspy's doing.
        waited_ns = schedstat.read(self.pid).waited_ns
        self.start_ms = (time.monotonic() - begin) * 1000 - waited_ns / 1e6

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.send_signal(signal.SIGINT)
        errors = self.process.communicate()[1]
        if self.process.returncode > 0 and not exception[0]:
            self._fail(errors)

    def cpu_ns(self):
        return schedstat.read(self.pid).charged_ns

    def peak_bytes(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["VmHWM"].split()[0]) * 1024

    def runs(self):
        """Of its BPF programs on timers, while bpf_statistics() are on. A program that another
        calls is part of the other's time."""
        count = time_ns = 0
        if self.programs is None:
            self.programs = self._fds("prog_type", PERF_EVENT_PROGRAM)
        for path in self.programs:
            fields = self._fields(path)
            count += int(fields["run_cnt"])
            time_ns += int(fields["run_time_ns"])
        return Runs(count, time_ns)

    def _fds(self, field, value):
        """The files of /proc that tell of descriptors whose `field` has this value."""
        paths = glob.glob(f"/proc/{self.pid}/fdinfo/*")
        return [path for path in paths if self._fields(path).get(field, "").strip() == value]

    @staticmethod
    def _fields(path):
        try:
            with open(path, encoding="ascii") as file:
                return dict(line.split(":", 1) for line in file if ":" in line)
        except FileNotFoundError:
            return {}

    def _has_timers(self):
        # A timer is two descriptors: to look closer takes long where they are many.
        if len(os.listdir(f"/proc/{self.pid}/fd")) < 2 * self.timers:
            return False
        return len(self._fds("link_type", PERF_EVENT_LINK)) >= self.timers

    def _has_timer(self):
        folder = f"/proc/{self.pid}/fd"
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                if "[perf_event]" in os.readlink(f"{folder}/{name}"):
                    return True
        return False

    def _fail(self, errors=None):
        self.process.kill()
        errors = errors or self.process.communicate()[1]
        command = " ".join(self.process.args)
        raise SystemExit(f"cannot measure with '{command}':\n{errors.decode(errors='replace')}")


@contextlib.contextmanager
def bpf_statistics():
    """The kernel's own, which cost each run two looks at the clock: not for other measurements.
    By a file descriptor and not by sysctl, so that they end with this process at the latest."""
    library = ctypes.CDLL(ctypes.util.find_library("bpf"), use_errno=True)
    descriptor = library.bpf_enable_stats(STATISTICS_RUN_TIME)
    if descriptor < 0:
        raise SystemExit(f"cannot enable BPF statistics: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        os.close(descriptor)
