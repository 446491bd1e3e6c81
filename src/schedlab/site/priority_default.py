"""What a slurm.conf without PriorityType means: order of submission, or priorities, by the version of Slurm."""

from __future__ import annotations

from collections.abc import Collection

from schedlab.cluster.slurm_releases import SlurmRelease
from schedlab.scheduler.slurm_rules import version_of
from schedlab.scheduler.slurm_versions import NEWEST, VERSIONS
from schedlab.site.ledger import LedgerLine
from schedlab.site.site import Site

PRIORITY = "PriorityType"
DEFAULT_PRIORITY = {VERSIONS[0]: "priority/basic"} | dict.fromkeys(VERSIONS[1:], "priority/multifactor")
"""What versions take where a slurm.conf has no PriorityType, as `scontrol show config` says, and as their jobs went."""


def default_priority(release: SlurmRelease) -> str:
    """Return what the version takes whose rules a site of a release follows.

    Examples
    --------
    >>> default_priority(SlurmRelease("22.05", "22.05")), default_priority(SlurmRelease())
    ('priority/basic', 'priority/multifactor')
    """
    return DEFAULT_PRIORITY[version_of(release) or NEWEST]


def priority_line(names: Collection[str], release: SlurmRelease) -> list[LedgerLine]:
    """Return the line of the ledger about a slurm.conf that has no PriorityType; none if it has one.

    Parameters
    ----------
    names
        Of its parameters, in lower case, also of those that a template leaves open.
    release
        Which Slurm it is for.
    """
    if PRIORITY.lower() in names:
        return []
    usual, whose = default_priority(release), version_of(release) or NEWEST
    reason = f"not given: {usual}, the default of Slurm {whose}"
    return [LedgerLine("slurm.conf", "slurm.conf", PRIORITY, "", "modelled", reason)]


def sets_priority(site: Site) -> bool:
    """Return whether a site's files have a PriorityType."""
    return any(line.value for line in site.ledger.find(PRIORITY))
