"""A policy on windows of logs that it was not trained on, beside the known policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.metrics import Metrics
from schedlab.campaign.results.statistics import (
    FEWEST_PAIRS,
    MIXED,
    Paired,
    by_instance,
    compare_columns,
    interval_text,
    quantity,
)
from schedlab.campaign.run.coordinator import Progress, run_campaign
from schedlab.campaign.sources.entry import Windows
from schedlab.campaign.sources.trace import TraceEntry
from schedlab.errors import InputError
from schedlab.learn.training import EASY, SHORTEST_LIMIT
from schedlab.scheduler.scheduler import Scheduler
from schedlab.wording import count_of, table
from schedlab.workload.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    import pandas as pd

RIVALS = ("fcfs", "spf", "saf", "f1", "f2", "f3", "f4", "wfp3", "unicef")
LEVEL, RESAMPLES, SEED = 0.95, 5_000, 0
"""Of the bootstrap intervals."""


@dataclass(frozen=True, slots=True)
class HoldoutLog:
    """A log to be examined on: some of its windows.

    Parameters
    ----------
    path
        The file.
    name
        How tables call it.
    skip
        Numbers of the windows that are left out.
    """

    path: Path
    name: str
    skip: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class HoldoutScore:
    """What a scheduler is worth on held-out windows.

    Parameters
    ----------
    scheduler
        Its text.
    value
        Median of the metric over the windows.
    to_baseline, to_easy
        Ratios on the same windows, with intervals; None for the baseline, and EASY, itself.
    worst_log
        The log with the largest ratio to the baseline, geometric mean over its windows, and that ratio.
    worst_window
        The same of a single window.
    longest_wait
        The longest wait on a window over EASY's, or over an hour if EASY's is shorter; the largest over all windows.
    """

    scheduler: str
    value: float
    to_baseline: Paired | None
    to_easy: Paired | None
    worst_log: tuple[str, float]
    worst_window: float
    longest_wait: float


@dataclass(frozen=True, slots=True, repr=False)
class Holdout:
    """All scores, the best first by the ratio to the baseline.

    Parameters
    ----------
    metric, baseline
        What is compared, with what.
    found
        Text of the scheduler that is examined.
    windows
        How many there are of each log, without those left out.
    left_out
        Number of windows on which the baseline or EASY has a metric of 0, so that there is no ratio to it.
    scores
        One of each scheduler.
    """

    metric: str
    baseline: str
    found: str
    windows: dict[str, int]
    left_out: int
    scores: tuple[HoldoutScore, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and numbers."""
        return asdict(self)

    def __str__(self) -> str:
        logs = ", ".join(f"{count_of(number, 'window')} of {name}" for name, number in self.windows.items())
        percent = f"{100 * LEVEL:g} %"
        header = [
            "scheduler",
            "median",
            f"ratio to {self.baseline}",
            f"{percent} interval",
            "better in",
            "worst window",
        ]
        header += ["worst log", f"ratio to {EASY}", f"{percent} interval", f"longest wait to {EASY}"]
        text = f"{self.metric} on {logs}\n\n{table(header, [self._cells(score) for score in self.scores])}"
        remarks = "\n".join([*self._answer(), *self._remarks()])
        return f"{text}\n\n{remarks}" if remarks else text

    def _answer(self) -> Iterator[str]:
        """Say whether the policy that was found beats the baseline, and which known ones are better than it."""
        pair = next(score.to_baseline for score in self.scores if score.scheduler == self.found)
        if pair is None or pair.ratio is None:
            return
        if pair.ratio_interval is None:
            yield f"The policy that was found has {pair.ratio:.3f} times the {self.metric} of {self.baseline} there."
        else:
            low, high = pair.ratio_interval
            than = {"better": "better than", "worse": "worse than", MIXED: "neither surely better nor worse than"}
            verdict = than.get(pair.verdict, "not shown to be better than")
            how = f"ratio {pair.ratio:.3f}, {100 * LEVEL:g} % interval {low:.3f} to {high:.3f}"
            yield f"The policy that was found is {verdict} {self.baseline} on these windows ({how})."
            if pair.verdict == MIXED:
                means = [quantity(self.metric, value) for value in (pair.mean, pair.baseline_mean)]
                yield f"In the mean of the windows the order is the other way: {means[0]} instead of {means[1]}."
        if before := [text for score in self.scores if (text := _if_below(score, pair.ratio))]:
            yield f"Known ones have a smaller ratio there: {', '.join(before)}."

    def _remarks(self) -> Iterator[str]:
        """Say why something is missing in the table."""
        if self.left_out:
            yield f"Left out: {count_of(self.left_out, 'window')} on which {_no_ratio(self.metric, self.baseline)}."
        if (total := sum(self.windows.values())) < FEWEST_PAIRS:
            yield f"No intervals: {count_of(total, 'window')}, and an interval needs {FEWEST_PAIRS}."
        pairs = [pair for score in self.scores for pair in (score.to_baseline, score.to_easy) if pair is not None]
        if any(pair.ratio is None for pair in pairs):
            yield f"No ratio (-) of a scheduler whose own {self.metric} is 0 on a window."

    def _cells(self, score: HoldoutScore) -> list[str]:
        cells = ["found" if score.scheduler == self.found else score.scheduler, quantity(self.metric, score.value)]
        cells += _ratio_cells(score.to_baseline)
        cells.append("" if score.to_baseline is None else f"{score.to_baseline.wins} of {score.to_baseline.pairs}")
        cells += [f"{score.worst_window:.2f}", f"{score.worst_log[1]:.2f}"]
        return [*cells, *_ratio_cells(score.to_easy), f"{score.longest_wait:.1f}"]


