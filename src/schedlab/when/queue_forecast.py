"""When waiting jobs will start, without any configuration: from accounting and the state of the queue alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.cluster.membership import users_of
from schedlab.errors import InputError
from schedlab.when.forks import FORKS, SEED
from schedlab.when.methods import QUEUE, only
from schedlab.when.queue_forest import PastQueues, QueueForest
from schedlab.when.queue_views import NOT_YET, QueueJobs, QueueViews
from schedlab.when.recalibration import TAUS, Outcomes, PastLevels, Recalibration
from schedlab.when.scores import Score, score
from schedlab.when.snapshots import Snapshot
from schedlab.when.start_forecast import StartForecast
from schedlab.workload.joining import joined
from schedlab.workload.workload import Workload

FEWEST = 20
"""Past jobs that had to wait below which nothing can be said."""

LEARNED, LEVELLED = 0.6, 0.8
"""Which share of the past is learned from when it is judged, and up to which its intervals are recalibrated."""


class QueueForecast(NamedTuple):
    """When jobs start by the state of the queue alone, and how good such answers were.

    Parameters
    ----------
    starts
        The starts, in Unix time.
    past
        Past jobs that had to wait and were learned from.
    learned
        Whether a forest says which of them saw a similar queue (the extra `predict`); else the last of the partition
        count.
    judged
        How good such answers were on the last fifth of these, learned from those before; None: they are too few.
    """

    starts: StartForecast
    past: int
    learned: bool
    judged: Score | None


@explained
def from_queue(
    past: Workload,
    snapshot: Snapshot,
    jobs: Sequence[int] | None = None,
    *,
    new: Workload | None = None,
    samples: int = FORKS,
    seed: int = SEED,
) -> QueueForecast:
    """Forecast when jobs of a queue will start by what past jobs waited that saw a similar one.

    Parameters
    ----------
    past
        The cluster's accounting, with waits and a date.
    snapshot
        Its queue now, see `read_snapshot`.
    jobs
        Numbers of waiting jobs. None: all, or only `new`, if it is given.
    new
        A job that is not submitted yet, see `asked_job`.
    samples
        Values that stand for each distribution.
    seed
        Which past jobs are learned from, if there are more than 5,000.

    Raises
    ------
    InputError
        If the accounting lacks waits or dates, hardly any job had to wait, or a job does not wait.
    """
    now, queue = snapshot.now, snapshot.queue.jobs
    start = np.array(snapshot.queue.records["start"], dtype=np.int64)
    if new is not None:
        queue, start = joined(queue, _submitted(new, queue, past, now)), np.append(start, -1)
    before, there = _columns(_checked(past), queue, start)
    known = PastQueues.of(before, np.random.default_rng(seed), now).known(now)
    if len(known.wait) < FEWEST:
        raise InputError(f"{len(known.wait)} past jobs had to wait: {FEWEST} are needed to say how long this one will")
    asked = _asked(queue, start, jobs, new)
    ended = before.ended(now)
    views = QueueViews(ended.followed_by(there))
    view = np.array([views.of(len(ended.end) + row, now) for row in asked.tolist()])
    forest, (levels, judged) = QueueForest(known), _judged(known, samples)
    unknown = np.zeros(len(asked), dtype=np.int64)
    drawn = Outcomes(np.full(len(asked), now), forest.draw(view, samples), unknown, there.cores[asked])
    waits = drawn.waits if levels is None else Recalibration(levels).waits(drawn)
    of_jobs = queue[asked].replace(start_time=0)
    starts = StartForecast(now, of_jobs, waits, samples, seed, 0, methods=(QUEUE,) * len(asked))
    return QueueForecast(starts, len(known.wait), forest.learned, judged)


def _checked(past: Workload) -> Workload:
    if past.start_time is None:
        raise InputError(f"{past.name} has no dates: the queue cannot be seen as its continuation")
    if bool((past.wait_time < 0).any()):
        raise InputError(f"{past.name} does not say how long all jobs waited")
    return past


def _submitted(new: Workload, queue: Workload, past: Workload, now: int) -> Workload:
    """Return a job as if it were submitted now, in the partition that most jobs of the past have, if it names none."""
    assert new.resources is not None
    partition = new.resources.partition
    if partition.codes[0] < 0 and past.resources is not None and len(past.resources.partition.names):
        usual = past.resources.partition
        name = usual.names[int(np.bincount(usual.codes[usual.codes >= 0]).argmax())]
        partition = type(partition).of([name])
    number = int(queue.job_id.max(initial=0)) + 1
    moved = new.replace(job_id=np.array([number]), submit_time=np.array([now - int(queue.start_time or 0)]))
    return moved.replace(start_time=queue.start_time, resources=replace(new.resources, partition=partition))


def _columns(past: Workload, queue: Workload, start: NDArray[np.int64]) -> tuple[QueueJobs, QueueJobs]:
    """Return the past and the queue as columns in Unix time, with common numbers of users and partitions."""
    users, partitions = (
        np.unique(np.concatenate([one, other]), return_inverse=True)[1]
        for one, other in zip(_names(past), _names(queue), strict=True)
    )
    epoch, count = int(past.start_time or 0), len(past)
    submit = past.submit_time + epoch
    began = submit + past.wait_time
    request = np.maximum(past.requested_time, 1)
    old = (submit, began, began + past.run_time, past.job_processors, request, users[:count], partitions[:count])
    never, asked = np.full(len(queue), NOT_YET), np.maximum(queue.requested_time, 1)
    live = (
        *(queue.submit_time + int(queue.start_time or 0), np.where(start >= 0, start, never), never),
        *(queue.job_processors, asked, users[count:], partitions[count:]),
    )
    return QueueJobs(*old), QueueJobs(*live)


def _names(jobs: Workload) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Return the names of the user and of the partition of each job."""
    partition = [""] * len(jobs) if jobs.resources is None else jobs.resources.partition.texts()
    return np.array(users_of(jobs).texts(), dtype=np.str_), np.array(partition, dtype=np.str_)


