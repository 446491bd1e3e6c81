"""The report of one schedule: what its jobs met, to look into and to print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.campaign.results.statistics import FEWEST_PAIRS, quantity
from schedlab.durations import DAY, WEEK
from schedlab.energy.power import Power
from schedlab.report.groups import groupings
from schedlab.report.illustrations import example_figures
from schedlab.report.page import Page, write_page
from schedlab.report.power import energy_part
from schedlab.report.tables import Cell, Table, by_reason, seconds_cell
from schedlab.schedule.groups import metrics_by
from schedlab.schedule.provenance import provenance_for_pages
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import duration
from schedlab.schedule.window import measured_window
from schedlab.wording import count_of

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 2_000

GROUPED = {"partition": 50, "account": 50, "qos": 50, "queue": 50, "user": 200}
"""What has a table of its own, and how many groups that names; the page says how many there are."""

METRICS = (
    ("wait", "Wait"),
    ("turnaround", "Turnaround"),
    ("slowdown", "Slowdown"),
    ("bounded_slowdown", "Bounded slowdown"),
)

FACTS = (
    ("utilisation", "Utilisation", "utilisation"),
    ("availability", "In service", "availability"),
    ("makespan", "Makespan", "makespan"),
    ("mean_queue_length", "Mean queue length", "queue_length"),
    ("max_queue_length", "Largest queue length", "queue_length"),
    ("throughput", "Jobs ended per day", "throughput"),
    ("backfilled_share", "Backfilled jobs", "backfilled"),
    ("killed_jobs", "Killed jobs", "killed"),
    ("failed_runs", "Failed runs", "failed_runs"),
    ("lost_share", "Share of the machine that failed runs took", "lost_share"),
    ("checkpoint_share", "Share of the machine that wrote or read checkpoints", "checkpoint_share"),
    ("saved_share", "Share of the machine that checkpoints saved from being lost", "saved_share"),
    ("preempted_runs", "Preempted runs", "preempted_runs"),
    ("node_failed_runs", "Runs that failed with a node", "node_failed_runs"),
    ("suspended_jobs", "Suspended jobs", "suspended"),
    ("cancelled_jobs", "Jobs cancelled while they waited", "cancelled"),
    ("mean_switches", "Leaf switches of jobs on several nodes", "switches"),
    ("fairness", "Fairness between users", "fairness"),
)
SHARES = ("utilisation", "availability", "backfilled_share", "lost_share", "checkpoint_share", "saved_share")


def write_schedule_report(
    schedule: Schedule,
    path: str | PathLike[str],
    *,
    command: str = "",
    source: str = "",
    warm_up: float = 0,
    cool_down: float = 0,
    unit: str = "processor",
    changes: Sequence[str] = (),
    power: Power | None = None,
) -> Path:
    """Write the report of one schedule as one self-contained HTML file, and return where it is.

    Parameters
    ----------
    schedule
        What was simulated, recorded, or run on a real Slurm.
    path
        The file; an existing one is replaced.
    command
        What the user typed.
    source
        Where the jobs come from.
    warm_up, cool_down
        What sentences and tables leave out, as for `Schedule.metrics`; figures and the view show everything.
    unit
        What the machine is counted in, singular: "processor", "node", "GPU".
    changes
        Sentences on what was changed or left out in the log, see `schedlab.workload.changes`.
    power
        A power model: the page then has power over time, and what the energy costs.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    return write_page(
        path,
        lambda: render_schedule(
            schedule,
            command=command,
            source=source,
            warm_up=warm_up,
            cool_down=cool_down,
            unit=unit,
            changes=changes,
            power=power,
        ),
    )


