"""Slurm's own estimates of starts (`squeue --start`), audited: asked again and again in the laboratory, and judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError, whole_number
from schedlab.schedule.columns import in_columns
from schedlab.schedule.summary import duration
from schedlab.slurm.configuration import Configuration
from schedlab.slurm.jobs import JobList
from schedlab.slurm.laboratory import EPOCH
from schedlab.slurm.replay import Progress, drawn_phases, run
from schedlab.slurm.results import SlurmRun
from schedlab.wording import table

LEADS = (600, 3_600, 4 * 3_600, 86_400)
LEAD_NAMES = ("below 10 min", "10 min to 1 h", "1 h to 4 h", "4 h to 1 d", "above 1 d")
"""Classes of what Slurm said, in seconds from the question."""


class StartEstimates(NamedTuple):
    """What Slurm said of the starts of waiting jobs, one entry per job and question.

    Parameters
    ----------
    run
        The run of the laboratory.
    row
        The job, as a row of the workload.
    asked
        The second of the question.
    said
        The second that Slurm named; -1: it named none.
    started
        The second in which the job started; -1: it did not.
    """

    run: NDArray[np.int64]
    row: NDArray[np.int64]
    asked: NDArray[np.int64]
    said: NDArray[np.int64]
    started: NDArray[np.int64]

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which estimates name a second, of jobs that started."""
        return np.asarray((self.said >= 0) & (self.started >= 0))

    @property
    def first(self) -> NDArray[np.bool_]:
        """Which estimates are the first that name a second for their job in their run."""
        found = np.zeros(len(self.run), dtype=np.bool_)
        rows = np.flatnonzero(self.judged)
        rows = rows[np.argsort(self.asked[rows], kind="stable")]
        _, place = np.unique(np.stack([self.run[rows], self.row[rows]]), axis=1, return_index=True)
        found[rows[place]] = True
        return found


class EstimateScore(NamedTuple):
    """How good estimates were.

    Parameters
    ----------
    estimates
        How many.
    median_error
        Seconds: median absolute error.
    bias
        Seconds: median of what was said minus the start; negative: Slurm said too early.
    within_10_min, within_factor_2
        Shares that were so close.
    """

    estimates: int
    median_error: float
    bias: float
    within_10_min: float
    within_factor_2: float


@explained
def audit_starts(
    jobs: JobList,
    conf: str | PathLike[str] | Configuration,
    *,
    phases: int = 5,
    every: int = 3_600,
    seed: int = 1,
    slurm: str | None = None,
    progress: Progress | None = None,
    each: Callable[[SlurmRun, StartEstimates], None] | None = None,
) -> StartEstimates:
    """Ask an unmodified slurmctld in skipped time when each waiting job will start, again and again.

    Parameters
    ----------
    jobs
        The jobs.
    conf
        The site's configuration.
    phases
        How many runs, in each of which Slurm's loops lie otherwise to the jobs.
    every
        Seconds between two questions.
    seed
        Of the phases.
    slurm
        Which version; None: see `schedlab.slurm.installation.find_slurm`.
    progress
        As for `run`.
    each
        Called with each run and what Slurm said in it.

    Raises
    ------
    InputError
        As `run`, or if `every` is below one second.
    """
    if whole_number("every", every) < 1:
        raise InputError(f"every={every}: give the seconds between two questions, at least 1")
    found: list[StartEstimates] = []
    for drawn in drawn_phases(phases, seed):
        one = run(jobs, conf=conf, observe=every, slurm=slurm, progress=progress, **drawn)
        found.append(estimates_of(one, jobs, len(found)))
        if each is not None:
            each(one, found[-1])
    return StartEstimates(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def estimates_of(one: SlurmRun, jobs: JobList, number: int = 0) -> StartEstimates:
    """Return what Slurm said in a run that observed its queue (`observe`)."""
    start, epoch = jobs.workload.start_time, EPOCH + jobs.origin % 86_400 - jobs.origin
    lines = one.observations["queue"].to_dict("records")
    seen = [line for line in lines if line["row"] >= 0]
    begun = dict(zip(one.schedule.workload.job_id.tolist(), one.schedule.start_time.tolist(), strict=True))
    names = jobs.workload.job_id.tolist()
    row = np.array([line["row"] for line in seen], dtype=np.int64)
    return StartEstimates(
        np.full(len(seen), number, dtype=np.int64),
        row,
        np.array([line["second"] for line in seen], dtype=np.int64),
        np.array([_second(line, epoch if start is None else start) for line in seen], dtype=np.int64),
        np.array([begun.get(names[one], -1) for one in row.tolist()], dtype=np.int64),
    )


def _second(line: Mapping[Any, Any], epoch: int) -> int:
    """Return the second that Slurm names, on the workload's clock; -1 for none."""
    try:
        return int(datetime.fromisoformat(line["expected_start"]).replace(tzinfo=UTC).timestamp()) - epoch
    except ValueError:
        return -1  # N/A: the backfill pass has not come so far


@explained
def score_estimates(found: StartEstimates, which: NDArray[np.bool_] | None = None) -> EstimateScore:
    """Return how good some estimates were, all that can be judged by default."""
    chosen = found.judged if which is None else found.judged & which
    said, asked, started = found.said[chosen], found.asked[chosen], found.started[chosen]
    if not len(said):
        raise InputError("Slurm named no start of a job that started: nothing can be judged")
    error = said - started
    ratio = np.maximum(said - asked, 1) / np.maximum(started - asked, 1)
    return EstimateScore(
        len(error),
        float(np.median(np.abs(error))),
        float(np.median(error)),
        float((np.abs(error) <= 600).mean()),
        float(((ratio >= 0.5) & (ratio <= 2)).mean()),
    )


@explained
def scores_by_lead(found: StartEstimates) -> dict[str, EstimateScore]:
    """Return how good estimates were, by how far ahead the named start lay."""
    lead = np.digitize(found.said - found.asked, LEADS)
    classes = {name: lead == place for place, name in enumerate(LEAD_NAMES)}
    return {name: score_estimates(found, of) for name, of in classes.items() if (found.judged & of).any()}


def audit_text(found: StartEstimates) -> str:
    """Return an audit as text: a sentence, and a table by how far ahead the named start lay."""
    every, first = score_estimates(found), score_estimates(found, found.first)
    unsaid = float((found.said < 0).mean())
    sentence = (
        f"Of {every.estimates:,} starts that squeue --start named in {len(set(found.run.tolist()))} runs, "
        f"{every.within_10_min:.0%} were right within 10 min, and the median error was {duration(every.median_error)}; "
        f"of the first that it named for each job, {duration(first.median_error)}. It named none for {unsaid:.0%}."
    )
    return f"{sentence}\n\n{_table(scores_by_lead(found))}"


def _table(scores: dict[str, EstimateScore]) -> str:
    header: Sequence[str] = [
        "named start lies ahead",
        "estimates",
        "median error",
        "too late by",
        "within 10 min",
        "within x2",
    ]
    rows: list[list[str | float]] = [
        [
            name,
            f"{one.estimates:,}",
            one.median_error,
            f"{'-' if one.bias < 0 else ''}{duration(abs(one.bias))}",
            f"{one.within_10_min:.0%}",
            f"{one.within_factor_2:.0%}",
        ]
        for name, one in scores.items()
    ]
    return table(list(header), in_columns(rows))
