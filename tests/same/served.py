"""Programs run by igloo: cold by `igloo run`, and by a server, warm or not."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

from outcome import Outcome, Stream, unpacked
from programs import ENDING, WAITING, Program, Setting

SECONDS = 120
# How long a server gets to load an interpreter ahead, on a busy machine.
PATIENCE = 10
# An interpreter that rests may still be about to be ready; then the call gets another one, and is made again.
ATTEMPTS = 3
# How long it takes at most until an interpreter is gone that was used.
TAKEN_DOWN = 3
# How old an interpreter is at least that waited for a program which can tell.
AGED = 3.5


class NotServed(Exception):
    """igloo did not run the program at all."""


def own_home(directory: pathlib.Path) -> dict[str, str]:
    """No configuration and no log of whoever runs the tests."""
    directory.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(directory), "XDG_STATE_HOME": str(directory / "state")}


class Cold:
    def __init__(self, igloo: pathlib.Path, home: pathlib.Path):
        self.igloo, self.home = igloo, home
        self.variables = own_home(home)

    def run(self, program: Program) -> Outcome:
        with tempfile.TemporaryDirectory(dir=self.home) as scratch:
            file = pathlib.Path(scratch) / "code"
            file.write_bytes(program.code.encode())
            words = [str(self.igloo), "run", "--env", program.environment, "--json", "--timeout", str(SECONDS),
                     "--file", str(file), *program.setting.words(file.parent)]
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, env=self.variables)
        result = json.loads(done.stdout)
        if "error" in result:
            raise NotServed(f"igloo run: {result['error']}")
        if result["verdict"] == "timeout":
            raise NotServed(f"igloo run: stopped after {SECONDS} s")
        if done.stderr:
            raise NotServed(f"igloo run said: {done.stderr.decode()}")
        streams = (Stream(result[name]["text"], result[name]["bytes"]) for name in ("stdout", "stderr"))
        return Outcome(result["exit_code"], *streams)


def children(pid: int) -> list[int]:
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            text = pathlib.Path(f"/proc/{pid}/task/{thread}/children").read_text()
            found += [int(each) for each in text.split()]
    except OSError:
        pass  # it has just ended
    return found


def descendants(pid: int) -> list[int]:
    found, ahead = [], [pid]
    while ahead:
        here = children(ahead.pop())
        found += here
        ahead += here
    return found


def moves(pid: int) -> int | None:
    """How often a process has gone to sleep, or nothing when it does not sleep now."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", text, re.M).group(1)) if "\nState:\tS" in text else None


def age(pid: int) -> float:
    """How many seconds ago a process began."""
    began = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19]
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(began) / os.sysconf("SC_CLK_TCK")


def looks(seconds: float):
    """Every few milliseconds for so long: what another process does cannot be waited for in any other way."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        yield
        time.sleep(0.004)


class Server:
    """`igloo mcp` over its standard input and output, one call at a time."""

    def __init__(self, igloo: pathlib.Path, home: pathlib.Path, warm: int, setting: Setting):
        home.mkdir(parents=True)
        self.errors = open(home / "stderr", "w+b")
        words = [str(igloo), "mcp", *setting.words(home, warm)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        env=own_home(home))
        self.number = 0
        self.waits, self.patience = warm != 0, PATIENCE
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "same", "version": "1"}})
        self.say({"method": "notifications/initialized"})

    def say(self, message: dict) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict) -> dict:
        self.number += 1
        self.say({"id": self.number, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.number and "method" not in answer:
                if "error" in answer:
                    raise NotServed(f"the server answered: {answer['error']}")
                return answer["result"]
        self.errors.seek(0)
        raise NotServed(f"the server has ended; it said: {self.errors.read().decode(errors='replace')}")

    def call(self, program: Program) -> Outcome:
        result = self.ask("tools/call", {"name": "run", "arguments": {
            "env": program.environment, "code": program.code, "max_output": 400_000, "timeout_seconds": SECONDS}})
        shown = result.get("structuredContent")
        if shown is None:
            raise NotServed(f"the server: {result['content'][0]['text']}")
        if shown["verdict"] in ("refused", "timeout"):
            raise NotServed(f"the server: {shown['summary']}")
        streams = []
        for name in ("stdout", "stderr"):
            kept = [each for each in shown.get("full_output", ()) if each.rsplit("/", 1)[1].startswith(name)]
            if kept:
                whole = b"".join(unpacked(self.ask("resources/read", {"uri": each})["contents"][0]) for each in kept)
                streams.append(Stream.of(whole).without_sequences())
            else:
                streams.append(Stream(shown[name], shown[f"{name}_bytes"]))
        return Outcome(shown["exit_code"], *streams, cleaned=True)

    def waiting(self, language: str) -> set[int]:
        """The processes that this server has ready for that language: they already know the file they will run."""
        file = f"/run/igloo/main.{ENDING[language]}".encode()
        found = set()
        for pid in descendants(self.process.pid):
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if file in words:
                found.add(pid)
        return found

    def warm_up(self, language: str) -> None:
        """No interpreter waits before somebody has used one."""
        for _ in range(2):
            self.call(Program("warm-up", language, ""))

    def await_one(self, language: str, least_age: float) -> set[int]:
        """Waits until an interpreter waits: until one rests, and has not moved since somebody looked last."""
        before: list[set[tuple[int, int]]] = [set(), set()]
        for _ in looks(self.patience):
            now = {(pid, count) for pid in self.waiting(language) if (count := moves(pid)) is not None}
            rested = {pid for pid, _ in now.intersection(*before)}
            if rested and all(age(pid) >= least_age for pid in rested):
                return rested
            before = [before[1], now]
        raise NotServed(f"no {language} waits in the server, {self.patience} s after the last call")

    def run(self, program: Program) -> Outcome:
        """Where interpreters wait, the program gets one of those."""
        if not self.waits or program.language not in WAITING:
            return self.call(program)
        for _ in range(ATTEMPTS):
            # None waits before the first call, nor after some quiet minutes.
            if not self.waiting(program.language):
                self.warm_up(program.language)
            ready = self.await_one(program.language, AGED if program.aged else 0)
            outcome = self.call(program)
            # The sandbox of a run is taken down behind the answer.
            for _ in looks(TAKEN_DOWN):
                if ready - self.waiting(program.language):
                    return outcome
        raise NotServed("the program ran in an interpreter that had not waited for it")

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.errors.close()
