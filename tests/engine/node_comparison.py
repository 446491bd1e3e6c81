"""How random simulations on nodes are compared with the reference: with events, reservations or preemption."""

from __future__ import annotations

from collections.abc import Callable
from re import escape
from typing import Any, NamedTuple

import pytest
from features import Setting, outcome, random_simulation, setting
from test_nodes_against_twin import NEVER, replayed, simulate
from test_site_against_twin import reasons_of

from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.prepared import Prepared
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.predictor import Requested
from schedlab.workload.workload import Workload

Prepare = Callable[[Workload, Setting, dict[str, Any], int], tuple[Prepared, NodeEvents]]
"""Makes a simulation from a workload, a setting, the other arguments and a seed, and its events."""


class Compared(NamedTuple):
    """A simulation on which engine and reference agree; it has no schedule if both refuse it."""

    schedule: Schedule | None
    case: Setting
    prepared: Prepared
    events: NodeEvents
    what: str

    @property
    def known_events(self) -> NodeEvents | None:
        """The events, if the scheduler knows how long jobs may run, as laws of schedules with events ask."""
        return self.events if isinstance(self.case.scheduler.runtimes, Requested) else None


def compare_on_nodes(
    backfilling: str,
    features: tuple[str, ...],
    seed: int,
    prepare: Prepare,
    *,
    patience: int | None = None,
    reasons: bool = True,
) -> Compared | None:
    """Simulate with the engine and its reference, which agree; return None if features do not go together.

    Nor is anything compared that has not ended `patience` seconds after the last submission.
    """
    try:
        case = setting(backfilling, features)
        if case.refused:
            return None
        workload, options = random_simulation(case, seed)
        prepared, events = prepare(workload, case, options, seed)
    except InputError:
        return None
    what = f"{case.scheduler}, {features}, seed {seed}"
    until = NEVER if patience is None else int(prepared.jobs["submit"].max()) + patience
    again = prepare(workload, case, options, seed)[0]
    try:
        schedule, held = simulate(prepared, until)
    except InputError as error:  # requests of a job have grown beyond a limit
        with pytest.raises(InputError, match=f"^{escape(str(error))}$"):
            replayed(again)
        return Compared(None, case, prepared, events, what)
    if schedule is None:
        return None
    plain, expected = replayed(again)
    assert outcome(schedule) == outcome(plain), what
    assert held == expected, what
    assert pauses_of(schedule) == pauses_of(plain), what
    assert not reasons or reasons_of(schedule) == reasons_of(plain), what
    return Compared(schedule, case, prepared, events, what)


def pauses_of(schedule: Schedule) -> list[Any] | None:
    """Return when which runs stood still; None if none can."""
    return None if schedule.pauses is None else schedule.pauses.tolist()
