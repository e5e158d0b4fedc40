"""Runs the parts of a test run two at a time, each with its output in one piece, and adds up what they count."""
import collections
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

SIDE_BY_SIDE = 2
COUNTED = re.compile(r"^(\d+) passed, (\d+) failed$")


@dataclasses.dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other: "Count") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


class Part:
    """A program that tells how it went by its exit status: one check."""

    def __init__(self, name: str, command: list, alone: bool = False):
        self.name, self.command, self.alone = name, [str(word) for word in command], alone

    def count(self, status: int, output: str) -> Count:
        return Count(passed=1) if status == 0 else Count(failed=1)


class Script(Part):
    """One that counts in its last line; without that line it has failed."""

    def count(self, status: int, output: str) -> Count:
        lines = output.splitlines()
        said = COUNTED.match(lines[-1]) if lines else None
        if not said:
            return Count(failed=1)
        count = Count(int(said[1]), int(said[2]))
        if status != 0 and count.failed == 0:
            count.failed = 1
        return count


class Suite(Part):
    """A GoogleTest program, or some of its tests; without a report, or with fewer tests than it lists, it has failed."""

    def __init__(self, name: str, before: list, program: pathlib.Path, report: pathlib.Path, tests: str = "*",
                 alone: bool = False):
        self.starts = [str(word) for word in (*before, program, f"--gtest_filter={tests}")]
        self.report = report
        super().__init__(name, [*self.starts, "--gtest_brief=1", "--gtest_color=no", f"--gtest_output=json:{report}"],
                         alone)

    def listed(self) -> int:
        shown = subprocess.run([*self.starts, "--gtest_list_tests"], capture_output=True, text=True, check=False)
        return sum(line.startswith("  ") for line in shown.stdout.splitlines())

    def count(self, status: int, output: str) -> Count:
        try:
            report = json.loads(self.report.read_text())
        except (OSError, ValueError):
            return Count(failed=1)
        cases = [case for suite in report["testsuites"] for case in suite["testsuite"]]
        skipped = sum(case.get("result") == "SKIPPED" for case in cases)
        count = Count(report["tests"] - report["failures"] - skipped, report["failures"], skipped)
        listed = self.listed()
        if report["tests"] != listed or listed == 0:
            print(f"{self.name}: {report['tests']} tests ran, and {listed} are listed")
            count.failed += 1
        elif status != 0 and count.failed == 0:
            count.failed = 1
        return count


class Runner:
    """Runs parts, those that want the machine for themselves behind all others. Whoever ends it ends them too."""

    def __init__(self, parts: list[Part], work: pathlib.Path):
        self.parts, self.work, self.total = parts, work, Count()
        self.begun, self.ended, self.running, self.lock = 0, False, set(), threading.Lock()
        self.trouble: list[BaseException] = []

    def run(self) -> Count:
        try:
            self.run_all([part for part in self.parts if not part.alone], SIDE_BY_SIDE)
            self.run_all([part for part in self.parts if part.alone], 1)
        finally:
            self.end()
        return self.total

    def run_all(self, parts: list[Part], at_once: int) -> None:
        waiting = collections.deque(parts)
        threads = [threading.Thread(target=self.work_off, args=(waiting,)) for _ in range(at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.trouble:
            raise self.trouble[0]

    def work_off(self, waiting: collections.deque) -> None:
        try:
            while waiting and not self.ended:
                self.run_part(waiting.popleft())
        except BaseException as trouble:  # a thread has nobody to tell but who joins it
            self.trouble.append(trouble)

    def run_part(self, part: Part) -> None:
        with self.lock:
            if self.ended:
                return
            self.begun += 1
            number, began = self.begun, time.monotonic()
            print(f"-- {number} of {len(self.parts)} begins: {part.name}", flush=True)
            output = self.work / f"{number}.log"
            process = self.start(part, output)
            self.running.add(process.pid)
        status = process.wait()
        signal_group(process.pid, signal.SIGKILL)  # what it left behind
        with self.lock:
            self.running.discard(process.pid)
            if not self.ended:
                self.tell(part, number, status, output.read_text(errors="replace"), time.monotonic() - began)

    @staticmethod
    def start(part: Part, output: pathlib.Path) -> subprocess.Popen:
        with open(output, "wb") as log:
            # Its own session, so that it can be ended with all that it started.
            return subprocess.Popen(["env", *part.command], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                    start_new_session=True)

    def tell(self, part: Part, number: int, status: int, output: str, seconds: float) -> None:
        print(f"\n== {number} of {len(self.parts)}: {part.name} ({seconds:.0f} s)\n{output}", end="")
        count = part.count(status, output)
        if status != 0 or count.failed:
            print(f"FAILED: {part.name} ended with {status}")
        self.total.add(count)
        print(flush=True)

    def end(self) -> None:
        """Ends what still runs: asks, then asks once more, then kills; each with all that it started."""
        with self.lock:
            self.ended = True
            left = set(self.running)
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            left = {group for group in left if signal_group(group, how)}
            until = time.monotonic() + 5
            while left and time.monotonic() < until:
                time.sleep(0.05)
                left = {group for group in left if signal_group(group, 0)}


def signal_group(group: int, number: int) -> bool:
    """Whether anybody is there to get it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
