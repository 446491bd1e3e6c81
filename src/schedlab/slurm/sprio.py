"""The priorities of waiting jobs at a second of a schedule, as `sprio` would have shown them."""

from __future__ import annotations

from typing import cast

import numpy as np

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.engine.prepared import Events
from schedlab.engine.steps.priority_factors import Priorities
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.scheduler import Scheduler


@explained
def priorities(schedule: Schedule, second: int, *, cluster: Cluster | None = None) -> Priorities:
    """Return the multifactor priorities of the jobs that waited at a second of a schedule, with their factors.

    The schedule is simulated again up to that second.

    Parameters
    ----------
    schedule
        From a simulation under multifactor(...).
    second
        On the workload's clock; what happens in it has happened.
    cluster
        What it was simulated on, unless that was a number of processors.

    Raises
    ------
    InputError
        If another policy ordered the queue, or if the second simulation starts jobs at other times than the schedule.

    Examples
    --------
    >>> from schedlab import Workload, simulate
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[9000] * 3, requested_time=[9000] * 3,
    ...                                   requested_processors=[4, 1, 3]), processors=4)
    >>> priorities(simulate(jobs, "multifactor(age=1000,size=500)+slurm"), 7200).job_id.tolist()
    [3, 2]
    """
    simulation = Simulation(
        schedule.workload,
        Scheduler.from_file(schedule.scheduler, "the schedule"),
        processors=schedule.processors if cluster is None else None,
        events=cast(Events, schedule.events),
        in_order=int(schedule.specification.get("in_order", 0)),
        cluster=cluster,
    )
    simulation.run(until=second)
    started = simulation.start_time
    started_then = np.where(schedule.start_time <= second, schedule.start_time, -1)
    if not np.array_equal(started, started_then):
        raise InputError(
            "repeating the simulation gave other start times: give the cluster that it was simulated "
            "on; schedules with failing nodes or jobs started by hand cannot be repeated"
        )
    return simulation.priorities()
