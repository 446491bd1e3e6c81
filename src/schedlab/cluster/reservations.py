"""Reservations of a site as `scontrol show reservation` prints them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from schedlab.arguments import explained
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.moments import second_of, zone_of
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.documents import read_json, read_text
from schedlab.errors import InputError
from schedlab.wording import shown

COMMAND = "scontrol show reservation"
NOTHING = ("", "(null)", "N/A")

MODELLED = {"MAINT", "IGNORE_JOBS", "SPEC_NODES", "ALL_NODES", "NO_HOLD_JOBS_AFTER_END", "OVERLAP"}
"""Flags that are modelled, or say how the nodes were chosen."""

_PAIR = re.compile(r"(\w+)=(\S*)")


@explained
def read_reservations(path: str | os.PathLike[str], *, epoch: int, timezone: str = "UTC") -> NodeEvents:
    """Read what `scontrol show reservation` prints, in one line for each reservation (`-o`) or in several.

    Reservations with the flag MAINT become maintenance, for all jobs alike. They are known from the beginning.

    Parameters
    ----------
    path
        The file.
    epoch
        The Unix time of second 0 of the workload (`workload.start_time`).
    timezone
        Of the times in the file, such as "Europe/Stockholm".

    Raises
    ------
    InputError
        If a reservation is not understood, names no nodes, or has a flag that is not modelled, such as FLEX or DAILY.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "reservations.txt"
    >>> _ = path.write_text("ReservationName=course StartTime=2026-01-05T09:00:00 EndTime=2026-01-05T12:00:00 "
    ...                     "Nodes=n[1-2] NodeCnt=2 Flags=SPEC_NODES\\n   Users=ann,bob Accounts=(null)\\n")
    >>> print(read_reservations(path, epoch=1767571200).to_csv(), end="")
    second,event,nodes,end,announced,name,users,accounts
    32400,reservation,n[1-2],43200,,course,"ann,bob",
    """
    events = []
    for told in _told(path):
        try:
            events.append(_event_of(told, epoch, zone_of(timezone)))
        except InputError as error:
            raise InputError(f"{os.fspath(path)}, reservation {shown(told['ReservationName'])}: {error}") from None
    return NodeEvents(tuple(events))


def read_present_reservations(
    path: str | os.PathLike[str], *, epoch: int, timezone: str = "UTC"
) -> tuple[tuple[NodeEvent, ...], tuple[str, ...]]:
    """Return the reservations that can be modelled, and sentences about the others.

    Parameters and forms are those of `read_reservations`, and what `scontrol show reservation --json` prints.
    """
    events, notes = [], []
    for told in _told(path):
        try:
            events.append(_event_of(told, epoch, zone_of(timezone)))
        except InputError as error:
            notes.append(f"the reservation {shown(told['ReservationName'])} is left out: {error}")
    return tuple(events), tuple(notes)


def _told(path: str | os.PathLike[str]) -> list[dict[str, str]]:
    """Return what is told of each reservation, by the names of the text."""
    text, source = read_text(path, f"output of {COMMAND}"), os.fspath(path)
    if text.lstrip().startswith("{"):
        return _of_json(read_json(path, f"output of {COMMAND}"), source)
    parts = re.split(r"(?m)^(?=[ \t]*ReservationName=)", text)
    if parts[0].strip() and not parts[0].startswith("No reservations"):
        raise InputError(f"{source}: no line begins with ReservationName=; create the file with: {COMMAND}")
    return [dict(_PAIR.findall(part)) for part in parts[1:]]


def _of_json(document: Any, source: str) -> list[dict[str, str]]:
    reservations = document.get("reservations") if isinstance(document, Mapping) else None
    if not isinstance(reservations, list):
        raise InputError(f"{source}: it has no list of reservations; create the file with: {COMMAND}")
    found = []
    for one in reservations:
        try:
            begin, end = (_instant(one[name]) for name in ("start_time", "end_time"))
            names = {"Nodes": "node_list", "Users": "users", "Accounts": "accounts"}
            told = {text: str(one.get(name) or "") for text, name in names.items()}
            told |= {"ReservationName": one["name"], "Flags": ",".join(one.get("flags") or ())}
            found.append(told | {"StartTime": begin, "EndTime": end})
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{source}: a reservation is not as Slurm prints it: {error}") from None
    return found


def _instant(value: Any) -> str:
    """Return a Unix time of the JSON, with its zone."""
    number = value["number"] if isinstance(value, Mapping) else value
    return datetime.fromtimestamp(int(number), UTC).isoformat()


def _event_of(told: dict[str, str], epoch: int, zone: ZoneInfo) -> NodeEvent:
    values = {name: "" if value in NOTHING else value for name, value in told.items()}
    flags = {flag for flag in values.get("Flags", "").upper().split(",") if flag}
    if unknown := sorted(flags - MODELLED):
        raise InputError(f"the flag {shown(unknown[0])} is not modelled: remove the reservation, or the flag")
    if not values.get("Nodes"):
        raise InputError("it names no nodes")
    nodes = tuple(host_names(values["Nodes"]))
    begin, end = (second_of(name, values.get(name, ""), epoch, zone) for name in ("StartTime", "EndTime"))
    if "MAINT" in flags:
        return NodeEvent(begin, "maintenance", nodes, end)
    users, accounts = (tuple(values[name].split(",")) if values.get(name) else () for name in ("Users", "Accounts"))
    return NodeEvent(begin, "reservation", nodes, end, None, values["ReservationName"], users, accounts)
