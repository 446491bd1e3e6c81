"""Nodes that were down or drained, as Slurm's accounting has recorded them: what `sacctmgr show event` prints."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from zoneinfo import ZoneInfo

from schedlab.arguments import explained
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.moments import second_of, zone_of
from schedlab.cluster.node_events import Event, NodeEvent, NodeEvents
from schedlab.cluster.node_states import service_of
from schedlab.documents import read_text
from schedlab.errors import InputError
from schedlab.wording import shown

COMMAND = "sacctmgr -P show event start=... format=NodeName,TimeStart,TimeEnd,State,Reason"
COLUMNS = ("NodeName", "TimeStart", "TimeEnd", "State")
OPEN_ENDS = ("", "Unknown", "None")
NEVER = 1 << 60


class Downtime(NamedTuple):
    """A node out of service from a second on, to another (None: to the end of the records)."""

    node: str
    begin: int
    end: int | None
    event: Event


@explained
def read_downtimes(path: str | os.PathLike[str], *, epoch: int, timezone: str = "UTC") -> NodeEvents:
    """Read what `sacctmgr --parsable2 show event` prints: which nodes were down or drained, and when.

    Parameters
    ----------
    path
        The file, with the columns NodeName, TimeStart, TimeEnd and State among others, between bars or another
        delimiter. Nodes that are off to save power are available, as a job wakes them: their records are left out, and
        so are those without a node, which are of the cluster as a whole. `NodeEvents.notes` has the counts.
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
    head, *lines = read_text(path, "output of sacctmgr show event").splitlines() or [""]
    delimiter = next(iter(re.findall(r"^\w+([^\w\s]|\t)", head)), "|")
    names = head.rstrip("\r").split(delimiter)
    if missing := [name for name in COLUMNS if name not in names]:
        raise InputError(f"{source}: the column {missing[0]} is missing; create the file with: {COMMAND}")
    found: list[Downtime] = []
    left_out: Counter[str] = Counter()
    for number, line in enumerate(lines, start=2):
        if line.strip() and line != head:
            try:
                found += _downtimes(_cells(line, names, delimiter), epoch, zone, left_out)
            except InputError as error:
                raise InputError(f"{source}, line {number}: {error}") from None
    notes = tuple(f"records of {what} left out: {count:,}" for what, count in left_out.items())
    return NodeEvents(tuple(events_of(found)), notes=notes)


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


def _cells(line: str, names: list[str], delimiter: str) -> dict[str, str]:
    """Return the cells of a line by column; quotes in it are ordinary characters, as sacctmgr writes none."""
    cells = line.split(delimiter)
    if len(cells) < len(names):
        raise InputError(
            f"{len(cells)} columns instead of {len(names)}: the line is truncated, or a Reason holds a line break"
        )
    last = max(names.index(name) for name in COLUMNS)
    if len(cells) > len(names) and "Reason" in names[:last]:
        raise InputError(
            f"{len(cells)} columns instead of {len(names)}: a Reason holds the delimiter; put it last, as in {COMMAND}"
        )
    return dict(zip(names, cells, strict=False))


def _downtimes(line: dict[str, str], epoch: int, zone: ZoneInfo, left_out: Counter[str]) -> Iterator[Downtime]:
    """Yield the downtimes of a record, or count why it has none."""
    nodes, state, ended = (line[name] for name in ("NodeName", "State", "TimeEnd"))
    if not nodes:
        left_out["the cluster as a whole"] += 1
        return
    service = service_of(state)
    begin = second_of("TimeStart", line["TimeStart"], epoch, zone)
    end = None if ended in OPEN_ENDS else second_of("TimeEnd", ended, epoch, zone)
    if end is not None and end < begin:
        raise InputError(f"TimeEnd {shown(ended)} lies before TimeStart")
    if service == "power saving":
        left_out["nodes that were off to save power, which a job wakes,"] += 1
    elif service == "in service":
        left_out[f"nodes in service (state {state})"] += 1
    elif end == begin:
        left_out["0 seconds"] += 1
    else:
        event: Event = "down" if service == "down" else "drain"
        yield from (Downtime(name, begin, end, event) for name in host_names(nodes))
