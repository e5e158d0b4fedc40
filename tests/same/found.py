"""Programs that nobody here wrote: Python's own tests, scripts of packages that packages.txt installs, npm's packages.

bash's own tests are in no package of Debian's.

Each is the text of its author, run as the code. What has to stand around it is written here: which arguments it gets.
"""
import fnmatch
import pathlib
import re
import shlex
import shutil
import subprocess

from programs import HERE, BadCorpus, Program, Setting, read_options

# Runs one module of Python's tests and prints which of them passed, failed and were skipped. What they print themselves
# goes nowhere.
TESTS_OF = '''\
import os, sys, unittest
report = os.dup(1)
for fd in (1, 2):
    os.dup2(os.open(os.devnull, os.O_WRONLY), fd)


class Sets(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        self.bad = False

    def tell(self, word, test):
        lines.append(f"{word} {test.id()}")

    def addSuccess(self, test):
        self.tell("passed", test)

    def addError(self, test, error):
        self.tell("failed", test)

    addFailure = addError

    def addSkip(self, test, reason):
        self.tell("skipped", test)

    def addExpectedFailure(self, test, error):
        self.tell("failed as expected", test)

    def addUnexpectedSuccess(self, test):
        self.tell("passed unexpectedly", test)

    def addSubTest(self, test, subtest, error):
        if error:
            lines.append(f"failed {subtest.id()}")


lines = []
try:
    suite = unittest.defaultTestLoader.loadTestsFromName("test.MODULE")
except unittest.SkipTest as reason:
    lines.append(f"skipped all: {reason}")
else:
    suite.run(Sets())
os.write(report, "\\n".join([*sorted(lines), f"{len(lines)} tests", ""]).encode())
'''


def python_tests(module: str) -> Program:
    return Program(f"python-tests/{module}", "python", TESTS_OF.replace("MODULE", module))


def lines(name: str) -> list[str]:
    return [each for each in (HERE / name).read_text().splitlines() if each and not each.startswith("#")]


def with_arguments(language: str, text: str, words: list[str]) -> str:
    """A script as the code itself, which finds the arguments that it would have got."""
    if language == "bash":
        return f"set -- {shlex.join(words)}\n{text}"
    # What has to be first in a file of Python's stays there.
    future = max((at.end() for at in re.finditer(r"^from __future__ import .*\n", text, re.M)), default=0)
    return f"{text[:future]}import sys; sys.argv[1:] = {words!r}\n{text[future:]}"


def script(line: str) -> Program:
    command, _, options = line.partition(";")
    language, file, *words = command.split()
    path = pathlib.Path(file)
    if not path.exists():
        raise BadCorpus(f"{file} is not there: tools/install-packages test installs what it belongs to")
    return Program(f"scripts/{path.name} {' '.join(words)}".strip(), language,
                   with_arguments(language, path.read_text(), words), tuple(read_options(file, options)["masks"]))


# Completes a line as bash does when somebody types it, and prints what it found.
COMPLETE = """\
. /usr/share/bash-completion/bash_completion
COMP_WORDS=({words})
COMP_LINE=${{COMP_WORDS[*]}} COMP_POINT=${{#COMP_LINE}} COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) COMP_TYPE=9
_completion_loader "${{COMP_WORDS[0]}}"
specification=$(complete -p "${{COMP_WORDS[0]}}" 2>&1)
echo "$specification"
function=${{specification#* -F }}
"${{function%% *}}" "${{COMP_WORDS[0]}}" "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
echo $?
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completion(line: str) -> Program:
    words = ["" if each == "^" else each for each in line.split()]
    return Program(f"completion/{line}", "bash", COMPLETE.format(words=shlex.join(words)))


def npm() -> pathlib.Path:
    """npm's own script, behind the link that PATH names."""
    link = shutil.which("npm", path="/usr/local/bin:/usr/bin")
    if link is None:
        raise BadCorpus("there is no npm in /usr/bin: tools/install-packages test installs it")
    return pathlib.Path(link).resolve()


def npm_command(words: str) -> Program:
    command = str(npm())
    code = f"process.argv.splice(1, 1, {command!r}, ...{words.split()!r}); require({command!r});\n"
    return Program(f"npm/npm {words}".strip(), "node", code, masks=((r"\d{4}-\d\d-\d\dT[\w-]+", "DATE"),))


PACKAGES_AT_ONCE = 6
LOAD = """\
try {
  const it = require('PACKAGE');
  console.log('PACKAGE', typeof it, Object.getOwnPropertyNames(it).sort().join(' '));
} catch (error) { console.log('PACKAGE', error); }
"""


def loaded(packages: list[pathlib.Path], outside: str, inside: str, setting: Setting) -> list[Program]:
    """Packages of npm's, loaded some at a time. `outside`: the directory that is called `inside` in a sandbox."""
    runs = []
    for at in range(0, len(packages), PACKAGES_AT_ONCE):
        some = packages[at:at + PACKAGES_AT_ONCE]
        code = "".join(LOAD.replace("PACKAGE", str(each).replace(outside, inside)) for each in some)
        name = f"npm/{some[0].parent.parent.name} {some[0].name} to {some[-1].name}"
        runs.append(Program(name, "node", code, setting=setting))
    return runs


def fetched() -> pathlib.Path:
    """Where tools/install-npm puts packages."""
    done = subprocess.run([HERE.parents[1] / "tools/install-npm", "--path", "@modelcontextprotocol/conformance"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise BadCorpus(f"{done.stderr.strip()}: tools/install-npm mcp")
    return pathlib.Path(done.stdout.strip()).parents[3]


def fetched_programs() -> list[Program]:
    project = fetched()
    runs, seen = [], set()
    for tree in sorted(project.glob("*/node_modules")):
        packages = {each.parent.name: each.parent for each in tree.glob("*/package.json")}
        new = [packages[name] for name in sorted(packages.keys() - seen)]
        runs += loaded(new, str(project), "/project", Setting(str(project)))
        seen |= packages.keys()
        for link in sorted((tree / ".bin").iterdir()):
            file = str(link.resolve()).replace(str(project), "/project")
            for word in ("--help", "--version"):
                name = f"npm/{link.name} {word}"
                if name in seen:
                    continue
                seen.add(name)
                code = (f"process.argv.splice(1, 1, {file!r}, {word!r});\n"
                        f"import({file!r}).catch((error) => {{ console.log(error); process.exitCode = 1; }});\n")
                runs.append(Program(name, "node", code, setting=Setting(str(project))))
    return runs


def npm_programs() -> list[Program]:
    own = npm().parents[1] / "node_modules"
    packages = sorted(each.parent for each in own.glob("*/package.json"))
    words = ("--version", "--help", "help-search x", "config get prefix", "nothing-of-that-name", "ls")
    return [*map(npm_command, words), *loaded(packages, "", "", Setting()), *fetched_programs()]


GROUPS = {
    "python-tests": lambda: [*map(python_tests, lines("python-tests.txt"))],
    "scripts": lambda: [*map(script, lines("scripts.txt"))],
    "completion": lambda: [*map(completion, lines("completions.txt"))],
    "npm": npm_programs,
}


def found(wanted: list[str]) -> list[Program]:
    """All groups, or those that the names which somebody wants may be of."""
    groups = [make for name, make in GROUPS.items()
              if not wanted or any(fnmatch.fnmatchcase(name, each.partition("/")[0]) for each in wanted)]
    return [each for make in groups for each in make()]
