"""Which Slurm a site runs: as its administrator says, or guessed from what its files use; and what follows from it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path

from schedlab.cluster.slurm_releases import SlurmRelease, within
from schedlab.scheduler.slurm_rules import under_version, version_of
from schedlab.site.ledger import Ledger, LedgerLine
from schedlab.site.site import Site

_RELEASE = re.compile(r'"release"\s*:\s*"(\d\d\.\d\d)')
_HEAD = 1 << 16
"""Bytes of an accounting that tell of its Slurm."""


def with_release(site: Site, release: SlurmRelease) -> Site:
    """Return a site with the release of its Slurm: by its rules, and in its ledger stands what it would refuse."""
    site = following(site, version_of(release))
    settings = replace(site.settings, slurm=release)
    return replace(site, settings=settings, ledger=Ledger(tuple(_marked(line, release) for line in site.ledger)))


def following(site: Site, version: str) -> Site:
    """Return a site by the rules of a version of Slurm; "": as it is."""
    scheduler = under_version(site.scheduler, version)
    return replace(site, settings=replace(site.settings, scheduler=scheduler.text))


def _marked(line: LedgerLine, release: SlurmRelease) -> LedgerLine:
    if _accepted_by_all(line) or not release.refuses(line.place, line.name):
        return line
    reason = f"not in Slurm {release} ({within(line.place, line.name)}): slurmctld would refuse it, or not read it"
    return replace(line, status="unknown", reason=reason)


def _accepted_by_all(line: LedgerLine) -> bool:
    """Return whether a value is let pass by releases that no longer know the parameter: FastSchedule=1."""
    return line.name.lower() == "fastschedule" and line.value == "1"


def guessed_release(site: Site, sacct: str | PathLike[str] | None) -> SlurmRelease:
    """Return the releases that know all that a site's files use.

    Where two things exclude each other, the one that came later counts: old lines stay in files.

    Parameters
    ----------
    site
        With its ledger.
    sacct
        Its accounting, whose columns tell of the release, and whose JSON names it.
    """
    head = "" if sacct is None else _head(Path(sacct))
    if named := _RELEASE.search(head):
        return SlurmRelease(named[1], named[1], f"{Path(str(sacct)).name} names it")
    oldest = newest = SlurmRelease()
    for found in (*_of_ledger(site.ledger), *_of_columns(head, Path(str(sacct)).name)):
        if found.oldest > oldest.oldest:
            oldest = found
        if found.newest and (not newest.newest or found.newest < newest.newest):
            newest = found
    if oldest.oldest and newest.newest and oldest.oldest > newest.newest:
        return replace(oldest, source=f"{_why(oldest, 'earlier')}, though there is {newest.source}")
    sources = [(oldest, "earlier"), (newest, "later")]
    told = ", and ".join(_why(one, which) for one, which in sources if one.source)
    return SlurmRelease(oldest.oldest, newest.newest, told)


def _why(bound: SlurmRelease, which: str) -> str:
    return f"guessed from {bound.source}, which no {which} one knows"


def _of_ledger(ledger: Ledger) -> Iterator[SlurmRelease]:
    for line in ledger:
        if not _accepted_by_all(line):
            yield replace(within(line.place, line.name), source=f"{line.name} ({line.where})")


def _of_columns(head: str, name: str) -> Iterator[SlurmRelease]:
    first = head.partition("\n")[0]
    for column in first.split("|") if "|" in first else ():
        yield replace(within("sacct", column.strip()), source=f"the column {column.strip()} of {name}")


def _head(path: Path) -> str:
    """Return the first part of a file, nothing of one that cannot be read: who reads the jobs tells of it."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            return stream.read(_HEAD).decode("utf-8", errors="replace")
    except (OSError, EOFError):
        return ""
