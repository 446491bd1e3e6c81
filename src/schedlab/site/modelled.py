"""Jobs of a site as they might have been: drawn from a model of the recorded ones, or as their users react."""

from __future__ import annotations

import numpy as np

from schedlab.durations import DAY, WEEK
from schedlab.errors import InputError
from schedlab.model.cycles import ArrivalCycle, clock_offset
from schedlab.model.fit import gaps_of
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.workload import Workload

PERIODS = 4
"""Weeks, or days, that a log must have for its model to have busy hours of the week, or of the day."""


def model_of_jobs(jobs: Workload, rng: np.random.Generator | int) -> Workload:
    """Return as many jobs of a model of some: times between arrivals, and whole jobs, drawn independently.

    Gaps are drawn from the log's, on a clock that is faster in the busy hours of its week (of its day, if it is
    shorter than four weeks). Each job is one of the log's with all that it asks for. What a user does in one sitting is
    lost; `schedlab.workload.sampling.resample_users` keeps it.

    Parameters
    ----------
    jobs
        In order of submission.
    rng
        Source of randomness: a generator, or the seed of a new one.

    Raises
    ------
    InputError
        If there are fewer than two jobs, or all came at once.

    Examples
    --------
    >>> log = Workload.from_columns(dict(submit_time=[0, 60, 300], run_time=[5, 6, 7], requested_processors=[1, 1, 2]))
    >>> drawn = model_of_jobs(log, 1)
    >>> len(drawn), set(drawn.run_time.tolist()) <= {5, 6, 7}
    (3, True)
    """
    rng = np.random.default_rng(rng)
    submit = jobs.submit_time
    span = int(np.ptp(submit)) if len(jobs) else 0
    if span == 0:
        raise InputError(f"{jobs.name}: no time between arrivals, so there is nothing to model: give a longer log")
    offset = clock_offset(jobs.start_time)
    cycle = None
    if span >= PERIODS * DAY:
        cycle = ArrivalCycle.of(submit, "week" if span >= PERIODS * WEEK else "day", jobs.start_time)
    gaps = rng.choice(gaps_of(submit, cycle, jobs.start_time), len(jobs))
    first = float(submit[0]) + offset
    arrivals = first + np.cumsum(gaps) if cycle is None else cycle.second(cycle.elapsed(first) + np.cumsum(gaps))
    rows = rng.integers(len(jobs), size=len(jobs))
    unknown = np.full(len(jobs), UNKNOWN, dtype=np.int64)
    return jobs[rows].replace(
        submit_time=np.floor(arrivals - offset).astype(np.int64),
        job_id=np.arange(1, len(jobs) + 1),
        preceding_job_id=unknown,
        think_time=unknown,
    )


def with_think_times(jobs: Workload, longest: int) -> Workload:
    """Return jobs that follow the end of their user's earlier job, wherever that comes to lie.

    A job that was submitted within `longest` seconds after a job of its user had ended waits in a simulation for the
    end of that job, and comes the same time after it: its user looked at the result first. Of several, the one that
    ended last counts. Other jobs come when they were recorded to come.

    Parameters
    ----------
    jobs
        In order of submission, with recorded waits, run times and users.
    longest
        Seconds. Twenty minutes are usual: longer pauses are no reaction.

    Raises
    ------
    InputError
        If waits or users are not recorded, or the jobs wait for others already.

    References
    ----------
    Shmueli and Feitelson, "Using site-level modeling to evaluate the performance of parallel system schedulers",
    MASCOTS 2006; Zakay and Feitelson, "Preserving user behavior characteristics in trace-based simulation of parallel
    job scheduling", MASCOTS 2014.

    Examples
    --------
    >>> log = Workload.from_columns(dict(submit_time=[0, 100, 5000], wait_time=[10, 0, 0], run_time=[50, 9, 9],
    ...                                  requested_processors=[1, 1, 1], user_id=[7, 7, 7]))
    >>> following = with_think_times(log, 1200)
    >>> following.dependencies.parents_of(1).tolist(), following.dependencies.delay.tolist()
    ([0], [40])
    """
    if jobs.dependencies is not None:
        raise InputError(f"{jobs.name}: the jobs already wait for others: think times cannot be added")
    if (jobs.wait_time < 0).any() or (jobs.user_id == UNKNOWN).all():
        raise InputError(f"{jobs.name}: think times need recorded starts and users")
    submit, end = jobs.submit_time, jobs.submit_time + jobs.wait_time + np.maximum(jobs.run_time, 0)
    children, parents, delays = [], [], []
    session = submit.copy()
    for user in np.unique(jobs.user_id[jobs.user_id != UNKNOWN]).tolist():
        mine = np.flatnonzero(jobs.user_id == user)
        by_end = mine[np.argsort(end[mine], kind="stable")]
        last = np.searchsorted(end[by_end], submit[mine], side="right") - 1
        for job, place in zip(mine.tolist(), last.tolist(), strict=True):
            parent = int(by_end[place])
            think = int(submit[job] - end[parent])
            if place < 0 or think > longest or parent >= job:
                continue
            children.append(job)
            parents.append(parent)
            delays.append(think)
            session[job] = session[parent]  # it may come earlier than it was recorded to come
    pairs = (np.array(part, dtype=np.int64) for part in (children, parents, delays))
    following = Dependencies.from_pairs(*pairs, jobs=len(jobs))
    order = np.argsort(session, kind="stable")
    return jobs.replace(submit_time=session, dependencies=following)[order]
