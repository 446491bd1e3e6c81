"""The tables of chapter 4 of the thesis made of our samples: what is printed, and what its figures show."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedlab.durations import DAY
from schedlab.metrics import SLOWDOWN_CLASSES
from schedlab.text import table
from schedlab_papers.reproduction import Reproduction, Row
from schedlab_papers.thesis4_logs import FCFS, POLICIES, Thesis4Log
from schedlab_papers.thesis4_samples import MEASURES, WORST, Sample, kept_mean

THESIS = "Thesis (Carastan-Santos)"
NO_THRESHOLD, LOG_ITSELF = "no threshold", "log itself"

ByPolicy = Mapping[str, Sequence[Sample]]

SAMPLES_DIFFER = (
    "Neither the thesis' program nor its samples are public, so that ours can only be other samples of the same kind: "
    "as long as the log, drawn from all weeks of it for each user, with and without jobs, which keeps the load."
)
CLEANED = "Jobs that never ran are left out here."
NO_SITE_LIMIT = (
    "Three times the largest request in the log: the thesis does not say how long a request each site allowed. On "
    "HPC2N, where one job asked for 100 days, no job ever waits so long."
)
PREMATURE_DIFFERS = (
    "The printed shares do not follow from the definition, a request of at least 100 times the run time, whichever "
    "jobs are counted."
)
SPANS = (
    "If weeks were drawn only between a user's first and last, three of the five shares would fit. But users would "
    "then all be there all the time and the machines overloaded: such samples cannot be those of the figures."
)
PREMATURE_WAIT_MORE = (
    "Policies that go by the request let those wait who ask for much, whatever they run. Here the ratio under SPF and "
    "SAF is 1.5 to 6.5 times that under FCFS, in the thesis 0.5 to 2.1 times."
)
SPF_OR_SAF = "Section 4.3.1 says this of SPF, section 4.4 of SAF."
AT_ONCE = (
    "A job counts whose bounded slowdown is 1. It is not said whether the 9 % are of the jobs that start at once under "
    "FCFS, or of all jobs."
)
PROPOSITION = (
    "Proposition 1 says that SQF without a threshold backfills no job. With it, jobs overtake one that has waited too "
    "long and does not fit yet. The thesis has found no such job in any sample; where the threshold is reached at all, "
    "here, there are thousands."
)
NEARER_WITHOUT = (
    "The thesis' number is nearer to ours without the threshold: in its samples fewer jobs must have reached it."
)


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """A log and what came of its samples.

    Parameters
    ----------
    log
        The log.
    threshold
        Seconds after which a job goes before all others.
    jobs, load
        Of the log itself, cleaned.
    premature, premature_in_spans
        Share of premature jobs in the log itself, and as `schedlab_papers.thesis4_samples.premature_in_spans` says.
    limited, unlimited
        The samples by policy, with and without the threshold. FCFS is the same in both.
    """

    log: Thesis4Log
    threshold: int
    jobs: int
    load: float
    premature: float
    premature_in_spans: float
    limited: ByPolicy
    unlimited: ByPolicy

    def arms(self) -> Iterable[tuple[str, Sequence[Sample], Sequence[Sample]]]:
        """Yield each policy, under which name, its samples and those of FCFS."""
        for policy in POLICIES:
            yield policy, self.limited[policy], self.limited[FCFS]
        for policy in POLICIES[1:]:
            yield f"{policy}, {NO_THRESHOLD}", self.unlimited[policy], self.unlimited[FCFS]


@dataclass(frozen=True, slots=True)
class Listing:
    """A table of numbers of which the thesis prints none.

    Parameters
    ----------
    title
        What it shows.
    columns
        Name and format of each, the format of a text being "s".
    rows
        One value per column.
    """

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str | float, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as dictionaries."""
        names = [name for name, _ in self.columns]
        return {"title": self.title, "rows": [dict(zip(names, row, strict=True)) for row in self.rows]}

    def __str__(self) -> str:
        forms = [form for _, form in self.columns]
        cells = [[format(value, form) for value, form in zip(row, forms, strict=True)] for row in self.rows]
        return f"{self.title}\n\n{table([name for name, _ in self.columns], cells)}"


