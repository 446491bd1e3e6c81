"""Nodes that must have been out of service, by what jobs did meanwhile.

Accounting does not say which nodes were down or drained. But where a node stood idle while jobs waited that would have
fitted on it, and these began on other nodes as soon as something there ended, the scheduler cannot have had it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.allocations import Allocations, read_allocations
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.preemption import REQUEUE_DELAY
from schedlab.engine.machine.fitting import room_on_nodes
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.machine.requests import unchecked_inputs
from schedlab.errors import InputError
from schedlab.site.site import Site
from schedlab.wording import count_of
from schedlab.workload.files import format_of
from schedlab.workload.workload import Workload

PATIENCE = 600
"""Seconds for which a job has to wait beside an idle node: longer than the scheduler takes for a pass."""

AT_ONCE = 120
"""Seconds after an end on its node within which a job begins that waited for nodes, not for something else."""

WITNESSES = USERS = 3
"""How many jobs must have waited, and of how many users: those of one or two may have waited for limits."""


class Silence(NamedTuple):
    """A time in which a node cannot have been in service.

    Parameters
    ----------
    node
        Its name.
    begin, end
        Seconds of the jobs: from when on the first of the jobs waited, and when the last of them began elsewhere. It
        may have lasted longer.
    witnesses, users
        How many jobs waited, and how many users they are of.
    """

    node: str
    begin: int
    end: int
    witnesses: int
    users: int


class _Gap(NamedTuple):
    """A time without a run on a node; `waiting_since` is the submission of the run that ends it."""

    begin: int
    end: int
    waiting_since: int


def silences(cluster: Cluster, jobs: Workload, allocations: Allocations) -> list[Silence]:
    """Return when nodes cannot have been in service.

    A job is a witness against an idle node if it ran on one node, would have fitted on the idle one, waited for
    `PATIENCE` seconds while that was idle, and began on another node within `AT_ONCE` seconds after a run of another
    account had ended there: who waits for a limit begins when a run of his own ends. It is none if the idle node may
    have been kept for a job that was waiting, too, and then ran there: if its request would have reached into that
    run. `WITNESSES` of them, of `USERS` users, are needed.

    Parameters
    ----------
    cluster
        Its nodes and partitions.
    jobs
        With requests for resources; times as recorded.
    allocations
        The same jobs and perhaps others, in the seconds of `jobs`.
    """
    inputs = unchecked_inputs(jobs, cluster, None)
    alone = np.array([_fits_alone(inputs, request) for request in range(len(inputs.nodes))])
    number = {name: place for place, name in enumerate(inputs.names)}
    waiting = _waiting(jobs, allocations)
    found = []
    for node, gaps in _gaps(cluster, allocations).items():
        fits = alone[:, number[node]][inputs.shape[waiting.row]]
        mine = _Waiting(*(column[fits] for column in waiting))
        found += [told for gap in gaps if (told := _silence(node, gap, mine)) is not None]
    return sorted(found, key=lambda one: (one.begin, one.node))


class _Waiting(NamedTuple):
    """Jobs that waited for nodes and then ran on one, ordered by start."""

    row: NDArray[np.int64]
    submit: NDArray[np.int64]
    start: NDArray[np.int64]
    request: NDArray[np.int64]
    user: NDArray[np.int64]


def _waiting(jobs: Workload, allocations: Allocations) -> _Waiting:
    """Return the jobs that began where a run of others had just ended, after a wait of `PATIENCE` seconds."""
    start = jobs.submit_time + jobs.wait_time
    keys = list(zip(allocations.job_id.tolist(), allocations.start.tolist(), strict=True))
    run = {key: number for number, key in enumerate(keys) if len(allocations.nodes[number]) == 1}
    owner = _owners(jobs)
    whose = dict(zip(zip(jobs.job_id.tolist(), start.tolist(), strict=True), owner.tolist(), strict=True))
    ends = _ends_by_node(allocations, [whose.get(key, -1) for key in keys])
    rows = []
    for row in np.flatnonzero(jobs.wait_time >= PATIENCE).tolist():
        number = run.get((int(jobs.job_id[row]), int(start[row])))
        if number is None:
            continue
        times, owners = ends[allocations.nodes[number][0]]
        just = slice(np.searchsorted(times, start[row] - AT_ONCE), np.searchsorted(times, start[row], "right"))
        if (owners[just] != owner[row]).any():
            rows.append(row)
    chosen = np.array(rows, dtype=np.int64)[np.argsort(start[rows], kind="stable")]
    return _Waiting(chosen, jobs.submit_time[chosen], start[chosen], jobs.requested_time[chosen], jobs.user_id[chosen])


def _owners(jobs: Workload) -> NDArray[np.int64]:
    """Return under whose limits each job may be: its account, or its user where that is unknown, as a number."""
    codes = np.full(len(jobs), -1) if jobs.resources is None else jobs.resources.account.codes
    return np.where(codes >= 0, -2 - codes, jobs.user_id)


def _fits_alone(inputs: NodeInputs, request: int) -> NDArray[np.bool_]:
    """Return on which nodes, if they are empty, a request fits that is not for several."""
    if inputs.nodes[request] > 1:
        return np.zeros(len(inputs.names), dtype=np.bool_)
    return np.asarray(room_on_nodes(inputs, request) >= inputs.tasks[request])


def _ends_by_node(
    allocations: Allocations, owner: Sequence[int]
) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return when runs ended on each node, in order, and whose they were."""
    ends: dict[str, list[tuple[int, int]]] = {}
    for end, whose, nodes in zip(allocations.end.tolist(), owner, allocations.nodes, strict=True):
        for node in nodes:
            ends.setdefault(node, []).append((end, whose))
    both = {node: np.array(sorted(mine), dtype=np.int64) for node, mine in ends.items()}
    return {node: (pairs[:, 0], pairs[:, 1]) for node, pairs in both.items()}


