"""Jobs that write checkpoints, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.part import Part
from schedlab.engine.parts.checkpoints.kernels import Checkpoints
from schedlab.errors import InputError
from schedlab.scheduler.predictor import Actual
from schedlab.workload.checkpoints import check_checkpoints, stretched, write_checkpoints

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World
    from schedlab.speculate.requests import Requests


def _cuts_runs(given: Given) -> bool:
    return write_checkpoints(given.workload)


def _features(given: Given) -> tuple[str, ...]:
    check_checkpoints(given.workload)
    return ("checkpoints",) if write_checkpoints(given.workload) else ()


def _numbers(given: Given, prepared: Prepared) -> Prepared:
    """Let the runs of jobs last as long as their work and their checkpoints, as if nothing ended them."""
    asked = prepared.asked
    if asked is None or not write_checkpoints(prepared.workload):
        return prepared
    lasts = stretched(prepared.workload, prepared.workload.run_time)
    if not prepared.workload.requests_enforced and bool((lasts > prepared.workload.requested_time).any()):
        raise InputError(
            f"{prepared.workload.name}: {np.count_nonzero(lasts > prepared.workload.requested_time):,} jobs run longer "
            "than they request, with their checkpoints; where jobs write checkpoints, requests are enforced: remove "
            "requests_enforced=False"
        )
    prepared.jobs["duration"] = prepared.in_submission_order(lasts)
    return _asking_for_checkpoints(prepared, asked)


def _asking_for_checkpoints(prepared: Prepared, asked: Requests) -> Prepared:
    """Let jobs that ask for work, one step after the other, have the time for their checkpoints in the first one."""
    first = prepared.in_workload_order(asked.lengths[asked.offsets[:-1]])
    length = prepared.in_submission_order(stretched(prepared.workload, first))
    told = prepared.column("checkpoint_when_told") * (np.diff(asked.offsets) > 1)
    longer = np.minimum(length + told * prepared.column("checkpoint_cost"), asked.most)
    request = np.where(is_stepwise(asked), longer, prepared.request)
    lasts = np.maximum(np.minimum(prepared.jobs["duration"], request + prepared.overtime), 1)
    prepared.jobs["estimate"] = lasts if prepared.scheduler.runtimes == Actual() else request
    seen = np.where(prepared.pilot, prepared.seen_request, request) if len(prepared.pilot) else request
    return prepared._replace(request=request, seen_request=seen)


def is_stepwise(asked: Requests) -> NDArray[np.bool_]:
    """Return which jobs ask for so much work in all, in several steps, and not for one length again and again."""
    return (np.diff(asked.offsets) > 1) | (asked.growth > 0) | (asked.application >= 0)


def _new(prepared: Prepared) -> Checkpoints | None:
    asked = prepared.asked
    if asked is None or not write_checkpoints(prepared.workload):
        return None
    return Checkpoints(
        interval=prepared.column("checkpoint_interval"),
        cost=prepared.column("checkpoint_cost"),
        restart=prepared.column("restart_cost"),
        when_told=prepared.column("checkpoint_when_told") > 0,
        stepwise=is_stepwise(asked),
        work=prepared.column("run_time").astype(np.int64),
        saved=np.zeros(len(prepared.jobs), dtype=np.int64),
    )


def _grown(old: World, new: World, moves: Moves) -> None:
    """Refuse to add jobs that run several times to jobs that run once, of whose runs nothing has been noted."""
    if old.retries is None:
        raise InputError(
            "jobs that write checkpoints cannot be added to a simulation in which no job can run twice: begin with "
            "one such job at least"
        )


CHECKPOINTS = Part("checkpoints", Checkpoints, _new, _grown, cuts_runs=_cuts_runs, features=_features, numbers=_numbers)
"""Jobs that go on from their last checkpoint when a run ends before they are done."""
