"""What happens to the nodes of a cluster: they go down, are drained, come back, are maintained, and are reserved."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self, get_args

import numpy as np

from schedlab.atomic import atomic_path
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.failures import drawn_failures
from schedlab.cluster.hostlist import host_list, host_names
from schedlab.errors import InputError, whole_number
from schedlab.streams import read_whole
from schedlab.wording import did_you_mean, shown

Event = Literal["down", "drain", "up", "gpu-down", "gpu-up", "maintenance", "reservation"]
Interrupted = Literal["requeue", "lost"]

EVENTS: tuple[str, ...] = get_args(Event)
COLUMNS = ("second", "event", "nodes", "end", "announced")
OF_GPUS = ("gpus",)
OF_RESERVATIONS = ("name", "users", "accounts")
ALL_COLUMNS = (*COLUMNS, *OF_GPUS, *OF_RESERVATIONS)
DAY = 86400
MOST_GPUS = 63
"""GPUs of a node that events can name."""


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """What happens to some nodes in a second.

    Parameters
    ----------
    second
        When, in the workload's seconds.
    event
        "down": the nodes fail, and runs on them end at once. "drain": no job starts on them any more. "up": they are in
        service again. "gpu-down": single GPUs of the nodes fail, and runs that hold them end at once; "gpu-up": they
        are there again. "maintenance": they are closed until `end`; the scheduler knows it ahead, and starts no job
        whose request reaches into it. "reservation": the same for all jobs but those that ask for it by its name, which
        run nowhere else and only until `end`.
    nodes
        Their names.
    end
        Of a maintenance or a reservation: the first second in which the nodes are open again.
    announced
        Of a maintenance or a reservation: the second from which on the scheduler knows it; None: always.
    name
        Of a reservation.
    users, accounts
        Of a reservation: whose jobs may ask for it. If both are given, a job needs both.
    gpus
        Of the events of GPUs: which ones of each node, from 0 on, in the order of the cluster's file.

    Raises
    ------
    InputError
        If these do not go together.
    """

    second: int
    event: Event
    nodes: tuple[str, ...]
    end: int | None = None
    announced: int | None = None
    name: str = ""
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    gpus: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.event not in EVENTS:
            raise InputError(f"unknown event {shown(str(self.event))}; known are {', '.join(EVENTS)}")
        if not self.nodes:
            raise InputError(f"a {self.event} event needs nodes")
        if self.event.startswith("gpu-") != bool(self.gpus):
            raise InputError(
                f"a {self.event} event needs gpus, such as 0 or 0-3"
                if not self.gpus
                else f"only gpu-down and gpu-up name gpus, not {self.event}"
            )
        if self.gpus and not 0 <= min(self.gpus) <= max(self.gpus) < MOST_GPUS:
            raise InputError(f"{self.event} at second {self.second}: GPUs of a node are numbered from 0 on")
        if self.event == "reservation":
            self._check_reservation()
        elif self.name or self.users or self.accounts:
            raise InputError(f"only a reservation has a name, users and accounts, not {self.event}")
        if self.event not in ("maintenance", "reservation"):
            if self.end is not None or self.announced is not None:
                raise InputError(
                    f"only maintenance and reservations have an end and an announcement, not {self.event}: "
                    "end it by another event"
                )
            return
        if self.end is None or self.end <= self.second:
            raise InputError(f"{self.event} that begins at second {self.second} needs a later end")
        if self.announced is not None and self.announced > self.second:
            raise InputError(
                f"{self.event} that begins at second {self.second} cannot be announced at second {self.announced}"
            )

    def _check_reservation(self) -> None:
        if not self.name:
            raise InputError(f"the reservation that begins at second {self.second} needs a name")
        if not self.users and not self.accounts:
            raise InputError(f"the reservation {shown(self.name)} needs users or accounts that may use it")
        if denied := [name for name in (*self.users, *self.accounts) if name.startswith("-")]:
            raise InputError(
                f"the reservation {shown(self.name)} denies {shown(denied[0])}: name who may use it instead"
            )


@dataclass(frozen=True, slots=True)
class NodeEvents:
    """What happens to the nodes of a cluster during a simulation.

    Parameters
    ----------
    events
        In any order; of one second, the first is first.
    interrupted
        What becomes of a job on a node that goes down: "requeue": it is submitted again, as it was, and all its work
        since its last checkpoint is lost (Slurm's JobRequeue=1). "lost": it has ended.
    requeue_delay
        Seconds before a requeued job may begin again; 121 in Slurm.
    notes
        What the reader of a log left out, for messages.

    Raises
    ------
    InputError
        If `interrupted` is none of these, the delay is below 0, if two reservations have one name, or a node at a
        time.

    Examples
    --------
    >>> events = NodeEvents((NodeEvent(100, "down", ("n1",)), NodeEvent(400, "up", ("n1",))))
    >>> print(events.to_csv(), end="")
    second,event,nodes,end,announced
    100,down,n1,,
    400,up,n1,,
    """

    events: tuple[NodeEvent, ...]
    interrupted: Interrupted = "requeue"
    requeue_delay: int = 0
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if self.interrupted not in get_args(Interrupted):
            raise InputError(f"interrupted={shown(str(self.interrupted))}: must be requeue or lost")
        if whole_number("requeue_delay", self.requeue_delay) < 0:
            raise InputError(f"requeue_delay={self.requeue_delay}: must be 0 seconds or more")
        object.__setattr__(self, "events", tuple(sorted(self.events, key=lambda event: event.second)))
        _refuse_overlaps(self.reservations)

    def __iter__(self) -> Iterator[NodeEvent]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    @property
    def breaks(self) -> bool:
        """Whether nodes or GPUs go down or reservations end, so that runs may be broken off."""
        return any(event.event in ("down", "gpu-down", "reservation") for event in self.events)

    @property
    def reservations(self) -> tuple[NodeEvent, ...]:
        """The reservations, by begin."""
        return tuple(event for event in self.events if event.event == "reservation")

    def numbers(self, names: Sequence[str]) -> dict[str, int]:
        """Return the number of each node of a cluster, after a look whether all events are about those.

        Raises
        ------
        InputError
            If an event names another one.
        """
        number = {name: place for place, name in enumerate(names)}
        for event in self.events:
            for name in event.nodes:
                if name not in number:
                    known = did_you_mean(name, names)
                    raise InputError(
                        f"{event.event} at second {event.second}: no node of the cluster is called {shown(name)}{known}"
                    )
        return number

    def shifted(self, seconds: int) -> Self:
        """Return the same events so much later, for jobs whose clock begins at another second.

        Examples
        --------
        >>> NodeEvents((NodeEvent(100, "down", ("n1",)),)).shifted(-30).events[0].second
        70
        """
        moved = (
            replace(
                event,
                second=event.second + seconds,
                end=None if event.end is None else event.end + seconds,
                announced=None if event.announced is None else event.announced + seconds,
            )
            for event in self.events
        )
        return replace(self, events=tuple(moved))

    @classmethod
    def read(cls, path: str | os.PathLike[str], interrupted: Interrupted = "requeue", requeue_delay: int = 0) -> Self:
        """Read a CSV file with the columns second, event, nodes (a host list), end and announced.

        That of GPUs is gpus (0-3); those of reservations are name, users and accounts. Names in one cell are separated
        by commas.

        Raises
        ------
        InputError
            If a line is not understood: file and line are named.
        """
        return replace(cls.from_csv(_text(path), interrupted, os.fspath(path)), requeue_delay=requeue_delay)

    @classmethod
    def from_csv(cls, text: str, interrupted: Interrupted = "requeue", source: str = "events") -> Self:
        """Return the events of a text as `to_csv` writes it; `source` is what errors call it.

        Raises
        ------
        InputError
            As `read`.

        Examples
        --------
        >>> len(NodeEvents.from_csv("second,event,nodes\\n100,drain,n[1-2]\\n"))
        1
        """
        lines = csv.DictReader(io.StringIO(text), strict=True)
        events = []
        try:
            columns = ALL_COLUMNS
            if missing := [name for name in COLUMNS[:3] if name not in (lines.fieldnames or ())]:
                raise InputError(f"the column {missing[0]} is missing; the columns are {', '.join(columns)}")
            if unknown := [name for name in lines.fieldnames or () if name not in columns]:
                raise InputError(f"unknown column {shown(unknown[0])}; the columns are {', '.join(columns)}")
            events = [_event_of(line) for line in lines]
        except (InputError, csv.Error) as error:
            raise InputError(f"{source}, line {max(lines.line_num, 1)}: {error}") from error
        return cls(tuple(events), interrupted)

    def to_csv(self) -> str:
        """Return the events as `read` understands them."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        reserves, names = bool(self.reservations), any(event.gpus for event in self.events)
        writer.writerow((*COLUMNS, *(OF_GPUS if names else ()), *(OF_RESERVATIONS if reserves else ())))
        for event in self.events:
            rest = ["" if value is None else value for value in (event.end, event.announced)]
            whose = [event.name, ",".join(event.users), ",".join(event.accounts)] if reserves else []
            gpus = [",".join(map(str, event.gpus))] if names else []
            writer.writerow([event.second, event.event, host_list(event.nodes), *rest, *gpus, *whose])
        return text.getvalue()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the events to a CSV file."""
        with atomic_path(path) as target:
            target.write_text(self.to_csv(), encoding="utf-8")

    @classmethod
    def drawn(
        cls,
        cluster: Cluster,
        *,
        mtbf: float | str | None = None,
        mttr: float | str | None = None,
        gpu_mtbf: float | str | None = None,
        gpu_mttr: float | str | None = None,
        until: int,
        rng: np.random.Generator | int,
        begin: int = 0,
        shape: float = 1.0,
        interrupted: Interrupted = "requeue",
    ) -> Self:
        """Draw when each node, or each GPU, fails, and how long it is down.

        Parameters
        ----------
        cluster
            The nodes; each node and each GPU fails by itself.
        mtbf, mttr
            Of nodes: mean time from a return to the next failure, and from a failure to the return, in seconds or as a
            duration such as "30d". None: no node fails.
        gpu_mtbf, gpu_mttr
            The same of single GPUs.
        until
            Nothing fails from this second on; those that are down come back.
        rng
            A generator, or a seed.
        begin
            The first second.
        shape
            Of the Weibull distribution of the times between failures. 1: exponential. 0.7 to 0.8 is what Schroeder &
            Gibson found in the logs of Los Alamos.
        interrupted
            What becomes of jobs on nodes that go down.

        Raises
        ------
        InputError
            If a mean or the shape is not positive, or neither mean time between failures is given.

        References
        ----------
        Schroeder & Gibson, "A large-scale study of failures in high-performance computing systems", DSN 2006: times
        between failures follow a Weibull distribution, repairs a lognormal one; here repairs are exponential.

        Examples
        --------
        >>> from schedlab.cluster.nodes import NodeGroup
        >>> machine = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=8)])
        >>> events = NodeEvents.drawn(machine, mtbf=86400, mttr=3600, until=7 * 86400, rng=1)
        >>> sorted({event.event for event in events}), len(events) % 2
        (['down', 'up'], 0)
        """
        means = ((mtbf, mttr), (gpu_mtbf, gpu_mttr))
        failures = drawn_failures(cluster, means, shape, begin, until, np.random.default_rng(rng))
        events = []
        for name, gpu, down, up in failures:
            kind, gpus = ("", ()) if gpu is None else ("gpu-", (gpu,))
            events.append(NodeEvent(down, f"{kind}down", (name,), gpus=gpus))  # type: ignore[arg-type]
            events.append(NodeEvent(up, f"{kind}up", (name,), gpus=gpus))  # type: ignore[arg-type]
        return cls(tuple(events), interrupted)


def _refuse_overlaps(reservations: Sequence[NodeEvent]) -> None:
    """Raise InputError if two reservations have one name, or a node at a time."""
    names = [event.name for event in reservations]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two reservations have the name {shown(twice[0])}")
    last: dict[str, NodeEvent] = {}
    for event in reservations:
        for node in event.nodes:
            before = last.get(node)
            if before is not None and before.end is not None and before.end > event.second:
                raise InputError(
                    f"the reservations {shown(before.name)} and {shown(event.name)} overlap on node {node}: a node "
                    "has one reservation at a time"
                )
            last[node] = event


def _text(path: str | os.PathLike[str]) -> str:
    try:
        return read_whole(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{os.fspath(path)}: the file is not text in UTF-8") from None


def _event_of(line: dict[str, str | None]) -> NodeEvent:
    """Return the event of a line."""
    if None in line:
        raise InputError("the line has more cells than there are columns")
    cells = {name: (line.get(name) or "").strip() for name in ALL_COLUMNS}
    numbers = {
        name: None if cells[name] == "" else _whole(name, cells[name]) for name in ("second", "end", "announced")
    }
    if numbers["second"] is None:
        raise InputError("the line has no value for second")
    names = tuple(host_names(cells["nodes"]))
    users, accounts = (tuple(cell.split(",")) if cell else () for cell in (cells["users"], cells["accounts"]))
    return NodeEvent(
        numbers["second"],
        cells["event"],  # type: ignore[arg-type]
        names,
        numbers["end"],
        numbers["announced"],
        cells["name"],
        users,
        accounts,
        _gpus(cells["gpus"]),
    )


def _gpus(cell: str) -> tuple[int, ...]:
    """Return the numbers of a cell such as 0-1,3."""
    found: list[int] = []
    for part in cell.split(",") if cell else ():
        first, _, last = part.partition("-")
        low, high = _whole("gpus", first), _whole("gpus", last or first)
        if not 0 <= low <= high < MOST_GPUS:
            raise InputError(f"gpus {shown(cell)}: must be numbers from 0 to {MOST_GPUS - 1}, such as 0-1,3")
        found += range(low, high + 1)
    return tuple(found)


def _whole(name: str, cell: str) -> int:
    try:
        value = int(cell)
    except ValueError:
        raise InputError(f"{name} {shown(cell)} is not a whole number of seconds") from None
    if abs(value) > 1 << 53:
        raise InputError(f"{name} {shown(cell)} is too large")
    return value
