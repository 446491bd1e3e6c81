"""Draw workloads of jobs with stochastic run times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.requests import NO_DISTRIBUTION
from schedlab.workload.workload import Workload

Allocation = int | Literal["full", "half", "truncnorm", "beta"]

ALLOCATIONS = ("full", "half", "truncnorm", "beta")

NORMAL = (0.5, 0.3)
"""Mean and standard deviation of the allocation "truncnorm", as shares of the machine."""

BETA = (2.0, 2.0)


@dataclass(frozen=True, slots=True)
class Application:
    """Jobs whose run times follow one distribution.

    Parameters
    ----------
    distribution
        Text of the distribution, see `schedlab.speculate.distributions.RunTimeDistribution.parse`.
    jobs
        The number of jobs.
    processors
        The processors of each job: a number; "full" or "half" of the machine; or drawn independently for each job, from
        a normal distribution with mean 0.5 and standard deviation 0.3 of the machine, truncated to it ("truncnorm"), or
        from Beta(2, 2) ("beta"), both rounded up.
    over
        Seconds within which the jobs are submitted, uniformly; 0: all at the beginning.
    requests
        "method": by the method of the scheduler; without one, the longest run time of the distribution. "longest":
        always the longest run time. "exact": the job's own run time.
    """

    distribution: str
    jobs: int
    processors: Allocation = "full"
    over: int = 0
    requests: Literal["method", "longest", "exact"] = "method"


def stochastic_jobs(
    applications: Sequence[Application], processors: int, *, rng: np.random.Generator | int
) -> Workload:
    """Draw jobs of some applications; run times are whole seconds, at least one.

    Parameters
    ----------
    applications
        Jobs of the same second keep their order.
    processors
        Size of the machine.
    rng
        Source of randomness: a generator, or the seed of a new one.

    Returns
    -------
    Workload
        In order of submission; `executable_id` is the number of the application, from 1. Jobs that request by the
        method of the scheduler have a distribution; others have none.

    Raises
    ------
    InputError
        If there is no job, a distribution is not valid, or an allocation is unknown or larger than the machine.

    References
    ----------
    Gainaru, Pallez, Sun and Raghavan, "Speculative scheduling for stochastic HPC applications", ICPP 2019, section 5.

    Examples
    --------
    >>> jobs = stochastic_jobs([Application("uniform(1h,2h)", 3, "half")], 100, rng=np.random.default_rng(1))
    >>> jobs.job_processors.tolist(), jobs.requested_time.tolist(), jobs.distribution.tolist()
    ([50, 50, 50], [7200, 7200, 7200], [0, 0, 0])
    """
    rng = np.random.default_rng(rng)
    if not applications:
        raise InputError("there is no application; give at least one")
    distributions = tuple(dict.fromkeys(one.distribution for one in applications if one.requests == "method"))
    parts = [_jobs_of(one, processors, rng) for one in applications]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    count = [one.jobs for one in applications]
    columns["executable_id"] = np.repeat(np.arange(1, len(count) + 1), count)
    numbers = [
        distributions.index(one.distribution) if one.requests == "method" else NO_DISTRIBUTION for one in applications
    ]
    distribution = np.repeat(numbers, count)
    drawn = Workload.from_columns(columns, processors=processors, name="stochastic")
    return drawn.replace(distribution=distribution, distributions=distributions).sorted_by_submit()


def _jobs_of(application: Application, processors: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Draw the jobs of an application, as columns."""
    distribution, n = _distribution(application.distribution), application.jobs
    if n < 1:
        raise InputError(f"distribution {application.distribution}: {n} jobs; there must be at least one")
    run_time = np.maximum(1, np.rint(distribution.sample(rng, n))).astype(np.int64)
    longest = max(1, math.ceil(distribution.high))
    return {
        "run_time": run_time,
        "requested_processors": _allocated(application.processors, n, processors, rng),
        "submit_time": rng.integers(0, application.over + 1, n) if application.over else np.zeros(n, dtype=np.int64),
        "requested_time": run_time if application.requests == "exact" else np.full(n, longest),
    }


def _allocated(allocation: Allocation, jobs: int, machine: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the processors of each job."""
    if isinstance(allocation, int):
        if not 1 <= allocation <= machine:
            raise InputError(f"jobs of {allocation} processors do not fit on a machine of {machine}")
        return np.full(jobs, allocation)
    if allocation not in ALLOCATIONS:
        raise InputError(f"unknown allocation {allocation!r}; give a number, or one of {', '.join(ALLOCATIONS)}")
    if allocation == "full" or machine == 1:
        return np.full(jobs, machine)
    if allocation == "half":
        return np.full(jobs, max(1, machine // 2))
    if allocation == "beta":
        share = rng.beta(*BETA, jobs)
    else:
        mean, deviation = NORMAL
        share = _distribution(f"truncnorm(1s,{machine}s,mu={mean * machine}s,sigma={deviation * machine}s)").sample(
            rng, jobs
        )
        share = share / machine
    return np.clip(np.ceil(share * machine - 1e-9), 1, machine).astype(np.int64)


@lru_cache(maxsize=64)
def _distribution(text: str) -> RunTimeDistribution:
    return RunTimeDistribution.parse(text)
