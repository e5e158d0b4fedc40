#!/usr/bin/env python3
"""newer.py LOCK FINAL OUT: the Nix of the locked suite, beside the machine's own. It is made in OUT and runs
from FINAL, with the libraries of its own suite."""

import json
import subprocess
import sys
from pathlib import Path

LIBRARIES = "usr/lib/x86_64-linux-gnu"
LOADER = "ld-linux-x86-64.so.2"


def closure(groups: dict[str, dict], name: str) -> set[str]:
    """The group and all whose libraries it loads."""
    seen, wanted = set(), [name]
    while wanted:
        group = wanted.pop()
        if group not in seen:
            seen.add(group)
            wanted += groups[group]["deps"]
    return seen


def main() -> None:
    lock, final, out = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    content = json.loads((lock / "lock.json").read_text())
    for group in sorted(closure(content["groups"], "nix")):
        for package in content["groups"][group]["debs"]:
            subprocess.run(["dpkg-deb", "-x", lock / "files" / content["debs"][package]["file"], out], check=True)

    boot = lock / "bootstrap"
    patchelf = [boot / "lib/ld.so", "--library-path", boot / "lib", boot / "bin/patchelf", "--force-rpath",
                "--set-rpath", final / LIBRARIES]
    for library in sorted((out / LIBRARIES).glob("*.so*")):
        if not library.is_symlink() and library.name not in (LOADER, "libc.so.6"):
            # Some are texts for the linker.
            subprocess.run([*patchelf, library], check=False, stderr=subprocess.DEVNULL)
    subprocess.run([*patchelf, "--set-interpreter", final / LIBRARIES / LOADER, out / "usr/bin/nix"], check=True)


main()
