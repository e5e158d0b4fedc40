"""Programs run plain: by the interpreter itself, in a bubblewrap that holds what igloo's plan says.

igloo is asked once what the environment holds. What runs a program then is a command of bwrap's, with the interpreter
and its file as the only words behind it: neither igloo nor igloo-init has a part in it.
"""
import ctypes
import dataclasses
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile

from outcome import Outcome, Stream
from programs import ENDING, ENVIRONMENT, Program, Setting

HERE_IS_THE_CODE = "the code of the program"
# Long enough for every program of the corpus on a busy machine; a program that never ends is a fault of the corpus.
SECONDS = 120


class NotPlanned(Exception):
    pass


def ask(run: list[str], *more: str) -> str:
    done = subprocess.run([*run, *more], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise NotPlanned(f"igloo cannot plan a run: {done.stderr.strip()}")
    return done.stdout


def limits_data(run: list[str]) -> bool:
    """Whether this machine makes igloo limit the memory of each process, because it cannot count that of a sandbox."""
    return ask(run, "--", "/bin/sh", "-c", "ulimit -d").strip() != "unlimited"


def hear_every_signal() -> None:
    """For this process and what it starts: whoever started this may ignore some, and igloo gives its programs all. By the system
    call, for the C library keeps two (32, 33) to itself."""
    kernel = ctypes.CDLL(None, use_errno=True)
    rt_sigaction = {"x86_64": 13, "aarch64": 134}[os.uname().machine]
    usual = (ctypes.c_ulong * 4)()
    ignored = int(re.search(r"SigIgn:\s*(\w+)", pathlib.Path("/proc/self/status").read_text())[1], 16)
    for number in set(range(1, 65)) - {signal.SIGPIPE, signal.SIGXFSZ}:  # these two are Python's own
        if ignored >> (number - 1) & 1:
            kernel.syscall(rt_sigaction, number, usual, None, 8)


class Command:
    """bwrap's words, and the texts of the files that it makes, by the numbers that these words call them."""

    def __init__(self, text: str):
        words = shlex.split(text.replace("\\\n", ""))
        self.files: dict[str, bytes] = {}
        end = words.index("--")
        for at, word in enumerate(words[end:], end):
            if re.fullmatch(r"\d+<", word) and words[at + 1] == "<(printf":
                self.files[word[:-1]] = words[at + 3][:-1].encode()
        self.words = self.without_igloo(words[1:end])

    @staticmethod
    def without_igloo(words: list[str]) -> list[str]:
        """bwrap's own first process and not igloo-init; no privileges; only what this kernel has is covered."""
        kept: list[str] = []
        at = 0
        while at < len(words):
            word, rest = words[at], words[at + 1:]
            if word == "--as-pid-1":
                at += 1
            elif word == "--cap-add":
                at += 2
            elif word == "--file" and rest[1] == "/.igloo/init":
                del kept[-2:]  # its --perms
                at += 3
            elif word == "--ro-bind" and rest[1].startswith("/proc/") and not os.path.exists(rest[1]):
                at += 3
            elif word == "--tmpfs" and rest[0].startswith("/proc/") and not os.path.exists(rest[0]):
                del kept[-4:]  # --perms and --size
                at += 4  # and --remount-ro
            else:
                kept.append(word)
                at += 1
        return kept


class Plain:
    """Runs programs of one language."""

    def __init__(self, igloo: pathlib.Path, language: str, setting: Setting):
        with tempfile.TemporaryDirectory() as scratch:
            options = dataclasses.replace(setting, project="").words(pathlib.Path(scratch))
            run = [str(igloo), "run", "--env", ENVIRONMENT[language], *options]
            plan = ask(run, "--dry-run", "--backend", "bubblewrap", "--as", "bwrap", HERE_IS_THE_CODE)
            described = ask(run, "--dry-run", "--json", HERE_IS_THE_CODE)
            has_limit = limits_data(run)
        self.command = Command(plan)
        if setting.project:
            self.command.words[-2:-2] = ["--dir", "/project", "--ro-bind", setting.project, "/project"]
        # The limits are those of the wall that igloo itself would choose.
        self.payload = json.loads(described)["payload"]
        if not has_limit:
            del self.payload["limits"]["data"]
        self.file = f"/run/igloo/main.{ENDING[language]}"
        if self.payload["argv"][-1] != self.file:
            raise NotPlanned(f"igloo runs {self.payload['argv']}, and not a file {self.file}")

    def words(self, numbers: dict[str, str]) -> list[str]:
        words = ["bwrap", *self.command.words]
        for at, word in enumerate(words[:-1]):
            if word == "--file":
                words[at + 1] = numbers[words[at + 1]]
        for entry in self.payload["env"]:
            words += ["--setenv", *entry.split("=", 1)]
        words += ["--chdir", self.payload["cwd"], "--", "/usr/bin/setsid", "/usr/bin/prlimit"]
        for name, value in self.payload["limits"].items():
            words.append(f"--{name}={value}")
        return [*words, "--", *self.payload["argv"]]

    def run(self, program: Program) -> Outcome:
        opened: dict[str, int] = {}
        try:
            for number, text in self.command.files.items():
                opened[number] = os.memfd_create("file")
                os.write(opened[number], program.code.encode() if text == HERE_IS_THE_CODE.encode() else text)
                os.lseek(opened[number], 0, os.SEEK_SET)
            words = self.words({number: str(fd) for number, fd in opened.items()})
            with open(os.devnull, "rb") as nothing:
                done = subprocess.run(words, stdin=nothing, capture_output=True, timeout=SECONDS,
                                      pass_fds=tuple(opened.values()), umask=0o022, env={"PATH": "/usr/bin:/bin"})
        finally:
            for fd in opened.values():
                os.close(fd)
        return Outcome(done.returncode, Stream.of(done.stdout), Stream.of(done.stderr))
