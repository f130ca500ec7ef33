# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How far honest programs stay below the budgets of CPU time for reading them.

Each program that is installed runs a script that works, or just waits, while luaspy records it for
two seconds. The times are those that luaspy logs for each process: for its mapped files, and for its
memory. The limit is half of a budget (user/process/time_budget.h)."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LUASPY = os.environ["LUASPY"]
MIB = 1024 * 1024
MAPPED_BUDGET_MS, MEMORY_BUDGET_MS = 500, 200
ROW = "{:<16} {:<10} {:>10} {:>12} {:>10} {:>10}"

WORK = """\
local function work(n)
  local t = {}
  for i = 1, n do t[#t + 1] = tostring(i):rep(2) end
  return #table.concat(t)
end
local function call(f, depth)
  if depth == 0 then return f(1000) end
  return call(f, depth - 1) + 0
end
while true do call(work, 20) end
"""
HAPROXY = """\
global
  lua-load work.lua
defaults
  mode tcp
  timeout client 1s
  timeout server 1s
  timeout connect 1s
"""

# What to type so that the program runs work.lua, or, if it needs more than that for it, waits.
COMMANDS = (
    "lua5.1 work.lua",
    "lua5.2 work.lua",
    "lua5.3 work.lua",
    "lua5.4 work.lua",
    "luajit work.lua",
    "luacheck -",
    "redis-server --port 0 --unixsocket redis.sock",
    "haproxy -db -f haproxy.cfg",
    "nvim --headless -u NONE -c 'luafile work.lua'",
    "vim -es -u NONE -c 'luafile work.lua'",
    "nmap --script ./work.lua 127.0.0.1",
    "tshark -l -i lo -X lua_script:work.lua",
    "texlua work.lua",
    "texluajit work.lua",
    "tarantool work.lua",
    "sysbench work.lua run",
    "pandoc -f markdown -t work.lua",
    "weechat-headless -d weechat",
    "premake4 --file=work.lua gmake",
    "imapfilter -c work.lua",
    "rpm --eval '%{lua: dofile(\"work.lua\")}'",
    "clingo -",
)


def largest_mapping(pid):
    """The size of the largest file of which the process has mapped code."""
    sizes = [0]
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            fields = line.split(maxsplit=5)
            path = fields[5].rstrip("\n") if len(fields) > 5 else ""
            if "x" in fields[1] and path.startswith("/") and os.path.exists(path):
                sizes.append(os.stat(path).st_size)
    return max(sizes)


def record(pid, folder):
    """What luaspy says about the interpreter, and the milliseconds that it logs."""
    command = (LUASPY, "record", "-v", "-p", str(pid), "-d", "2", "-F", "1khz")
    said = subprocess.run(
        (*command, "-o", os.path.join(folder, "profile.json")),
        capture_output=True, text=True, errors="replace", check=False,
    ).stderr
    pattern = rf"reading pid {pid} took ([0-9.]+) ms .* files, ([0-9.]+) ms for its memory"
    found = re.findall(pattern, said)
    interpreter = re.search(rf"\(pid {pid}\): (Lua [0-9.]+|LuaJIT [0-9.]+|Luau)", said)
    times = [sum(float(each[i]) for each in found) for i in (0, 1)]
    return interpreter.group(1) if interpreter else "none", times


def measure(command, folder):
    environment = dict(os.environ, HOME=folder, LC_ALL="C.UTF-8")
    with subprocess.Popen(
        f"exec {command}", shell=True, cwd=folder, env=environment, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    ) as process:
        time.sleep(1)
        if process.poll() is not None:
            return None
        size = largest_mapping(process.pid)
        interpreter, times = record(process.pid, folder)
        os.killpg(process.pid, signal.SIGKILL)
    return size, interpreter, times


def main():
    most = [0, 0]
    print(ROW.format("program", "found", "file MiB", "mapped ms", "memory ms", "of budget"))
    for command in COMMANDS:
        name = command.split()[0]
        if not shutil.which(name):
            print(f"{name:<16} not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            for file, text in (("work.lua", WORK), ("haproxy.cfg", HAPROXY)):
                with open(os.path.join(folder, file), "w", encoding="utf-8") as stream:
                    stream.write(text)
            result = measure(command, folder)
        if not result:
            print(f"{name:<16} did not stay")
            continue
        size, interpreter, (mapped, memory) = result
        most = [max(most[0], mapped), max(most[1], memory)]
        share = max(mapped / MAPPED_BUDGET_MS, memory / MEMORY_BUDGET_MS)
        print(ROW.format(name, interpreter, f"{size / MIB:.1f}", f"{mapped:.1f}",
                         f"{memory:.1f}", f"{share:.1%}"))
    print()
    is_met = True
    for what, took, budget in (
        ("for mapped files", most[0], MAPPED_BUDGET_MS),
        ("for memory", most[1], MEMORY_BUDGET_MS),
    ):
        is_below = took <= budget / 2
        is_met = is_met and is_below
        print(f"{'meets' if is_below else 'misses'} the most {what}: {took:.1f} ms, "
              f"at most {budget // 2} ms (the budget is {budget} ms)")
    return 0 if is_met and any(most) else 1


if __name__ == "__main__":
    sys.exit(main())
