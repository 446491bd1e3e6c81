"""A scheduler by the rules of another version of Slurm, or by some of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from schedlab.cluster.slurm_releases import SlurmRelease
from schedlab.errors import InputError
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.slurm_versions import VERSIONS, differing
from schedlab.wording import shown

_PASSES = re.compile(r"\+(slurm\b(?:\([^()]*\))?)")
"""Slurm's passes in a canonical text."""


def check_version(text: str, what: str) -> str:
    """Return a version of Slurm whose rules are known, such as "24.11" for "24.11.5"; `what` is told of another one.

    Raises
    ------
    InputError
        With the versions that are known.

    Examples
    --------
    >>> check_version("24.11.5", "slurm=")
    '24.11'
    """
    try:
        name = SlurmRelease.given(text).oldest
    except InputError:
        name = ""
    if name not in VERSIONS:
        raise InputError(f"{what} {shown(text)}: known are the rules of Slurm {', '.join(VERSIONS)}")
    return name


def under_version(scheduler: Scheduler, version: str, rules: Iterable[str] = ()) -> Scheduler:
    """Return a scheduler by the rules of a version of Slurm; only by some of them, if they are given.

    Examples
    --------
    >>> print(under_version(Scheduler.parse("fcfs+slurm"), "26.05"))
    fcfs+slurm(version=26.05)
    >>> print(under_version(Scheduler.parse("fcfs+slurm"), "22.05", ["passes_rest", "requeued_keep_place"]))
    fcfs+slurm(otherwise=passes_rest/requeued_keep_place)
    """
    passes = scheduler.backfill
    if not version or not isinstance(passes, Slurm):
        return scheduler
    if chosen := set(rules):
        kept = [rule.name for rule in differing(passes.followed, version) if rule.name in chosen]
        return replace(scheduler, backfill=replace(passes, otherwise="/".join(kept)))
    whole: dict[str, Any] = {"version": version, "otherwise": ""}
    return replace(scheduler, backfill=replace(passes, **whole))


def version_of(release: SlurmRelease) -> str:
    """Return the version whose rules a site follows: the newest known one that is not newer than what it surely runs.

    If nothing is known, that is none ("").

    Examples
    --------
    >>> version_of(SlurmRelease("25.05")), version_of(SlurmRelease("23.02", "24.05")), version_of(SlurmRelease())
    ('24.11', '22.05', '')
    """
    bound = release.oldest or release.newest
    return next((one for one in reversed(VERSIONS) if one <= bound), VERSIONS[0]) if bound else ""


def named_version(scheduler: Scheduler) -> str | None:
    """Return the version of Slurm that a scheduler names; None: none."""
    passes = scheduler.backfill
    return passes.version or None if isinstance(passes, Slurm) else None


def naming_version(text: str, version: str) -> str:
    """Return a scheduler text that names a version of Slurm, if it is one with Slurm's passes, and names none.

    Nothing else in the text is looked at, so that one from a file imports nothing.

    Examples
    --------
    >>> naming_version("saf+slurm(depth=50)@actual", "22.05"), naming_version("fcfs+slurm(version=24.11)", "22.05")
    ('saf+slurm(depth=50,version=22.05)@actual', 'fcfs+slurm(version=24.11)')
    """
    return _PASSES.sub(lambda found: "+" + _naming(Slurm.parse(found[1]), version).text, text)


def _naming(passes: Slurm, version: str) -> Slurm:
    named: dict[str, Any] = {"version": passes.version or version}
    return replace(passes, **named)
