"""Episodes on a cluster of nodes: what fits is decided by cores, memory and GPUs of single nodes.

They are simulations in steps (`schedlab.engine.stepwise.Simulation`), driven from Python, and so about a hundred times
slower than those on a number of processors; what environments need of them is the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.engine.agent_view import in_view, jobs_shown, nothing_to_come, startable, summary_shown
from schedlab.engine.node_inputs import UNLIMITED, NodeInputs
from schedlab.engine.parts import Parts
from schedlab.engine.prepared import prepare
from schedlab.engine.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.gym.pool import (
    ALLOWED,
    DECISIONS,
    FEATURES,
    JOBS,
    OVER,
    PROGRESS,
    QUEUED,
    SUMMARY,
    WRONG,
)
from schedlab.gym.side_by_side import SideBySide
from schedlab.gym.sources import Episode, Model, Source
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import NoBackfill
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.resources import WHOLE
from schedlab.workload.workload import Workload

MEMORY, GPUS, NODES = 3, 4, 5
"""Columns of an observation on nodes that are others than on processors."""


class Board(NamedTuple):
    """What agents see; fields as in `schedlab.gym.pool.Pool`."""

    progress: NDArray[np.int64]
    clock: NDArray[np.int64]
    shown: NDArray[np.float32]
    summary: NDArray[np.float32]
    mask: NDArray[np.bool_]
    reward: NDArray[np.float64]


class NodeRules(NamedTuple):
    """What does not change from episode to episode; as in `schedlab.gym.moves.Rules`."""

    processors: int
    slots: int
    actions: int


@dataclasses.dataclass
class Play:
    """An episode at its decision.

    Parameters
    ----------
    simulation
        The simulation.
    asked
        float32 of shape (jobs, 8): what is shown of the jobs, beside what changes.
    growth, submit
        As in `schedlab.gym.sources.Table`.
    visible
        The jobs that are shown.
    told
        The sum of the metric as far as rewards have told it.
    """

    simulation: Simulation
    asked: NDArray[np.float32]
    growth: NDArray[np.float64]
    submit: NDArray[np.int64]
    visible: NDArray[np.int64]
    told: float = 0.0

    @property
    def parts(self) -> Parts:
        """Where the simulation stands."""
        return self.simulation._parts

    def cost(self) -> float:
        """Return the sum of the metric over the jobs that have been submitted."""
        start, now = self.parts.state.start, self.simulation.now
        waited = np.where(start >= 0, start, now) - self.submit
        cost = np.maximum(self.growth[:, 2], (waited + self.growth[:, 0]) * self.growth[:, 1])
        return float(cost[self.submit <= now].sum())


class NodeEpisodes(SideBySide):
    """Episodes side by side on a cluster of nodes, in which the agent decides which job starts next.

    Parameters
    ----------
    number
        How many.
    workload, window, load, reward, longest, slots, increments
        As for `schedlab.gym.SchedulingEnv`.
    cluster
        The machine.

    Raises
    ------
    InputError
        If an argument makes no sense, or the jobs cannot be simulated there.
    """

    def __init__(
        self,
        number: int,
        workload: Workload | Sequence[Workload] | Model,
        *,
        cluster: Cluster,
        window: int | None = 256,
        load: float | tuple[float, float] = 1.0,
        slots: int = 128,
        reward: str = "mean_bounded_slowdown",
        increments: bool = True,
        longest: int | None = None,
    ) -> None:
        for name, value in (("slots", slots), ("number", number)):
            if not isinstance(value, int) or value < 1:
                raise InputError(f"{name}={value!r}: give a whole number, at least 1")
        for one in [workload] if isinstance(workload, Workload) else [] if callable(workload) else workload:
            prepare(one, "fcfs", cluster=cluster)
        source = Source(
            workload, processors=cluster.processors, window=window, load=load, metric=reward, longest=longest
        )
        super().__init__(number, source)
        self.cluster, self.increments = cluster, increments
        self.rules = NodeRules(cluster.processors, slots, slots + 1)
        self.pool = Board(
            np.zeros((number, PROGRESS), np.int64),
            np.zeros((number, 4), np.int64),
            np.zeros((number, slots, FEATURES), np.float32),
            np.zeros((number, SUMMARY), np.float32),
            np.zeros((number, slots + 1), np.bool_),
            np.zeros(number),
        )
        self.pool.progress[:, OVER] = 1
        self._plays: list[Play | None] = [None] * number
        self._policies: list[Policy] = []

    @property
    def size(self) -> int:
        """Bytes that agents see."""
        return sum(array.nbytes for array in self.pool)

    def begin_with(self, e: int, episode: Episode) -> None:
        """Bring an episode to its first decision."""
        simulation = Simulation(episode.workload, None, cluster=self.cluster)
        inputs = simulation._prepared.nodes
        assert inputs is not None
        part = slice(episode.low, episode.high)
        play = Play(
            simulation, asked_of(inputs), episode.table.growth[part], episode.submit, np.empty(0, dtype=np.int64)
        )
        self._plays[e], self._drawn[e] = play, episode
        self.pool.progress[e] = 0
        self.pool.progress[e, JOBS] = len(play.submit)
        self.pool.reward[e] = 0.0
        self._proceed(e, play)

    def step(self, actions: NDArray[np.int64], low: int = 0, high: int | None = None, *, shown: bool = True) -> None:
        """Take an action in each of some episodes; nothing happens in those that are over."""
        for e in range(low, self.number if high is None else high):
            play = self._plays[e]
            if play is None or self.pool.progress[e, OVER]:
                self.pool.reward[e] = 0.0
                continue
            action, mask = int(actions[e]), self.pool.mask[e]
            self.pool.progress[e, WRONG] = not mask[action]
            if not mask[action]:
                action = int(np.flatnonzero(mask)[-1])
            if action < self.rules.slots:
                play.simulation.start(int(play.visible[action]))
            self.pool.progress[e, DECISIONS] += 1
            self._proceed(e, play)
            over = bool(self.pool.progress[e, OVER])
            self.pool.reward[e] = 0.0
            if over or self.increments:
                cost = play.cost()
                self.pool.reward[e] = (play.told - cost) / len(play.submit)
                play.told = cost

    def check(self) -> None:
        """Do nothing: no formula is evaluated here."""

    def _proceed(self, e: int, play: Play) -> None:
        """Let time pass until the next decision about a visible job, and show it."""
        pool, slots = self.pool, self.rules.slots
        pool.mask[e] = False
        pool.shown[e] = 0.0
        while play.simulation.next_decision():
            parts = play.parts
            waiting = parts.waiting.queue.members()
            play.visible = in_view(parts, waiting, slots)
            possible, count = startable(parts, play.visible), len(play.visible)
            if possible.any():
                pool.mask[e, :count], pool.mask[e, slots] = possible, not nothing_to_come(parts)
                pool.shown[e, :count] = play.asked[play.visible]
                pool.shown[e, :count, :MEMORY] = self._changing(play)
                pool.shown[e, :count, ALLOWED] = possible
                pool.summary[e, :6] = summary_shown(parts, waiting, self.rules.processors, slots)
                pool.summary[e, 6:] = free_shares(play.simulation)
                break
        else:
            pool.progress[e, OVER] = 1
        pool.progress[e, QUEUED] = len(play.simulation.waiting)
        pool.clock[e] = play.parts.state.clock[:4]

    def _changing(self, play: Play) -> NDArray[np.float32]:
        longest = self.source.longest or int(play.parts.seen["estimate"].max())
        return jobs_shown(play.parts, play.visible, self.rules.processors, longest)[:, :MEMORY]

    def know(self, policy: str) -> int:
        """Return the number by which `play` knows a policy.

        Raises
        ------
        InputError
            If it is more than a formula without backfilling.
        """
        scheduler = Scheduler.parse(policy)
        if scheduler.policy.program is None or scheduler != Scheduler(scheduler.policy, NoBackfill()):
            raise InputError(
                f"{scheduler.text}: on nodes, agents play formulas without backfilling, such as saf; compare with any "
                "other scheduler by its text"
            )
        self._policies.append(scheduler.policy)
        return len(self._policies) - 1

    def play(self, e: int, policy: int) -> int:
        """Return the action with which an agent that plays a policy answers: its head of the queue, if that fits."""
        play = self._plays[e]
        assert play is not None
        parts = play.parts
        jobs, now = np.sort(parts.waiting.queue.members()), play.simulation.now
        seen = parts.seen[jobs]
        scores = self._policies[policy].scores(
            seen["estimate"], seen["processors"], seen["submit"] - play.submit[0], now - seen["submit"]
        )
        slot = np.flatnonzero(play.visible == jobs[np.argmin(scores)])
        return int(slot[0]) if len(slot) and self.pool.mask[e, slot[0]] else self.rules.slots

    def schedule(self, e: int) -> Schedule:
        """Return the schedule of an episode that is over.

        Raises
        ------
        InputError
            If it is not over.
        """
        play = self._plays[e]
        if play is None or not self.pool.progress[e, OVER]:
            raise InputError("there is no schedule yet, because jobs still wait: the episode is not over")
        return dataclasses.replace(play.simulation.schedule(), scheduler="an agent")


def asked_of(inputs: NodeInputs) -> NDArray[np.float32]:
    """Return float32 of shape (jobs, 8): shares of the cluster's memory, GPUs and nodes that jobs ask for."""
    asked = np.zeros((len(inputs.shape), FEATURES), dtype=np.float32)
    nodes = np.maximum(inputs.nodes, 1)
    memory = inputs.tasks * inputs.task_memory + nodes * inputs.node_memory
    gpus = (inputs.tasks * inputs.task_gpus + nodes * inputs.node_gpus) * inputs.share / WHOLE
    counted = np.where(inputs.memory >= UNLIMITED, 0, inputs.memory).sum()
    asked[:, MEMORY] = np.minimum(memory / max(int(counted), 1), 1)[inputs.shape]
    asked[:, GPUS] = np.minimum(gpus / max(len(inputs.device_type), 1), 1)[inputs.shape]
    asked[:, NODES] = (inputs.nodes / len(inputs.names))[inputs.shape]
    asked[:, NODES + 1] = 1
    return asked


def free_shares(simulation: Simulation) -> tuple[float, float]:
    """Return which shares of the cluster's GPUs and of its memory are free; 1 of what it does not have."""
    nodes, inputs = simulation._parts.state.nodes, simulation._prepared.nodes
    assert nodes is not None
    assert inputs is not None
    counted = nodes.machine.nodes["memory"][: len(inputs.names)] < UNLIMITED
    memory = nodes.machine.nodes["memory"][: len(inputs.names)][counted].sum()
    free = nodes.now.free["memory"][counted].sum()
    gpus = len(inputs.device_type) * WHOLE
    return (
        float(nodes.now.free["gpus"].sum() / gpus) if gpus else 1.0,
        float(free / memory) if memory else 1.0,
    )