def _gaps(cluster: Cluster, allocations: Allocations) -> dict[str, list[_Gap]]:
    """Return when each node stood idle, within the time of the records, if that was for `PATIENCE` seconds."""
    runs: dict[str, list[tuple[int, int, int]]] = {name: [] for name in cluster.nodes}
    columns = (allocations.start.tolist(), allocations.end.tolist(), allocations.submit.tolist())
    for start, end, submit, nodes in zip(*columns, allocations.nodes, strict=True):
        for node in nodes:
            if node in runs:
                runs[node].append((start, end, submit))
    first, last = int(allocations.submit.min()), int(allocations.start.max())
    return {node: list(_between(sorted(mine), first, last)) for node, mine in runs.items()}


def _between(runs: list[tuple[int, int, int]], first: int, last: int) -> Iterator[_Gap]:
    free_from = first
    for start, end, submit in [*runs, (last, last, last)]:
        if start - free_from >= PATIENCE:
            yield _Gap(free_from, start, submit)
        free_from = max(free_from, end)


def _silence(node: str, gap: _Gap, jobs: _Waiting) -> Silence | None:
    """Return what jobs that fit on a node say of a gap, None if too few do."""
    inside = slice(np.searchsorted(jobs.start, gap.begin + PATIENCE), np.searchsorted(jobs.start, gap.end, "right"))
    near = _Waiting(*(column[inside] for column in jobs))
    since = np.maximum(near.submit, gap.begin)
    kept_for_another = (gap.waiting_since < near.start) & (since + near.request > gap.end)
    told = (near.start - since >= PATIENCE) & ~kept_for_another
    users = len(np.unique(near.user[told]))
    if told.sum() < WITNESSES or users < USERS:
        return None
    return Silence(node, int(since[told].min()), int(near.start[told].max()), int(told.sum()), users)


def with_silences(
    told: NodeEvents | None, site: Site, sacct: str | PathLike[str], timezone: str
) -> tuple[NodeEvents | None, str]:
    """Return node events with those inferred from the jobs of a site, and a sentence about these.

    What is inferred of a node while it is told closed, or in which something is told of it, is left out.

    Raises
    ------
    InputError
        If the accounting lacks the nodes of jobs, or the jobs have no dates.
    """
    if format_of(sacct) != "sacct":
        raise InputError(f"{fspath(sacct)}: nodes that were down are inferred from what sacct prints")
    jobs = site.jobs
    if jobs is None or jobs.start_time is None:
        raise InputError(f"{fspath(sacct)}: the jobs have no dates, so that their nodes cannot be placed")
    allocations = read_allocations(sacct, timezone=timezone).since(jobs.start_time)
    known = () if told is None else told.events
    found = [one for one in silences(site.cluster, jobs, allocations) if not _is_told(one, known)]
    if not found:
        return told, summary(found)
    events = [NodeEvent(one.begin, "drain", (one.node,)) for one in found]
    events += [NodeEvent(one.end, "up", (one.node,)) for one in found]
    base = NodeEvents((), requeue_delay=REQUEUE_DELAY) if told is None else told
    return replace(base, events=(*known, *events)), summary(found)


def _is_told(one: Silence, known: Sequence[NodeEvent]) -> bool:
    closed = False
    for event in known:
        if one.node not in event.nodes:
            continue
        if one.begin <= event.second <= one.end or (
            event.end is not None and event.second < one.end and event.end > one.begin
        ):
            return True
        if event.second < one.begin and event.event in ("down", "drain", "up"):
            closed = event.event != "up"
    return closed


def summary(found: list[Silence]) -> str:
    """Return what was found in a sentence."""
    if not found:
        return "inferred from jobs: no node that stood idle while jobs waited for one like it"
    hours = sum(one.end - one.begin for one in found) / 3600
    longest = max(found, key=lambda one: one.end - one.begin)
    return (
        f"inferred from jobs: {count_of(len({one.node for one in found}), 'node')} out of service, for {hours:,.0f} "
        f"node-hours at least; longest {longest.node}, {(longest.end - longest.begin) / 3600:,.1f} h, while "
        f"{count_of(longest.witnesses, 'job')} of {count_of(longest.users, 'user')} waited that fit there"
    )
