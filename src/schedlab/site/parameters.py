"""Every parameter of Slurm's configuration: what schedlab makes of it, and where that is tested.

One table. The ledger of an import and the reference page are made from it; a test holds it against the readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

Status = Literal["modelled", "approximated", "ignored", "unknown"]

STATUSES: tuple[Status, ...] = ("modelled", "approximated", "ignored", "unknown")

PLACES = {
    "slurm.conf": "Parameters of slurm.conf",
    "SchedulerType": "Values of SchedulerType",
    "SchedulerParameters": "Options of SchedulerParameters",
    "PriorityType": "Values of PriorityType",
    "PriorityFlags": "Flags of PriorityFlags",
    "SelectType": "Values of SelectType",
    "SelectTypeParameters": "Options of SelectTypeParameters",
    "PreemptType": "Values of PreemptType",
    "AccountingStorageEnforce": "Options of AccountingStorageEnforce",
    "NodeName": "Options of a line of nodes (NodeName=)",
    "NodeSet": "Options of a set of nodes (NodeSet=)",
    "PartitionName": "Options of a line of a partition (PartitionName=)",
    "DownNodes": "Options of a line of nodes that are down (DownNodes=)",
    "FrontendName": "Options of a line of front ends (FrontendName=)",
    "gres.conf": "gres.conf",
    "topology.conf": "topology.conf",
    "topology.yaml": "topology.yaml (Slurm 25.05 and later)",
    "sacctmgr": "Accounts, users and QOS (sacctmgr)",
    "sacctmgr QOS flags": "Flags of a QOS (sacctmgr)",
}
"""Where parameters stand, and what the reference calls the place."""

LISTS = (
    "SchedulerType",
    "SchedulerParameters",
    "PriorityType",
    "PriorityFlags",
    "SelectType",
    "SelectTypeParameters",
    "PreemptType",
    "AccountingStorageEnforce",
)
"""Parameters of slurm.conf whose values have rows of their own, each word between commas."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of Slurm, and what becomes of it.

    Parameters
    ----------
    place
        Where it stands, one of `PLACES`.
    name
        As Slurm's manual writes it.
    status
        "modelled": as Slurm does. "approximated": nearly so; `how` says what is different. "ignored": without effect.
    how
        What is done with it, or why nothing is.
    tested
        The file of tests that holds the model against Slurm's rule; empty where there is nothing to hold.
    """

    place: str
    name: str
    status: Status
    how: str
    tested: str = ""

    @property
    def decides(self) -> bool:
        """Whether it has a say in when and where jobs start at a site."""
        from schedlab.site.machine_table import IRRELEVANT

        return self.how not in IRRELEVANT


@cache
def parameters() -> Mapping[tuple[str, str], Parameter]:
    """Return all parameters by place and name in lower case.

    Examples
    --------
    >>> parameters()["SchedulerParameters", "bf_interval"].status
    'modelled'
    """
    from schedlab.site import machine_table, scheduling_table

    found: dict[tuple[str, str], Parameter] = {}
    for one in (*rows(scheduling_table.ROWS), *rows(machine_table.ROWS)):
        key = one.place, one.name.lower()
        if key in found:
            raise ValueError(f"{one.place}: {one.name} occurs twice in the table")
        found[key] = one
    return found


Row = tuple[str, str, Status, str, str]
"""Place, names between blanks, status, how, and the file of tests."""


def rows(table: tuple[Row, ...]) -> Iterator[Parameter]:
    """Yield the parameters of a table whose rows name several."""
    for place, names, status, how, tested in table:
        for name in names.split():
            yield Parameter(place, name, status, how, tested)


def known(place: str, name: str) -> Parameter | None:
    """Return what is known of a parameter; names are not case-sensitive, as in Slurm.

    Examples
    --------
    >>> known("slurm.conf", "priorityweightage").name, known("SchedulerParameters", "bf_nonsense")
    ('PriorityWeightAge', None)
    """
    return parameters().get((place, name.lower()))
