"""Compare schedulers on one workload."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedlab.arguments import explained
from schedlab.campaign.results import latex
from schedlab.campaign.results.statistics import quantity
from schedlab.campaign.results.trade_offs import Price, prices
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.display import MOST_JOBS, html_table, rich_display
from schedlab.engine.prepared import Events
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.naming import distinct_labels, split_name
from schedlab.schedule.metrics import schedule_metrics
from schedlab.schedule.own_metrics import Measure, as_metrics, own_metrics
from schedlab.schedule.recorded import AS_RECORDED, recorded_waits
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import durations
from schedlab.schedule.window import started_by_all
from schedlab.scheduler.predictor import CLAIRVOYANT, is_clairvoyant
from schedlab.scheduler.scheduler import Scheduler, as_schedulers
from schedlab.wording import count_of, did_you_mean, table
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

STATISTICS = ("mean", "median", "p95", "max")

IN_PAPERS = ("mean_wait", "max_wait", "mean_bounded_slowdown", "utilisation")
"""Metrics of a table in LaTeX, unless others are named."""

MARK = "*"
"""Beside schedulers that no cluster can run."""


@explained
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """The schedules of one workload under several schedulers, and what they are worth.

    Parameters
    ----------
    schedules
        By the name of the scheduler or, if it has none, its text, in the order asked for.
    metrics
        All metrics of each, see `Schedule.metrics`.
    recorded
        The jobs as they waited in the log, as far as it says; None if it does not.
    recorded_metrics
        Theirs.
    warm_up, cool_down
        What the metrics leave out.
    own
        Names of the metrics that are the user's own.
    """

    schedules: dict[str, Schedule]
    metrics: dict[str, dict[str, float]]
    recorded: Schedule | None = None
    recorded_metrics: dict[str, float] | None = None
    warm_up: float = 0
    cool_down: float = 0
    own: tuple[str, ...] = ()

    def __getitem__(self, scheduler: str | Scheduler) -> Schedule:
        """Return the schedule of a scheduler, by its name, its text as it was given or any other that means the same.

        Raises
        ------
        KeyError
            If it was not compared.
        """
        scheduler = str(scheduler)
        if scheduler in self.schedules:
            return self.schedules[scheduler]
        if scheduler == AS_RECORDED and self.recorded is not None:
            return self.recorded
        try:
            wanted = Scheduler.parse(scheduler).text
        except InputError:
            wanted = scheduler
        for schedule in self.schedules.values():
            if wanted in (schedule.scheduler, split_name(schedule.scheduler)[1]):
                return schedule
        near = did_you_mean(scheduler, self.schedules)
        raise KeyError(f"{scheduler!r} was not compared{near}; the schedulers compared are {', '.join(self.schedules)}")

    def __iter__(self) -> Iterator[str]:
        """Yield the names or texts of the schedulers."""
        return iter(self.schedules)

    def __len__(self) -> int:
        return len(self.schedules)

    def to_frame(self, *, recorded: bool = False) -> pd.DataFrame:
        """Return all metrics, one row per scheduler and, if asked for and known, one for what the log has recorded."""
        import pandas as pd

        rows = self.metrics
        if recorded and self.recorded_metrics is not None:
            rows = rows | {AS_RECORDED: self.recorded_metrics}
        frame = pd.DataFrame.from_dict(rows, orient="index")
        frame.index.name = "scheduler"
        return frame

    def to_latex(self, metrics: Sequence[str] = IN_PAPERS, *, caption: str = "", label: str = "") -> str:
        r"""Return a table for a paper, with `\usepackage{booktabs}`: one unit in each column, the best value in bold.

        Schedulers that know run times in advance are marked, and never the best. Intervals belong to campaigns, which
        have several instances: see `schedlab.statistics.ranking`.

        Parameters
        ----------
        metrics
            Names, as in `to_frame`.
        caption, label
            With one of them, the table is a float.

        Raises
        ------
        InputError
            If a metric is unknown.
        """
        rows = list(self.metrics.values())
        real = [not is_clairvoyant(name) for name in self.metrics]
        marks = ["" if one else r"$^{*}$" for one in real]
        names = [f"{latex.escaped(name)}{mark}" for name, mark in zip(self.metrics, marks, strict=True)]
        columns = [latex.Column("Scheduler", names, "l")]
        for metric in latex.checked_metrics(metrics, rows[0]):
            columns.append(latex.of_metric(metric, [row.get(metric, math.nan) for row in rows], real))
        notes = [] if all(real) else [rf"$^{{*}}$ {latex.escaped(CLAIRVOYANT)}"]
        return latex.with_caption(latex.tabular(columns), caption, label, notes)

    def __str__(self) -> str:
        notes = self._notes()
        return "\n".join([table(*self._rows()), *(["", *notes] if notes else [])])

    def _notes(self) -> list[str]:
        """Return what names stand for, and what a mark means."""
        parts = {label: split_name(schedule.scheduler) for label, schedule in self.schedules.items()}
        named = [f"{label}: {text}" for label, (name, text) in parts.items() if name is not None]
        if any("cancelled_jobs" in metrics for metrics in self.metrics.values()):
            jobs = count_of(int(next(iter(self.metrics.values()))["jobs"]), "job")
            named.append(
                f"waits and slowdowns are of the {jobs} that start under all; others are cancelled while they wait"
            )
        return named + ([f"{MARK} {CLAIRVOYANT}"] if any(map(is_clairvoyant, self.metrics)) else [])

    def who_pays(self, baseline: str | None = None) -> list[Price]:
        """Return what each scheduler asks of the jobs that wait longest, of wide jobs and of users.

        See `schedlab.campaign.results.trade_offs.prices`; what the log has recorded comes last.
        """
        shown = self.schedules if self.recorded is None else self.schedules | {AS_RECORDED: self.recorded}
        return prices(shown, baseline, warm_up=self.warm_up, cool_down=self.cool_down)

    def explore(self, *, baseline: str | None = None, unit: str = "processor") -> Any:
        """Return a widget for notebooks to look into the schedules, see `schedlab.report.notebook.explore`."""
        # Reports stand above campaigns: they are reached by the public name.
        import schedlab

        return schedlab.plot.explore(self, baseline=baseline, unit=unit)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return rich_display(self, self._jobs, str(self), page=html_table(*self._rows(), self._notes()))

    def _display_(self) -> Any:
        """What marimo shows."""
        return self.explore() if 0 < self._jobs <= MOST_JOBS else str(self)

    @property
    def _jobs(self) -> int:
        return sum(len(schedule) for schedule in self.schedules.values())

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.schedules)}>"

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        header = [
            "scheduler",
            *(f"wait {name}" for name in STATISTICS),
            *(f"bsld {name}" for name in STATISTICS),
        ]
        header += ["utilisation", "backfilled", "killed"]
        may_fail = any("failed_runs" in metrics for metrics in self.metrics.values())
        header += ["failed runs", "lost share"] if may_fail else []
        leaves = any("cancelled_jobs" in metrics for metrics in self.metrics.values())
        header += ["cancelled"] if leaves else []
        header += [name.rpartition(":")[2] for name in self.own]
        rows = []
        known = {} if self.recorded_metrics is None else {AS_RECORDED: self.recorded_metrics}
        shown = self.metrics | known
        columns = [durations([metrics[f"{name}_wait"] for metrics in shown.values()]) for name in STATISTICS]
        for (text, metrics), *waits in zip(shown.items(), *columns, strict=True):
            slowdowns = [f"{metrics[f'{name}_bounded_slowdown']:,.2f}" for name in STATISTICS]
            shares = [f"{metrics[name]:.1%}" for name in ("utilisation", "backfilled_share")]
            counts = [f"{metrics['killed_jobs']:,.0f}"]
            if may_fail:
                failed = "failed_runs" in metrics
                counts += [f"{metrics['failed_runs']:,.0f}", f"{metrics['lost_share']:.1%}"] if failed else ["-", "-"]
            if leaves:
                counts.append(f"{metrics['cancelled_jobs']:,.0f}" if "cancelled_jobs" in metrics else "-")
            if text in known:
                shares[1], counts[0] = "-", "-"
            marked = f"{text} {MARK}" if is_clairvoyant(text) else text
            counts += [quantity(name, metrics[name]) if name in metrics else "-" for name in self.own]
            rows.append([marked, *waits, *slowdowns, *shares, *counts])
        return header, rows


@explained
def compare(
    workload: Workload,
    schedulers: Iterable[str | Scheduler] | Mapping[str, str | Scheduler],
    *,
    processors: int | None = None,
    cluster: Cluster | None = None,
    node_events: NodeEvents | None = None,
    events: Events = "batched",
    warm_up: float = 0,
    cool_down: float = 0,
    metrics: str | Measure | Iterable[str | Measure] | Mapping[str, str | Measure] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Simulate one workload under several schedulers.

    Parameters
    ----------
    workload
        The jobs.
    schedulers
        Scheduler texts or `Scheduler` objects, or a mapping of names to them; duplicates are simulated once. Two
        different functions as policies need different names.
    processors, cluster, node_events, events
        As for `simulate`.
    warm_up, cool_down
        What the metrics leave out, as for `Schedule.metrics`.
    metrics
        Metrics of your own, besides the built-in ones: functions of a schedule, or texts MODULE:FUNCTION, or a mapping
        of names to them, see `schedlab.schedule.own_metrics.OwnMetric`.
    progress
        Called with the number of schedulers that are done and of all.

    Raises
    ------
    InputError
        If there is no scheduler, if two different ones have the same text, or as `simulate`.

    Examples
    --------
    >>> from schedlab.workload.workload import Workload
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
    ...                                   requested_processors=[3, 4, 1]), processors=4)
    >>> comparison = compare(jobs, ["fcfs", "easy"])
    >>> comparison.to_frame().mean_wait.to_dict()
    {'fcfs': 9.0, 'fcfs+easy': 3.0}
    >>> comparison["easy"].start_time.tolist()
    [0, 10, 2]
    >>> compare(jobs, {"today": "fcfs", "tomorrow": "easy"})["tomorrow"].start_time.tolist()
    [0, 10, 2]
    """
    asked = as_schedulers(schedulers)
    if not asked:
        raise InputError("name at least one scheduler to compare (schedulers=)")
    by_text = {scheduler.text: scheduler for scheduler in asked}
    for scheduler in asked:
        if by_text[scheduler.text] != scheduler:
            raise InputError(
                f"two different schedulers are called {scheduler.text}: give them names, "
                'compare(jobs, {"one": ..., "other": ...}), or functions by def'
            )
    distinct_labels(by_text)
    schedules: dict[str, Schedule] = {}
    own = as_metrics(metrics)
    trim: dict[str, Any] = {"warm_up": warm_up, "cool_down": cool_down}
    measured: dict[str, dict[str, float]] = {}
    for done, scheduler in enumerate(asked, start=1):
        if scheduler.label not in schedules:
            schedule = simulate(
                workload,
                scheduler,
                processors=processors,
                events=events,
                cluster=cluster,
                node_events=node_events,
            )
            schedules[scheduler.label] = schedule
            measured[scheduler.label] = schedule.metrics(**trim) | own_metrics(schedule, own, **trim)
        if progress:
            progress(done, len(asked))
    if any(schedule.cancelled is not None for schedule in schedules.values()):
        for label, schedule in schedules.items():
            window = started_by_all(schedules.values(), schedule, **trim)
            measured[label] |= schedule_metrics(schedule, window=window)
    machine = next(iter(schedules.values())).processors
    known = recorded_waits(workload, machine)
    recorded = None if known is None else known.metrics(**trim)
    return Comparison(schedules, measured, known, recorded, warm_up, cool_down, tuple(one.name for one in own))