def logs_table(experiments: Sequence[Experiment]) -> Reproduction:
    """Return Table 4.2: the logs, and what the samples drawn from them have on average."""
    rows = []
    for item in experiments:
        samples = item.limited[FCFS]
        jobs = round(statistics.fmean(sample.jobs for sample in samples))
        load = 100 * statistics.fmean(sample.load for sample in samples)
        name, days = item.log.name, item.threshold / DAY
        rows.append(Row(name, "jobs", item.log.jobs, None, jobs, item.jobs, (SAMPLES_DIFFER, CLEANED)))
        rows.append(Row(name, "load, %", item.log.utilisation, None, load, 100 * item.load))
        rows.append(Row(name, "threshold, days", None, None, days, days, (NO_SITE_LIMIT,)))
    return Reproduction(f"{THESIS}, Table 4.2: the logs and their samples", LOG_ITSELF, tuple(rows))


def objectives_table(experiments: Sequence[Experiment]) -> Listing:
    """Return where the lines of Figure 4.1 end: means over all jobs, and by how much they differ from FCFS."""
    rows: list[tuple[str | float, ...]] = []
    for item in experiments:
        for name, samples, first in item.arms():
            means = [(kept_mean(samples, measure), kept_mean(first, measure)) for measure in MEASURES]
            numbers = [number for mean, other in means for number in (mean, 100 * (mean / other - 1))]
            rows.append((item.log.name, name, *numbers))
    columns: tuple[tuple[str, str], ...] = (("log", "s"), ("policy", "s"))
    for heading, form in (("bounded slowdown", ",.1f"), ("pp-bounded slowdown", ",.2f"), ("wait, s", ",.0f")):
        columns += ((heading, form), ("to FCFS, %", "+z.1f"))
    return Listing("Figure 4.1, end of the lines: means over the samples that are kept", columns, tuple(rows))


def details_table(experiments: Sequence[Experiment]) -> Listing:
    """Return what Figures 4.2 to 4.4 show: classes of slowdowns, backfilled jobs, the worst jobs."""
    rows: list[tuple[str | float, ...]] = []
    for item in experiments:
        for name, samples, _ in item.arms():
            shares = 100 * np.mean([sample.shares for sample in samples], axis=0)
            facts = [(100 * sample.at_once, 100 * sample.starved, sample.backfilled) for sample in samples]
            median = float(np.median(np.concatenate([sample.worst for sample in samples])))
            rows.append((item.log.name, name, *shares.tolist(), *np.mean(facts, axis=0).tolist(), median))
    columns: tuple[tuple[str, str], ...] = (("log", "s"), ("policy", "s"))
    columns += tuple((f"slowdown {label}", ".1f") for label in SLOWDOWN_CLASSES)
    columns += (("start at once", ".1f"), ("past threshold", ".2f"), ("backfilled jobs", ",.0f"))
    columns += (("worst jobs' processors", ".0f"),)
    title = f"Figures 4.2 to 4.4: jobs in %, backfilled jobs per sample, median processors of the {WORST} worst jobs"
    return Listing(title, columns, tuple(rows))


def premature_table(experiments: Sequence[Experiment]) -> Reproduction:
    """Return Table 4.3."""
    rows = []
    for item in experiments:
        name, published = item.log.name, item.log.premature
        ours = 100 * statistics.fmean(sample.premature for sample in item.limited[FCFS])
        rows.append(Row(name, "whole log", published, None, ours, 100 * item.premature, (PREMATURE_DIFFERS,)))
        rows.append(Row(name, "spans of users", published, None, 100 * item.premature_in_spans, None, (SPANS,)))
    return Reproduction(f"{THESIS}, Table 4.3: premature jobs in %", LOG_ITSELF, tuple(rows))


