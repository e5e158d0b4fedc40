"""The corpus as values: every program has a name, a language and its text, whoever wrote it."""
import codecs
import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
LANGUAGES = ("bash", "python", "node", "ruby", "perl")
# The name of the environment and of the file that the code gets in it.
ENVIRONMENT = {"bash": "shell", "python": "python", "node": "node", "ruby": "ruby", "perl": "perl"}
ENDING = {"bash": "sh", "python": "py", "node": "js", "ruby": "rb", "perl": "pl"}
# Those whose interpreters a server can start ahead of their code.
WAITING = ("bash", "python", "node", "perl")


@dataclasses.dataclass(frozen=True)
class Setting:
    """What programs find around them, beside their environment."""
    # A directory of this machine's that they see at /project, or none.
    project: str = ""
    # Without igloo's conveniences: the interpreter as it is, whose output has a buffer, for example.
    bare: bool = False

    def words(self, directory: pathlib.Path, warm: int = 0) -> list[str]:
        """Options of igloo's. `warm`: how many interpreters wait in a server."""
        file = directory / "config.toml"
        more = "conveniences = false\n" if self.bare else ""
        file.write_text("".join(f"[environments.{each}]\nwarm = {warm}\n{more}" for each in ENVIRONMENT.values()))
        return ["--config", str(file), *(["--project", self.project] if self.project else [])]


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    language: str
    code: str
    # What stands in place of text that no two runs share, as `(expression, replacement)`.
    masks: tuple[tuple[str, str], ...] = ()
    # Its output is never the same twice, and must not be: what it prints is compared with itself alone.
    varies: bool = False
    # It tells how long ago its interpreter began, so one that waits has to be some seconds old.
    aged: bool = False
    setting: Setting = Setting()

    @property
    def environment(self) -> str:
        return ENVIRONMENT[self.language]


class BadCorpus(Exception):
    pass


HEAD = re.compile(r"^(?:#|//)=== ([\w.-]+)(.*)\n", re.M)
MASK = re.compile(r"mask /((?:[^/\\]|\\.)+)/([^/]*)/")


def read_options(where: str, text: str) -> dict:
    """What stands behind a program's name: how it is written and what of it is compared."""
    found: dict = {"masks": [], "varies": False, "escaped": False, "aged": False}
    for part in filter(None, (each.strip() for each in text.split(";"))):
        mask = MASK.fullmatch(part)
        if mask:
            found["masks"].append((mask.group(1), mask.group(2)))
        elif part == "addresses":
            found["masks"].append((r"\b0x0*[0-9a-f]{6,}\b", "ADDRESS"))
        elif part in ("varies", "escaped", "aged"):
            found[part] = True
        else:
            raise BadCorpus(f"{where}: '{part}' is no option; write escaped, varies, aged, addresses "
                            "or mask /EXPRESSION/REPLACEMENT/")
    return found


def read_file(path: pathlib.Path, language: str) -> list[Program]:
    """Programs of one file, each behind a line `#=== NAME; OPTION` (`//===` in JavaScript), which is no part of it.

    `escaped` lets a program hold what a text file cannot show: a backslash and its letters stand for one byte, and the
    last line has no end unless it is written.
    """
    text = path.read_text()
    heads = list(HEAD.finditer(text))
    programs = []
    for head, behind in zip(heads, [*heads[1:], None]):
        where = f"{path.relative_to(HERE)}: {head.group(1)}"
        options = read_options(where, head.group(2))
        code = text[head.end():behind.start() if behind else len(text)]
        if options["escaped"]:
            code = codecs.decode(code.replace("\n", "").encode(), "unicode_escape")
        elif code.endswith("\n\n"):
            code = code[:-1]  # the empty line between two programs
        name = f"{language}/{head.group(1)}"
        programs.append(
            Program(name, language, code, tuple(options["masks"]), options["varies"], options["aged"]))
    if not programs:
        raise BadCorpus(f"{path}: there is no program in it; one begins with a line '#=== NAME'")
    return programs


# Those that see whether igloo's conveniences are there. They are run without them as well.
ALSO_BARE = ("python/ends.txt", "python/streams.txt", "node/streams.txt")


def written() -> list[Program]:
    """The programs that were written for this comparison."""
    programs: list[Program] = []
    for language in LANGUAGES:
        for path in sorted((HERE / "programs" / language).iterdir()):
            some = read_file(path, language)
            programs += some
            if f"{language}/{path.name}" in ALSO_BARE:
                bare = Setting(bare=True)
                programs += [dataclasses.replace(each, name=f"bare-{each.name}", setting=bare) for each in some]
    return programs


def check_names(programs: list[Program]) -> None:
    seen: set[str] = set()
    for each in programs:
        if each.name in seen:
            raise BadCorpus(f"two programs are called '{each.name}': give one of them another name")
        seen.add(each.name)
