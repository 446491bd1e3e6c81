"""Jobs that come back after a run that was cut, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.engine.part import Log, Part
from schedlab.engine.parts.retries.kernels import LEARNED, REQUEST, RUNS, WORK, Retries, new_retries, with_more_room
from schedlab.scheduler.predictor import Actual, Predictor

if TYPE_CHECKING:
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> Retries | None:
    if prepared.asked is None:
        return None
    scheduler = prepared.scheduler
    assumed = [_assumed(scheduler.runtimes), _assumed(scheduler.ranking)]
    return new_retries(prepared, prepared.asked, assumed)


def _assumed(runtimes: Predictor) -> int:
    return LEARNED if runtimes.learns else WORK if runtimes == Actual() else REQUEST


def chooses_requests(given: Given) -> bool:
    """Return whether jobs may request less than they need."""
    return given.requests is not None or given.scheduler.tries_again


def _is_short(world: World) -> bool:
    """Return whether the log may be too short for the next event: a run of each job."""
    retries: Retries = world.retries
    return bool(len(retries.runs) - retries.counters[RUNS] <= len(retries.work))


def _longer(world: World) -> World:
    retries, state = with_more_room(world.retries, world.state)
    return world._replace(retries=retries, state=state)


def _output(prepared: Prepared, world: World) -> dict[str, Any]:
    runs = np.array(world.retries.runs[: world.retries.counters[RUNS]])
    if prepared.order is not None:
        runs["job"] = prepared.order[runs["job"]]
    return {"runs": runs}


RETRIES = Part(
    "retries", Retries, _new, log=Log("runs", _is_short, _longer), output=_output, cuts_runs=chooses_requests
)
