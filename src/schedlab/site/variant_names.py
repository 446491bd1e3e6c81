"""What variants of a site are called: their changes, short enough for a table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from schedlab.cluster.hostlist import host_names
from schedlab.errors import InputError
from schedlab.site.changes import MORE_NODES, Change, parse_change

LINES = {"partitionname": "partition", "nodename": "nodes", "qos": "QOS", "account": "account", "user": "user"}
"""What sentences call the lines of a configuration, so that a partition and a QOS of one name are told apart."""

LONGEST = 24
"""Characters of a value that a name shows whole."""

SEVERAL = re.compile(r"(?!1 )[\d,]+ more nodes\b")
"""How a name begins that is one of nodes."""

_PLACES = ("partitionname", "switchname")
"""Lines that name the nodes which belong to them."""


def name_of(changes: Sequence[str], policy: str = "", points: int | None = None) -> str:
    """Return what changes that are made together are called.

    New nodes are named by how many they are; what puts them into partitions and on switches is part of that. A policy
    is named with the points of its factor where these are not the usual ones.

    Examples
    --------
    >>> name_of(["SchedulerParameters.bf_interval=30", "QOS=high MaxJobsPerUser=5"], "saf")
    'bf_interval=30, QOS high MaxJobsPerUser=5, policy=saf'
    >>> name_of(["NodeName=n[3-12] CPUs=4 RealMemory=64000", "PartitionName=batch Nodes=n[1-2],n[3-12]"])
    '10 more nodes n[3-12]'
    >>> name_of(["PartitionName=batch Nodes=n[001-087],m[001-096],b[001-024]", "10 more nodes like n[1-8]"])
    'partition batch Nodes=..., 10 more nodes like n[1-8]'
    >>> name_of([], "saf", 0), name_of([], "saf", 500)
    ('policy=saf alone', 'policy=saf of 500 points')
    """
    made = [parse_change(text) for text in changes]
    new = [one.value for one in made if _is_placed(one, made)]
    names = [_new_nodes(one) if one.value in new and one.key.lower() == "nodename" else _short(one) for one in made]
    kept = [name for one, name in zip(made, names, strict=True) if not _places(one, new)]
    of = "" if points is None else f" of {points} points" if points else " alone"
    return ", ".join([*kept, *([f"policy={policy}{of}"] if policy else [])])


def point_name(what: str, value: str) -> str:
    """Return what a value of an axis is called.

    Examples
    --------
    >>> point_name("PartitionName=long MaxTime", "1-0"), point_name("load", "1.1")
    ('partition long MaxTime=1-0', 'load=1.1')
    """
    try:
        return _short(parse_change(f"{what}={value}"), longest=None)
    except InputError:
        return f"{what}={value}"


def in_list(name: str) -> str:
    """Return what a variant is called among others in a sentence: in quotes if its name has commas itself.

    Examples
    --------
    >>> in_list("bf_interval=30"), in_list("2 more nodes, load=1.2")
    ('bf_interval=30', '"2 more nodes, load=1.2"')
    """
    return f'"{name}"' if "," in name else name


def verb(name: str, of_one: str, of_several: str) -> str:
    """Return the form of a verb that follows the name of a variant, which may be that of several nodes.

    Examples
    --------
    >>> verb("bf_interval=30", "changes", "change"), verb("10 more nodes like n1", "changes", "change")
    ('changes', 'change')
    """
    return of_several if SEVERAL.match(name) else of_one


def _is_placed(change: Change, made: Sequence[Change]) -> bool:
    """Whether a change is a line of nodes that another one puts into a partition or on a switch."""
    return change.key.lower() == "nodename" and any(_places(one, [change.value]) for one in made)


def _places(change: Change, new: Sequence[str]) -> bool:
    """Whether all that a change does is to put new nodes into a partition or on a switch."""
    if change.key.lower() not in _PLACES or [name.lower() for name, _ in change.options] != ["nodes"]:
        return False
    hosts = set(host_names(change.options[0][1]))
    return any(hosts.issuperset(host_names(one)) for one in new)


def _new_nodes(change: Change) -> str:
    number = len(host_names(change.value))
    return f"{number:,} more {'node' if number == 1 else 'nodes'} {change.value}"


def _short(change: Change, longest: int | None = LONGEST) -> str:
    """Return a change without the list that it belongs to, or with the kind of line in words."""

    def bounded(value: str) -> str:
        return value if longest is None or len(value) <= longest else "..."

    if change.key == MORE_NODES:
        return change.text
    if change.option:
        return change.option if change.value == " " else f"{change.option}={change.value}"
    kind = LINES.get(change.key.lower(), change.key)
    if not change.options:
        return f"{change.key}={bounded(change.value)}"
    return " ".join([kind, bounded(change.value), *(f"{name}={bounded(value)}" for name, value in change.options)])
