"""Jobs that wait before half-empty nodes: which nodes these are, who holds the rest, and whether packing helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.membership import users_of
from schedlab.engine.machine.fitting import room_on_nodes
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.stretches import by_stretch
from schedlab.site.causes import WaitCauses
from schedlab.site.fitting import PARTS, STATES
from schedlab.site.queue_steps import cut, sum_of, waiting_in
from schedlab.workload.resources import Labels

MOMENTS = 100
"""At which the nodes are looked at; each stands for the same part of the waiting before them."""

HALF = 0.5
"""Two nodes of one kind of which no more than this is in use would do as one."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The user whose jobs stand on most nodes that are in use in part.

    Parameters
    ----------
    user, qos
        Who it is, and the QOS of most of these jobs; "" if they have none.
    share
        Share of these nodes on which such jobs stand.
    cores, memory
        Medians of what such a job has of a node; MiB, 0 if memory is not counted.
    at_once
        Mean number of cores that the user has at a time, on all nodes.
    """

    user: str
    qos: str
    share: float
    cores: int
    memory: int
    at_once: float


@dataclass(frozen=True, slots=True)
class HalfEmpty:
    """Nodes before which jobs wait though many of their cores are free, as no node has enough for one of these jobs.

    Parameters
    ----------
    kind, nodes
        Which nodes, in the words of `schedlab.site.asked.node_kinds`, and how many.
    jobs, seconds
        How many jobs waited so for them until the last submission, and how long, together.
    free
        Mean share of their cores that were free meanwhile.
    partly
        Mean number of them that were in use in part.
    mergeable
        Share of these of which at most half is in use, of cores, memory and GPUs: two of them would do as one.
    full_of_memory
        Share of these with more than half of their memory, but not of their cores, in use.
    serial
        Share of what runs on these that has one core.
    holder
        Whose jobs stand on most of these.
    """

    kind: str
    nodes: int
    jobs: int
    seconds: int
    free: float
    partly: float
    mergeable: float
    full_of_memory: float
    serial: float
    holder: Holder


def half_empty(schedule: Schedule, inputs: NodeInputs, causes: WaitCauses, kinds: Labels) -> HalfEmpty | None:
    """Return the kind of nodes before which most hours are waited while they are half empty; None: no job waits so.

    Parameters
    ----------
    schedule
        On the nodes of the cluster.
    inputs
        The requests of its jobs.
    causes
        What its jobs waited for.
    kinds
        The kind of nodes of each job.
    """
    seconds = causes.inside[STATES[PARTS]]
    sums = np.bincount(kinds.codes, weights=seconds, minlength=len(kinds.names))
    if not sums.any():
        return None
    rows = np.flatnonzero((kinds.codes == sums.argmax()) & (seconds > 0))
    requests = np.unique(causes.request[rows]).tolist()
    there = np.any([room_on_nodes(inputs, request) > 0 for request in requests], axis=0)
    moments = _moments(causes, requests, int(schedule.workload.submit_time.max()))
    return _seen(by_stretch(schedule), there, moments, kinds.names[int(sums.argmax())], seconds[rows])


def _moments(causes: WaitCauses, requests: Sequence[int], end: int) -> NDArray[np.int64]:
    """Return seconds between which the same amount is waited, of jobs of some requests before half-empty nodes."""
    parts = [
        waiting_in(waiting, states, [PARTS])
        for request in requests
        if (waiting := causes.queues[request]) is not None and (states := causes.steps[request]) is not None
    ]
    total = cut(sum_of(parts), end)
    areas = np.concatenate([[0.0], np.cumsum(total.values[:-1] * np.diff(total.times))])
    middle = (np.arange(MOMENTS) + 0.5) / MOMENTS * areas[-1]
    moments: NDArray[np.int64] = np.interp(middle, areas, total.times).astype(np.int64)
    return moments


class _Running:
    """What runs hold of nodes, a row for each node of each run."""

    def __init__(self, schedule: Schedule) -> None:
        placement, held = schedule.placement, schedule.held
        assert placement is not None
        run = np.repeat(np.arange(len(placement)), np.diff(placement.offsets))
        self.job = run if schedule.runs is None else schedule.runs["job"][run]
        self.node, self.begin, self.end = placement.node, held.start[run], held.end[run]
        none, no_memory = np.zeros(len(run), dtype=np.int64), np.zeros(len(placement.cores), dtype=np.int64)
        held_memory = none if placement.held_memory is None else placement.held_memory
        self.amounts = (placement.held_cores, held_memory, placement.held_gpus)
        memory = no_memory if placement.memory is None else placement.memory
        self.capacities = (placement.cores, memory, placement.gpus)
        self.closures = placement.closures

    def closed(self, second: int) -> NDArray[np.bool_]:
        """Return which nodes are out of service or reserved."""
        found = np.zeros(len(self.capacities[0]), dtype=np.bool_)
        if self.closures is not None:
            now = (self.closures["begin"] <= second) & (second < self.closures["end"])
            found[self.closures["node"][now]] = True
        return found


class _Look:
    """What stands on some nodes at a moment; arrays over nodes and over runs on nodes that are in use in part."""

    def __init__(self, running: _Running, there: NDArray[np.bool_], second: int) -> None:
        on = np.flatnonzero((running.begin <= second) & (second < running.end))
        self.every, node = on, running.node[on]
        use = [np.bincount(node, weights=amount[on], minlength=len(there)) for amount in running.amounts]
        shares = [held / np.maximum(most, 1) for held, most in zip(use, running.capacities, strict=True)]
        there = there & ~running.closed(second)
        self.free = 1 - use[0][there].sum() / max(running.capacities[0][there].sum(), 1)
        self.partly = there & (use[0] > 0) & (shares[0] < 1)
        self.mergeable = self.partly & (np.max(shares, axis=0) <= HALF)
        self.full_of_memory = self.partly & (shares[1] > HALF) & (shares[0] <= HALF)
        self.rows = on[self.partly[node]]


def _seen(
    schedule: Schedule, there: NDArray[np.bool_], moments: NDArray[np.int64], kind: str, seconds: NDArray[np.int64]
) -> HalfEmpty:
    running = _Running(schedule)
    looks = [_Look(running, there, second) for second in moments.tolist()]
    partly = max(sum(int(one.partly.sum()) for one in looks), 1)
    rows = np.concatenate([one.rows for one in looks])
    return HalfEmpty(
        kind,
        int(there.sum()),
        len(seconds),
        int(seconds.sum()),
        float(np.mean([one.free for one in looks])),
        partly / len(looks),
        sum(int(one.mergeable.sum()) for one in looks) / partly,
        sum(int(one.full_of_memory.sum()) for one in looks) / partly,
        float((running.amounts[0][rows] == 1).mean()) if len(rows) else 0.0,
        _holder(schedule, running, looks, partly),
    )


def _holder(schedule: Schedule, running: _Running, looks: Sequence[_Look], partly: int) -> Holder:
    """Return whose jobs stand on most of the nodes that are in use in part."""
    users = users_of(schedule.workload)
    on: Counter[int] = Counter()
    for one in looks:
        pairs = np.unique(np.stack([users.codes[running.job[one.rows]], running.node[one.rows]]), axis=1)
        on.update(pairs[0].tolist())
    user, nodes = on.most_common(1)[0] if on else (-1, 0)
    rows = np.concatenate([one.rows[users.codes[running.job[one.rows]] == user] for one in looks])
    every = np.concatenate([one.every[users.codes[running.job[one.every]] == user] for one in looks])
    cores, memory = (int(np.median(amount[rows])) if len(rows) else 0 for amount in running.amounts[:2])
    asked = schedule.workload.resources
    return Holder(
        users.names[user] if user >= 0 else "",
        next(iter(asked.qos.select(running.job[rows]).counts()), "") if asked is not None else "",
        nodes / partly,
        cores,
        memory,
        float(running.amounts[0][every].sum()) / len(looks),
    )
