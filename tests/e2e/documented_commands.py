#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
documented_commands.py LUASPY FOLDER: runs every command that the pages and the manual tell to type.

Commands are the lines of blocks of code marked `sh`, those after "$ " of `console`, `lua` blocks,
the options in `conf` blocks, inline code that begins with the name of a program, and the EXAMPLES
of the manual. Blocks marked `text` are output. A block with another mark or none fails the test, and
so does a command that neither runs nor is in EXCEPTIONS. The options that inline code names exist, and
so do the messages that troubleshooting.md explains.

It runs as the first process of a PID namespace and in a mount namespace of its own: nothing it
starts is left behind, and luaspy sees only these targets. What differs from the page:

- process 1234 exists: lua5.4. PID means 1234. It is mostly idle, and Redis runs at a low priority,
  because other tests need the processors.
- a command that occurs on several pages runs once.
- the times of -d, --duration, --start-after and --interval are one second, --until-samples is 50.
- a recording without -d gets Ctrl-C after PATIENCE; top gets a terminal, and then the key q. One
  with --control goes on until the next command that starts luaspy.
- /tmp/spy is in FOLDER, where all commands run; sudo is left out: the test is root.
"""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

PAGES = ["README.md", "tests/README.md", "bpf/README.md", "user/share/doc/recipes.md",
         "user/share/doc/troubleshooting.md"]
PATIENCE = 2
LIMIT = 60

RUNS_TESTS = "runs tests, which a test cannot do"
OTHER_TOOL = "is of another profiler or tool, and only named"
PART = "is part of a command"
SYSTEMD = "needs systemd as process 1; e2e/share/test_service runs the unit"

# What is not run, and why not.
EXCEPTIONS = {
    "make demo": "installs packages; .ci/run runs it",
    "make deps": "installs packages; .ci/run runs it",
    "sudo make install": "changes this machine; e2e/share/test_install runs it with DESTDIR",
    "make install": "changes this machine; e2e/share/test_install runs it with DESTDIR",
    "make uninstall": "changes this machine; e2e/share/test_install runs it with DESTDIR",
    "make static": "builds for minutes; e2e/share/test_static runs its file",
    "make static ARCH=arm64": "downloads libraries; e2e/share/test_static needs it",
    "make image": "builds for minutes; e2e/share/test_image runs it",
    "make deb": "e2e/share/test_package runs it",
    "make reproducible": "builds everything twice; .ci/run runs it",
    "make kernels": "boots kernels for a quarter of an hour",
    "make oracle": RUNS_TESTS,
    "make bench": "measures for hours",
    "BENCH=process make bench": "measures for minutes",
    "BENCH=system make bench": "measures for minutes",
    "BENCH=reading make bench": "measures for a minute and a half",
    "BENCH=convert make bench": "measures for minutes",
    "make siege": "attacks luaspy for ten minutes; hostile/test_siege is shorter",
    "make fuzz": "runs for hours; fuzz/test_fuzz is shorter",
    "make hosts": "downloads and builds interpreters; tests build those that they need",
    "make lint": ".ci/run runs it",
    "make check": RUNS_TESTS,
    "make check TESTS=quick": RUNS_TESTS,
    'make check TESTS="unit/base e2e/top/test_top"': RUNS_TESTS,
    "make check TESTS=oracle/test_lines": RUNS_TESTS,
    "make check TESTS=e2e/interpreter/test_fibers": RUNS_TESTS,
    "make check TESTS=e2e/dump/test_dump": RUNS_TESTS,
    "make check TESTS=e2e/interpreter/test_chunks": RUNS_TESTS,
    "make check TESTS=names": RUNS_TESTS,
    "make check TESTS=accuracy": RUNS_TESTS,
    "make check TESTS=toy": RUNS_TESTS,
    "tests/kernels/run.sh --markdown": "boots kernels for an hour",
    "podman load -i FILE": "e2e/share/test_image loads the image",
    "skopeo copy oci-archive:FILE docker://REGISTRY/luaspy": "needs a registry",
    "kubectl debug": "needs a cluster",
    "sudo systemctl enable --now luaspy": SYSTEMD,
    "systemctl reload luaspy": SYSTEMD,
    "journalctl -u luaspy": SYSTEMD,
    "luaspy open profile.json": "needs a desktop; e2e/offline/test_open stands in for one",
    "luaspy open out.json": "needs a desktop; e2e/offline/test_open stands in for one",
    "docker ps": OTHER_TOOL,
    "perf record -g": OTHER_TOOL,
    "perf record": OTHER_TOOL,
    "perf record -e task-clock": OTHER_TOOL,
    "perf script": OTHER_TOOL,
    "luac -s": PART,
    "mkfifo -m 666": PART,
    "unshare --mount-proc": PART,
    "luaspy diff": PART,
    "luaspy merge": PART,
    "luaspy trim": PART,
    "nsenter --all": PART,
}

# Programs and builtins that inline code may begin with, wherever they are installed.
PROGRAMS = set("""luaspy make man lua5.4 perf docker podman skopeo kubectl systemctl journalctl
    perfgraph.py luac mkfifo unshare nsenter mount kill echo exec read ulimit nice sudo""".split())
# What luaspy calls a process: 'lua5.4 (pid 42)' and, by its command line, these.
LABELS = {"lua5.4 server.lua", "redis-server 127.0.0.1:6379"}
LANGUAGES = {"sh", "console", "lua", "conf", "text"}

SLOWER = 4  # the status of `diff --fail-over` if a function takes more time than before

# As server.lua, works at each line of its input; as app.lua, for half a second.
SCRIPT = """
local function work() local s = 0 for i = 1, 1e5 do s = s + math.sqrt(i) end return s end
local body = coroutine.wrap(function() while true do coroutine.yield(work()) end end)
if arg[0]:find("server.lua", 1, true) then
	for _ in io.lines() do body() end
