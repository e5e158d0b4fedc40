#!/usr/bin/env python3
"""lock.py PACKAGES NODE SUITE WORK OUT: finds, downloads and describes the Debian packages of hostpkgs.

OUT gets lock.json (every file by its sha256, which package needs which library, where loaders and run paths
are to be set), files/ with the packages, and bootstrap/. WORK keeps what makes the next time fast. NODE is an npm
package, name@version, with the program of upstream: Debian's looks for its modules below /usr/share, at paths that are
compiled in."""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import bootstrap
from apt import Apt
from elf import read_elf, scan


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def keep(path: Path, target: Path) -> None:
    """A second name for a file, or a copy where that cannot be."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)
    target.chmod(0o644)


def versions(apt: Apt, rules: dict[str, list[str]]) -> dict[str, str]:
    """What stands for {python} in the name of a package: the version that the suite's metapackage depends on."""
    found = {}
    for name, (package, pattern) in rules.items():
        match = re.search(pattern, apt.depends.get(package, ""))
        if match is None:
            raise SystemExit(f"lock: {package} depends on nothing like {pattern}")
        found[name] = match.group(1)
    return found


def python_requirements(apt: Apt, packages: list[str], without: list[str]) -> list[str]:
    """The Python packages that these depend on, directly."""
    text = ", ".join(apt.depends[each] for each in packages)
    names = re.findall(r"(?:^|, )(python3-[a-z0-9.-]+)", text)
    return sorted({each for each in names if each in apt.depends and each not in [*packages, *without]})


class Lock:
    def __init__(self, apt: Apt, spec: dict[str, Any], work: Path) -> None:
        self.apt, self.work, self.without, self.links = apt, work, spec["without"], spec["links"]
        self.versions = versions(apt, spec["versions"])
        self.files: dict[str, dict[str, Any]] = {}
        self.groups: dict[str, list[str]] = {}
        self.requires: dict[str, list[str]] = {}
        for name, packages in {**spec["packages"], **spec["python"]}.items():
            self.groups[name] = [each.format(**self.versions) for each in packages]
        for name in spec["python"]:
            self.require(name)

    def require(self, group: str) -> None:
        """Adds a group for each Python package that this one needs and nobody has listed."""
        owners = {package: name for name, packages in self.groups.items() for package in packages}
        needed = python_requirements(self.apt, self.groups[group], self.without)
        self.requires[group] = [owners.get(each, each) for each in needed]
        for name in self.requires[group]:
            self.groups.setdefault(name, [name])
            if name not in self.requires:
                self.require(name)

    def fetch(self) -> None:
        wanted = sorted({each for packages in self.groups.values() for each in packages})
        for name, path in self.apt.download(wanted).items():
            version = path.name.split("_")[1].replace("%3a", ":")
            self.add_file(name, version, path, "deb")

    def add_file(self, name: str, version: str, path: Path, extension: str) -> None:
        digest = sha256(path)
        known = self.work / "scan" / f"{digest}.json"
        if not known.exists():
            known.parent.mkdir(parents=True, exist_ok=True)
            aside = known.with_suffix(f".{os.getpid()}")
            aside.write_text(json.dumps(scan(path) if extension == "deb" else scan_node(path)))
            aside.rename(known)
        self.files[name] = {"version": version, "path": path, "sha256": digest, "extension": extension,
                            **json.loads(known.read_text())}

    def fetch_node(self, package: str) -> None:
        name, version = package.split("@")
        target = self.work / "npm"
        file = target / f"{name}-{version}.tgz"
        if not file.exists():
            target.mkdir(exist_ok=True)
            subprocess.run(["npm", "pack", "--silent", package, "--pack-destination", target], check=True,
                           stdout=subprocess.DEVNULL)
        self.add_file(name, version, file, "tgz")
        self.groups["nodejs"] = [name]

    def describe(self) -> dict[str, Any]:
        # The toolchain has copies of libraries that others are to take from where they belong.
        owners = {package: name for name, packages in reversed(self.groups.items())
                  for package in packages if name != "gcc-unwrapped"}
        libraries: dict[str, str] = {}
        for package in sorted(self.files):
            for name, directory in self.files[package]["provides"].items():
                if directory.startswith("lib"):
                    libraries.setdefault(name, package)
        described: dict[str, Any] = {}
        wanted = list(self.groups)
        while wanted:
            group = wanted.pop()
            if group not in described:
                described[group] = self.describe_group(group, owners, libraries)
                wanted += [*described[group]["deps"], *described[group]["links"]]
        return described

    def describe_group(self, group: str, owners: dict[str, str], libraries: dict[str, str]) -> dict[str, Any]:
        packages = self.groups.get(group, [group])
        files = [self.files[each] for each in packages]
        elves = [elf for file in files for elf in file["elves"]]
        own = {name for file in files for name in file["provides"]}
        deps: dict[str, set[str]] = {}
        missing = set()
        for name in {name for elf in elves for name in elf["needed"]} - own:
            provider = libraries.get(name)
            if provider is None:
                missing.add(name)
            elif owners.get(provider, provider) != group:
                deps.setdefault(owners.get(provider, provider), set()).add(self.files[provider]["provides"][name])
        return {"debs": packages, "version": files[0]["version"],
                "deps": {name: sorted(directories) for name, directories in sorted(deps.items())},
                "isPython": group in self.requires, "requires": self.requires.get(group, []),
                "links": self.links.get(group, []),
                "rpath": sorted({os.path.dirname(elf["path"]) for elf in elves if elf["soname"]}),
                "elfs": sorted({elf["path"] for elf in elves if not elf["interpreter"]}),
                "exes": sorted({elf["path"] for elf in elves if elf["interpreter"]}),
                "missing": sorted(missing)}


def scan_node(path: Path) -> dict[str, Any]:
    with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as archive:
        return {"elves": [{"path": "bin/node", **read_elf(archive.extractfile("package/bin/node").read())}],
                "provides": {}}


def main() -> None:
    spec, node, suite, work, out = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4]), Path(sys.argv[5])
    lock = Lock(Apt(work, suite), json.loads(spec.read_text()), work)
    lock.fetch()
    lock.fetch_node(node)
    groups = lock.describe()
    used = sorted({package for group in groups.values() for package in group["debs"]})
    debs = {}
    for name in used:
        file = lock.files[name]
        # What a store path may be called.
        stored = re.sub(r"[:~]", "-", f"{name}_{file['version']}.{file['extension']}")
        debs[name] = {"file": stored, "sha256": file["sha256"]}
        keep(file["path"], out / "files" / stored)
    bootstrap.make(work, out / "bootstrap")
    digest = subprocess.run(["nix-hash", "--type", "sha256", out / "bootstrap"], check=True, text=True,
                            capture_output=True).stdout.strip()
    (out / "lock.json").write_text(json.dumps(
        {"suite": suite, "versions": lock.versions, "bootstrap": digest, "debs": debs, "groups": groups},
        indent=1, sort_keys=True))
    size = sum(lock.files[each]["path"].stat().st_size for each in used) / 1e6
    print(f"hostpkgs: {len(groups)} packages from {len(used)} files, {size:.0f} MB", file=sys.stderr)
    for name, group in groups.items():
        if group["missing"]:
            print(f"hostpkgs: {name} lacks {' '.join(group['missing'])}", file=sys.stderr)


main()
