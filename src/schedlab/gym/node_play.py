"""An episode on nodes: what may be decided, and what follows; the rules are those of `schedlab.gym.stepping`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.decisions.agent_view import nothing_to_come
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import FREE
from schedlab.engine.queue.function_order import blame
from schedlab.engine.queue.operations import NONE
from schedlab.engine.steps.driven import LedSimulation
from schedlab.gym.moves import BACKFILL, INSPECT, NEXT, PICK, Rules
from schedlab.gym.sources import Episode
from schedlab.scheduler.backfilling import Easy
from schedlab.scheduler.scheduler import Scheduler


class NodePlay:
    """An episode on nodes at its decision.

    Parameters
    ----------
    episode
        Its jobs.
    cluster, node_events
        The machine, and what happens to its nodes.
    rules, schedulers
        What is decided, and the policies that the rules name.

    Attributes
    ----------
    visible
        int64: the jobs that are shown, in this order.
    allowed
        bool: which of them could start.
    mask
        bool of shape (actions,): what is possible.
    """

    def __init__(
        self,
        episode: Episode,
        cluster: Cluster,
        node_events: NodeEvents | None,
        rules: Rules,
        schedulers: Sequence[Scheduler],
    ) -> None:
        self.simulation = LedSimulation(episode.workload, cluster, node_events)
        self.rules, self._schedulers = rules, schedulers
        self.growth, self.submit = episode.table.growth[episode.low : episode.high], episode.submit
        self.visible = np.empty(0, dtype=np.int64)
        self.allowed = np.empty(0, dtype=np.bool_)
        self.mask = np.zeros(rules.actions, dtype=np.bool_)
        self._rank = self.scores(schedulers[rules.order], np.arange(len(self.submit)))
        self._waiting = np.empty(0, dtype=np.int64)
        self._passed = False  # nothing more is to be decided in this second
        self._proposed = 0
        self._chosen = 0
        self._until = NEVER if rules.kind == INSPECT else -1  # the end of the pause, or of the period
        self._told = 0.0

    def proceed(self) -> bool:
        """Let time pass until the next decision; at the end, return False.

        Raises
        ------
        InputError
            If jobs are left at the end, because too few nodes have come back.
        """
        simulation, goes_on = self.simulation, True
        while goes_on and not simulation.all_started:
            self._waiting = np.sort(simulation.waiting)
            if len(self._waiting) and not self._passed and self._asks():
                return True
            pauses = self.rules.kind == INSPECT and len(self._waiting)
            goes_on = simulation.proceed(self._until if pauses else NEVER)
            self._passed = False
            if self.rules.kind == INSPECT:
                self._until = NEVER
        while goes_on:
            goes_on = simulation.proceed()
        simulation.refuse_left_over()
        self.mask[:] = False
        return False

    def act(self, action: int) -> None:
        """Carry out an action that is possible."""
        kind, simulation = self.rules.kind, self.simulation
        if kind == PICK:
            self._chosen, self._until = action, simulation.now + self.rules.period
            self._make_pass(self._waiting, action)
            self._passed = True
        elif kind == INSPECT and action == 0:
            simulation.start(self._proposed, beside=simulation.blocked)
        elif kind == INSPECT:
            self._passed, self._until = True, simulation.now + self.rules.pause
        elif action < self.rules.slots:
            simulation.start(int(self.visible[action]), beside=True if kind == BACKFILL else None)
        else:
            self._passed = True

    def answer(self, number: int) -> int:
        """Return the action with which an agent that plays a policy answers, see `schedlab.gym.stepping.action_of`."""
        if self.rules.kind == INSPECT:
            return 0
        if self.rules.kind == PICK:
            return number
        if self.rules.kind == NEXT:
            job = self.simulation.proposal(self._ordered(self._waiting, number), easy=False)
        else:
            job = int(self._ordered(self.visible[self.mask[: len(self.visible)]], number)[0])
        slot = np.flatnonzero(self.visible == (NONE if job is None else job))
        return int(slot[0]) if len(slot) and self.mask[slot[0]] else self.rules.slots

    def reward(self) -> float:
        """Return by how much the metric has grown since the last call, negative."""
        start, now = self.simulation.world.state.start, self.simulation.now
        waited = np.where(start >= 0, start, now) - self.submit
        cost = np.maximum(self.growth[:, 2], (waited + self.growth[:, 0]) * self.growth[:, 1])
        before, self._told = self._told, float(cost[self.submit <= now].sum())
        return (before - self._told) / len(self.submit)

    def scores(self, scheduler: Scheduler, jobs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return by what a policy orders jobs now, smallest first.

        Raises
        ------
        InputError
            If a score is not a number.
        """
        known, policy, now = self.simulation.world.seen, scheduler.policy, self.simulation.now
        seen = known[jobs]
        since = seen["submit"] - self.submit[0]
        scores = policy.scores(seen["estimate"], seen["processors"], since, now - seen["submit"])
        if np.isnan(scores).any():
            blame(policy, known, known["estimate"], int(jobs[np.argmax(np.isnan(scores))]), now)
        return scores

    def _ordered(self, jobs: NDArray[np.int64], number: int) -> NDArray[np.int64]:
        """Return jobs in the order of a policy, ties by entry; those of partitions of higher tiers first."""
        entered = self.simulation.world.state.entered[jobs]
        return self.simulation.in_tiers(jobs[np.lexsort((entered, self.scores(self._schedulers[number], jobs)))])

    def _asks(self) -> bool:
        """Return whether there is something to decide in this second, after what needs no decision has been done."""
        kind, simulation = self.rules.kind, self.simulation
        if kind == PICK and simulation.now < self._until:
            self._make_pass(self._waiting, self._chosen)
            return False
        waits = not nothing_to_come(simulation.world)
        self.mask[:] = False
        if kind == INSPECT:
            job = simulation.proposal(self._ordered(self._waiting, 0), easy=self._is_easy(0))
            if job is None:
                return False
            others = self._shown(self._waiting[self._waiting != job])
            self._proposed, self.visible = job, np.append(job, others)[: self.rules.slots]
            self.allowed = self.visible == job
            self.mask[:] = True, waits
            return True
        if kind == BACKFILL:
            self._waiting = self._make_pass(self._waiting, 0, easy=False)
            if not len(self._waiting) or simulation.world.state.clock[FREE] == 0:
                return False
            simulation.proposal(self._ordered(self._waiting, 0), easy=True)
        self.visible = self._shown(self._waiting)
        self.allowed = simulation.beside(self.visible) if kind == BACKFILL else simulation.possible(self.visible)
        if kind == PICK:
            self.mask[:] = True
            return True
        self.mask[: len(self.visible)], self.mask[-1] = self.allowed, waits
        return bool(self.allowed.any())

    def _shown(self, jobs: NDArray[np.int64]) -> NDArray[np.int64]:
        rank = self._rank[jobs]
        if self.simulation.world.retries is not None:  # whom a failure has interrupted has been submitted again
            rank = self.scores(self._schedulers[self.rules.order], jobs)
        shown: NDArray[np.int64] = jobs[np.lexsort((jobs, rank))][: self.rules.slots]
        return shown

    def _is_easy(self, number: int) -> bool:
        return isinstance(self._schedulers[number].backfill, Easy)

    def _make_pass(self, waiting: NDArray[np.int64], number: int, *, easy: bool | None = None) -> NDArray[np.int64]:
        """Make a scheduling pass of a policy; return the jobs that still wait."""
        simulation, order = self.simulation, self._ordered(waiting, number)
        backfills = self._is_easy(number) if easy is None else easy
        while (job := simulation.proposal(order, easy=backfills)) is not None:
            simulation.start(job, beside=simulation.blocked)
            order = order[order != job]
        return np.sort(order)
