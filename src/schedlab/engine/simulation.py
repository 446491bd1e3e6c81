"""Simulate a workload under a scheduler: from a Workload to a Schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.assembly import assemble
from schedlab.engine.driver import Driver
from schedlab.engine.jobs.state import new_state
from schedlab.engine.jobs_that_never_start import refuse_left_over
from schedlab.engine.parts.heterogeneous.numbers import refuse_waiting_for_ever
from schedlab.engine.parts.moldable.rows import gathered
from schedlab.engine.parts.outages.numbers import closures_of
from schedlab.engine.passes.conservative_plan import Plan
from schedlab.engine.prepared import Events, Prepared, prepare
from schedlab.engine.prescored.simulation import known_scheduler, simulate_known
from schedlab.engine.sc17_simulator import run_sc17
from schedlab.engine.world import PARTS, World
from schedlab.schedule.measures import LARGEST
from schedlab.schedule.placement import Placement
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.scheduler import Scheduler
from schedlab.speculate.requests import Requests
from schedlab.workload.workload import Workload


@explained
def simulate(
    workload: Workload,
    scheduler: str | Scheduler = "fcfs+easy",
    *,
    processors: int | None = None,
    events: Events = "batched",
    in_order: int = 0,
    requests: Requests | None = None,
    cluster: Cluster | None = None,
    node_events: NodeEvents | None = None,
) -> Schedule:
    """Replay a workload under a scheduler.

    Parameters
    ----------
    workload
        The jobs; each needs a submit time, a run time and processors, and a requested time if the scheduler uses it.
    scheduler
        A scheduler text or a `Scheduler`.
    processors
        Size of the machine; None takes the workload's.
    events
        "batched": all completions of a second, then its submissions, then one scheduling pass. "pyss": one event at a
        time, submissions before completions, as the simulator of SC'15 does. "sc17": one start at a time, see
        `schedlab.engine.sc17_simulator`; times are float64 seconds if a start takes time.
    in_order
        The number of warm-up jobs, started strictly in order of submission before the scheduler takes over (SC'17 fills
        its machine with 16).
    requests
        The sequence of requests of each job, instead of the one that the scheduler's `requests` gives. Jobs whose
        requests are too short fail and are resubmitted; the schedule shows their last runs, and all of them in `runs`.
    cluster
        The machine, instead of `processors`. On a cluster of nodes, jobs get the cores, memory and GPUs that their
        `Workload.resources` request on nodes that their partition and constraint allow; the schedule records the nodes.
    node_events
        Nodes of the cluster that go down, are drained and come back, and maintenance.

    Returns
    -------
    Schedule
        One row per job, in the workload's order.

    Raises
    ------
    InputError
        If a job lacks what the scheduler needs or can never run, if the scheduler is unknown, or if jobs never start
        because too few nodes return to service, or because their requests have grown beyond a limit.

    Notes
    -----
    If the workload's requests are enforced, a job ends at the earlier of its run time and its requested time. Estimates
    below one second count as one second.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
    ...                                   requested_processors=[3, 4, 1]), processors=4)
    >>> simulate(jobs, "fcfs").start_time.tolist()
    [0, 10, 20]
    >>> simulate(jobs, "fcfs+easy").start_time.tolist()
    [0, 10, 2]
    """
    prepared = prepare(
        workload,
        scheduler,
        processors=processors,
        events=events,
        in_order=in_order,
        requests=requests,
        cluster=cluster,
        node_events=node_events,
    )
    if prepared.events == "sc17":
        state = new_state(
            len(prepared.jobs), prepared.processors, prepared.request, watched=False, runs=len(prepared.jobs)
        )
        start = run_sc17(prepared, state)
        return to_schedule(prepared, start=start, backfilled=state.backfilled)
    # For a larger workload, the time in Python is negligible, and this kernel need not be compiled besides the loop.
    known = known_scheduler(prepared) if len(prepared.jobs) <= LARGEST else None
    if known is not None:
        begins, backfilled = simulate_known(prepared, known)
        return to_schedule(prepared, start=begins, backfilled=backfilled)
    driver = Driver(prepared, assemble(prepared))
    first_estimate = prepared.jobs["estimate"].copy()
    driver.run()
    schedule = schedule_of(prepared, driver.world, first_estimate)
    if driver.player is None:
        return schedule
    return replace(schedule, specification={**schedule.specification, "decisions": driver.player.decisions})


def schedule_of(prepared: Prepared, world: World, first_estimate: NDArray[np.int64]) -> Schedule:
    """Return the schedule of a simulation that has ended.

    Parameters
    ----------
    prepared, world
        The simulation.
    first_estimate
        int64 seconds, in order of submission: what reservations assumed before the first event.
    """
    state, retries = world.state, world.retries
    refuse_waiting_for_ever(prepared.workload, prepared.in_workload_order(state.start))
    refuse_left_over(prepared, state.start, prepared.jobs["estimate"])
    told: dict[str, Any] = {"predicted": first_estimate}
    for part in PARTS:
        if part.output is not None and getattr(world, part.name) is not None:
            told |= part.output(prepared, world)
    if isinstance(world.plan, Plan) and world.plan.corrections.any():
        told["corrections"] = world.plan.corrections + told.get("corrections", 0)
    start = state.start
    if retries is not None:
        runs = told["runs"]
        ran = retries.run >= 0  # some alternatives never run, and no cancelled job does
        killed = ran.copy()
        killed[ran] = ~runs["done"][retries.run[ran]]
        prepared = prepared._replace(killed=prepared.in_workload_order(killed))
        if "pauses" in told:  # in the state, a run that was resumed counts as begun later
            start = state.start.copy()
            start[ran] = runs["start"][retries.run[ran]]
            jobs = prepared.jobs.copy()
            jobs["duration"] += state.start - start
            prepared = prepared._replace(jobs=jobs)
    return to_schedule(prepared, start=start, backfilled=state.backfilled, **told)


def to_schedule(
    prepared: Prepared,
    *,
    start: NDArray[Any],
    backfilled: NDArray[np.bool_],
    predicted: NDArray[np.int64] | None = None,
    corrections: NDArray[np.int64] | None = None,
    eligible: NDArray[np.int64] | None = None,
    runs: NDArray[Any] | None = None,
    placement: Placement | None = None,
    waited_for: Mapping[str, NDArray[np.int64]] | None = None,
    **told: NDArray[Any] | None,
) -> Schedule:
    """Return the result of the engine or its reference as a schedule, in the workload's order.

    Parameters
    ----------
    prepared
        The simulation.
    start, backfilled, predicted, corrections, eligible
        In order of submission; predictions default to the estimates, and corrections to none.
    runs
        All runs, if they may fail; their jobs are rows of the workload.
    placement
        The nodes of each run, or of each job in the workload's order.
    waited_for
        In the workload's order: the reasons why jobs waited, see `Schedule`.
    **told
        What else parts tell, by its name in the schedule, in the workload's order.
    """
    if not prepared.scheduler.start_delay:
        start = start.astype(np.int64, copy=False)
    if predicted is None:
        predicted = prepared.jobs["estimate"].copy()
    if placement is not None and prepared.outages is not None:
        placement = replace(placement, closures=closures_of(prepared.outages))
    ordered = prepared.in_workload_order
    cancelled = told.get("cancelled")
    killed = prepared.killed if cancelled is None else prepared.killed & ~cancelled
    never = np.broadcast_to(np.int64(0), start.shape)
    spread = prepared.spread
    schedule = Schedule(
        workload=prepared.workload,
        start_time=ordered(start),
        end_time=ordered(start + prepared.jobs["duration"]),
        backfilled=ordered(backfilled),
        killed=killed,
        predicted_run_time=ordered(predicted),
        corrections=never if corrections is None else ordered(corrections),
        scheduler=prepared.scheduler.text,
        processors=prepared.processors,
        events=prepared.events,
        specification=_told(prepared),
        eligible_time=None if eligible is None or prepared.workload.dependencies is None else ordered(eligible),
        runs=runs,
        placement=placement if spread is None else None,
        waited_for=waited_for,
        **told,
    )
    return schedule if spread is None else gathered(schedule, spread, placement)


def _told(prepared: Prepared) -> dict[str, Any]:
    """Return the specification of a schedule; `interrupts` stands there only if runs may be interrupted."""
    told = {"in_order": prepared.in_order, "requests_enforced": prepared.workload.requests_enforced}
    if (sizes := prepared.of_parts.get("malleable")) is not None:
        told |= {"dropped_alternatives": sizes.dropped}
    breaks = prepared.outages is not None and prepared.outages.interrupts
    return told | ({"interrupts": True} if breaks or prepared.preemption is not None else {})
