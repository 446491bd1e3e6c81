"""The driver: runs the loop, and answers where the loop needs Python."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.decisions.agent import AgentPlayer
from schedlab.engine.decisions.compiled_pass import CompiledPass
from schedlab.engine.decisions.own_pass import PassPlayer
from schedlab.engine.decisions.own_predictor import PythonPredictorAdapter
from schedlab.engine.decisions.starts import waiting_jobs
from schedlab.engine.decisions.threads import limited_threads
from schedlab.engine.decisions.told_runs import ToldRuns
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import BLAMED, COMPLETED, ENTERING, FREE, NOW, STAGE
from schedlab.engine.logs import short_log
from schedlab.engine.loop import (
    ASK,
    BAD_SCORE,
    DONE,
    FULL,
    LET_IN,
    LET_TIME_PASS,
    PREDICT,
    RANK,
    SCHEDULE,
    SEE_WHO_ENTERS,
    run,
)
from schedlab.engine.parts.forecasts.kernels import Forecast
from schedlab.engine.parts.preemption.endless import refuse_endless
from schedlab.engine.parts.retries.kernels import RUNS
from schedlab.engine.prepared import Prepared
from schedlab.engine.queue.function_order import FunctionOrder, blame
from schedlab.engine.queue.orders import ASKED, ASKED_AT_ENTRY, Order, statistics_of
from schedlab.engine.world import World
from schedlab.kernels import without_dispatch
from schedlab.scheduler.agent import AgentPolicy
from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.own_pass import OwnPass
from schedlab.scheduler.own_predictor import PythonPredictor
from schedlab.scheduler.policy import Policy


class Driver:
    """Runs a simulation.

    Parameters
    ----------
    prepared
        The simulation.
    world
        Its present state.
    """

    def __init__(self, prepared: Prepared, world: World) -> None:
        self.prepared = prepared
        self.world = world
        scheduler = prepared.scheduler
        self._policies: list[tuple[Policy, Order]] = [(scheduler.policy, world.orders.policy)]
        if scheduler.order is not None and world.orders.candidates is not None:
            self._policies.append((scheduler.order, world.orders.candidates))
        self._functions = self._asked()
        orders = [function for function, _ in self._of_kind(ASKED)]
        self._told = ToldRuns(prepared, world, orders) if any(one.policy.knows_runs for one in orders) else None
        self._loop: Callable[..., int] = run
        self.adapters = _adapters(prepared, world)
        self.player = _player(prepared, world)

    def _asked(self) -> list[tuple[FunctionOrder, Order] | None]:
        """Return for each policy the order that its function in Python gives; None if it is not called any more."""
        column = cache(self.prepared.column)
        found: list[tuple[FunctionOrder, Order] | None] = []
        for policy, order in self._policies:
            if isinstance(policy, FunctionPolicy) and order.kind[0] in (ASKED_AT_ENTRY, ASKED):
                made = FunctionOrder(policy.for_one_simulation(), self.world.seen, order.request, column)
                found.append((made, order))
            else:
                found.append(None)
        return found

    def _of_kind(self, kind: int) -> list[tuple[FunctionOrder, Order]]:
        """Return the orders of functions that are called before every pass, or when jobs enter."""
        return [one for one in self._functions if one is not None and one[1].kind[0] == kind]

    def take_over(self, other: Driver) -> None:
        """Go on with copies of what another driver's predictors, policies and pass in Python have learned."""
        for mine, its in zip(self._functions, other._functions, strict=True):
            if mine is not None and its is not None:  # scores that were all known before have taught nothing
                mine[0].take_over(its[0])
        if self._told is not None and other._told is not None:
            self._told.take_over(other._told)
        for (old, _), (new, _) in zip(other.adapters, self.adapters, strict=True):
            new.predictor = copy.deepcopy(old.predictor)
        if isinstance(self.player, PassPlayer) and isinstance(other.player, PassPlayer):
            self.player.take_over(other.player)
        if isinstance(self.player, CompiledPass) and isinstance(other.player, CompiledPass):
            self.player.take_over(other.player)

    def run(self, until: int = NEVER) -> bool:
        """Run to the end, or through the events up to a second; return whether the simulation has ended.

        Raises
        ------
        InputError
            If a score is not a number, if a predictor in Python fails or returns an invalid prediction, or if jobs are
            preempted for ever.
        """
        with limited_threads(adapter.predictor for adapter, _ in self.adapters):
            while (reason := self.advance(until)) == ASK:
                pass
        return reason == DONE

    def advance(self, until: int = NEVER) -> int:
        """Run like `run`; return DONE or PAUSED, or ASK if a pass is due and passes are observed."""
        while True:
            reason = int(self._loop(self.world, until))
            if reason == ASK:
                if self._loop is run:  # called often from now on
                    self._loop = without_dispatch(run, self.world, until)
                stage = int(self.world.state.clock[STAGE])
                self._answer(stage)
                if stage == SCHEDULE and self.world.rules.observed:
                    return ASK
            elif reason == FULL:
                self._make_room()
            elif reason == BAD_SCORE:
                self.blame()
            else:
                return reason

    def _make_room(self) -> None:
        """Make room for more runs, for more nodes of runs, or for more suspensions."""
        path, log = short_log(self.world)
        if path == "retries.runs":
            retries = self.world.retries
            refuse_endless(self.prepared, retries.runs[: retries.counters[RUNS]])
        self.world = log.longer(self.world)

    def _answer(self, stage: int) -> None:
        state = self.world.state
        if self._told is not None and stage in (SEE_WHO_ENTERS, SCHEDULE, RANK):
            self._told.begins(self.world)
        if stage == SEE_WHO_ENTERS:
            if self._told is not None:
                self._told.ends(self.world)
            for job in state.ended[: state.clock[COMPLETED]].tolist():
                if self._tells_run_time(job):
                    for adapter, _ in self.adapters:
                        adapter.learn(job, int(self.world.jobs[job]["duration"]))
        elif stage == PREDICT:
            retries, entering = self.world.retries, state.entering[: state.clock[ENTERING]].tolist()
            if retries is not None:  # those that have failed speculatively keep their predictions
                entering = [job for job in entering if not retries.first[job]]
            for adapter, forecast in self.adapters:
                forecast.first[entering] = adapter.predict(entering)
        elif stage == LET_IN:
            self._ask(ASKED_AT_ENTRY, state.entering[: state.clock[ENTERING]])
        elif stage in (SCHEDULE, RANK) and self._of_kind(ASKED):
            self._ask(ASKED, waiting_jobs(self.world))
        if stage == SCHEDULE and self.player is not None and not isinstance(self.player, CompiledPass):
            self.player.play(self.world)
            if state.clock[BLAMED] >= 0:
                self.blame()
            state.clock[STAGE] = LET_TIME_PASS  # no further pass in this second

    def _ask(self, kind: int, who: NDArray[np.int64]) -> None:
        if len(who):
            clock = self.world.state.clock
            for function, order in self._of_kind(kind):
                order.score[who] = function.scores(who, int(clock[NOW]), int(clock[FREE]))

    def _tells_run_time(self, job: int) -> bool:
        """Return whether predictors learn from the run of a job that has just ended, see `tells_run_time`."""
        retries = self.world.retries
        if retries is None:
            return True
        run_now, work = retries.runs[retries.run[job]], retries.work[job]
        enough = work if run_now["speculative"] else min(run_now["request"] + retries.overtime[job], work)
        return bool(self.world.jobs[job]["duration"] >= enough)

    def blame(self) -> None:
        """Raise InputError for the job whose score is not a number, or for a compiled pass that has failed."""
        if isinstance(self.player, CompiledPass):
            self.player.refuse()
        seen, state = self.world.seen, self.world.state
        job, now = int(state.clock[BLAMED]), int(state.clock[NOW])
        who = seen[[job]]
        submit = who["submit"]
        for policy, order in self._policies:
            score = policy.scores(
                *(who["estimate"], who["processors"], submit - seen["submit"][0], now - submit, order.request[[job]]),
                statistics_of(order, np.array([job])),
            )
            if np.isnan(score[0]):
                blame(policy, seen, order.request, job, now)
        raise AssertionError("the loop blamed a job whose score is a number")


def _player(prepared: Prepared, world: World) -> AgentPlayer | PassPlayer | CompiledPass | None:
    """Return what decides in place of the passes, if anything does."""
    policy, backfill = prepared.scheduler.policy, prepared.scheduler.backfill
    if isinstance(policy, AgentPolicy):
        return AgentPlayer(prepared, policy)
    if isinstance(backfill, OwnPass):
        return CompiledPass(prepared, backfill, world) if backfill.in_loop else PassPlayer(prepared, backfill)
    return None


def _adapters(prepared: Prepared, world: World) -> list[tuple[PythonPredictorAdapter, Forecast]]:
    """Return the predictors in Python of a simulation, each with the `Forecast` that takes its predictions."""
    if world.forecasts is None:
        return []
    scheduler = prepared.scheduler
    pairs = [(scheduler.runtimes, world.forecasts.reservations)]
    if scheduler.order_runtimes is not None:
        pairs.append((scheduler.order_runtimes, world.forecasts.order))
    return [
        (PythonPredictorAdapter(prepared, world.state.request, predictor.predictor), forecast)
        for predictor, forecast in pairs
        if isinstance(predictor, PythonPredictor)
    ]
