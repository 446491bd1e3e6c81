"""What a slurm.conf without SelectType means: whole nodes, or shared ones, by the release of Slurm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from schedlab.cluster.slurm_releases import SlurmRelease, default_select
from schedlab.site.ledger import LedgerLine
from schedlab.site.site import Site

SELECT = "SelectType"
_TOLD = f"{SELECT} is "

_OPEN = (
    "not given: jobs share nodes, as under select/cons_tres, the default since Slurm 23.11; before, it is "
    "select/linear, under which each job gets whole nodes: say which Slurm the site runs, or write the one that it "
    "has into slurm.conf"
)


def defaults_of(
    values: Mapping[str, str], release: SlurmRelease, left_open: Iterable[LedgerLine] = ()
) -> dict[str, str]:
    """Return what slurmctld takes for SelectType and its parameters, where a slurm.conf has neither.

    Parameters
    ----------
    values
        Of the slurm.conf, by name in lower case.
    release
        Which Slurm it is for; if it may be one before and one after the change, nothing is returned.
    left_open
        Lines of a template that are not known.
    """
    unknown = {line.name.lower() for line in left_open}
    given = {"selecttype", "selecttypeparameters"} & {*values, *unknown}
    return {} if given else default_select(release)


def select_line(values: Mapping[str, str], defaults: Mapping[str, str], release: SlurmRelease) -> list[LedgerLine]:
    """Return the line of the ledger about a slurm.conf that has no SelectType; none if it has one."""
    if SELECT.lower() in values:
        return []
    if not defaults:
        return [LedgerLine("slurm.conf", "slurm.conf", SELECT, "", "approximated", _OPEN)]
    whole = defaults[SELECT.lower()].endswith("linear")
    what = "each job gets whole nodes" if whole else "jobs share nodes by cores and memory"
    usual = " with ".join(defaults.values())
    reason = f"not given: {what} ({usual}, the default of Slurm {release})"
    return [LedgerLine("slurm.conf", "slurm.conf", SELECT, "", "modelled", reason)]


def told_of_select(lines: Sequence[LedgerLine]) -> list[str]:
    """Return the notes about such lines."""
    return [f"{_TOLD}{line.reason}" for line in lines]


def other_notes(notes: Iterable[str]) -> list[str]:
    """Return notes without those about a SelectType that is not given: a change or another release makes it another."""
    return [note for note in notes if not note.startswith(_TOLD)]


def lacks_select(site: Site) -> bool:
    """Return whether a site was read from a slurm.conf without SelectType."""
    return any(not line.value for line in site.ledger.find(SELECT))
