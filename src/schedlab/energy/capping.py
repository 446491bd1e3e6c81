"""A power cap as a licence of watts: each job holds what it draws beyond the idle machine, and none starts above it.

Licences are limits of the whole machine that every pass knows, and so does Slurm: sites cap their power in this way. Of
a cap that changes, the machine has as many licences as it leaves at most, and less from some seconds on.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.cluster.cluster import POWER_LICENSE, Cluster
from schedlab.energy.accounting import measured_watts
from schedlab.energy.power import LARGEST, GroupPower, Power
from schedlab.energy.series import Series
from schedlab.energy.text import power_text
from schedlab.engine.parts.limits.machine_inputs import machine_inputs
from schedlab.engine.parts.limits.tres import allocated
from schedlab.errors import InputError
from schedlab.workload.job_requests import job_requests
from schedlab.workload.resources import Labels
from schedlab.workload.workload import Workload

LONGER = 10
"""How many times as long as submissions and work together a schedule may be under a cap that repeats."""


class Beyond(NamedTuple):
    """What the idle machine draws, and for each job what it draws and what of it the idle machine has already."""

    machine: float
    drawn: NDArray[np.float64]
    idle: NDArray[np.float64]


@explained
def capped(
    jobs: Workload, power: Power, *, cluster: Cluster | None = None, processors: int | None = None
) -> tuple[Workload, Cluster]:
    """Return jobs and a cluster on which no job starts that would bring the power above the cap of the model.

    Parameters
    ----------
    jobs
        The jobs; a column `watts` of theirs says what they draw.
    power
        The power model, with a cap.
    cluster, processors
        The machine; by default, as many processors as the workload says.

    Returns
    -------
    tuple
        For `simulate` and `compare`: jobs that hold a licence of watts, and the machine with as many of them as the cap
        leaves above what the idle machine draws. A job on nodes of several kinds holds what it would draw on the
        hungriest that it may use. If the cap changes, no job starts that would be above it in any second in which it is
        expected to run.

    Raises
    ------
    InputError
        If there is no cap, if the idle machine or a job alone would exceed it, if jobs have several sizes, if a cap
        that changes is not known from the first submission on, or if nodes are switched off under it.

    Examples
    --------
    Two nodes of 100 W idle and 300 W busy under a cap of 450 W: only one of them can be busy at a time.

    >>> from schedlab.engine.simulation import simulate
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0], run_time=[9, 9], requested_time=[9, 9],
    ...                                   requested_processors=[4, 4]))
    >>> model = Power((GroupPower(100, 300, cores=4),), cap=450)
    >>> tamed, machine = capped(jobs, model, processors=8)
    >>> simulate(tamed, "fcfs+easy", cluster=machine).start_time.tolist()
    [0, 9]

    If it is 450 W until second 12 and 300 W from then on, the second job has to wait, as it would run until 18.

    >>> from schedlab.energy.series import Series
    >>> evening = Series.from_csv("second,watts\\n0,450\\n12,300\\n30,450\\n90,\\n")
    >>> tamed, machine = capped(jobs, Power((GroupPower(100, 300, cores=4),), cap=evening), processors=8)
    >>> simulate(tamed, "fcfs+easy", cluster=machine).start_time.tolist()
    [0, 30]
    """
    if power.cap is None:
        raise InputError("the power model has no cap: to start no job above it, give cap")
    if jobs.alternatives is not None:
        raise InputError(f"{jobs.name}: a power cap is for jobs of one size each, but jobs have alternatives")
    machine = cluster or Cluster.for_workload(jobs, processors)
    on_nodes = bool(machine.groups)
    beyond = _on_nodes(jobs, machine, power) if on_nodes else _on_processors(jobs, machine, power.of_processors())
    seconds, caps = _steps(jobs, power.cap, machine)
    lefts = np.floor(caps / power.pue - power.base - beyond.machine + 1e-6).astype(np.int64)
    cap, left = float(caps.max()), int(lefts.max())
    measured = measured_watts(jobs)
    drawn = np.where(np.isfinite(measured), measured, beyond.drawn)
    more = np.ceil(np.maximum(drawn - beyond.idle, 0) - 1e-6).astype(np.int64)
    _check_idle(float(caps.min()), int(lefts.min()), beyond.machine + power.base)
    _check(jobs, more, left, cap)
    kept = [(name, count) for name, count in machine.licenses if name != POWER_LICENSE]
    licences = (*kept, (POWER_LICENSE, left)) if left else machine.licenses
    steps = tuple(zip(seconds.tolist(), lefts.tolist(), strict=True)) if left and len(seconds) > 1 else ()
    return _holding(jobs, more, keep=on_nodes or bool(kept)), replace(machine, licenses=licences, power_steps=steps)


def _steps(jobs: Workload, cap: Series, machine: Cluster) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return from which seconds on a cap is how high: the first before all jobs, and of a series that repeats as many
    as there may be jobs for, with the lowest at the end."""
    if cap.is_flat:
        return np.zeros(1, dtype=np.int64), cap.values[:1]
    if machine.power_saving is not None:
        raise InputError(f"{cap.name}: under a cap that changes, nodes cannot be switched off (power_saving)")
    cap = cap.on_clock(jobs.start_time)
    first, last = int(jobs.submit_time.min(initial=0)), int(jobs.submit_time.max(initial=0))
    work = float((jobs.requested_time.astype(np.float64) * jobs.job_processors).sum()) / machine.processors
    end = last + math.ceil(LONGER * (last - first + max(work, 0.0))) + int(jobs.requested_time.max(initial=0)) + 1
    if not cap.repeats:
        cap.check_covers(first, last)
        end = cap.end
    seconds = np.append(first, cap.changes(first, end))
    caps = cap.at(seconds)
    return (np.append(seconds, end), np.append(caps, cap.values.min())) if cap.repeats else (seconds, caps)


