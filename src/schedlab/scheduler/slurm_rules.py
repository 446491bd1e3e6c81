"""A scheduler by the rules of another version of Slurm, or by some of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from schedlab.cluster.slurm_releases import SlurmRelease
from schedlab.errors import InputError
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.slurm_versions import MODELLED, VERSIONS, differing
from schedlab.wording import shown


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
    >>> print(under_version(Scheduler.parse("fcfs+slurm"), "26.05", ["passes_rest", "groups_widen"]))
    fcfs+slurm(otherwise=passes_rest/groups_widen)
    """
    passes = scheduler.backfill
    if not version or not isinstance(passes, Slurm):
        return scheduler
    if chosen := set(rules):
        kept = [rule.name for rule in differing(passes.version, version) if rule.name in chosen]
        return replace(scheduler, backfill=replace(passes, otherwise="/".join(kept)))
    whole: dict[str, Any] = {"version": version, "otherwise": ""}
    return replace(scheduler, backfill=replace(passes, **whole))


def version_of(release: SlurmRelease) -> str:
    """Return the version whose rules a site follows: the newest known one that is not newer than what it surely runs.

    Examples
    --------
    >>> version_of(SlurmRelease("25.05")), version_of(SlurmRelease("23.02", "24.05")), version_of(SlurmRelease())
    ('24.11', '22.05', '22.05')
    """
    return next((one for one in reversed(VERSIONS) if one <= release.oldest), MODELLED)
