"""Compare schedulers on one workload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedlab.campaign.prices import Price, prices
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.display import MOST_JOBS, html_table, rich_display
from schedlab.engine.prepared import Events
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.recorded import AS_RECORDED, recorded_waits
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import duration
from schedlab.scheduler.predictor import CLAIRVOYANT, is_clairvoyant
from schedlab.scheduler.scheduler import Scheduler
from schedlab.wording import did_you_mean, table
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

STATISTICS = ("mean", "median", "p95", "max")

MARK = "*"
"""Beside schedulers that nobody can have."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """The schedules of one workload under several schedulers, and what they are worth.

    Parameters
    ----------
    schedules
        By scheduler text, in the order asked for.
    metrics
        All metrics of each, see `Schedule.metrics`.
    recorded
        The jobs as they waited in the log, as far as it says; None if it does not.
    recorded_metrics
        Theirs.
    warm_up, cool_down
        What the metrics leave out.
    """

    schedules: dict[str, Schedule]
    metrics: dict[str, dict[str, float]]
    recorded: Schedule | None = None
    recorded_metrics: dict[str, float] | None = None
    warm_up: float = 0
    cool_down: float = 0

    def __getitem__(self, scheduler: str) -> Schedule:
        """Return the schedule of a scheduler, by its text as it was given or any other that means the same.

        Raises
        ------
        KeyError
            If it was not compared.
        """
        if scheduler in self.schedules:
            return self.schedules[scheduler]
        if scheduler == AS_RECORDED and self.recorded is not None:
            return self.recorded
        try:
            return self.schedules[Scheduler.parse(scheduler).text]
        except (InputError, KeyError):
            near = did_you_mean(scheduler, self.schedules)
            raise KeyError(f"{scheduler!r} was not compared{near}; there are {', '.join(self.schedules)}") from None

    def __iter__(self) -> Iterator[str]:
        """Yield the scheduler texts."""
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

    def __str__(self) -> str:
        notes = [f"{MARK} {CLAIRVOYANT}"] if any(map(is_clairvoyant, self.metrics)) else []
        return "\n".join([table(*self._rows()), *(f"\n{note}" for note in notes)])

    def who_pays(self, baseline: str | None = None) -> list[Price]:
        """Return what each scheduler asks of the jobs that wait longest, of wide jobs and of users.

        See `schedlab.campaign.prices.prices`; what the log has recorded comes last.
        """
        shown = self.schedules if self.recorded is None else self.schedules | {AS_RECORDED: self.recorded}
        return prices(shown, baseline, warm_up=self.warm_up, cool_down=self.cool_down)

    def explore(self, *, baseline: str | None = None, unit: str = "processor") -> Any:
        """Return a widget for notebooks to look into the schedules, see `schedlab.report.notebook.explore`."""
        # Reports stand above campaigns: they are reached by the public name.
        import schedlab

        return schedlab.explore(self, baseline=baseline, unit=unit)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        notes = [f"{MARK} {CLAIRVOYANT}"] if any(map(is_clairvoyant, self.metrics)) else []
        return rich_display(self, self._jobs, str(self), page=html_table(*self._rows(), notes))

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
        rows = []
        known = {} if self.recorded_metrics is None else {AS_RECORDED: self.recorded_metrics}
        for text, metrics in (self.metrics | known).items():
            waits = [duration(metrics[f"{name}_wait"]) for name in STATISTICS]
            slowdowns = [f"{metrics[f'{name}_bounded_slowdown']:,.2f}" for name in STATISTICS]
            shares = [f"{metrics[name]:.1%}" for name in ("utilisation", "backfilled_share")]
            counts = [f"{metrics['killed_jobs']:,.0f}"]
            if may_fail:
                failed = "failed_runs" in metrics
                counts += [f"{metrics['failed_runs']:,.0f}", f"{metrics['lost_share']:.1%}"] if failed else ["-", "-"]
            if text in known:
                shares[1], counts[0] = "-", "-"
            marked = f"{text} {MARK}" if is_clairvoyant(text) else text
            rows.append([marked, *waits, *slowdowns, *shares, *counts])
        return header, rows


def compare(
    workload: Workload,
    schedulers: Iterable[str | Scheduler],
    *,
    processors: int | None = None,
    cluster: Cluster | None = None,
    node_events: NodeEvents | None = None,
    events: Events = "batched",
    warm_up: float = 0,
    cool_down: float = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Simulate one workload under several schedulers.

    Parameters
    ----------
    workload
        The jobs.
    schedulers
        Scheduler texts or `Scheduler` objects; doubles are simulated once. Two different functions as policies need
        different names.
    processors, cluster, node_events, events
        As for `simulate`.
    warm_up, cool_down
        What the metrics leave out, as for `Schedule.metrics`.
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
    """
    if isinstance(schedulers, str | Scheduler):
        schedulers = [schedulers]
    asked = [Scheduler.parse(item) if isinstance(item, str) else item for item in schedulers]
    if not asked:
        raise InputError("name at least one scheduler to compare (schedulers=)")
    by_text = {scheduler.text: scheduler for scheduler in asked}
    for scheduler in asked:
        if by_text[scheduler.text] != scheduler:
            raise InputError(f"two different schedulers are called {scheduler.text}: give the functions names (def)")
    schedules: dict[str, Schedule] = {}
    metrics: dict[str, dict[str, float]] = {}
    for done, scheduler in enumerate(asked, start=1):
        if scheduler.text not in schedules:
            schedule = simulate(
                workload,
                scheduler,
                processors=processors,
                events=events,
                cluster=cluster,
                node_events=node_events,
            )
            schedules[scheduler.text] = schedule
            metrics[scheduler.text] = schedule.metrics(warm_up=warm_up, cool_down=cool_down)
        if progress:
            progress(done, len(asked))
    machine = next(iter(schedules.values())).processors
    known = recorded_waits(workload, machine)
    measured = None if known is None else known.metrics(warm_up=warm_up, cool_down=cool_down)
    return Comparison(schedules, metrics, known, measured, warm_up, cool_down)