def ratios_table(experiments: Sequence[Experiment]) -> Reproduction:
    """Return Table 4.4."""
    rows = []
    for item in experiments:
        for policy in POLICIES:
            ours, other = (statistics.fmean(s.ratio for s in arm[policy]) for arm in (item.limited, item.unlimited))
            published = item.log.ratios[policy]
            rows.append(Row(item.log.name, policy, published, None, ours, other, (PREMATURE_WAIT_MORE,)))
    title = f"{THESIS}, Table 4.4: mean bounded slowdown of premature jobs over that of the others"
    return Reproduction(title, NO_THRESHOLD, tuple(rows))


def claims_table(experiments: Sequence[Experiment]) -> Reproduction:
    """Return what the text states, over all logs."""

    def row(what: str, policy: str, published: float, of: _Measured, over: _Over, *notes: str) -> Row:
        ours = over([of(item.limited[policy], item.limited[FCFS]) for item in experiments])
        other = over([of(item.unlimited[policy], item.unlimited[FCFS]) for item in experiments])
        return Row(what, policy, published, None, ours, other, notes)

    slowdown, per_processor, wait = (_below(measure) for measure in MEASURES)
    rows = (
        row("bounded slowdown below FCFS, %, at most", "SPF", 83.4, slowdown, max, SPF_OR_SAF),
        row("bounded slowdown below FCFS, %, at most", "SAF", 83.4, slowdown, max, SPF_OR_SAF),
        row("wait below FCFS, %, at most", "SAF", 61.4, wait, max),
        row("pp-bounded slowdown below FCFS, %, at most", "SAF", 85.1, per_processor, max),
        row("more jobs start at once, % of FCFS's, at most", "SAF", 9, _more_at_once, max, AT_ONCE),
        row("more jobs start at once, % of all, at most", "SAF", 9, _more_at_once_of_all, max, AT_ONCE),
        row("times fewer jobs with slowdown >= 100, at most", "SAF", 2.8, _fewer_bad, max),
        row("fewer backfilled jobs, %, mean over logs", "SAF", 78, _fewer_backfilled, statistics.fmean, NEARER_WITHOUT),
        row("fewer backfilled jobs, %, mean over logs", "SPF", 56, _fewer_backfilled, statistics.fmean, NEARER_WITHOUT),
        row("backfilled jobs in a sample, at most", "SQF", 0, _most_backfilled, max, PROPOSITION),
    )
    return Reproduction(f"{THESIS}, chapter 4: what the text states", NO_THRESHOLD, rows)


_Measured = Callable[[Sequence[Sample], Sequence[Sample]], float]
"""A number of the samples of a policy and of those of FCFS."""

_Over = Callable[[Sequence[float]], float]
"""What is made of the numbers of all logs."""


def _below(measure: str) -> _Measured:
    return lambda samples, first: 100 * (1 - kept_mean(samples, measure) / kept_mean(first, measure))


def _mean_share(samples: Sequence[Sample], position: int) -> float:
    return statistics.fmean(float(sample.shares[position]) for sample in samples)


def _more_at_once(samples: Sequence[Sample], first: Sequence[Sample]) -> float:
    return 100 * (_mean_share(samples, 0) / _mean_share(first, 0) - 1)


def _more_at_once_of_all(samples: Sequence[Sample], first: Sequence[Sample]) -> float:
    return 100 * (_mean_share(samples, 0) - _mean_share(first, 0))


def _fewer_bad(samples: Sequence[Sample], first: Sequence[Sample]) -> float:
    bad = _mean_share(samples, -1)
    return _mean_share(first, -1) / bad if bad else np.nan


def _fewer_backfilled(samples: Sequence[Sample], first: Sequence[Sample]) -> float:
    mine, theirs = (statistics.fmean(sample.backfilled for sample in part) for part in (samples, first))
    return 100 * (1 - mine / theirs) if theirs else np.nan


def _most_backfilled(samples: Sequence[Sample], _: Sequence[Sample]) -> float:
    return max(sample.backfilled for sample in samples)
