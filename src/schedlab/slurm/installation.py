"""Where Slurm and a C compiler are, and whether they are of a kind that the laboratory knows."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from schedlab.arguments import explained
from schedlab.atomic import atomic_path
from schedlab.errors import InputError
from schedlab.slurm.releases import RELEASES, release_of

PREFIX_VARIABLE = "SCHEDLAB_SLURM"
"""Environment variable that names the root of an unpacked Slurm, or a version that is installed or fetched."""

UNKNOWN_CLOCKS = frozenset(
    [
        "ppoll",
        "select",
        "pselect",
        "epoll_pwait",
        "epoll_pwait2",
        "timerfd_settime",
        "pthread_cond_clockwait",
        "sem_timedwait",
        "pthread_mutex_timedlock",
        "setitimer",
        "clock_settime",
        "mq_timedreceive",
        "sigtimedwait",
    ]
)
"""Ways to wait that the clock does not replace; no known version of Slurm uses them in its controller."""

_VERSION = re.compile(r"\d\d\.\d\d(\.\d+)?")
_DEBIAN = "apt-get install slurmctld slurm-client slurm-wlm-basic-plugins gcc libc6-dev"


@dataclass(frozen=True, slots=True)
class Installation:
    """A Slurm that is installed on this machine, or unpacked under a prefix.

    Parameters
    ----------
    prefix
        "/" or the directory that `SCHEDLAB_SLURM` names.
    version
        As slurmctld prints it, such as "22.05.8".
    """

    prefix: Path
    version: str

    def program(self, name: str) -> Path:
        """Return the path of a program, such as `slurmctld` or `sbatch`.

        Raises
        ------
        InputError
            If it is not there.
        """
        found = _find(self.prefix, name)
        if found is None:
            raise InputError(f"Slurm {self.version} under {self.prefix} has no program {name}: {_DEBIAN}")
        return found

    def has(self, name: str) -> bool:
        """Return whether a program is there."""
        return _find(self.prefix, name) is not None

    @property
    def plugins(self) -> Path:
        """The directory of the plugins."""
        return _plugins(self.prefix)

    def environment(self) -> dict[str, str]:
        """Return what programs of this installation need in their environment."""
        base = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "TZ": "UTC"}
        if self.prefix == Path("/"):
            return base
        return base | {"LD_LIBRARY_PATH": f"{self.plugins}:{self.plugins.parent}"}  # there its own C library may be


@explained
def find_slurm(which: str | None = None) -> Installation:
    """Return the Slurm to use.

    Parameters
    ----------
    which
        A version such as "24.11", installed or fetched, or the root of an unpacked Slurm. None: what the environment
        variable `SCHEDLAB_SLURM` names, else the one that is installed.

    Raises
    ------
    InputError
        If there is none, or it is of a version that the laboratory does not know.
    """
    named = os.environ.get(PREFIX_VARIABLE)
    which = which or named or "/"
    if not _VERSION.fullmatch(which):
        return _at(Path(which))
    release = release_of(which)
    roots = [Path("/"), fetched(which)] + ([Path(named)] if named and not _VERSION.fullmatch(named) else [])
    for root in roots:
        if _find(root, "slurmctld") is not None and _version(root).startswith(which):
            return _at(root)
    how = f"schedlab slurm fetch {which}" if release.suite else f"unpack it and name its root in {PREFIX_VARIABLE}"
    raise InputError(f"Slurm {which} is neither installed nor fetched: {how}")


def all_slurms() -> list[Installation]:
    """Return the Slurms that are here: the one that is installed, one that SCHEDLAB_SLURM names, those fetched."""
    named = os.environ.get(PREFIX_VARIABLE, "")
    roots = [Path("/"), *([Path(named)] if named and not _VERSION.fullmatch(named) else []), *map(fetched, RELEASES)]
    return [Installation(root, _version(root)) for root in roots if _find(root, "slurmctld") is not None]


@cache
def _at(root: Path) -> Installation:
    program = _find(root, "slurmctld")
    if program is None or _find(root, "sbatch") is None:
        missing = "slurmctld" if program is None else "sbatch"
        raise InputError(
            f"no {missing} under {root}: install Slurm ({_DEBIAN}), fetch a version (schedlab slurm fetch 24.11), or "
            f"unpack one and name its root in {PREFIX_VARIABLE}"
        )
    version = _version(root)
    try:
        release_of(version)
    except InputError as error:
        raise InputError(f"{program}: {error}") from None
    return Installation(root, version)


@cache
def _version(root: Path) -> str:
    program = _find(root, "slurmctld")
    assert program is not None
    try:
        answer = subprocess.run(
            [program, "-V"], env=Installation(root, "").environment(), capture_output=True, text=True, check=False
        )
    except OSError as error:  # of another processor, or a C library that is not here
        raise InputError(f"{program} cannot be run on this host: {error.strerror}") from None
    matched = re.search(r"\d+\.\d+\.\d+\S*", answer.stdout)
    if matched is None:
        raise InputError(
            f"{program} -V says {(answer.stdout + answer.stderr).strip()!r}, which is not a version of Slurm"
        )
    return matched[0]


def fetched(version: str) -> Path:
    """Return where a fetched version is, or would be."""
    return cache_directory() / "slurm" / version


def installed_version(which: str | None = None) -> str:
    """Return the version of the Slurm that a laboratory would run; `which` as for `find_slurm`.

    Raises
    ------
    InputError
        If there is none that it knows, or no compiler for its clock.
    """
    installation = find_slurm(which)
    library(installation)
    return installation.version


def library(installation: Installation) -> Path:
    """Return the clock as a shared library, compiled if this machine has none yet.

    Raises
    ------
    InputError
        If there is no C compiler, it fails, or this Slurm waits in a way that the clock does not know.
    """
    source = Path(__file__).with_name("clock.c")
    key = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    place = cache_directory() / f"clock-{os.uname().machine}-{key}.so"
    if not place.exists():
        _compile(source, place)
    _check_clocks(installation)
    return place


def _compile(source: Path, place: Path) -> None:
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        raise InputError(
            "the clock of the Slurm laboratory must be compiled once, but no C "
            "compiler was found: install "
            "gcc and libc6-dev, or name one in CC"
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(place) as temporary:
        command = [
            compiler,
            "-O2",
            "-shared",
            "-fPIC",
            "-o",
            str(temporary),
            "-x",
            "c",
            str(source),
            "-ldl",
            "-lpthread",
        ]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise InputError(f"the C compiler {compiler} cannot be run: {error.strerror}") from None
        if answer.returncode:
            reason = next((line for line in answer.stderr.splitlines() if "error" in line), answer.stderr.strip())
            raise InputError(f"{compiler} cannot compile {source}: {reason}")


@cache
def _check_clocks(installation: Installation) -> None:
    """Raise InputError if slurmctld or a plugin of it waits in a way that the clock does not replace."""
    symbols = shutil.which("nm")
    if symbols is None:  # comes with every compiler but is not needed for more than this check
        return
    files = [str(installation.program("slurmctld")), *map(str, sorted(installation.plugins.glob("*.so")))]
    answer = subprocess.run([symbols, "-D", "-u", "-A", *files], capture_output=True, text=True, check=False)
    for line in answer.stdout.splitlines():
        place, _, name = line.rpartition(" ")
        if name.partition("@")[0] in UNKNOWN_CLOCKS and not _is_of_clients(place):
            raise InputError(
                f"{place.partition(':')[0]} waits by {name}, which the clock does not intercept: "
                f"this build of Slurm {installation.version} cannot run in skipped time"
            )


def _is_of_clients(place: str) -> bool:
    """Return whether a plugin is never loaded by slurmctld: those of MPI, of job steps and of slurmrestd."""
    name = Path(place.partition(":")[0]).name
    return name.startswith(
        ("mpi_", "launch_", "jobacct_gather_", "acct_gather_", "proctrack_", "task_", "openapi_", "rest_")
    )


def cache_directory() -> Path:
    """Return where what was compiled and fetched is kept."""
    home = os.environ.get("XDG_CACHE_HOME")
    place = Path(home) if home else Path.home() / ".cache"
    try:
        (place / "schedlab").mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir()) / f"schedlab-{os.getuid()}"
    return place / "schedlab"


def _find(root: Path, name: str) -> Path | None:
    """Return a program under a root; Debian calls them by another name (slurmctld-wlm) behind a link."""
    for folder in (
        "usr/sbin",
        "usr/bin",
        "usr/local/sbin",
        "usr/local/bin",
        "sbin",
        "bin",
        "opt/slurm/sbin",
        "opt/slurm/bin",
    ):
        for called in (f"{name}-wlm", name):
            path = root / folder / called
            if path.exists():
                return path
    found = shutil.which(name) if root == Path("/") else None
    return None if found is None else Path(found)


def _plugins(root: Path) -> Path:
    for pattern in (
        "usr/lib/*/slurm-wlm",
        "usr/lib/*/slurm",
        "usr/lib/slurm",
        "usr/lib64/slurm",
        "usr/local/lib/slurm",
        "lib/slurm",
    ):
        for path in sorted(root.glob(pattern)):
            if (path / "sched_backfill.so").exists():
                return path
    raise InputError(f"Slurm under {root} has no plugins: install slurm-wlm-basic-plugins")
