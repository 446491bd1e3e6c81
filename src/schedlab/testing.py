"""What a user can test of their own code: `check_pass` runs a scheduling pass in Python, and looks at what it did."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.model.lublin_feitelson import lublin
from schedlab.model.tsafrir import tsafrir_estimates
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.own_pass import OwnPass, Pass, PassView
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.scheduler_text import as_backfill
from schedlab.workload.workload import Workload

__all__ = [
    "PassReport",
    "check_pass",
]


@dataclass(frozen=True)
class PassReport:
    """What a pass did to some jobs.

    Parameters
    ----------
    passes
        How often it was asked.
    delayed
        int64 seconds: by how much each job that was at the head of the queue started later than it could have been
        promised then; 0 if it did not. EASY delays nobody.
    mean_wait, easy_mean_wait
        In seconds: under the pass, and under EASY.
    """

    passes: int
    delayed: np.ndarray
    mean_wait: float
    easy_mean_wait: float

    def __str__(self) -> str:
        late = self.delayed[self.delayed > 0]
        heads = f"{len(late)} of {len(self.delayed)} jobs at the head of the queue started later than promised"
        worst = f", the worst by {late.max():,} s" if len(late) else ""
        waits = f"mean wait {self.mean_wait:,.0f} s, under EASY {self.easy_mean_wait:,.0f} s"
        return f"{self.passes:,} passes; {heads}{worst}; {waits}"


def check_pass(
    decider: object, workload: Workload | None = None, *, cluster: Cluster | None = None, seed: int = 0
) -> PassReport:
    """Run a scheduling pass in Python on some jobs, first come, first served, and check what it does.

    It is run twice: the same jobs must start at the same seconds, and have the same sizes. No job may start before its
    submission, and never may more processors be held than there are. The work of malleable jobs must be done, whatever
    becomes of their sizes.

    Parameters
    ----------
    decider
        A `schedlab.scheduling.Pass`, a function of the view, or the class or the text of one: only these can tell
        whether objects that are made alike decide alike.
    workload
        The jobs; None: 300 jobs of Lublin and Feitelson's model on 64 processors, at a load of 1.1. To see a pass
        resize jobs, give malleable ones.
    cluster
        The machine, if it has nodes.
    seed
        Of these jobs.

    Raises
    ------
    AssertionError
        If a check fails.
    InputError
        If the pass fails, or lets jobs wait for ever.

    Examples
    --------
    >>> def first_fit(view):
    ...     for job in view.waiting:
    ...         if view.fits(job):
    ...             view.start(job)
    >>> report = check_pass(first_fit)
    >>> bool((report.delayed > 0).any())
    True
    """
    own, anew = _as_pass(decider), _as_pass(decider)  # of a class or a text, another object
    if workload is None:
        rng = np.random.default_rng(seed)
        workload = tsafrir_estimates(lublin(300, 64, rng=rng, load=1.1), rng=rng)
    promised: dict[int, int] = {}
    watched = OwnPass(_Watched(own.decider, promised), own.text)
    once = simulate(workload, Scheduler("fcfs", watched), cluster=cluster)
    again = simulate(workload, Scheduler("fcfs", anew), cluster=cluster)
    alike = np.array_equal(once.start_time, again.start_time) and np.array_equal(once.end_time, again.end_time)
    if once.sizes is not None and again.sizes is not None:
        alike = alike and np.array_equal(once.sizes, again.sizes)
    assert alike, (
        f"{own.text} decides otherwise when it is run again: by state outside of the object, or by random numbers "
        "without a seed"
    )
    _check_starts(once)
    easy = simulate(workload, "fcfs+easy", cluster=cluster)
    starts = once.start_time[np.argsort(workload.submit_time, kind="stable")]
    late = np.array([max(0, starts[job] - second) for job, second in promised.items()], dtype=np.int64)
    mean_wait, easy_mean_wait = (float((one.start_time - workload.submit_time).mean()) for one in (once, easy))
    return PassReport(int(once.specification["decisions"]), late, mean_wait, easy_mean_wait)


def _as_pass(decider: Any) -> OwnPass:
    if hasattr(decider, "score") or not (isinstance(decider, str) or callable(decider) or hasattr(decider, "decide")):
        raise InputError(
            f"{decider!r} is not a pass: give an object with decide(view), its class, or a function of the view"
        )
    found = as_backfill(decider)
    if not isinstance(found, OwnPass):
        raise InputError(f"{decider!r} is not a pass in Python")
    return found


class _Watched(Pass):
    """A pass, and when the jobs that were at the head of the queue could have started as they came there."""

    def __init__(self, decider: Any, promised: dict[int, int]) -> None:
        self.decider, self.promised = decider, promised

    def __deepcopy__(self, memo: dict[int, Any]) -> _Watched:
        return _Watched(copy.deepcopy(self.decider, memo), self.promised)

    def decide(self, view: PassView) -> None:
        for head in view.waiting[:1].tolist():
            begins = view.earliest(head)
            if begins is not None:
                self.promised.setdefault(head, begins)
        getattr(self.decider, "decide", self.decider)(view)


def _check_starts(schedule: Schedule) -> None:
    """Raise AssertionError if jobs start before their submission, or hold more than the machine has."""
    jobs = schedule.workload
    early = np.flatnonzero(schedule.start_time < jobs.submit_time)
    assert not len(early), f"job {jobs.job_id[early[0]]} starts before its submission"
    holds = schedule.held
    seconds = np.concatenate([holds.end, holds.start])
    change = np.concatenate([-holds.processors, holds.processors])
    order = np.argsort(seconds, kind="stable")  # ends come first
    held = np.cumsum(change[order])
    assert held.max() <= schedule.processors, (
        f"at second {seconds[order][held.argmax()]}, {held.max()} of {schedule.processors} processors are held"
    )
    if schedule.sizes is not None:
        _check_work(schedule, schedule.sizes)


def _check_work(schedule: Schedule, sizes: np.ndarray) -> None:
    """Raise AssertionError if a job ended before its work was done, or more than a second a change after it was."""
    jobs, others = schedule.workload, schedule.workload.alternatives
    assert others is not None
    length = {(row, int(jobs.job_processors[row])): int(jobs.run_time[row]) for row in range(len(jobs))}
    length |= zip(
        zip(others.owner.tolist(), others.processors.tolist(), strict=True), others.run_time.tolist(), strict=True
    )
    done, most = np.zeros(len(jobs)), np.ones(len(jobs))
    first = np.zeros(len(jobs), dtype=np.bool_)
    for job, start, end, size in sizes.tolist():
        assert (job, size) in length, f"job {jobs.job_id[job]} had {size} processors, which is none of its sizes"
        done[job] += (end - start) / length[job, size]
        most[job] += 1 / length[job, size] if first[job] else 0
        first[job] = True
    wrong = np.flatnonzero(first & ~schedule.killed & ((done < 1 - 1e-9) | (done > most + 1e-9)))
    assert not len(wrong), f"job {jobs.job_id[wrong[0]]} ended when {done[wrong[0]]:.3f} of its work were done"
