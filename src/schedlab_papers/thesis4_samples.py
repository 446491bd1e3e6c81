"""What chapter 4 of the thesis measures of each schedule, and which of ten samples it keeps."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab import InputError, Schedule, Workload, read_schedule
from schedlab.campaign import RunDirectory
from schedlab.durations import WEEK
from schedlab.metrics import SLOWDOWN_CLASSES, cumulative_weekly_means, job_measures, slowdown_classes
from schedlab.text import count_of
from schedlab.workload import offered_load

MEASURES = ("bounded_slowdown", "per_processor_bounded_slowdown", "wait")
"""The three objectives, in the order of Figure 4.1."""

WORST = 100
"""Number of jobs with the highest slowdowns of each sample that are looked at."""

PREMATURE = 100
"""A job is premature if it requested at least this many times its run time."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What is measured of one schedule.

    Parameters
    ----------
    jobs, load
        Number of jobs, and their offered load.
    weeks
        Week numbers, see `schedlab.schedule.timeline.cumulative_weekly_means`.
    means
        For each of `MEASURES` the mean over the jobs that have ended by the end of the week; the last one is that of
        all jobs.
    worst
        Processors of the jobs with the highest bounded slowdowns.
    shares
        Of the jobs, by class of bounded slowdown (`SLOWDOWN_CLASSES`).
    at_once
        Share of the jobs that start when they are submitted.
    starved
        Share of the jobs that wait longer than the threshold, whether the scheduler heeds it or not.
    backfilled
        How many jobs were.
    premature
        Share of the premature jobs.
    ratio
        Mean bounded slowdown of the premature jobs over that of the others.
    """

    jobs: int
    load: float
    weeks: NDArray[np.int64]
    means: Mapping[str, NDArray[np.float64]]
    worst: NDArray[np.int64]
    shares: NDArray[np.float64]
    at_once: float
    starved: float
    backfilled: int
    premature: float
    ratio: float

    def mean(self, measure: str) -> float:
        """Return the mean of a measure over all jobs."""
        return float(self.means[measure][-1])


def measure(schedule: Schedule, threshold: int) -> Sample:
    """Measure a schedule.

    Parameters
    ----------
    schedule
        Of at least one premature and one other job; otherwise the ratio is NaN.
    threshold
        Seconds after which a job starves.
    """
    values = job_measures(schedule)
    slowdowns = np.asarray(values["bounded_slowdown"], dtype=np.float64)
    curves = {name: cumulative_weekly_means(schedule, values[name]) for name in MEASURES}
    # Of equal slowdowns the first jobs of the sample are taken.
    worst = np.argsort(-slowdowns, kind="stable")[:WORST]
    early = premature(schedule.workload)
    both = early.any() and not early.all()
    return Sample(
        jobs=len(schedule),
        load=offered_load(schedule.workload, schedule.processors),
        weeks=curves[MEASURES[0]][0],
        means={name: means for name, (_, means) in curves.items()},
        worst=schedule.workload.job_processors[worst],
        shares=np.bincount(slowdown_classes(slowdowns), minlength=len(SLOWDOWN_CLASSES)) / len(schedule),
        at_once=float(np.mean(schedule.wait_time == 0)),
        starved=float(np.mean(schedule.wait_time > threshold)),
        backfilled=int(np.count_nonzero(schedule.backfilled)),
        premature=float(early.mean()),
        ratio=float(slowdowns[early].mean() / slowdowns[~early].mean()) if both else np.nan,
    )


def premature(workload: Workload) -> NDArray[np.bool_]:
    """Return which jobs asked for at least `PREMATURE` times what they ran."""
    asked = workload.requested_time
    return np.asarray((asked > 0) & (asked >= PREMATURE * workload.run_time))


def premature_in_spans(workload: Workload) -> float:
    """Return the share of premature jobs to expect if a user's weeks are drawn from the first to the last with a job.

    A user who was there for n weeks then submits, on average, 1/n of their jobs every week.
    """
    week = (workload.submit_time - workload.submit_time.min()) // WEEK
    users, user = np.unique(workload.user_id, return_inverse=True)
    first, last = np.full(len(users), week.max()), np.zeros(len(users), dtype=np.int64)
    np.minimum.at(first, user, week)
    np.maximum.at(last, user, week)
    return float(np.average(premature(workload), weights=1 / (last - first + 1)[user]))


def samples_of(run: RunDirectory, threshold: int) -> dict[str, list[Sample]]:
    """Return the samples of each scheduler of a campaign, from the schedules that it has kept.

    Raises
    ------
    InputError
        If a simulation has failed.
    """
    if failed := run.status().failed:
        raise InputError(f"{count_of(failed, 'simulation')} failed; see schedlab campaign status {run.path}")
    found: dict[str, list[Sample]] = {}
    for task, scheduler in run.results()[["task", "scheduler"]].itertuples(index=False):
        file = run.schedule_file(task)
        assert file is not None, "run_campaign has made sure that it is there"
        found.setdefault(scheduler, []).append(measure(read_schedule(file), threshold))
    return found


def kept(samples: Sequence[Sample], measure: str) -> list[Sample]:
    """Return the samples without the best and the worst tenth by a measure: of ten, without the best and the worst."""
    ordered = sorted(samples, key=lambda sample: sample.mean(measure))
    cut = len(ordered) // 10
    return ordered[cut : len(ordered) - cut]


def kept_mean(samples: Sequence[Sample], measure: str) -> float:
    """Return the mean of a measure over the samples that are kept."""
    return statistics.fmean(sample.mean(measure) for sample in kept(samples, measure))
