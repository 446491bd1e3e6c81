"""What the analysis of an experiment says: distributions of jobs and workflows, and what the machine was used for.

What has not ended at the cutoff is unfinished: it is counted beside every distribution, and its values are left out.

References
----------
Rodrigo, Elmroth, Ostberg and Ramakrishnan, "ScSF: A scheduling simulation framework", JSSPP 2017, section 3.6; the bins
and the bounds of the size classes are those of its program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.durations import DAY
from schedlab.errors import InputError
from schedlab.schedule.metrics import WORKFLOW_MEASURES
from schedlab.schedule.window import Window
from schedlab.schedule.workflows import Rules, work_in_window, workflow_table
from schedlab.workload.sections import Sections, sections_of

if TYPE_CHECKING:
    import pandas as pd

    from schedlab.schedule.schedule import Schedule

HOUR, MINUTE = 3_600, 60

SIZE_EDGES = (48.0, 960.0)
"""Upper bounds of the classes of jobs by requested core-hours; a bound belongs to the class below it."""

ALL = "all"

PERCENTILES = (5, 25, 50, 75, 95)


@dataclass(frozen=True, slots=True)
class Variable:
    """A quantity of which distributions are made.

    Parameters
    ----------
    name
        Of the quantity.
    width
        Of a bin of the histogram; bins begin at 0.
    upper
        Where the last bin ends; values beyond are counted as outside.
    unit
        Of values and bins, empty for plain numbers.
    """

    name: str
    width: float
    upper: float
    unit: str = "s"


JOB_VARIABLES = (
    Variable("run_time", MINUTE, 30 * DAY),
    Variable("wait", MINUTE, 30 * DAY),
    Variable("turnaround", 2 * MINUTE, 60 * DAY),
    Variable("requested_time", MINUTE, 30 * DAY),
    Variable("accuracy", 0.01, 2.0, ""),
    Variable("processors", 24, 96_000, ""),
    Variable("slowdown", 100, 800, ""),
)
WORKFLOW_VARIABLES = (
    Variable("wait", MINUTE, 30 * DAY),
    Variable("run_time", MINUTE, 30 * DAY),
    Variable("turnaround", 2 * MINUTE, 60 * DAY),
    Variable("stretch", 0.01, 1.0, ""),
)
assert tuple(sorted(variable.name for variable in WORKFLOW_VARIABLES)) == tuple(sorted(WORKFLOW_MEASURES))


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """The values of one variable of some jobs or workflows.

    Parameters
    ----------
    of
        "jobs" or "workflows".
    subset
        "all", a size class of jobs, or the name of a workflow.
    variable
        What was measured.
    values
        float64, sorted; of those that have finished.
    unfinished
        How many have not finished at the cutoff, and so have no value here.

    Examples
    --------
    >>> waits = Distribution("jobs", "all", Variable("wait", 60, 600), np.array([0.0, 30.0, 90.0, 900.0]), 1)
    >>> low, count = waits.histogram()
    >>> low.tolist(), count.tolist(), waits.outside, waits.percentile(50)
    ([0, 60], [2, 1], 1, 60.0)
    """

    of: str
    subset: str
    variable: Variable
    values: NDArray[np.float64]
    unfinished: int

    def percentile(self, percent: float) -> float:
        """Return a percentile, linear between the two nearest values; NaN without values."""
        return float(np.percentile(self.values, percent)) if len(self.values) else float("nan")

    def histogram(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the lower edges of the bins that are not empty, and how many values each holds."""
        width, upper = self.variable.width, self.variable.upper
        # A value at the upper end belongs to the last bin. Decimals such as 0.29 / 0.01 fall short of their bin.
        inside = self.values[self.values <= upper]
        bins = np.minimum((inside / width + 1e-9).astype(np.int64), round(upper / width) - 1)
        used, count = np.unique(bins, return_counts=True)
        return used * width, count.astype(np.int64)

    @property
    def outside(self) -> int:
        """How many values lie above the last bin."""
        return int(np.count_nonzero(self.values > self.variable.upper))

    def cumulative(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the values and the share of values up to each."""
        return self.values, np.arange(1, len(self.values) + 1) / max(len(self.values), 1)

    def statistics(self) -> dict[str, float]:
        """Return minimum, maximum, mean, population standard deviation and percentiles; NaN without values."""
        there = self.values if len(self.values) else np.array([np.nan])
        extremes = {"min": float(there[0]), "max": float(there[-1]), "mean": float(there.mean())}
        spread = {"std": float(there.std())}
        return extremes | spread | {f"p{percent:02d}": self.percentile(percent) for percent in PERCENTILES}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the single values, as plain dictionaries and numbers."""
        low, count = self.histogram()
        named = {"of": self.of, "subset": self.subset, "variable": self.variable.name, "unit": self.variable.unit}
        numbers = {"count": len(self.values), "unfinished": self.unfinished, **self.statistics()}
        histogram = {"bin_width": float(self.variable.width), "bin_low": low.tolist(), "bin_count": count.tolist()}
        return named | numbers | histogram | {"outside": self.outside}


@explained
class Analysis:
    """One schedule, analysed over the sections of its experiment.

    Parameters
    ----------
    schedule
        What is analysed.
    sections
        When jobs count. By default, what the header of the workload tells; without that, all count, and all finish.
    edges
        Upper bounds of the size classes in requested core-hours.
    rules
        Of the measures of workflows, see `schedlab.schedule.workflows.workflow_columns`.

    Raises
    ------
    InputError
        If there are no jobs.
    """

    def __init__(
        self,
        schedule: Schedule,
        sections: Sections | None = None,
        *,
        edges: Sequence[float] = SIZE_EDGES,
        rules: Rules = "corrected",
    ) -> None:
        self.schedule = schedule
        self.sections = sections or _sections(schedule)
        self.edges = tuple(edges)
        self.rules = rules

    @cached_property
    def window(self) -> Window:
        """The part that counts: jobs submitted from start to end, and the time between these."""
        submit = self.schedule.workload.submit_time
        submitted = np.flatnonzero((submit >= self.sections.start) & (submit <= self.sections.end))
        workflows = self.schedule.workload.workflows
        ordinary = submitted if workflows is None else submitted[workflows.number[submitted] < 0]
        return Window(ordinary, self.sections.start, self.sections.end, submitted)

    @cached_property
    def finished(self) -> NDArray[np.bool_]:
        """Whether each ordinary job that counts has ended at the cutoff."""
        return self.schedule.end_time[self.window.rows] <= self.sections.cutoff

    @cached_property
    def workflows(self) -> pd.DataFrame:
        """What became of each workflow that counts, see `schedlab.schedule.workflows.workflow_table`."""
        table = workflow_table(self.schedule, until=self.sections.cutoff, rules=self.rules)
        submit = table["submit_time"]
        return table[(submit >= self.sections.start) & (submit <= self.sections.end)].reset_index(drop=True)

    @cached_property
    def size_class(self) -> NDArray[np.int64]:
        """The size class of each ordinary job that counts: how many of the bounds its requested work is above."""
        jobs, rows = self.schedule.workload, self.window.rows
        requested = np.where(jobs.requested_time > 0, jobs.requested_time, jobs.run_time)[rows]
        work = requested * jobs.job_processors[rows].astype(np.float64) / HOUR
        return np.searchsorted(np.array(self.edges), work, side="left").astype(np.int64)

    def job_values(self) -> dict[str, NDArray[np.float64]]:
        """Return each variable of the ordinary jobs that count; `JOB_VARIABLES` says the units."""
        schedule, rows = self.schedule, self.window.rows
        jobs = schedule.workload
        wait, run_time = schedule.wait_time[rows].astype(np.float64), schedule.run_time[rows].astype(np.float64)
        turnaround = schedule.turnaround_time[rows].astype(np.float64)
        requested = jobs.requested_time[rows].astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            accuracy = np.where(requested > 0, run_time / requested, np.nan)
        return {
            "run_time": run_time,
            "wait": wait,
            "turnaround": turnaround,
            "requested_time": np.where(requested > 0, requested, np.nan),
            "accuracy": accuracy,
            "processors": jobs.job_processors[rows].astype(np.float64),
            "slowdown": turnaround / np.maximum(run_time, 1),
        }

    def distributions(self) -> list[Distribution]:
        """Return all distributions: of jobs, of each size class, of workflows, and of each kind of workflow."""
        return [*self._of_jobs(), *self._of_workflows()]

    def _of_jobs(self) -> Iterator[Distribution]:
        values = self.job_values()
        everyone = np.ones(len(self.finished), dtype=np.bool_)
        groups = {ALL: everyone}
        groups |= {name: self.size_class == number for number, name in enumerate(size_class_names(self.edges))}
        for name, members in groups.items():
            counted = members & self.finished
            unfinished = int(np.count_nonzero(members & ~self.finished))
            for variable in JOB_VARIABLES:
                yield Distribution("jobs", name, variable, _known(values[variable.name][counted]), unfinished)

    def _of_workflows(self) -> Iterator[Distribution]:
        table = self.workflows
        if not len(table):
            return
        kinds = sorted(set(table["group"]))
        for name in [ALL, *kinds] if len(kinds) > 1 else [ALL]:
            members = table if name == ALL else table[table["group"] == name]
            counted = members[members["finished"]]
            for variable in WORKFLOW_VARIABLES:
                values = _known(counted[variable.name].to_numpy(dtype=np.float64))
                yield Distribution("workflows", name, variable, values, len(members) - len(counted))

    def usage(self) -> dict[str, float]:
        """Return the shares of the machine from start to end: `reserved`, and of it `useful` and `idle`."""
        capacity = self.schedule.processors * self.window.length
        return {name: work / capacity for name, work in work_in_window(self.schedule, self.window).items()}

    def counts(self) -> dict[str, float]:
        """Return how many jobs and workflows were submitted, and how many of them have not finished at the cutoff."""
        table = self.workflows
        return {
            "submitted_jobs": float(len(self.finished)),
            "unfinished_jobs": float(np.count_nonzero(~self.finished)),
            "submitted_workflows": float(len(table)),
            "unfinished_workflows": float(np.count_nonzero(~table["finished"])),
        }


def size_class_names(edges: Sequence[float]) -> list[str]:
    """Return the names of the size classes.

    Examples
    --------
    >>> size_class_names((48, 960))
    ['<= 48 core-hours', '<= 960 core-hours', '> 960 core-hours']
    """
    if not edges:
        return []
    return [*(f"<= {edge:g} core-hours" for edge in edges), f"> {edges[-1]:g} core-hours"]


def _known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values that are known, sorted."""
    return np.sort(values[~np.isnan(values)])


def _sections(schedule: Schedule) -> Sections:
    """Return the sections that the header tells; without them, everything counts."""
    try:
        return sections_of(schedule.workload)
    except InputError:
        submit = schedule.workload.submit_time
        if not len(submit):
            raise InputError("the schedule has no jobs to analyse") from None
        first, last = int(submit.min()), int(submit.max())
        return Sections(first, first, last, max(last, int(np.ceil(schedule.end_time.max()))))
