"""Scores for many tuples of a workload: drawn, tried in parallel, kept as they come, and continued."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.learn.scores import ScoreTable, read_scores
from schedlab.learn.trials import Scores, Trials, check_jobs, score_tuple
from schedlab.schedule.provenance import versions
from schedlab.workload.workload import Workload

SECONDS_BETWEEN_SAVES = 10

NO_PART_OF_THE_RECIPE = ("versions", "tuples")
"""What may differ between the scores in a file and those that continue them."""


class Stretch(NamedTuple):
    """Where the jobs of a tuple begin in the workload, and the seed of its trials."""

    start: int
    seed: int


@explained
def usable_jobs(workload: Workload, settings: Trials, processors: int) -> Workload:
    """Return the jobs that tuples are made of: by submission, without those that never ran, as in SC'17.

    Raises
    ------
    InputError
        If a job is wider than the machine, or if there are too few for a tuple.
    """
    jobs = workload.sorted_by_submit()
    jobs = jobs[(jobs.run_time > 0) & (jobs.job_processors > 0)]
    needed = settings.state + settings.queue
    if len(jobs) < needed:
        raise InputError(
            f"{workload.name}: a tuple of {settings.state} + {settings.queue} jobs needs {needed}, but the log has "
            f"{len(jobs)} that ran; take a longer log, or a smaller state or queue"
        )
    check_jobs(jobs, processors)
    return jobs


@explained
def draw_tuples(jobs: Workload, count: int, settings: Trials, *, seed: int) -> list[Stretch]:
    """Draw tuples from a workload: stretches that begin anywhere, each with equal probability.

    Parameters
    ----------
    jobs
        See `usable_jobs`.
    count
        How many. The first of many are the same as if there were fewer.
    settings
        Of the trials.
    seed
        Of the draws; each tuple has random numbers of its own.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=range(90), run_time=[9] * 90, requested_processors=[1] * 90))
    >>> [tuple.start for tuple in draw_tuples(jobs, 4, Trials(), seed=1)]
    [20, 22, 27, 19]
    """
    generators = (np.random.default_rng([seed, number]) for number in range(count))
    last = len(jobs) - settings.state - settings.queue
    return [Stretch(int(rng.integers(last + 1)), int(rng.integers(2**63))) for rng in generators]


def tuples_of(table: ScoreTable, jobs: Workload, settings: Trials, *, seed: int) -> list[Stretch]:
    """Find the tuples of a table of scores in the workload that they were drawn from.

    Raises
    ------
    InputError
        If the jobs of a tuple do not follow each other in the workload like that.
    """
    size, state = settings.queue, settings.state
    sizes = np.unique(np.unique(table.group, return_counts=True)[1])
    if sizes.tolist() != [size]:
        raise InputError(f"the tuples of these scores have {sizes[-1]} jobs in Q, not {size}: give queue={sizes[-1]}")
    known = np.lib.stride_tricks.sliding_window_view(np.stack([jobs.run_time, jobs.job_processors]), size, axis=1)
    found = []
    for number, group in enumerate(np.unique(table.group)):
        rows = table.group == group
        wanted = np.stack([table.run_time[rows], table.processors[rows]])
        starts = np.flatnonzero((known[:, state:] == wanted[:, None, :]).all(axis=(0, 2)))
        same = [at for at in starts if np.array_equal(_submits(jobs, int(at), settings), table.submit_time[rows])]
        if not same:
            raise InputError(f"{jobs.name}: the workload lacks the {size} jobs of tuple {group} after {state} others")
        rng = np.random.default_rng([seed, number])
        found.append(Stretch(int(same[0]), int(rng.integers(2**63))))
    return found


def _submits(jobs: Workload, start: int, settings: Trials) -> Any:
    """Return when the jobs in Q of a tuple were submitted, counted from the first of S."""
    submit = jobs.submit_time[start : start + settings.state + settings.queue]
    return (submit - submit[0])[settings.state :]


@explained
def collect_scores(
    jobs: Workload,
    tuples: Sequence[Stretch],
    settings: Trials,
    *,
    processors: int,
    provenance: Mapping[str, Any],
    path: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ScoreTable:
    """Make the trials of many tuples.

    Parameters
    ----------
    jobs
        See `usable_jobs`.
    tuples
        Where they are, see `draw_tuples` and `tuples_of`.
    settings
        How trials are made.
    processors
        Size of the machine.
    provenance
        Where the jobs come from and how the tuples were chosen; the table also says how the trials were made.
    path
        A Parquet file that receives the scores, every few seconds and when the work ends, however it ends. If it is
        there already, the tuples that it has are not tried again.
    executor
        What runs the tuples, as in `concurrent.futures`; threads will do, for kernels run side by side. None runs them
        one after the other.
    progress
        Called with the number of tuples done and of all.

    Returns
    -------
    ScoreTable
        The same for any executor.

    Raises
    ------
    InputError
        If a tuple cannot be tried, or the file holds scores made with other settings.

    Examples
    --------
    >>> jobs = Workload.from_columns(
    ...     dict(submit_time=range(50), run_time=[90] * 50, requested_processors=[1] * 50), processors=2)
    >>> chosen = Trials(trials=200)
    >>> collect_scores(jobs, draw_tuples(jobs, 2, chosen, seed=1), chosen, processors=2, provenance={"seed": 1})
    <ScoreTable: 64 scores of 2 tuples>
    """
    recipe = {**provenance, "processors": processors, "trials": settings.to_dict(), "versions": versions()}
    done = _known(path, recipe, settings, tuples, jobs)
    if len(done) == len(tuples):
        return _table(jobs, tuples, settings, done, recipe)
    rest = range(len(done), len(tuples))
    saved = time.monotonic()
    try:
        for scores in _results(jobs, [tuples[number] for number in rest], settings, processors, executor):
            done.append(scores)
            if progress is not None:
                progress(len(done), len(tuples))
            if path is not None and time.monotonic() - saved > SECONDS_BETWEEN_SAVES:
                _table(jobs, tuples, settings, done, recipe).save(path)
                saved = time.monotonic()
    finally:
        if done and path is not None:
            _table(jobs, tuples, settings, done, recipe).save(path)
    return _table(jobs, tuples, settings, done, recipe)


def _results(
    jobs: Workload, tuples: Sequence[Stretch], settings: Trials, processors: int, executor: Executor | None
) -> Iterator[Scores]:
    """Yield the scores of tuples, in their order."""
    size = settings.state + settings.queue
    parts = [jobs[start : start + size] for start, _ in tuples]
    if executor is None:
        for part, (_, seed) in zip(parts, tuples, strict=True):
            yield score_tuple(part, settings, processors=processors, seed=seed)
        return
    futures = [
        executor.submit(score_tuple, part, settings, processors=processors, seed=seed)
        for part, (_, seed) in zip(parts, tuples, strict=True)
    ]
    try:
        for future in futures:
            yield future.result()
    finally:
        for future in futures:
            future.cancel()


def _known(
    path: str | os.PathLike[str] | None,
    recipe: Mapping[str, Any],
    settings: Trials,
    tuples: Sequence[Stretch],
    jobs: Workload,
) -> list[Scores]:
    """Return the scores that a file has already, of as many tuples from the first on."""
    if path is None or not Path(path).exists():
        return []
    table = read_scores(path)
    theirs, ours = (
        {name: value for name, value in facts.items() if name not in NO_PART_OF_THE_RECIPE}
        for facts in (table.provenance, recipe)
    )
    if theirs != ours:
        differing = sorted(name for name in theirs.keys() | ours.keys() if theirs.get(name) != ours.get(name))
        raise InputError(
            f"{path} holds scores made with other settings ({', '.join(differing)} differ): remove it or choose "
            "another name"
        )
    size = settings.queue
    count = min(len(table) // size, len(tuples))
    rows = [slice(number * size, (number + 1) * size) for number in range(count)]
    return [Scores(table.score[row], table.standard_error[row], int(table.trials[row][0])) for row in rows]


def _table(
    jobs: Workload, tuples: Iterable[Stretch], settings: Trials, done: Sequence[Scores], recipe: Mapping[str, Any]
) -> ScoreTable:
    """Return the scores of the first tuples as a table."""
    size, state = settings.queue, settings.state
    starts = [start for start, _ in tuples][: len(done)]
    rows = np.concatenate([np.arange(start + state, start + state + size) for start in starts])
    return ScoreTable(
        run_time=jobs.run_time[rows],
        processors=jobs.job_processors[rows],
        submit_time=np.concatenate([_submits(jobs, start, settings) for start in starts]),
        score=np.concatenate([scores.score for scores in done]),
        standard_error=np.concatenate([scores.standard_error for scores in done]),
        trials=np.repeat([scores.trials for scores in done], size),
        group=np.repeat(np.arange(len(done)), size),
        provenance={**recipe, "tuples": len(done)},
    )
