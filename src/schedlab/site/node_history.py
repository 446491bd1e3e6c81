"""What happened to a site's nodes while its jobs ran: read from what Slurm's programs print, or as node events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path

from schedlab.cluster.downtimes import read_downtimes
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.preemption import REQUEUE_DELAY
from schedlab.cluster.reservations import read_reservations
from schedlab.documents import read_text
from schedlab.errors import InputError


def read_node_history(paths: Sequence[str | PathLike[str]], *, epoch: int | None, timezone: str = "UTC") -> NodeEvents:
    """Return the events of several files as one.

    Nodes that were down by the records of `sacctmgr show event` are drained: the jobs that they ended are in the
    accounting with the run times that they had, and each further run as a job of its own. In node events, "down" stays.

    Parameters
    ----------
    paths
        Node events (.csv), or what `scontrol show reservation` or `sacctmgr --parsable2 show event` printed.
    epoch
        The Unix time of second 0 of the jobs; None: not known, so that only node events can be read.
    timezone
        Of the times that Slurm's programs printed.

    Raises
    ------
    InputError
        If a file is none of these; or has dates, and the jobs have none.
    """
    events: list[NodeEvent] = []
    notes: list[str] = []
    for path in paths:
        head = read_text(path, "file of node events").lstrip("\ufeff").lstrip()
        printed = None
        if head.startswith(("ReservationName=", "No reservations")):
            printed = read_reservations
        elif "|" in head.partition("\n")[0]:
            printed = read_downtimes
        if printed is None:
            events += NodeEvents.read(path).events
        elif epoch is None:
            raise InputError(f"{fspath(path)}: its times cannot be placed, as the jobs have no dates: give node events")
        else:
            found = printed(path, epoch=epoch, timezone=timezone)
            events += (replace(one, event="drain") if one.event == "down" else one for one in found)
            notes += (f"{Path(path).name}: {note}" for note in found.notes)
    return NodeEvents(tuple(events), requeue_delay=REQUEUE_DELAY, notes=tuple(notes))
