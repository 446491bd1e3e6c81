"""Policies in Python that depend on what runs and has run are told of each run as it begins and ends."""

from __future__ import annotations

from collections.abc import Iterable

from schedlab.engine.decisions.job_views import JobViews
from schedlab.engine.jobs.clock import COMPLETED, NOW, STARTED
from schedlab.engine.prepared import Prepared
from schedlab.engine.queue.function_order import FunctionOrder
from schedlab.engine.world import World


class ToldRuns:
    """Tells policies in Python what happens, in its order: before each event with an end, and before each pass.

    Parameters
    ----------
    prepared
        The simulation.
    world
        Its present state.
    orders
        The orders that policies in Python give.
    """

    def __init__(self, prepared: Prepared, world: World, orders: Iterable[FunctionOrder]) -> None:
        self.orders = [one for one in orders if one.policy.knows_runs]
        self._views = JobViews(prepared, world.state.request)
        self._begun = 0

    def take_over(self, other: ToldRuns) -> None:
        """Go on from what another simulation's policies were told."""
        self._begun = other._begun

    def begins(self, world: World) -> None:
        """Tell of the runs that have begun since they were last told."""
        state, upto = world.state, int(world.state.clock[STARTED])
        for job in state.begun[self._begun : upto].tolist():
            second = int(state.start[job])
            for order in self.orders:
                if order.past is not None:
                    order.past.run_begins(job, second)
                if order.policy.is_told:
                    order.policy.tell("on_start", self._views.view(job), second)
        self._begun = upto

    def ends(self, world: World) -> None:
        """Tell of the runs that the present event has ended, whatever ended them."""
        state, now = world.state, int(world.state.clock[NOW])
        for job in state.ended[: state.clock[COMPLETED]].tolist():
            for order in self.orders:
                if order.past is not None:
                    order.past.run_ends(job, now)
                if order.policy.is_told:
                    order.policy.tell("on_end", self._views.view(job), now, int(world.jobs[job]["duration"]))
