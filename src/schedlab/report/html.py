"""The report of a campaign: one HTML file that needs nothing else, for a mail attachment, a phone or paper."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.campaign.results.ranking import RankedScheduler, SchedulerRanking, ranking
from schedlab.campaign.results.statistics import METRIC, by_instance, interval_text, quantity, signed
from schedlab.campaign.results.trade_offs import Price
from schedlab.naming import split_name
from schedlab.report.answer import answer
from schedlab.report.campaigns import metric_label
from schedlab.report.grid import grid
from schedlab.report.groups import groupings, user_names
from schedlab.report.illustrations import answer_figures, class_figures, distribution_figures, example_figures
from schedlab.report.page import Page, write_page
from schedlab.report.tables import Table, own_values, who_pays, who_pays_by
from schedlab.schedule.recorded import AS_RECORDED
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.window import started_by_all
from schedlab.scheduler.predictor import is_clairvoyant
from schedlab.wording import count_of

if TYPE_CHECKING:
    import pandas as pd

PAYING = ("partition", "account", "qos", "queue")
"""Groups of jobs that have a table of who pays; the view has one for users too."""

MOST_FAILURES = 50
"""Failures that the report shows in full; of more, it says how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a report is made of.

    Parameters
    ----------
    name, description
        Of the campaign.
    frame
        The results frame: one row per finished task.
    baseline
        Text of the scheduler that the others are compared with.
    metric
        The metric that decides.
    command
        The exact shell command that reproduces these results.
    definition
        Text of the campaign file, or nothing.
    planned
        Number of tasks that the campaign has; by default, as many as there are results.
    failures
        Tasks that failed, with the keys `task`, `workload`, `scheduler`, `reason` and `command` (to run it alone).
    caveat
        A sentence on what limits the answer, such as blocks of one simulation that are no independent instances.
    provenance
        Versions and whatever else is needed to reproduce the results, by name.
    inputs
        Workloads, with the keys `workload`, `source`, `sha256`, `jobs` and `processors`.
    example, example_name
        Schedules of one instance by scheduler text, to look into, and what the instance is called.
    run
        Path of the run directory of a campaign, for commands that show single runs.
    running
        Of a campaign that still runs: a sentence on how far it is. The page then loads itself again, has no figures,
        which take seconds to draw, and may have no results yet.
    prices
        Of one comparison: what each scheduler asks of wide jobs, users and those who wait longest.
    own
        Of one comparison: values of the user's own metrics, by their names, for each scheduler.
    changes
        Sentences on what was changed or left out in the log.
    blocks
        Of one comparison: "week" or "day", whichever its instances are.
    warm_up, cool_down
        Of one comparison: what its metrics leave out.
    whole
        Of one comparison: the metric over all jobs that count, by scheduler, as the table in the terminal has it.
    """

    name: str
    frame: pd.DataFrame
    baseline: str
    metric: str = METRIC
    description: str = ""
    command: str = ""
    definition: str = ""
    planned: int | None = None
    failures: Sequence[Mapping[str, str]] = ()
    caveat: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    inputs: Sequence[Mapping[str, Any]] = ()
    example: Mapping[str, Schedule] = field(default_factory=dict)
    example_name: str = ""
    run: str = ""
    running: str = ""
    prices: Sequence[Price] = ()
    own: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    changes: Sequence[str] = ()
    blocks: str = ""
    warm_up: float = 0
    cool_down: float = 0
    whole: Mapping[str, float] = field(default_factory=dict)


def write_report(evidence: Evidence, path: str | PathLike[str]) -> Path:
    """Write the report of a campaign as one self-contained HTML file, and return where it is.

    Parameters
    ----------
    evidence
        The results and all that is known about them.
    path
        The file; an existing one is replaced.

    Raises
    ------
    InputError
        If there are no results, or none of the metric or the baseline.
    OutputError
        If the file cannot be written; that its directory is missing is found before the work begins.
    """
    return write_page(path, lambda: render(evidence))


def render(evidence: Evidence) -> str:
    """Return the report as HTML."""
    page = Page(running=bool(evidence.running))
    frame, metric = evidence.frame, evidence.metric
    if evidence.running and frame.empty:
        page.carry("campaign", {"running": True, "rows": []})
        return page.render("waiting.html.j2", title=evidence.name, evidence=evidence)
    result = _ranking(evidence)
    schedulers = [row.scheduler for row in result.of()]
    campaign = grid(frame, metric, schedulers, evidence.baseline, run=shlex.quote(evidence.run), running=page.running)
    if campaign is not None or page.running:
        # Too many runs for a grid: the page still follows.
        page.carry("campaign", campaign or {"running": True, "rows": []})
    if evidence.example:
        page.explore(evidence.example, baseline=evidence.baseline)
    drawn = not evidence.running
    return page.render(
        "report.html.j2",
        title=evidence.name,
        evidence=evidence,
        campaign=campaign,
        metric=metric_label(metric),
        percent=f"{100 * result.level:g}%",
        asked=_asked(evidence, schedulers),
        sentences=_sentences(evidence, result),
        tables=[(name, _rows(result, name)) for name in result.workloads()],
        answers=answer_figures(result) if drawn else [],
        distributions=distribution_figures(frame, metric, schedulers) if drawn else [],
        classes=class_figures(frame, schedulers) if drawn else {},
        paid=_paid(evidence),
        own=own_values(evidence.own) if evidence.own else None,
        example=example_figures(evidence.example, schedulers, evidence.baseline),
        failures=evidence.failures[:MOST_FAILURES],
    )


def answer_of(evidence: Evidence) -> list[str]:
    """Return the answer of the page as sentences."""
    return _sentences(evidence, _ranking(evidence))


def _ranking(evidence: Evidence) -> SchedulerRanking:
    return ranking(evidence.frame, evidence.baseline, evidence.metric, whole=evidence.whole)


def _sentences(evidence: Evidence, result: SchedulerRanking) -> list[str]:
    return [
        *filter(None, [evidence.running]),
        *answer(result, evidence.frame, instance=evidence.blocks or "pair", prices=evidence.prices),
        *_completeness(evidence),
        *filter(None, [evidence.caveat]),
    ]


def _asked(evidence: Evidence, schedulers: Sequence[str]) -> list[tuple[str, str]]:
    """Return what was asked, as terms and their explanations."""
    values, workloads = by_instance(evidence.frame, evidence.metric)
    names = sorted(set(workloads.tolist()))
    return [
        ("Workloads", ", ".join(names)),
        ("Instances", _instances(len(values), evidence.blocks)),
        ("Schedulers", ", ".join(_meaning(name, evidence.example) for name in schedulers)),
        ("Baseline", evidence.baseline),
        ("Metric", metric_label(evidence.metric)),
    ]


def _meaning(name: str, example: Mapping[str, Schedule]) -> str:
    """Return a scheduler with what its name stands for, if it has one and that is known."""
    text = split_name(example[name].scheduler)[1] if name in example else name
    return name if name in (text, AS_RECORDED) else f"{name} ({text})"


def _instances(number: int, blocks: str) -> str:
    if blocks:
        return f"{count_of(number, blocks)} of submissions, the same under every scheduler"
    return f"{number:,}: windows, repetitions and loads that every scheduler sees alike"


def _paid(evidence: Evidence) -> list[Table]:
    """Return the tables of who pays, in all and by group of jobs, if it is known."""
    if not evidence.prices:
        return []
    first = evidence.example[evidence.baseline]
    window = started_by_all(evidence.example.values(), first, warm_up=evidence.warm_up, cool_down=evidence.cool_down)
    rows = window.rows
    found = groupings(first.workload)
    groups = [found[key] for key in PAYING if key in found and len(np.unique(found[key].codes[rows])) > 1]
    return [
        who_pays(evidence.prices, evidence.baseline, user_names(first.workload)),
        *(who_pays_by(group, evidence.example, evidence.baseline, rows) for group in groups),
    ]


def _completeness(evidence: Evidence) -> list[str]:
    """Say how many tasks are missing, if any are."""
    done = len(evidence.frame)
    planned = done if evidence.planned is None else evidence.planned
    if evidence.running or (done >= planned and not evidence.failures):
        return []
    failed = f"{count_of(len(evidence.failures), 'task')} failed" if evidence.failures else "none has failed"
    return [
        f"{done:,} of {count_of(planned, 'task')} have a result, {failed}; an instance without both results is left "
        "out of a comparison."
    ]


def _rows(result: SchedulerRanking, workload: str) -> list[dict[str, str]]:
    """Return the rows of a table as texts, durations in one unit."""
    rows = result.of(workload)
    return [_cells(result, row, [one.mean for one in rows]) for row in rows]


def _cells(result: SchedulerRanking, row: RankedScheduler, means: Sequence[float]) -> dict[str, str]:
    """Return the row of a scheduler in the table as texts; means decide the unit of durations."""
    metric, pair = result.metric, row.paired
    cells = {
        "scheduler": row.scheduler,
        "clairvoyant": "clairvoyant" if is_clairvoyant(row.scheduler) else "",
        "whole": quantity(metric, result.whole[row.scheduler], means) if result.whole else "",
        "instances": f"{row.instances:,}",
        "median": quantity(metric, row.median, means),
        "mean": quantity(metric, row.mean, means),
        "geometric_mean": "–" if row.geometric_mean is None else quantity(metric, row.geometric_mean, means),
    }
    if pair is None:
        return (
            cells
            | dict.fromkeys(("ratio", "ratio_interval", "difference", "difference_interval", "wins"), "")
            | {"verdict": "baseline"}
        )
    return cells | {
        "ratio": "–" if pair.ratio is None else f"{pair.ratio:.3f}",
        "ratio_interval": interval_text(pair.ratio_interval) if pair.ratio_interval else "",
        "difference": signed(metric, pair.difference, means),
        "difference_interval": (
            interval_text(pair.difference_interval, metric, means) if pair.difference_interval else ""
        ),
        "wins": f"{pair.wins:,} of {pair.pairs:,}" + (f", {pair.ties:,} equal" if pair.ties else ""),
        "verdict": pair.verdict,
    }
