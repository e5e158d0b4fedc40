"""What the dynamic loader has to know about the programs and libraries in a package."""

import io
import os
import re
import struct
import subprocess
import tarfile
from pathlib import Path
from typing import Any, Optional

X86_64 = 62
LOAD, DYNAMIC, INTERPRETER = 1, 2, 3  # kinds of program headers
NEEDED, STRING_TABLE, SONAME = 1, 5, 14  # tags of the dynamic section


def dynamic_entries(data: bytes, offset: int, size: int) -> list[tuple[int, int]]:
    entries = []
    for at in range(offset, offset + size, 16):
        tag, value = struct.unpack_from("<QQ", data, at)
        if tag == 0:
            break
        entries.append((tag, value))
    return entries


def read_elf(data: bytes) -> Optional[dict[str, Any]]:
    """NEEDED, SONAME and whether it names a loader; nothing for what this machine's loader would not take."""
    if data[:6] != b"\x7fELF\2\1" or struct.unpack_from("<H", data, 18)[0] != X86_64:
        return None
    headers, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    loads, dynamic, interpreter = [], None, False
    for header in range(headers, headers + size * count, size):
        kind, = struct.unpack_from("<I", data, header)
        offset, address, _, length = struct.unpack_from("<QQQQ", data, header + 8)
        if kind == LOAD:
            loads.append((address, offset, length))
        elif kind == DYNAMIC:
            dynamic = (offset, length)
        elif kind == INTERPRETER:
            interpreter = True
    if dynamic is None:
        return None
    entries = dynamic_entries(data, *dynamic)
    strings = dict(entries).get(STRING_TABLE, -1)
    base = next((offset + strings - at for at, offset, length in loads if at <= strings < at + length), None)
    if base is None:
        return None

    def text(value: int) -> str:
        return data[base + value:data.index(b"\0", base + value)].decode()

    return {"interpreter": interpreter,
            "needed": [text(value) for tag, value in entries if tag == NEEDED],
            "soname": next((text(value) for tag, value in entries if tag == SONAME), None)}


def merged(path: str) -> str:
    """Where a file lies once /usr and / are one: /usr/bin/x, /usr/sbin/x and /bin/x become bin/x."""
    path = re.sub(r"^\.?/?(usr/)?", "", path)
    return re.sub(r"^sbin/", "bin/", path)


def scan(package: Path) -> dict[str, Any]:
    """A .deb's ELF files, and the directory of every shared library that it provides."""
    elves: list[dict[str, Any]] = []
    provides: dict[str, str] = {}
    tree = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tree)) as archive:
        for member in archive:
            path = merged(member.name)
            directory, name = os.path.split(path)
            if member.issym() and re.search(r"\.so\.\d", name):
                provides.setdefault(name, directory)
            if not member.isfile() or member.size <= 64:
                continue
            data = archive.extractfile(member).read()
            try:
                info = read_elf(data)
            except (struct.error, ValueError):  # a broken file that is some program's test data
                info = None
            if info is None:
                continue
            elves.append({"path": path, **info})
            if ".so" in name:
                provides[name] = directory
                provides.setdefault(info["soname"] or name, directory)
    return {"elves": elves, "provides": provides}
