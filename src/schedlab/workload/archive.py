"""Download logs of the Parallel Workloads Archive by name, once, and verify their content."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from schedlab.arguments import explained
from schedlab.atomic import atomic_path
from schedlab.errors import InputError, OutputError
from schedlab.streams import open_input

ARCHIVE = "https://www.cs.huji.ac.il/labs/parallel/workload"
TIMEOUT = 30.0
BLOCK_BYTES = 1 << 16
MOST_BYTES = 1 << 28
"""Maximum bytes of a download: all logs of the archive are much smaller, so a larger response is not a log."""


class Log(NamedTuple):
    """A log of the archive: its folder and file name there, and the sha256 of its text once decompressed."""

    folder: str
    file: str
    sha256: str


LOGS = {
    "CEA-Curie": Log(
        "l_cea_curie",
        "CEA-Curie-2011-2.1-cln.swf.gz",
        "b732a04aea71e2f154c8feee580be549d0bba1462bc91ec581944cb3dd6d442d",
    ),
    "CTC-SP2": Log(
        "l_ctc_sp2",
        "CTC-SP2-1996-3.1-cln.swf.gz",
        "8e33a9b597e1ddda2d2164347bac08c9444e1a2620a7947df52f0a1622ec4cde",
    ),
    "HPC2N": Log(
        "l_hpc2n",
        "HPC2N-2002-2.2-cln.swf.gz",
        "77b8993c73ae438385f6c0015708251f52dc316267b03ac19a406fbea2802afa",
    ),
    "KTH-SP2": Log(
        "l_kth_sp2",
        "KTH-SP2-1996-2.1-cln.swf.gz",
        "fba36494c4e4257f72182e8b629ebb0bcb054b3b82851ef957445bd627adcc87",
    ),
    "LCG": Log(
        "l_lcg",
        "LCG-2005-1.swf.gz",
        "f8e60cbd08ca990bdd39effc3b3787d7e60539419e2345661c0d5c3b4fa60f4e",
    ),
    "LLNL-Atlas": Log(
        "l_llnl_atlas",
        "LLNL-Atlas-2006-2.1-cln.swf.gz",
        "8b3aaab739fa0bda8abaccc37c207d0b19d9d147b19e7f47a1641133a56fd07f",
    ),
    "LLNL-Thunder": Log(
        "l_llnl_thunder",
        "LLNL-Thunder-2007-1.1-cln.swf.gz",
        "aad5a3120a6adf0342d46fb4830e022121cdfbd3de9ecdd9cf10145b8864b6a5",
    ),
    "NASA-iPSC": Log(
        "l_nasa_ipsc",
        "NASA-iPSC-1993-3.1-cln.swf.gz",
        "9d997a2c20a7f7b0b6d81638d756ce8b2c524c4f2e9ec78da36001743ca33d76",
    ),
    "OSC-Clust": Log(
        "l_osc",
        "OSC-Clust-2000-3.1-cln.swf.gz",
        "0ed54b81ccb10b11fbead557af8a37dd135e07e27756f1016c80ebceb7c8f79a",
    ),
    "RICC": Log(
        "l_ricc",
        "RICC-2010-2.swf.gz",
        "986a2a12df85adc3c2a2eb80a31b4ff9a056b92637526ee53fb70637b1bf0518",
    ),
    "SDSC-BLUE": Log(
        "l_sdsc_blue",
        "SDSC-BLUE-2000-4.2-cln.swf.gz",
        "13892839f430583231a14bb811fd50a31b5b529eb37faacdbbefb71e73390e3e",
    ),
    "SDSC-Par": Log(
        "l_sdsc_par",
        "SDSC-Par-1996-3.1-cln.swf.gz",
        "fcb46fa6462b7ac460963025749f604f28b2e813101edd082a720842e80a7aa8",
    ),
    "SDSC-SP2": Log(
        "l_sdsc_sp2",
        "SDSC-SP2-1998-4.2-cln.swf.gz",
        "2bb635f4b5793f52bd49ccb8fd913d95f9c5be6346925162cadcaf0117e28cf2",
    ),
    "Sandia-Ross": Log(
        "l_sandia_ross",
        "Sandia-Ross-2001-1.1-cln.swf.gz",
        "acee6b96aa76f815d9a6a81ee6d3e3026f462b6e0c340f9f4ef465e05b3c22b3",
    ),
}
"""The logs that `fetch` supports, by short name: the newest cleaned version, or the only one."""


@explained
def fetch(
    name: str,
    directory: str | os.PathLike[str] | None = None,
    base_url: str = ARCHIVE,
    *,
    timeout: float = TIMEOUT,
    progress: Callable[[int, int | None], None] | None = None,
) -> Path:
    """Return the file of an archive's log, which is downloaded unless it is present.

    Parameters
    ----------
    name
        A short name ("KTH-SP2") or a file name of the archive, in any case; see `LOGS`.
    directory
        Where the file is kept; by default `data_directory()`.
    base_url
        The archive, or a mirror with the same folders.
    timeout
        Seconds without an answer after which the archive counts as unreachable.
    progress
        Called with the bytes received so far and in total (None if unknown).

    Returns
    -------
    pathlib.Path
        The compressed log; its text has the expected sha256.

    Raises
    ------
    InputError
        If the name is unknown, the archive is unreachable, or the response is not the log.
    OutputError
        If the file cannot be written.

    Notes
    -----
    The archive asks its users to acknowledge the providers of a log, who are named in its header.

    References
    ----------
    Feitelson, Tsafrir and Krakov, "Experience with using the Parallel Workloads Archive", JPDC 74(10), 2014.

    Examples
    --------
    >>> LOGS["KTH-SP2"].file
    'KTH-SP2-1996-2.1-cln.swf.gz'
    >>> path = fetch("KTH-SP2", "logs")  # doctest: +SKIP
    """
    log = _log(name)
    folder = Path(directory) if directory is not None else data_directory()
    target = folder / log.file
    if target.is_file() and _is_genuine(target, log):
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot create the directory {folder}: {error.strerror or error}") from error
    url = f"{base_url.rstrip('/')}/{log.folder}/{log.file}"
    with atomic_path(target) as temporary:
        with temporary.open("wb") as stream:
            for block in _download(url, target, timeout, progress):
                stream.write(block)
        if not _is_genuine(temporary, log):
            raise InputError(f"{url}: the download is not the log {log.file} (its sha256 differs) and was discarded")
    return target


def data_directory() -> Path:
    """Return the directory of logs: SCHEDLAB_DATA, or schedlab in XDG_CACHE_HOME or in ~/.cache."""
    chosen = os.environ.get("SCHEDLAB_DATA")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "schedlab"


def _log(name: str) -> Log:
    """Find a log by its short name or its file name."""
    for short, log in LOGS.items():
        stem = log.file.removesuffix(".swf.gz")
        if name.lower() in {known.lower() for known in (short, stem, f"{stem}.swf", log.file)}:
            return log
    raise InputError(f"no log is called {name!r}; known are {', '.join(LOGS)}")


def _is_genuine(path: Path, log: Log) -> bool:
    """Return whether the file's text has the expected sha256."""
    digest = hashlib.sha256()
    try:
        with open_input(path) as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    except InputError:
        return False
    return digest.hexdigest() == log.sha256


def _download(
    url: str, target: Path, timeout: float, progress: Callable[[int, int | None], None] | None
) -> Iterator[bytes]:
    """Download in blocks; a network error becomes one sentence with an alternative."""
    request = urllib.request.Request(url, headers={"User-Agent": f"schedlab/{version('schedlab')}"})
    received = 0
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            length = response.headers.get("Content-Length", "")
            total = int(length) if length.isdigit() else None
            while block := response.read(BLOCK_BYTES):
                received += len(block)
                if received > MOST_BYTES:
                    raise InputError(f"{url}: the download exceeds {MOST_BYTES >> 20} MiB, so it is not the log")
                yield block
                if progress:
                    progress(received, total)
    except urllib.error.HTTPError as error:
        error.close()
        raise InputError(f"{url}: the archive answered {error.code} ({error.reason}): try again later") from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(
            f"{url} cannot be reached ({reason}): download it on another machine and put it at {target}"
        ) from None
