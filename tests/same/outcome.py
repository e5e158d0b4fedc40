"""What a program did, and how two outcomes are told apart."""
import base64
import dataclasses
import difflib
import os
import re

# How text is handed on by igloo: every byte that belongs to no character becomes U+FFFD.
VALID = re.compile(
    rb"[\x00-\x7f]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    rb"|\xf4[\x80-\x8f][\x80-\xbf]{2}|(.)", re.S)
# What a server leaves out: sequences of terminals, and controls of the range U+0080 to U+009F.
TERMINAL = re.compile(
    rb"(?:\x1b\[|\xc2\x9b)[^\x00-\x1f\x40-\x7e]*[\x40-\x7e]?"
    rb"|(?:\x1b[\]P_^]|\xc2[\x9d\x90\x9f\x9e])[^\x07\x1b\n]*?(?:\x07|\x1b\\|\xc2\x9c|(?=\x1b|\n)|\Z)"
    rb"|\x1b[\x20-\x2f]*[\x30-\x7e]?|\xc2[\x80-\x9f]")


def to_text(raw: bytes) -> str:
    return VALID.sub(lambda found: b"\xef\xbf\xbd" if found.group(1) else found.group(0), raw).decode()


@dataclasses.dataclass(frozen=True)
class Stream:
    """One stream of output: its text and the number of its bytes, which tells apart what the text does not."""
    text: str
    size: int

    @classmethod
    def of(cls, raw: bytes) -> "Stream":
        return cls(to_text(raw), len(raw))

    def without_sequences(self) -> "Stream":
        return Stream(to_text(TERMINAL.sub(b"", self.text.encode())), self.size)

    def masked(self, masks) -> "Stream":
        text = self.text
        for expression, replacement in masks:
            text = re.sub(expression, replacement, text)
        return self if text == self.text else Stream(text, -1)


@dataclasses.dataclass(frozen=True)
class Outcome:
    exit_code: int
    out: Stream
    err: Stream
    # A server shows text without sequences of terminals, so others are compared with it without them.
    cleaned: bool = False

    def masked(self, masks) -> "Outcome":
        return dataclasses.replace(self, out=self.out.masked(masks), err=self.err.masked(masks))

    def cleanly(self) -> "Outcome":
        return Outcome(self.exit_code, self.out.without_sequences(), self.err.without_sequences(), True)

    def without_output(self) -> "Outcome":
        return dataclasses.replace(self, out=Stream("", 0))


def same(one: Outcome, other: Outcome) -> bool:
    if one.cleaned != other.cleaned:
        one, other = one.cleanly(), other.cleanly()
    return one == other


def unpacked(contents: dict) -> bytes:
    """The bytes of a resource that a server was asked for."""
    return base64.b64decode(contents["blob"]) if "blob" in contents else contents["text"].encode()


MOST_LINES = 24
LONGEST_LINE = 200


def shortened(changes: list[str]) -> list[str]:
    """Where one long line became another, only the place at which they part."""
    start = 0
    pair = [each for each in changes if each[0] in "-+"]
    if len(pair) == 2 and pair[0][0] != pair[1][0]:
        start = len(os.path.commonprefix([each[1:] for each in pair]))
    start = start - 40 if start > LONGEST_LINE // 2 else 0
    return [each[:LONGEST_LINE] if not start or each[0] not in "-+" else
            f"{each[0]}...{each[start:start + LONGEST_LINE]}" for each in changes]


def difference(expected: Outcome, seen: Outcome) -> str:
    """A small diff for people: plain on the left."""
    if expected.cleaned != seen.cleaned:
        expected, seen = expected.cleanly(), seen.cleanly()
    lines = []
    if expected.exit_code != seen.exit_code:
        lines.append(f"    exit code {expected.exit_code} became {seen.exit_code}")
    for name, left, right in (("stdout", expected.out, seen.out), ("stderr", expected.err, seen.err)):
        if left == right:
            continue
        lines.append(f"    {name}:")
        if left.text == right.text:
            lines.append(f"      {left.size} bytes became {right.size}, of the same text")
        changes = list(difflib.unified_diff(left.text.splitlines(), right.text.splitlines(), lineterm="", n=1))[2:]
        if not changes and left.text != right.text:
            changes = [f"-{left.text[-60:]!r}", f"+{right.text[-60:]!r}"]
        lines += [f"      {each}" for each in shortened(changes[:MOST_LINES])]
        if len(changes) > MOST_LINES:
            lines.append(f"      ... and {len(changes) - MOST_LINES} lines more")
    return "\n".join(lines)