def _check_idle(cap: float, left: int, idle: float) -> None:
    """Raise InputError if the idle machine would exceed the cap where that is lowest."""
    if left < 0:
        raise InputError(
            f"the cap of {power_text(cap)} is below what the idle machine draws ({power_text(idle)} before cooling and "
            "losses): no job could ever start"
        )


def _check(jobs: Workload, more: NDArray[np.int64], left: int, cap: float) -> None:
    """Raise InputError if a job alone would exceed the cap where that is highest."""
    wrong = np.flatnonzero(more > left)
    if wrong.size:
        row = int(wrong[0])
        raise InputError(
            f"job {jobs.job_id[row]} draws {more[row]:,} W more than the idle machine, and the cap of "
            f"{power_text(cap)} leaves {left:,} W: {wrong.size:,} of {len(jobs):,} jobs could never start; raise the "
            "cap or drop them",
            row=row,
        )


def _holding(jobs: Workload, more: NDArray[np.int64], *, keep: bool) -> Workload:
    """Return jobs that hold licences of watts, beside their others if these are to be kept."""
    resources = job_requests(jobs)
    others = resources.licenses.texts() if keep else [""] * len(jobs)
    words = [f"{POWER_LICENSE}:{watts}" if watts else "" for watts in more.tolist()]
    texts = [",".join(filter(None, pair)) for pair in zip(others, words, strict=True)]
    return jobs.replace(resources=replace(resources, licenses=Labels.of(texts)))


def _on_processors(jobs: Workload, machine: Cluster, group: GroupPower) -> Beyond:
    idle, busy = group.idle / group.cores, group.busy / group.cores
    processors = jobs.job_processors.astype(np.float64)
    return Beyond(idle * machine.processors, busy * processors, idle * processors)


def _on_nodes(jobs: Workload, machine: Cluster, power: Power) -> Beyond:
    """Return what jobs draw on nodes: of several kinds that a job may use, on the one where it draws most."""
    inputs, _ = machine_inputs(jobs, machine)
    watts = power.on(machine).watts_of(inputs.names)
    held = allocated(inputs, inputs.shape, machine)
    of_core = (watts.busy - watts.idle) / inputs.cores
    allowed = [inputs.allowed[row] for row in inputs.eligible.tolist()]
    cores = np.array([of_core[mask].max(initial=0) for mask in allowed])[inputs.shape]
    gpus = np.array([watts.gpu[mask].max(initial=0) for mask in allowed])[inputs.shape]
    least = np.array([(watts.idle / inputs.cores)[mask].min(initial=LARGEST) for mask in allowed])[inputs.shape]
    idle = (least * held["cpu"]).astype(np.float64)
    return Beyond(float(watts.idle.sum()), idle + cores * held["cpu"] + gpus * held["gres/gpu"], idle)