def _if_below(score: HoldoutScore, ratio: float) -> str:
    """Return a scheduler with its ratio to the baseline if that is below another one; "" if not."""
    own = 1.0 if score.to_baseline is None else score.to_baseline.ratio
    return f"{score.scheduler} ({own:.3f})" if own is not None and own < ratio else ""


def _no_ratio(metric: str, baseline: str) -> str:
    return f"{metric} of {' or '.join(dict.fromkeys((baseline, EASY)))} is 0"


def _ratio_cells(pair: Paired | None) -> list[str]:
    if pair is None:
        return ["1", ""]
    return ["-" if pair.ratio is None else f"{pair.ratio:.3f}", interval_text(pair.ratio_interval)]


def examine(
    formula: str,
    logs: Sequence[HoldoutLog],
    directory: Path,
    *,
    rest: str = "+easy",
    baseline: str = "saf+easy",
    metric: str = "mean_bounded_slowdown",
    length: float,
    state: int,
    clean: str = "default",
    reading: Reading = AS_IT_IS,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Holdout:
    """Run a campaign of a policy and its rivals on windows of logs, and compare them window by window.

    Parameters
    ----------
    formula
        The policy.
    logs
        What it has not seen.
    directory
        Run directory of the campaign.
    rest
        What follows all policies in the scheduler texts.
    baseline
        Scheduler text.
    metric
        What is compared; less is better.
    length, state
        Of the windows, see `schedlab.workload.sampling.windows`.
    clean
        Rules of cleaning.
    reading
        How the logs are read.
    workers, progress
        As for `run_campaign`.

    Raises
    ------
    InputError
        If a simulation fails, and as `run_campaign` and `holdout_scores`.
    """
    found, against = Scheduler.parse(f'"{formula}"{rest}').text, Scheduler.parse(baseline).text
    entries = tuple(
        TraceEntry(
            trace=(str(log.path.absolute()),),
            name=log.name,
            clean=clean,
            **asdict(reading),
            windows=Windows(length=length, count="all", state=state, skip=log.skip),
        )
        for log in logs
    )
    campaign = Campaign(
        name="holdout",
        description=f"What a policy that was searched for is worth where it was not trained: {found}",
        workloads=entries,
        schedulers=(found, against, EASY, *(policy + rest for policy in RIVALS)),
        baseline=against,
        metrics=Metrics(main=metric),
    )
    run = run_campaign(campaign, directory, workers=workers, progress=progress)
    failures = run.failures()
    if failures:
        raise InputError(f"the test of the policy failed: {next(iter(failures.values())).reason}")
    return holdout_scores(run.results(), found, against, metric)


def holdout_scores(frame: pd.DataFrame, found: str, baseline: str, metric: str) -> Holdout:
    """Return the scores that the results of a campaign give.

    Parameters
    ----------
    frame
        A results frame, see `schedlab.campaign.run.directory.RunDirectory.results`.
    found, baseline
        Texts of the scheduler that is examined, and of that which all are compared with.
    metric
        A column of the frame.

    Raises
    ------
    InputError
        If no window is left.

    Notes
    -----
    Windows on which the metric of the baseline or of EASY is 0 have no ratio to it and are left out, of all schedulers.
    """
    values, workloads = by_instance(frame, metric)
    waits, _ = by_instance(frame, "max_wait")
    kept = (values[[baseline, EASY]] > 0).all(axis=1).to_numpy()
    if not kept.any():
        raise InputError(
            f"the policy cannot be tested: {_no_ratio(metric, baseline)} on all windows of the test: use a "
            "busier log or another metric"
        )
    values, waits, workloads = values[kept], waits[kept], workloads[kept]
    patience = np.maximum(waits[EASY], SHORTEST_LIMIT)
    logs, counts = np.unique(workloads, return_counts=True)

    def against(scheduler: str, other: str) -> Paired | None:
        if scheduler == other:
            return None
        return compare_columns(values, workloads, metric, scheduler, other, LEVEL, RESAMPLES, SEED)

    def score(scheduler: str) -> HoldoutScore:
        ratios = (values[scheduler] / values[baseline]).to_numpy()
        with np.errstate(divide="ignore"):  # a ratio may be 0
            by_log = {log: float(np.exp(np.nanmean(np.log(ratios[workloads == log])))) for log in logs}
        worst = max(by_log, key=lambda log: by_log[log])
        return HoldoutScore(
            scheduler=scheduler,
            value=float(values[scheduler].median()),
            to_baseline=against(scheduler, baseline),
            to_easy=against(scheduler, EASY),
            worst_log=(str(worst), by_log[worst]),
            worst_window=float(np.nanmax(ratios)),
            longest_wait=float((waits[scheduler] / patience).max()),
        )

    scores = [score(scheduler) for scheduler in values.columns]
    windows = {str(log): int(count) for log, count in zip(logs, counts, strict=True)}
    left_out = int(np.count_nonzero(~kept))
    return Holdout(metric, baseline, found, windows, left_out, tuple(sorted(scores, key=_place)))


def _place(score: HoldoutScore) -> float:
    return 1.0 if score.to_baseline is None else score.to_baseline.ratio or np.inf
