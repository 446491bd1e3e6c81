"""What jobs wait for: free nodes, their turn, limits, other jobs; every second of every wait has one cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.numbers import NodeInputs
from schedlab.schedule.reasons import KINDS
from schedlab.schedule.schedule import Schedule
from schedlab.site.fitting import CORES, GPUS, MEMORY, ROOM, STATES, Fitting, StateSteps

RESOURCES, PRIORITY, LIMITS, OTHER = "resources", "priority", "limits", "other"
"""The kinds of causes."""

KIND_WORDS: Final = {
    RESOURCES: "is for resources (no node that the job may use has room)",
    PRIORITY: "is for its turn (there is room, but other jobs come first)",
    LIMITS: "is at limits of accounts or QOS",
    OTHER: "is for other jobs to end, for reservations, or for nodes out of service",
}

IN_TURN = ("Priority", "Resources")
"""Slurm's reasons of jobs that nothing but other jobs, running or before them, keeps waiting."""

SHORT: Final = {CORES: "cores or whole nodes", MEMORY: "memory", GPUS: "GPUs"}


@dataclass(frozen=True, slots=True, eq=False)
class WaitCauses:
    """For how long each job waited for what.

    Parameters
    ----------
    seconds
        By cause, int64 for each job: "cores", "memory" and "GPUs" (no node that it may use had room, for want of
        these), "turn" (there was room), and Slurm's reasons of limits and other holds.
    elsewhere
        int64: those of the seconds without room in which there was room on nodes that the job may not use.
    steps
        The states of each distinct request over time.
    request
        int64: the request of each job.
    """

    seconds: Mapping[str, NDArray[np.int64]]
    elsewhere: NDArray[np.int64]
    steps: tuple[StateSteps | None, ...]
    request: NDArray[np.int64]

    def of_kind(self, kind: str) -> NDArray[np.int64]:
        """Return the seconds of each job of one of RESOURCES, PRIORITY, LIMITS and OTHER."""
        found = [column for cause, column in self.seconds.items() if kind_of(cause) == kind]
        total: NDArray[np.int64] = sum(found, np.zeros(len(self.request), dtype=np.int64))
        return total

    def totals(self, rows: NDArray[np.intp] | slice = slice(None)) -> dict[str, int]:
        """Return the seconds of some jobs together, by cause, the longest first."""
        sums = {cause: int(column[rows].sum()) for cause, column in self.seconds.items()}
        return dict(sorted(((cause, one) for cause, one in sums.items() if one), key=lambda each: -each[1]))


def kind_of(cause: str) -> str:
    """Return the kind of a cause.

    Examples
    --------
    >>> [kind_of(one) for one in ("cores", "turn", "QOSMaxJobsPerUserLimit", "Dependency")]
    ['resources', 'priority', 'limits', 'other']
    """
    if cause in STATES[1:]:
        return RESOURCES
    if cause == "turn":
        return PRIORITY
    return OTHER if cause in KINDS else LIMITS


def wait_causes(schedule: Schedule, inputs: NodeInputs) -> WaitCauses:
    """Return for how long each job of a schedule waited for what.

    Parameters
    ----------
    schedule
        On nodes, with what the engine says of limits (`waited_for`).
    inputs
        The requests of its jobs, see `schedlab.engine.machine.requests.unchecked_inputs`.

    Notes
    -----
    Slurm's reason of nearly all waiting jobs is Priority: only the first that waits for a partition has Resources. Here
    a job waits for resources while no node that it may use has room for it, and for its turn while some have, which are
    kept for jobs before it, or which no pass has given it yet. Seconds at limits are those that the engine counts; of
    a job that was held at a limit for a part of its wait, seconds with room count as held first.
    """
    begin, end = schedule.queued_since, schedule.start_time.astype(np.int64)
    held = {
        name: column for name, column in (schedule.waited_for or {}).items() if name not in IN_TURN and column.any()
    }
    in_turn = [column for name, column in (schedule.waited_for or {}).items() if name in IN_TURN]
    free = sum(in_turn) if schedule.waited_for else schedule.wait_time.astype(np.int64)
    states, elsewhere, steps = _in_states(Fitting(schedule, inputs), begin, end)
    stopped: NDArray[np.int64] = sum(held.values(), np.zeros(len(schedule), dtype=np.int64))
    turn = np.clip(states[ROOM] - stopped, 0, free)
    short = _to_sum(states[1:], free - turn)
    seconds = dict(zip(STATES[1:], short, strict=True)) | {"turn": turn} | held
    without = np.maximum(states[1:].sum(axis=0), 1)
    elsewhere = elsewhere * np.minimum(1.0, (free - turn) / without)
    return WaitCauses(seconds, np.rint(elsewhere).astype(np.int64), steps, inputs.shape)


def _in_states(
    fitting: Fitting, begin: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[StateSteps | None, ...]]:
    """Return the seconds of each wait in each state, those with room elsewhere, and the states of each request."""
    shape = fitting.inputs.shape
    states = np.zeros((len(STATES), len(begin)), dtype=np.int64)
    elsewhere = np.zeros(len(begin), dtype=np.int64)
    order = np.argsort(shape, kind="stable")
    bounds = np.searchsorted(shape[order], np.arange(len(fitting.inputs.nodes) + 1))
    steps: list[StateSteps | None] = []
    for request in range(len(fitting.inputs.nodes)):
        rows = order[bounds[request] : bounds[request + 1]]
        rows = rows[end[rows] > begin[rows]]
        if not rows.size:
            steps.append(None)
            continue
        found = fitting.states(request)
        steps.append(found)
        for state in range(len(STATES)):
            states[state, rows] = found.seconds(state, begin[rows], end[rows])
        if states[1:, rows].any():
            # Whoever has room has it among all nodes, too: what is more is on nodes that the request may not use.
            anywhere = fitting.anywhere(request).seconds(ROOM, begin[rows], end[rows])
            elsewhere[rows] = np.maximum(anywhere - states[ROOM, rows], 0)
    return states, elsewhere, tuple(steps)


def _to_sum(parts: NDArray[np.int64], total: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return whole numbers in proportion to parts with given sums; where all parts are 0, all is of the first."""
    sums = parts.sum(axis=0)
    scaled = parts * (total / np.maximum(sums, 1))
    whole: NDArray[np.int64] = np.floor(scaled).astype(np.int64)
    whole[np.argmax(parts, axis=0), np.arange(parts.shape[1])] += total - whole.sum(axis=0)
    return whole