def _asked(
    queue: Workload, start: NDArray[np.int64], jobs: Sequence[int] | None, new: Workload | None
) -> NDArray[np.intp]:
    """Return the rows of the jobs that are asked about."""
    if new is not None:
        return np.array([len(queue) - 1])
    if jobs is None:
        rows = np.flatnonzero(start < 0)
        if not len(rows):
            raise InputError("no job waits: ask about a new one")
        return rows
    found = []
    for job in jobs:
        rows = np.flatnonzero((queue.job_id == job) & (start < 0))
        if not len(rows):
            raise InputError(f"job {job} does not wait in the queue: it runs, is held, has ended or is not of it")
        found.append(int(rows[0]))
    return np.array(found, dtype=np.intp)


def _judged(known: PastQueues, samples: int) -> tuple[PastLevels | None, Score | None]:
    """Return the levels of the outcomes of the last two fifths, and how good recalibrated answers of the last were."""
    count = len(known.wait)
    first, second = int(LEARNED * count), int(LEVELLED * count)
    if first < FEWEST:
        return None, None
    part = PastQueues(known.moment[:first], known.view[:first], known.wait[:first])
    waits = QueueForest(part).draw(known.view[first:], samples)
    cores = np.rint(np.expm1(known.view[first:, 1])).astype(np.int64)
    made = Outcomes(known.moment[first:], waits, known.wait[first:], cores)
    always, cut = int(known.moment[-1]) + int(known.wait.max()) + 1, int(known.moment[second])
    rows = np.arange(second - first, count - first)
    last = only(made, rows)
    quantiles = Recalibration(PastLevels.of(made, cut)).quantiles(last, TAUS)
    return PastLevels.of(made, always), score(last.outcome, quantiles, last.moment)
