"""Where episodes come from: windows of logs, whole workloads, or a model that draws jobs, at chosen loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.state import JOB
from schedlab.engine.parts.heterogeneous.numbers import owners_of
from schedlab.engine.prepared import prepare
from schedlab.errors import InputError
from schedlab.gym.pool import EXECUTABLE, FEATURES, GROUP, MEMORY, PROCESSORS, REQUEST, USER
from schedlab.schedule.metrics import TAU
from schedlab.workload.workload import Workload

Model = Callable[[np.random.Generator], Workload]
"""Draws a workload with the generator that it is given."""

METRICS = (
    "mean_bounded_slowdown",
    "mean_slowdown",
    "mean_per_processor_bounded_slowdown",
    "mean_wait",
    "mean_turnaround",
)
"""Metrics that can be rewards: means over the jobs of something that grows while a job waits."""

OPTIONS = ("workload", "start", "load")
"""What `reset` may be told of an episode."""


class EpisodeSource(NamedTuple):
    """A workload ready for episodes, in order of submission.

    Parameters
    ----------
    workload
        The jobs, in that order.
    jobs, numbers
        Records of type JOB, and the same memory as plain numbers, which NumPy copies faster.
    feature, growth
        As in `schedlab.gym.pool.Pool`.
    processors
        Size of the machine.
    """

    workload: Workload
    jobs: NDArray[Any]
    numbers: NDArray[np.int64]
    feature: NDArray[np.float32]
    growth: NDArray[np.float64]
    processors: int


class Episode(NamedTuple):
    """The jobs `low` to `high - 1` of a workload, submitted `load` times as densely as there."""

    table: EpisodeSource
    low: int
    high: int
    load: float

    @property
    def submit(self) -> NDArray[np.int64]:
        """int64 seconds: when the jobs are submitted."""
        submit: NDArray[np.int64] = self.table.jobs["submit"][self.low : self.high]
        if self.load != 1:
            submit = submit[0] + np.floor((submit - submit[0]) / self.load + 0.5).astype(np.int64)
        return submit

    @property
    def workload(self) -> Workload:
        """The jobs as a workload, to be simulated under any scheduler."""
        jobs = self.table.workload[self.low : self.high]
        return (jobs if self.load == 1 else jobs.replace(submit_time=self.submit)).replace(
            processors=self.table.processors
        )


class Source:
    """Where episodes come from.

    Parameters
    ----------
    workload
        A workload, several, or a function that draws one with a generator.
    processors
        Size of the machine; None takes the workload's own.
    window
        Jobs of an episode, consecutive ones; None takes workloads as a whole.
    load
        How many times as densely as in the workload jobs are submitted, or a range from which that is drawn.
    metric
        One of `METRICS`.
    longest
        Seconds: the request that counts as 1 in observations; None takes the longest of the workload.
    """

    def __init__(
        self,
        workload: Workload | Sequence[Workload] | Model,
        *,
        processors: int | None,
        window: int | None,
        load: float | tuple[float, float],
        metric: str,
        longest: int | None,
    ) -> None:
        if metric not in METRICS:
            raise InputError(f"reward={metric!r} is not a metric that grows while jobs wait; known are {METRICS}")
        if window is not None and (not isinstance(window, int) or window < 1):
            raise InputError(f"window={window!r}: must be at least one job")
        self.metric, self.window, self.longest = metric, window, longest
        self.load = check_load(load)
        self.model: Model | None = None
        self.tables: list[EpisodeSource] = []
        if isinstance(workload, Workload):
            workload = [workload]
        if callable(workload):
            if window is None or processors is None:
                raise InputError("a model of jobs needs window= (jobs of an episode) and processors= (the machine)")
            self.model, self.processors, self.most = workload, processors, window
            return
        if not workload:
            raise InputError("no workload given: give at least one")
        self.tables = [table_of(one, processors, metric, longest) for one in workload]
        sizes = sorted({table.processors for table in self.tables})
        if len(sizes) > 1:
            raise InputError(f"the workloads have machines of {sizes} processors: give one size by processors=")
        self.processors = sizes[0]
        lengths = [len(table.jobs) for table in self.tables]
        if window is not None and window > min(lengths):
            raise InputError(f"window={window}, but the workload has {min(lengths)} jobs")
        self.most = window or max(lengths)

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any] | None = None) -> Episode:
        """Return an episode: as told by the options, what they leave out at random.

        Raises
        ------
        InputError
            If an option is unknown, or there is no such window.
        """
        told = options or {}
        for name in told:
            if name not in OPTIONS:
                raise InputError(f"reset has no option {name!r}; known are {', '.join(OPTIONS)}")
        low, high = check_load(told["load"]) if "load" in told else self.load
        load = low if low == high else float(rng.uniform(low, high))
        if self.model is not None:
            table = table_of(self.model(rng), self.processors, self.metric, self.longest)
            if len(table.jobs) > self.most:
                raise InputError(f"the model has drawn {len(table.jobs)} jobs, but window={self.most}")
            return Episode(table, 0, len(table.jobs), load)
        number = 0
        if "workload" in told:
            number = int(told["workload"])
        elif len(self.tables) > 1:
            number = int(rng.integers(len(self.tables)))
        if not 0 <= number < len(self.tables):
            raise InputError(f"workload {number} does not exist: they are numbered from 0 to {len(self.tables) - 1}")
        table = self.tables[number]
        length = self.window or len(table.jobs)
        starts = len(table.jobs) - length + 1
        start = int(told["start"]) if "start" in told else int(rng.integers(starts))
        if not 0 <= start < starts:
            raise InputError(f"no window begins at job {start}: windows begin at jobs 0 to {starts - 1}")
        return Episode(table, start, start + length, load)


def check_load(load: Any) -> tuple[float, float]:
    """Return the range of a load."""
    low, high = load if isinstance(load, tuple | list) and len(load) == 2 else (load, load)
    if not isinstance(low, int | float) or not isinstance(high, int | float) or not 0 < low <= high < np.inf:
        raise InputError(f"load={load!r}: give a positive number, or a range of two such as (0.8, 1.2)")
    return float(low), float(high)


def table_of(workload: Workload, processors: int | None, metric: str, longest: int | None) -> EpisodeSource:
    """Return a workload ready for episodes.

    Raises
    ------
    InputError
        As `simulate`: if a job lacks what is needed or is wider than the machine, or if jobs depend on each other.
    """
    if isinstance(workload, Workload) and workload.dependencies is not None:
        raise InputError(f"{workload.name}: jobs with dependencies are not supported in environments")
    prepared = prepare(workload, "fcfs", processors=processors)
    if owners_of(workload) is not None:
        raise InputError(f"{workload.name}: heterogeneous jobs are not supported in environments: drop them")
    if prepared.order is not None:
        workload = workload[prepared.order]
    jobs = prepared.jobs
    feature = np.zeros((len(jobs), FEATURES), dtype=np.float32)
    feature[:, REQUEST] = np.minimum(jobs["estimate"] / (longest or int(jobs["estimate"].max())), 1)
    feature[:, PROCESSORS] = jobs["processors"] / prepared.processors
    for place, column in (
        (MEMORY, workload.requested_memory),
        (USER, workload.user_id),
        (GROUP, workload.group_id),
        (EXECUTABLE, workload.executable_id),
    ):
        feature[:, place] = np.where(column < 0, 1, column / max(int(column.max()), 1))
    growth = growth_of(metric, jobs["duration"], jobs["processors"])
    return EpisodeSource(workload, jobs, as_numbers(jobs), feature, growth, prepared.processors)


def as_numbers(jobs: NDArray[Any]) -> NDArray[np.int64]:
    """Return the memory of records of type JOB as numbers, with one more dimension."""
    return jobs.view(np.ndarray).view(np.int64).reshape(*jobs.shape, len(JOB.fields or ()))


def growth_of(metric: str, run_time: NDArray[np.int64], processors: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return, for each job, a, b and f, so that after waiting t seconds its metric is max(f, (t + a) b).

    Examples
    --------
    >>> growth_of("mean_bounded_slowdown", np.array([5, 100]), np.array([1, 1])).tolist()
    [[5.0, 0.1, 1.0], [100.0, 0.01, 1.0]]
    """
    run = run_time.astype(np.float64)
    bounded = np.maximum(run, TAU)
    zero, one = np.zeros_like(run), np.ones_like(run)
    added, factor, floor = {
        "mean_bounded_slowdown": (run, 1 / bounded, one),
        "mean_slowdown": (np.maximum(run, 1), 1 / np.maximum(run, 1), zero),
        "mean_per_processor_bounded_slowdown": (run, 1 / (bounded * processors), one),
        "mean_wait": (zero, one, zero),
        "mean_turnaround": (run, one, zero),
    }[metric]
    return np.stack([added, factor, floor], axis=1)