def render_schedule(
    schedule: Schedule,
    *,
    command: str = "",
    source: str = "",
    warm_up: float = 0,
    cool_down: float = 0,
    unit: str = "processor",
    changes: Sequence[str] = (),
    power: Power | None = None,
) -> str:
    """Return the report of one schedule as HTML; see `write_schedule_report`."""
    page, figures, tables, drawn = Page(), [], [], []
    name = schedule.workload.name
    sentences = [f"There are no jobs in {name}: nothing waited, and the machine was idle."]
    if len(schedule):
        found = schedule.metrics(warm_up=warm_up, cool_down=cool_down)
        sentences = answer(schedule, measured_window(schedule, warm_up=warm_up, cool_down=cool_down).rows, found)
        page.explore({schedule.scheduler: schedule}, unit=unit)
        figures = example_figures({schedule.scheduler: schedule}, [schedule.scheduler], schedule.scheduler)
        by_size = schedule.metrics_by_size_class(warm_up=warm_up, cool_down=cool_down)
        tables = [
            _of_jobs(found),
            _of_schedule(found),
            _by_size(by_size),
            *by_reason(schedule.waited_for or {}),
            *_by_groups(schedule, warm_up, cool_down),
        ]
        if power is not None:
            energy = energy_part(schedule, power)
            sentences, drawn = [*sentences, energy.sentence], energy.figures
            tables.insert(0, energy.table)
    provenance = provenance_for_pages(schedule)
    return page.render(
        "schedule.html.j2",
        title=f"{name} under {schedule.scheduler}",
        lead=f"{count_of(len(schedule), 'job')} on {_machine(schedule, unit)}",
        changes=changes,
        sentences=sentences,
        chart=drawn,
        chart_heading="Power and energy",
        over_time=figures,
        tables=tables,
        command=command,
        provenance=({"source": source} if source else {}) | provenance,
    )


def _machine(schedule: Schedule, unit: str) -> str:
    """Return how large the machine is, with its nodes and GPUs where they are known."""
    size, where = count_of(schedule.processors, unit), schedule.placement
    if where is None:
        return size
    gpus = int(where.gpus.sum())
    return f"{count_of(len(where.nodes), 'node')} with {size}" + (f" and {count_of(gpus, 'GPU')}" if gpus else "")


def answer(schedule: Schedule, rows: NDArray[np.intp], metrics: Mapping[str, float]) -> list[str]:
    """Return what became of the jobs in some rows, as sentences with their uncertainty."""
    wait = schedule.wait_time[rows]
    if len(wait) == 1:
        only = "did not wait" if not wait[0] else f"waited {duration(float(wait[0]))}"
        return [f"The only job {only} and ran {duration(float(schedule.run_time[rows][0]))}."]
    in_use = f"{metrics['utilisation']:.0%} of the machine was in use"
    waited, jobs = int(np.count_nonzero(wait > 0)), count_of(len(wait), "job")
    if not waited:
        return [f"None of the {jobs} waited; {in_use}."]
    longest = f"the longest wait was {duration(metrics['max_wait'])}"
    if metrics["median_wait"] > 0:
        first = f"Half of the {jobs} waited at most {duration(metrics['median_wait'])}, one in twenty more than "
        first += f"{duration(metrics['p95_wait'])}, and {longest}"
    elif metrics["p95_wait"] > 0:
        first = f"{1 - waited / len(wait):.0%} of the {jobs} did not wait at all, one in twenty waited more than "
        first += f"{duration(metrics['p95_wait'])}, and {longest}"
    else:
        first = f"All but {waited:,} of the {jobs} started at once; {longest}"
    if metrics["mean_wait"] < 1:
        return ["Jobs waited less than a second on average.", f"{first}; {in_use}."]
    sure, caution = _uncertainty(wait, schedule.workload.submit_time[rows])
    return [f"Jobs waited {duration(metrics['mean_wait'])} on average{sure}.", f"{first}; {in_use}.", *caution]


def _uncertainty(wait: NDArray[np.int64], submit: NDArray[np.int64]) -> tuple[str, list[str]]:
    """Return how far the mean wait may be from that of further weeks, and sentences that say what limits this."""
    sums, jobs, name = _blocks(wait.astype(np.float64), submit)
    if len(sums) < FEWEST_PAIRS:
        are = "is" if len(sums) == 1 else "are"
        return f" ({count_of(len(sums), name)} of submissions {are} too few to say how much that varies)", []
    low, high = block_interval(sums, jobs)
    sure = f" (95% interval {duration(low)} to {duration(high)}, from {count_of(len(sums), name)})"
    return sure, [f"A busy {name} burdens the next, so that the interval is too narrow rather than too wide."]