end
local stop = os.clock() + 0.5
while os.clock() < stop do body() end
"""
PAUSE = 0.01  # between the requests that a target gets
# As another program writes it.
CPUPROFILE = ('{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2]},{"id":2,'
              '"callFrame":{"functionName":"f","scriptId":"7","url":"a.js","lineNumber":3}}],'
              '"startTime":0,"endTime":3000,"samples":[2,2],"timeDeltas":[1000,1000]}')
# Ten seconds of two functions, with marks: what merge, trim and diff are shown with.
RECORDING = json.dumps({
    "Version": 2, "SessionStartTime": 1700000000000, "SessionEndTime": 1700000010000,
    "Categories": [{"Name": "lua5.4", "NodeId": 1}],
    "Nodes": [{"TotalDuration": 10000000, "FunctionIds": [1, 2], "NodeIds": [2, 3]},
              {"TotalDuration": 6000000, "Samples": 60}, {"TotalDuration": 4000000, "Samples": 40}],
    "Functions": [{"Source": "app.lua", "Name": "load", "Line": 1, "TotalDuration": 6000000},
                  {"Source": "app.lua", "Name": "serve", "Line": 9, "TotalDuration": 4000000}],
    "Recorder": {"Tool": "luaspy", "Version": "1", "WallDuration": 10000000,
                 "Events": [{"TimeUs": 1000000, "Kind": "mark", "Text": "load"},
                            {"TimeUs": 6000000, "Kind": "mark", "Text": "serve"}]},
    "Samples": [[2 if i < 60 else 3, 100000, 7] for i in range(100)]})
RECORDINGS = "in a b a1 a2 b1 b2 before after day/1 day/2".split()
REDIS = "local s = 0 while true do for i = 1, 1e5 do s = s + math.sqrt(i) end end"


class Failure(Exception):
    pass


def fail(text):
    raise Failure(text)


def is_whole(text):
    """Whether a shell takes it as it is; no: a quote or a brace is still open."""
    return subprocess.run(["bash", "-n", "-c", text], stderr=subprocess.DEVNULL).returncode == 0


def without_comment(line):
    return re.sub(r"\s+#\s.*$", "", line).strip()


def commands_of_block(language, lines, where):
    if language not in LANGUAGES:
        fail(f"{where}: a block marked '{language}' (marks are: {', '.join(sorted(LANGUAGES))})")
    text = "\n".join(lines)
    if language == "text":
        return []
    if language == "lua":
        return [("lua", text)]
    if language == "conf":
        options = re.findall(r'^LUASPY_OPTIONS="(.*)"$', text, re.M)
        return [("sh", f"luaspy record --system {each}") for each in options]
    if language == "console":
        return [("sh", line[2:]) for line in lines if line.startswith("$ ")]
    if "exec " in text: # of the shell that goes on
        return [("sh", text)]
    commands, begun = [], ""
    for line in lines:
        begun += ("\n" if begun else "") + (line if begun else without_comment(line))
        if begun and is_whole(begun):
            commands.append(("sh", begun))
            begun = ""
    if begun:
        fail(f"{where}: no end of the command '{begun}'")
    return commands


def is_command(text):
    """Whether inline code is to be typed, and not how luaspy calls a process."""
    words = text.split()
    if "(pid " in text or text in LABELS:
        return False
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    return len(text.split()) > 1 and bool(words) and re.fullmatch(r"[\w./-]+", words[0]) and \
        (words[0] in PROGRAMS or shutil.which(words[0]) is not None or "/" in words[0][1:])


def commands_of_page(page, options):
    """In the order of the page; adds the options that its inline code names to `options`."""
    found, block, paragraph, begin = [], None, [], 0

    def end_paragraph():
        for span in re.findall(r"`([^`]+)`", " ".join(paragraph)):
            if span.startswith("-"):
                options.update((option, page) for option in re.findall(r"--[a-z][a-z-]+", span))
            elif is_command(span):
                found.append((page, "sh", span))
        paragraph.clear()

    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            if line.startswith("```") and block is None:
                end_paragraph()
                block, language, begin = [], line[3:], number
            elif line.startswith("```"):
                found += [(page, *each) for each in
                          commands_of_block(language, block, f"{page}:{begin}")]
                block = None
            elif block is not None:
                block.append(line)
            elif line.strip():
                paragraph.append(line.strip())
            else:
                end_paragraph()
        end_paragraph()
    return found


def commands_of_manual(pages):
    found = []
    for name, text in pages.items():
        examples = text.partition("\n.SH EXAMPLES\n")[2].partition("\n.SH ")[0]
        lines = re.findall(r"^\.TP\n\\fB(.*)\\fR$", examples, re.M)
        if not lines or len(lines) != examples.count(".TP"):
            fail(f"{name}(1): {len(lines)} commands in EXAMPLES:\n{examples}")
        for escape, character in (("\\-", "-"), ("\\(aq", "'"), ("\\(ha", "^"), ("\\(ti", "~")):
            lines = [line.replace(escape, character) for line in lines]
        found += [(f"{name}(1)", "sh", line) for line in lines]
    return found


def adapted(command, folder):
    command = re.sub(r"(?<![\w-])PID(?![\w-])", "1234", command)
    command = re.sub(r"(\s(?:-d|--duration|--start-after|--interval)[ =])[0-9.]+[a-z]*", r"\g<1>1s",
                     command)
    command = re.sub(r"(--until-samples[ =])\d+", r"\g<1>50", command)
    return command.replace("/tmp/spy", f"{folder}/spy")


class Runner:
    def __init__(self, folder):
        self.folder = folder
        self.listener = None

    def finish(self, process, command, log, limit=LIMIT):
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            fail(f"'{command}' did not end\n{read(log)}")
        # On a busy machine two recordings of one program may differ beyond noise.
        if status != 0 and not (status == SLOWER and "--fail-over" in command):
            fail(f"'{command}' ended with status {status}\n{read(log)}")

    def end_listener(self):
        if self.listener:
            process, command, log = self.listener
            self.listener = None
            os.killpg(process.pid, signal.SIGINT)
            self.finish(process, command, log)

    def run_in_terminal(self, command, log):
        parent, child = pty.openpty()
        process = subprocess.Popen(["setsid", "--ctty", "--wait", "bash", "-c", command],
                                   stdin=child, stdout=child, stderr=child, close_fds=True)
        os.close(child)
        stop = time.monotonic() + PATIENCE
        text = b""
        os.set_blocking(parent, False)
        while process.poll() is None and time.monotonic() < stop + LIMIT:
            try:
                text += os.read(parent, 65536)
            except OSError:
                pass
            if stop and time.monotonic() > stop:
                os.write(parent, b"q")
                stop += LIMIT
            time.sleep(0.02)
        os.close(parent)
        with open(log, "wb") as file:
            file.write(text)
        if b"function" not in text and b"process" not in text:
            fail(f"'{command}' showed nothing\n{read(log)}")
        self.finish(process, command, log, 1)

    def run(self, kind, command):
        log = f"{self.folder}/log"
        if kind == "lua":
            words = ["lua5.4", "-e", command]
        else:
            words = ["bash", "-c", command]
        if re.search(r"(^|\s)luaspy\s", command):
            self.end_listener()
        if "luaspy top" in command and "--help" not in command:
            self.run_in_terminal(command, log)
            return
        with open(log, "wb") as file:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file,
                                       stderr=file, start_new_session=True)
        if "--control " in command:
            self.listener = (process, command, log)
            await_path(f"{self.folder}/spy")
            time.sleep(1)
            return
        if "luaspy record" in command and not re.search(r"\s(-d|--)\s", command):
            time.sleep(PATIENCE)
            os.killpg(process.pid, signal.SIGINT)
        self.finish(process, command, log)
        if self.listener: # it was told something: between "resume" and "pause" are samples
            time.sleep(0.5)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def await_path(path):
    stop = time.monotonic() + LIMIT
    while not os.path.exists(path):
        if time.monotonic() > stop:
            fail(f"no '{path}' after {LIMIT} s")
        time.sleep(0.02)


def send_requests(process):
    while True:
        process.stdin.write(b"\n")
        process.stdin.flush()
        time.sleep(PAUSE)


def start_target(words, pid=None):
    """In the background; as that process if it is given, whose number must be free."""
    if pid:
        write("/proc/sys/kernel/ns_last_pid", str(pid - 1))
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    if pid and process.pid != pid:
        fail(f"the target is process {process.pid}, not {pid}")
    if "server.lua" in words:
        threading.Thread(target=send_requests, args=[process], daemon=True).start()


def make_targets(folder):
    os.mkdir(f"{folder}/bin")
    for name in "app.lua", "server.lua":
        write(f"{folder}/{name}", SCRIPT)
    os.mkdir(f"{folder}/day")
    for name in RECORDINGS:
        write(f"{folder}/{name}.json", RECORDING)
    write(f"{folder}/Makefile", "test:\n\tlua5.4 app.lua\n")
    shutil.copy(shutil.which("lua5.4"), f"{folder}/bin/haproxy")
    os.environ["PATH"] = f"{folder}/bin:{os.environ['PATH']}:/usr/sbin:/sbin"
    start_target(["lua5.4", "server.lua"], 1234)
    start_target(["setpriv", "--reuid=www-data", "--regid=www-data", "--clear-groups", "haproxy",
                  "server.lua"])
    start_target(["nice", "-n", "10", "redis-server", "--port", "0",
                  "--unixsocket", f"{folder}/redis", "--save", ""])
    await_path(f"{folder}/redis")
    start_target(["redis-cli", "-s", f"{folder}/redis", "eval", REDIS, "0"])


def make_recordings(luaspy, folder):
    """Those that the commands read."""
    subprocess.run([luaspy, "record", "-p", "1234", "-d", "1", "-o", f"{folder}/out.json"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shutil.copy(f"{folder}/out.json", f"{folder}/profile.json")
    shutil.copy(f"{folder}/out.json", f"{folder}/old.json")
    subprocess.run(["gzip", f"{folder}/old.json"], check=True)
    write(f"{folder}/chrome.cpuprofile", CPUPROFILE)


def make_surroundings(luaspy, folder):
    """The manual, the folder of the service's files, luaspy in PATH, sudo that is nothing."""
    pages = {}
    script = os.path.abspath("user/share/manual.sh")
    names = subprocess.run(["sh", script, "--list", luaspy], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    os.makedirs(f"{folder}/man/man1")
    for name in names:
        pages[name] = subprocess.run(["sh", script, name, luaspy], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout
        write(f"{folder}/man/man1/{name}.1", pages[name])
    os.mkdir(f"{folder}/man/man7")
    for name in "recipes", "troubleshooting":
        guide = subprocess.run(["sh", os.path.abspath("user/share/guide.sh"), name, luaspy],
                               check=True, stdout=subprocess.PIPE, text=True).stdout
        write(f"{folder}/man/man7/luaspy-{name}.7", guide)
    subprocess.run(["mount", "-t", "tmpfs", "none", "/var/log"], check=True)
    os.mkdir("/var/log/luaspy")
    os.symlink(luaspy, f"{folder}/bin/luaspy")
    write(f"{folder}/sudo.sh", 'sudo() { "$@"; }\n')
    os.environ.update(BASH_ENV=f"{folder}/sudo.sh", MANPATH=f"{folder}/man", MANPAGER="cat",
                      TERM="xterm")
    os.environ.pop("MAKEFLAGS", None)
    return pages


def check_options(luaspy, options):
    """An option that a page names is one of a command's, or of make's programs."""
    helps = "".join(subprocess.run([luaspy, "help", command], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout
                    for command in ("record", "top", "dump", "list", "check", "report", "open",
                                    "convert", "merge", "trim", "diff"))
    for option, page in sorted(options):
        if not re.search(re.escape(option) + r"(?![a-z-])", helps):
            fail(f"{page}: no command has the option '{option}'")
    return len(options)


def check_messages(page):
    """
    The parts of each message in the page's tables and explanations are in the sources, which put
    some together of several: "cannot %s: %s".
    """
    sources = ""
    for folder, _, names in os.walk("user"):
        for name in names:
            if name.endswith((".c", ".h")):
                sources += re.sub(r'"\s*"', "", read(os.path.join(folder, name)))
    messages = re.findall(r"^(?:\| \[)?`([^`]+)`(?:\]\(#[a-z-]+\) \||[:,])",
                          read(page).partition("\n## Known limits")[0], re.M)
    for message in messages:
        message = re.sub(r"^cannot |none of 10.*\ssamples|\(pid N\)", "", message)
        parts = re.split(r"\bNAME\b|\bN\b|'FILE'|'--name REGEX'|\.\.\.|: |, ", message)
        for part in (part.strip() for part in parts):
            if " " in part and part not in sources:
                fail(f"{page}: no message says '{part}'")
    return len(messages)


def main():
    luaspy, folder = sys.argv[1:]
    sources = os.getcwd()
    options, commands = set(), []
    os.chmod(folder, 0o755)
    for page in PAGES:
        commands += commands_of_page(page, options)
    os.mkdir(f"{folder}/work")
    os.chdir(f"{folder}/work")
    folder = os.getcwd()
    make_targets(folder)
    make_recordings(luaspy, folder)
    os.chdir(sources)
    commands += commands_of_manual(make_surroundings(luaspy, folder))
    named = check_options(luaspy, options)
    explained = check_messages("user/share/doc/troubleshooting.md")
    unused, failures, runner, seen = set(EXCEPTIONS), [], Runner(folder), set()
    targets = subprocess.run(["make", "help"], check=True, text=True, stdout=subprocess.PIPE).stdout
    for page, kind, command in commands:
        if command in EXCEPTIONS:
            unused.discard(command)
            target = re.match(r"(?:sudo )?make ([a-z]+)", command)
            if target and f"make {target[1]} " not in targets:
                fail(f"{page}: '{command}': make help does not name it")
            print(f"not run: {command} ({EXCEPTIONS[command]})")
            continue
        if command in seen:
            continue
        seen.add(command)
        os.chdir(sources if command.startswith("make") else folder)
        print(f"{page}: {command}", flush=True)
        try:
            runner.run(kind, adapted(command, folder))
        except Failure as failure:
            failures.append(f"{page}: {failure}")
    runner.end_listener()
    print(f"{len(seen)} commands ran, {len(EXCEPTIONS)} are exceptions; {named} options and "
          f"{explained} messages are there")
    if unused:
        failures.append(f"exceptions that no page has: {', '.join(sorted(unused))}")
    if failures:
        fail("\n".join(failures))


try:
    main()
except Failure as failed:
    sys.exit(str(failed))
