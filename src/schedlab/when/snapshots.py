"""What Slurm's programs say of a cluster at a moment, queue, nodes, reservations and shares; from files or taken."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from schedlab.arguments import explained
from schedlab.cluster.node_events import NodeEvent
from schedlab.cluster.node_service import read_services
from schedlab.cluster.node_states import Service
from schedlab.cluster.reservations import read_present_reservations
from schedlab.documents import read_json, read_text
from schedlab.errors import InputError
from schedlab.when.shares_seen import read_priorities, read_usage
from schedlab.workload.squeue import Queue, read_queue

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "squeue": ("squeue", "--all", "--json"),
    "nodes": ("scontrol", "show", "node"),
    "reservations": ("scontrol", "show", "reservation"),
    "sshare": ("sshare", "--all", "--parsable2", "--format=Account,User,RawUsage"),
    "sprio": ("sprio", "--noheader", "--format=%i|%Y"),
}
"""What is taken, as an ordinary user, and how."""

LACKING: Mapping[str, str] = {
    "nodes": "the states of nodes (scontrol show node): all count as in service",
    "reservations": "reservations (scontrol show reservation): none is assumed",
    "sshare": "usage (sshare): no one counts as having used anything but by the priorities of their waiting jobs",
    "sprio": "priorities (squeue or sprio): those of the model count",
}
"""What is not known without the answer of a program."""

PATIENCE = 60
"""Seconds that a program may take."""


class SnapshotFiles(NamedTuple):
    """Files with what Slurm's programs printed at a moment, by what they tell; None: not given."""

    squeue: str | os.PathLike[str]
    nodes: str | os.PathLike[str] | None = None
    reservations: str | os.PathLike[str] | None = None
    sshare: str | os.PathLike[str] | None = None
    sprio: str | os.PathLike[str] | None = None


class Snapshot(NamedTuple):
    """A cluster at a moment.

    Parameters
    ----------
    now
        The moment, as Unix time.
    queue
        The jobs that run or wait.
    services
        By node: whether it is in service; empty if that was not seen.
    reservations
        Reservations and maintenance, in Unix times.
    usage
        The decayed usage of users in accounts; None: not seen.
    notes
        What was not seen or not understood, in sentences without a full stop.
    """

    now: int
    queue: Queue
    services: Mapping[str, Service] = {}
    reservations: tuple[NodeEvent, ...] = ()
    usage: Mapping[tuple[str, str], float] | None = None
    notes: tuple[str, ...] = ()


@explained
def read_snapshot(files: SnapshotFiles, now: int | None = None, *, timezone: str = "UTC") -> Snapshot:
    """Read a cluster at a moment from what Slurm's programs printed.

    Parameters
    ----------
    files
        The queue (`squeue` or `scontrol show job`) and, if known, nodes, reservations, usage and priorities; text or
        JSON of Slurm 22.05 to 26.05.
    now
        The moment, as Unix time. None: what the JSON says, or when the file of the queue was written.
    timezone
        Of times in text.

    Raises
    ------
    InputError
        If a file is none of these or cut short.
    """
    notes = [f"not seen: {what}" for name, what in LACKING.items() if getattr(files, name) is None and name != "sprio"]
    queue = read_queue(files.squeue, timezone=timezone, may_be_empty=True)
    if now is None:
        now, told = _moment(files.squeue)
        notes += told
    if not len(queue.jobs):
        queue = queue._replace(jobs=queue.jobs.replace(start_time=now))
    services: Mapping[str, Service] = {}
    if files.nodes is not None:
        services = read_services(files.nodes, reserved=files.reservations is None)
    reservations: tuple[NodeEvent, ...] = ()
    if files.reservations is not None:
        reservations, left_out = read_present_reservations(files.reservations, epoch=0, timezone=timezone)
        notes += left_out
    if files.sprio is not None:
        known = read_priorities(files.sprio)
        queue.records["priority"] = [
            known.get(job, seen)
            for job, seen in zip(queue.records["job_id"].tolist(), queue.records["priority"].tolist(), strict=True)
        ]
    waits = queue.records["start"] < 0
    if bool((queue.records["priority"][waits] < 0).any()):
        notes.append(f"not seen: {LACKING['sprio']}")
    if (users := queue.records["user_id"].nunique()) == 1 and len(queue.records) > 1:
        notes.append(f"all {len(queue.records)} jobs that were seen are of {users} user: those of others may be hidden")
    usage = None if files.sshare is None else read_usage(files.sshare)
    return Snapshot(now, queue, services, reservations, usage, tuple(notes))


def _moment(path: str | os.PathLike[str]) -> tuple[int, list[str]]:
    """Return when a queue was as a file says, and what to say about that."""
    if read_text(path, "queue").lstrip().startswith("{"):
        told = read_json(path, "queue").get("last_update")
        if isinstance(told, Mapping) and told.get("number"):
            return int(told["number"]), []
    written = int(Path(path).stat().st_mtime)
    at = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(written))
    return written, [f"{os.fspath(path)} does not say of when it is: taken to be of {at}, when it was written (--at)"]


def take_snapshot() -> Snapshot:
    """Ask Slurm's programs in PATH, which read only, and return what they say; what one refuses is named.

    Raises
    ------
    InputError
        If there is no squeue, or it fails.
    """
    if shutil.which("squeue") is None:
        raise InputError("squeue is not in PATH: run this where Slurm's programs are, or give --squeue FILE")
    now, refused = int(time.time()), []
    with tempfile.TemporaryDirectory(prefix="schedlab-") as name:
        files: dict[str, Path] = {}
        for what, command in COMMANDS.items():
            path, said = Path(name) / what, _ask(command)
            if said.returncode == 0 and said.stdout.strip():
                path.write_text(said.stdout, encoding="utf-8")
                files[what] = path
            elif what == "squeue":
                why = _first_line(said.stderr)
                raise InputError(
                    f"{' '.join(command)} fails ({why}): run this where it works, or give what it printed with "
                    "--squeue FILE"
                )
            elif said.returncode:
                refused.append(f"{' '.join(command)} fails: {_first_line(said.stderr)}")
        found = read_snapshot(SnapshotFiles(**files), now)
    return found._replace(notes=(*found.notes, *refused))


def _ask(command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    told = {**os.environ, "TZ": "UTC", "SLURM_TIME_FORMAT": "standard", "SLURM_BITSTR_LEN": "0"}
    try:
        return subprocess.run(command, env=told, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", f"{type(error).__name__}: {error}")


def _first_line(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "it says nothing")
    return re.sub(r"\s+", " ", line).strip()