def _blocks(
    values: NDArray[np.float64], submit: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """Return the sum of the values and the number of jobs of each week of submission, or day if whole weeks are few.

    Every job is in a block, so that the interval is about the mean of all; what follows the last whole one is of it.
    """
    elapsed = submit - submit.min()
    period = int(elapsed.max()) + 1
    length, name = (WEEK, "week") if period // WEEK >= FEWEST_PAIRS else (DAY, "day")
    block = np.minimum(elapsed // length, max(period // length, 1) - 1)
    jobs = np.bincount(block).astype(np.float64)
    sums: NDArray[np.float64] = np.bincount(block, weights=values).astype(np.float64)
    return sums[jobs > 0], jobs[jobs > 0], name


def block_interval(
    sums: NDArray[np.float64], jobs: NDArray[np.float64], *, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Return the bootstrap interval of a mean over jobs, whole blocks resampled.

    Parameters
    ----------
    sums, jobs
        Of each block: the sum of the values, and the number of jobs.
    level, seed
        Of the interval and of the draws.

    Examples
    --------
    >>> low, high = block_interval(np.array([10.0, 30.0, 20.0, 20.0]), np.array([10.0, 10.0, 10.0, 10.0]))
    >>> 1 <= low < 2 < high <= 3
    True
    """
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(sums), (RESAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / jobs[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _of_jobs(metrics: Mapping[str, float]) -> Table:
    statistics = ("mean", "median", "p95", "p99", "max")
    rows = [
        [Cell(label, term=measure), *(_quantity(f"{name}_{measure}", metrics) for name in statistics)]
        for measure, label in METRICS
    ]
    titles = {"Mean": "mean", "Median": "median", "95th percentile": "percentile", "99th percentile": "percentile"}
    head = [Cell("Of the jobs"), *(Cell(title, term=term) for title, term in (titles | {"Largest": "largest"}).items())]
    return Table("What the jobs met", "Each job counts once, whatever its size", head, rows)


def _of_schedule(metrics: Mapping[str, float]) -> Table:
    rows = [[Cell(label, term=term), _quantity(name, metrics)] for name, label, term in FACTS if name in metrics]
    return Table(
        "The machine and the queue", "In the period that counts", [Cell("Of the schedule"), Cell("Value")], rows
    )


def _quantity(name: str, metrics: Mapping[str, float]) -> Cell:
    value = metrics[name]
    return Cell(f"{value:.1%}" if name in SHARES else quantity(name, value), value)


def _by_size(frame: pd.DataFrame) -> Table:
    return Table(
        "By job size",
        "Jobs by size class",
        _group_head("Size class"),
        [[Cell(str(name)), *_group(row)] for name, row in frame.iterrows()],
        "Serial jobs use one processor, narrow ones up to 1/16 of the machine, medium ones up to 1/4, wide ones more.",
    )


def _by_groups(schedule: Schedule, warm_up: float, cool_down: float) -> list[Table]:
    """Return who waits: by partition, account, QOS or queue, and user, each if the jobs name more than one."""
    import pandas as pd

    found, tables = groupings(schedule.workload), []
    for key, most in GROUPED.items():
        if (group := found.get(key)) is None:
            continue
        codes = pd.Series(group.codes, name=key)
        frame = metrics_by(schedule, codes, warm_up=warm_up, cool_down=cool_down)
        if len(frame) < 2:
            continue
        shown = frame.sort_values("share_of_work", ascending=False, kind="stable").head(most)
        rows = [[Cell(group.name_of(int(str(code)))), *_group(row)] for code, row in shown.iterrows()]
        few = "" if len(shown) == len(frame) else f": the {most} with most work of {len(frame):,}"
        tables.append(Table(f"By {group.noun}", f"Jobs by {group.noun}{few}", _group_head(group.title), rows))
    return tables


def _group_head(first: str) -> list[Cell]:
    return [
        Cell(first, term="size_class" if first == "Size class" else "group"),
        Cell("Jobs", term="jobs"),
        Cell("Share of the work", term="share_of_work"),
        Cell("Mean wait", term="wait"),
        Cell("Median wait", term="wait"),
        Cell("95th percentile", term="percentile"),
        Cell("Mean bounded slowdown", term="bounded_slowdown"),
    ]


def _group(row: pd.Series[Any]) -> list[Cell]:
    share = float(row["share_of_work"])
    return [
        Cell(f"{row['jobs']:,.0f}", float(row["jobs"])),
        Cell(f"{share:.1%}", share),
        *(seconds_cell(float(row[name])) for name in ("mean_wait", "median_wait", "p95_wait")),
        Cell(
            quantity("mean_bounded_slowdown", float(row["mean_bounded_slowdown"])), float(row["mean_bounded_slowdown"])
        ),
    ]
