"""Episodes on a cluster of nodes: what fits is decided by cores, memory and GPUs of single nodes.

They are simulations that Python leads (`schedlab.gym.node_play`), and so about a hundred times slower than those on a
number of processors; what environments need of them is the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.decisions.agent_view import closed_to_all, jobs_shown, summary_shown
from schedlab.engine.machine.numbers import UNLIMITED, NodeInputs
from schedlab.engine.parts.heterogeneous.numbers import owners_of
from schedlab.engine.parts.preemption.numbers import preempts
from schedlab.engine.prepared import prepare
from schedlab.engine.steps.driven import LedSimulation
from schedlab.errors import InputError
from schedlab.gym.decisions import known_policy, rules_for
from schedlab.gym.moves import COMMIT, NEXT
from schedlab.gym.node_play import NodePlay
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
from schedlab.gym.sources import Episode, Model, Source, growth_of
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import Easy
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


class NodeEpisodes(SideBySide):
    """Episodes side by side on a cluster of nodes.

    Parameters
    ----------
    number
        How many.
    workload, window, load, reward, longest
        As for `schedlab.gym.SchedulingEnv`.
    cluster, node_events
        The machine, and what happens to its nodes, in the workload's seconds.
    **decided
        What is decided, see `schedlab.gym.decisions.rules_for`; without commitment.

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
        node_events: NodeEvents | None = None,
        window: int | None = 256,
        load: float | tuple[float, float] = 1.0,
        reward: str = "mean_bounded_slowdown",
        longest: int | None = None,
        **decided: Any,
    ) -> None:
        self.texts, self.rules = rules_for(cluster.processors, **decided)
        if self.rules.kind == COMMIT:
            raise InputError(
                "commit=True is the environment of SC'20, whose machine is a number of processors, not nodes"
            )
        if preempts(cluster):
            raise InputError("jobs cannot preempt others in environments: take `preemption` out of the cluster")
        for one in [workload] if isinstance(workload, Workload) else [] if callable(workload) else workload:
            prepare(one, "fcfs", cluster=cluster, node_events=node_events)
            if owners_of(one) is not None:
                raise InputError(f"{one.name}: heterogeneous jobs are not supported in environments: drop them")
        source = Source(
            workload, processors=cluster.processors, window=window, load=load, metric=reward, longest=longest
        )
        super().__init__(number, source)
        self.cluster, self.node_events = cluster, node_events
        self.schedulers = [Scheduler.parse(text) for text in self.texts]
        slots, actions = self.rules.slots, self.rules.actions
        self.pool = Board(
            np.zeros((number, PROGRESS), np.int64),
            np.zeros((number, 4), np.int64),
            np.zeros((number, slots, FEATURES), np.float32),
            np.zeros((number, SUMMARY), np.float32),
            np.zeros((number, actions), np.bool_),
            np.zeros(number),
        )
        self.pool.progress[:, OVER] = 1
        self._plays: list[NodePlay | None] = [None] * number
        self._asked: list[NDArray[np.float32]] = [np.empty((0, FEATURES), np.float32)] * number

    @property
    def size(self) -> int:
        """Bytes that agents see."""
        return sum(array.nbytes for array in self.pool)

    def begin_with(self, e: int, episode: Episode) -> None:
        """Bring an episode to its first decision."""
        play = NodePlay(episode, self.cluster, self.node_events, self.rules, self.schedulers)
        inputs = play.simulation.prepared.nodes
        assert inputs is not None
        self._plays[e], self._asked[e], self._drawn[e] = play, asked_of(inputs), episode
        self.pool.progress[e] = 0
        self.pool.progress[e, JOBS] = len(play.submit)
        self.pool.reward[e] = 0.0
        self._proceed(e, play)

    def step(self, actions: NDArray[np.int64], low: int = 0, high: int | None = None, *, shown: bool = True) -> None:
        """Take an action in each of some episodes; nothing happens in those that are over."""
        for e in range(low, self.number if high is None else high):
            play = self._plays[e]
            self.pool.reward[e] = 0.0
            if play is None or self.pool.progress[e, OVER]:
                continue
            action, mask = int(actions[e]), self.pool.mask[e]
            self.pool.progress[e, WRONG] = not mask[action]
            play.act(action if mask[action] else int(np.flatnonzero(mask)[-1]))
            self.pool.progress[e, DECISIONS] += 1
            self._proceed(e, play)
            if self.pool.progress[e, OVER] or not self.rules.at_end:
                self.pool.reward[e] = play.reward()

    def check(self) -> None:
        """Do nothing: a score that is not a number is said where it is computed."""

    def _proceed(self, e: int, play: NodePlay) -> None:
        """Let time pass until the next decision, and show it."""
        pool = self.pool
        pool.shown[e] = 0.0
        if play.proceed():
            world = play.simulation.world
            count = len(play.visible)
            longest = self.source.longest or int(world.seen["estimate"].max())
            pool.shown[e, :count] = self._asked[e][play.visible]
            pool.shown[e, :count, :MEMORY] = jobs_shown(world, play.visible, self.rules.processors, longest)[:, :MEMORY]
            pool.shown[e, :count, ALLOWED] = play.allowed
            waiting = play.simulation.waiting
            pool.summary[e, :6] = summary_shown(world, waiting, self.rules.processors, self.rules.slots)
            pool.summary[e, 6:] = free_shares(play.simulation)
        else:
            pool.progress[e, OVER] = 1
            jobs = play.simulation.world.jobs  # runs that were broken off, and not repeated, have become shorter
            play.growth = growth_of(self.source.metric, jobs["duration"], jobs["processors"])
        pool.mask[e] = play.mask
        pool.progress[e, QUEUED] = len(play.simulation.waiting)
        pool.clock[e] = play.simulation.world.state.clock[:4]

    def know(self, policy: str) -> int:
        """Return the number by which `play` knows a policy.

        Raises
        ------
        InputError
            If it cannot be played, or if it backfills where the agent itself says which job is next: a decision cannot
            say on which nodes the job does not delay the head.
        """
        text = known_policy(policy, self.texts, self.rules)
        if self.rules.kind == NEXT and isinstance(Scheduler.parse(text).backfill, Easy):
            raise InputError(
                f'{text}: on nodes, an agent with decision="next" cannot reserve nodes for a blocked job: use '
                'decision="backfill" or "inspect"'
            )
        if text not in self.texts:
            self.texts.append(text)
            self.schedulers.append(Scheduler.parse(text))
        return self.texts.index(text)

    def play(self, e: int, policy: int) -> int:
        """Return the action with which an agent that plays a policy answers."""
        play = self._plays[e]
        assert play is not None
        return play.answer(policy)

    def schedule(self, e: int) -> Schedule:
        """Return the schedule of an episode that is over.

        Raises
        ------
        InputError
            If it is not over.
        """
        play = self._plays[e]
        if play is None or not self.pool.progress[e, OVER]:
            raise InputError("no schedule yet: jobs are still waiting, the episode is not over")
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


def free_shares(simulation: LedSimulation) -> tuple[float, float]:
    """Return which shares of the cluster's GPUs and of its memory are free on open nodes; 1 of what there is not."""
    nodes, inputs = simulation.world.nodes, simulation.prepared.nodes
    assert nodes is not None
    assert inputs is not None
    counted = nodes.machine.nodes["memory"][: len(inputs.names)] < UNLIMITED
    memory = nodes.machine.nodes["memory"][: len(inputs.names)][counted].sum()
    closed = closed_to_all(simulation.world)
    open_ = np.ones(len(counted), dtype=np.bool_) if closed is None else ~closed
    free = nodes.now.free["memory"][counted & open_].sum()
    gpus = len(inputs.device_type) * WHOLE
    return (
        float(nodes.now.free["gpus"][open_].sum() / gpus) if gpus else 1.0,
        float(free / memory) if memory else 1.0,
    )
