"""A private apt: another suite's packages, without a change to the machine's own apt.

It has its own state, an empty list of installed packages and one source. apt checks every file
against the suite's signed index."""

import os
import re
import subprocess
from pathlib import Path

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def mirror() -> str:
    """The mirror that this machine's own packages come from."""
    for source in (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list")):
        if source.exists():
            found = re.search(r"^(?:URIs:|deb(?: \[[^]]*\])?) +(\S+)", source.read_text(), re.M)
            if found:
                return found.group(1)
    raise SystemExit("lock: apt on this machine names no mirror of Debian")


class Apt:
    def __init__(self, work: Path, suite: str) -> None:
        self.root = work / suite
        self.archives = self.root / "cache/archives"
        for directory in (self.root / "state/lists/partial", self.archives / "partial"):
            directory.mkdir(parents=True, exist_ok=True)
        (self.root / "state/status").touch()
        (self.root / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror()} {suite} main\n")
        settings = {
            "Dir::State": self.root / "state",
            "Dir::State::status": self.root / "state/status",
            "Dir::Cache": self.root / "cache",
            "Dir::Etc::sourcelist": self.root / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "APT::Install-Recommends": "false",
            "APT::Sandbox::User": "root",  # apt's own user cannot write here
            "Acquire::Languages": "none",
        }
        conf = self.root / "apt.conf"
        conf.write_text("".join(f'{name} "{value}";\n' for name, value in settings.items()))
        self.environment = dict(os.environ, APT_CONFIG=str(conf), LC_ALL="C")
        self.run("apt-get", "update", "-qq")
        self.depends = self.read_depends()

    def run(self, *words: str) -> str:
        done = subprocess.run(words, env=self.environment, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"lock: {' '.join(words[:3])} failed\n{done.stdout}{done.stderr}")
        return done.stdout

    def read_depends(self) -> dict[str, str]:
        """Each package of the suite with its Depends."""
        depends = {}
        for paragraph in self.run("apt-cache", "dumpavail").split("\n\n"):
            fields = dict(re.findall(r"^(Package|Depends): (.*)$", paragraph, re.M))
            if "Package" in fields:
                depends[fields["Package"]] = fields.get("Depends", "")
        return depends

    def download(self, packages: list[str]) -> dict[str, Path]:
        """The files of the packages and of all that they depend on."""
        unknown = [each for each in packages if each not in self.depends]
        if unknown:
            raise SystemExit(f"lock: the suite has no package {', '.join(unknown)}")
        self.run("apt-get", "install", "-y", "-qq", "--download-only", *packages)
        plan = self.run("apt-get", "install", "-y", "-qq", "--simulate", *packages)
        files = {}
        for name, version in re.findall(r"^Inst (\S+) \((\S+) ", plan, re.M):
            found = sorted(self.archives.glob(f"{name}_{version.replace(':', '%3a')}_*.deb"))
            files[name.partition(":")[0]] = found[0]
        return files
