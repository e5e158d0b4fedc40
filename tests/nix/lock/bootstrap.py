"""What unpacks and relocates the first packages: a static busybox, and patchelf with its own loader.

Always from bookworm: its patchelf 0.14.3 is right for programs that are not position-independent (python3,
gcc). 0.18.0, of trixie, writes overlapping segments into them, and they crash."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from apt import Apt

SUITE = "bookworm"
PACKAGES = ["busybox-static", "patchelf", "libc6", "libstdc++6", "libgcc-s1"]
FILES = {
    "bin/busybox": r"busybox",
    "bin/patchelf": r"patchelf",
    "lib/ld.so": r"ld-linux-x86-64\.so\.2",
    "lib/libc.so.6": r"libc\.so\.6",
    "lib/libm.so.6": r"libm\.so\.6",
    "lib/libgcc_s.so.1": r"libgcc_s\.so\.1",
    "lib/libstdc++.so.6": r"libstdc\+\+\.so\.6\.0\.\d+",
}


def find(tree: Path, pattern: str) -> Path:
    for directory, _, names in os.walk(tree):
        for name in names:
            path = Path(directory, name)
            if re.fullmatch(pattern, name) and not path.is_symlink():
                with path.open("rb") as file:
                    if file.read(4) == b"\x7fELF":
                        return path
    raise SystemExit(f"lock: {SUITE} has no file like {pattern} in {', '.join(PACKAGES)}")


def make(apt_work: Path, target: Path) -> None:
    files = Apt(apt_work, SUITE).download(PACKAGES)
    with tempfile.TemporaryDirectory() as scratch:
        for package in PACKAGES:
            subprocess.run(["dpkg-deb", "-x", files[package], scratch], check=True)
        for name, pattern in FILES.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(find(Path(scratch), pattern), target / name)
            (target / name).chmod(0o755)
