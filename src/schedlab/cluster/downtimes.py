"""Nodes that were down or drained, as Slurm's accounting has recorded them: what `sacctmgr show event` prints."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from zoneinfo import ZoneInfo

from schedlab.cluster.hostlist import host_names
from schedlab.cluster.moments import second_of, zone_of
from schedlab.cluster.node_events import Event, NodeEvent, NodeEvents
from schedlab.documents import read_text
from schedlab.errors import InputError
from schedlab.wording import shown

COMMAND = "sacctmgr -P show event start=... format=NodeName,TimeStart,TimeEnd,State,Reason"
COLUMNS = ("NodeName", "TimeStart", "TimeEnd", "State")
OPEN_ENDS = ("", "Unknown", "None")
NEVER = 1 << 60

DOWN = ("DOWN", "FAIL", "ERROR")
DRAINED = ("DRAIN", "MAINT", "RESERVED", "FUTURE", "POWER")
"""What the states of nodes out of service contain; those of `DOWN` end the jobs there."""


class Downtime(NamedTuple):
    """A node out of service from a second on, to another (None: to the end of the records)."""

    node: str
    begin: int
    end: int | None
    event: Event


def read_downtimes(path: str | os.PathLike[str], *, epoch: int, timezone: str = "UTC") -> NodeEvents:
    """Read what `sacctmgr --parsable2 show event` prints: which nodes were down or drained, and when.

    Parameters
    ----------
    path
        The file, with the columns NodeName, TimeStart, TimeEnd and State among others. Lines without a node are of the
        cluster as a whole, and count for none.
    epoch
        The Unix time of second 0 of the workload (`workload.start_time`).
    timezone
        Of the times in the file, such as "Europe/Stockholm".

    Raises
    ------
    InputError
        If a line is not understood: file and line are named.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "events.txt"
    >>> _ = path.write_text("Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\\n"
    ...                     "lab|n1|2026-01-05T01:00:00|2026-01-05T02:00:00|DRAIN|disk|root(0)\\n"
    ...                     "lab|n1|2026-01-05T02:00:00|2026-01-05T03:00:00|DOWN*|Not responding|slurm(64030)\\n")
    >>> print(read_downtimes(path, epoch=1767571200).to_csv(), end="")
    second,event,nodes,end,announced
    3600,drain,n1,,
    7200,down,n1,,
    10800,up,n1,,
    """
    source = os.fspath(path)
    zone = zone_of(timezone)
    lines = csv.DictReader(read_text(path, "output of sacctmgr show event").splitlines(), delimiter="|")
    if missing := [name for name in COLUMNS if name not in (lines.fieldnames or ())]:
        raise InputError(f"{source}: the column {missing[0]} is missing; create the file with: {COMMAND}")
    found: list[Downtime] = []
    for line in lines:
        try:
            found += _downtimes(line, epoch, zone)
        except InputError as error:
            raise InputError(f"{source}, line {lines.line_num}: {error}") from None
    return NodeEvents(tuple(events_of(found)))


def events_of(downtimes: Iterable[Downtime]) -> Iterator[NodeEvent]:
    """Yield the events of nodes that are out of service; one that is so again at once is not up in between.

    Examples
    --------
    >>> [(one.second, one.event) for one in events_of([Downtime("n1", 5, 9, "drain"), Downtime("n1", 7, None, "down")])]
    [(5, 'drain'), (7, 'down')]
    """
    of_node: dict[str, list[Downtime]] = {}
    for one in sorted(downtimes, key=lambda one: (one.node, one.begin)):
        of_node.setdefault(one.node, []).append(one)
    for name, mine in of_node.items():
        latest = mine[0].begin
        for one, following in zip(mine, [*mine[1:], None], strict=True):
            yield NodeEvent(one.begin, one.event, (name,))
            latest = NEVER if one.end is None else max(latest, one.end)
            if latest < NEVER and (following is None or following.begin > latest):
                yield NodeEvent(latest, "up", (name,))


def _downtimes(line: dict[str, str], epoch: int, zone: ZoneInfo) -> Iterator[Downtime]:
    nodes, state = (line.get(name) or "" for name in ("NodeName", "State"))
    if not nodes:
        return
    event: Event | None = None
    if any(word in state.upper() for word in DOWN):
        event = "down"
    elif any(word in state.upper() for word in DRAINED):
        event = "drain"
    if event is None:
        raise InputError(f"the state {shown(state)} is none of a node out of service: remove the line")
    begin = second_of("TimeStart", line.get("TimeStart") or "", epoch, zone)
    ended = line.get("TimeEnd") or ""
    end = None if ended in OPEN_ENDS else second_of("TimeEnd", ended, epoch, zone)
    if end is not None and end < begin:
        raise InputError(f"TimeEnd {shown(ended)} lies before TimeStart")
    for name in host_names(nodes):
        if end is None or end > begin:
            yield Downtime(name, begin, end, event)
