"""The differences that docs/programs.md allows: its tables, read as data."""
import pathlib
import re

from programs import LANGUAGES

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "programs.md"
HEADING = {"bash": "Bash", "python": "Python", "node": "Node", "ruby": "Ruby", "perl": "Perl"}
MOST_LINES = 10
WAYS = {"warm": ("warm",), "cold": ("cold",), "unwarmed": ("unwarmed",), "always": ("cold", "warm", "unwarmed"),
        "server": ("warm", "unwarmed")}


class BadPage(Exception):
    pass


def rows(text: str, language: str) -> list[list[str]]:
    section = re.search(rf"^## {HEADING[language]}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not section:
        raise BadPage(f"docs/programs.md has no section '{HEADING[language]}'")
    lines = [each for each in section.group(1).splitlines() if each.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def allowed() -> dict[tuple[str, str], str]:
    """(program, way) -> what differs."""
    text = PAGE.read_text()
    found: dict[tuple[str, str], str] = {}
    for language in LANGUAGES:
        table = rows(text, language)
        if len(table) > MOST_LINES:
            raise BadPage(f"docs/programs.md lists {len(table)} differences of {language}; {MOST_LINES} are the most")
        for row in table:
            if len(row) != 4 or row[1] not in WAYS or not row[2]:
                raise BadPage(f"docs/programs.md: {row}: a line holds what differs, where ({', '.join(WAYS)}), "
                              "why, and the programs that show it")
            for name in re.findall(r"`([^`]+)`", row[3]):
                for way in WAYS[row[1]]:
                    found[name if "/" in name else f"{language}/{name}", way] = row[0]
    return found
