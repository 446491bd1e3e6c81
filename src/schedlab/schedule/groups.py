"""Metrics by size class and by user."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.schedule.metrics import TAU, bounded_slowdown, job_measures
from schedlab.schedule.window import Window, measured_window

if TYPE_CHECKING:
    import pandas as pd

    from schedlab.schedule.schedule import Schedule

SIZE_CLASSES = ("serial", "narrow", "medium", "wide")

USER_CLASSES = ("heavy_users", "medium_users", "light_users")

SLOWDOWN_CLASSES = ("1", "1-10", "10-100", ">=100")


def size_classes(processors: NDArray[np.int64], machine: int) -> NDArray[np.int8]:
    """Return the size class of each job, a position in `SIZE_CLASSES`.

    Parameters
    ----------
    processors
        Processors of each job.
    machine
        Processors of the machine.

    Notes
    -----
    Serial jobs use 1 processor, narrow ones up to 1/16 of the machine, medium ones up to 1/4, wide ones more. The
    kind of classes is that of Kettimuthu et al., "Selective preemption strategies for parallel job scheduling" (ICPP
    2002: sequential, narrow, wide, very wide); their bounds, 8 and 32 processors, are replaced by shares of the
    machine, because machines differ by a factor of a thousand.

    Examples
    --------
    >>> [SIZE_CLASSES[c] for c in size_classes(np.array([1, 2, 16, 17, 64, 65]), 256)]
    ['serial', 'narrow', 'narrow', 'medium', 'medium', 'wide']
    """
    bounds = _upper_bounds(machine)[:-1]
    # A small machine has no narrow jobs: its bounds coincide, and the classes between them stay empty.
    return np.where(processors <= 1, 0, np.searchsorted(bounds, processors, side="left")).astype(np.int8)


def _upper_bounds(machine: int) -> list[int]:
    """Return the largest number of processors of each class."""
    return [1, max(machine // 16, 1), max(machine // 4, 1), machine]


def size_class_labels(machine: int) -> list[str]:
    """Return the names of the size classes with the processors that each stands for.

    Examples
    --------
    >>> size_class_labels(100)
    ['serial (1)', 'narrow (2–6)', 'medium (7–25)', 'wide (26–100)']
    """
    bounds = _upper_bounds(machine)
    labels = ["serial (1)"]
    for name, below, bound in zip(SIZE_CLASSES[1:], bounds[:-1], bounds[1:], strict=True):
        labels.append(f"{name} ({below + 1:,}–{bound:,})" if bound > below + 1 else f"{name} ({bound:,})")
    return labels


def user_classes(users: NDArray[np.int64], work: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.int8]:
    """Return the class of each job's user, a position in `USER_CLASSES`, or -1 for a job without a known user.

    Users are ordered by their work, the largest first. The heavy ones are the fewest who together did half of it,
    the light ones those who come after 90% of it is reached, the medium ones those between.

    Parameters
    ----------
    users
        User of each job; a negative number is no user, and the work of such jobs does not count.
    work
        Processor-seconds of each job; where all are 0, all users are light.

    Examples
    --------
    >>> classes = user_classes(np.array([7, 8, 7, 9, 5, -1]), np.array([40, 38, 20, 1, 1, 80]))
    >>> [USER_CLASSES[c] if c >= 0 else None for c in classes]
    ['heavy_users', 'medium_users', 'heavy_users', 'light_users', 'light_users', None]
    """
    parties, party = np.unique(users, return_inverse=True)
    work_of = np.bincount(party, weights=np.where(users >= 0, work, 0), minlength=len(parties))
    # Users of equal work stay in the order of their numbers, so that the classes do not depend on chance.
    order = np.argsort(-work_of, kind="stable")
    total = work_of.sum()
    before = np.cumsum(work_of[order]) - work_of[order]
    classes = np.empty(len(parties), dtype=np.int8)
    classes[order] = (2 * before >= total).astype(np.int8) + (10 * before >= 9 * total)
    classes[parties < 0] = -1
    return classes[party]


@explained
def slowdown_classes(slowdowns: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return the class of each job's slowdown, a position in `SLOWDOWN_CLASSES`; a bound belongs to the class above.

    Parameters
    ----------
    slowdowns
        Slowdowns or bounded slowdowns, at least 1.

    References
    ----------
    Carastan-Santos, de Camargo, Trystram and Zrigui, "One can only gain by replacing EASY backfilling", CCGrid 2019.

    Examples
    --------
    >>> [SLOWDOWN_CLASSES[c] for c in slowdown_classes(np.array([1, 1.5, 10, 99.9, 100]))]
    ['1', '1-10', '10-100', '10-100', '>=100']
    """
    return np.where(slowdowns <= 1, 0, np.searchsorted([10.0, 100.0], slowdowns, side="right") + 1).astype(np.int8)


def class_metric_names() -> list[str]:
    """Return the names of all metrics of classes, see `class_metrics`."""
    return [
        f"{measure}_{name}"
        for name in (*SIZE_CLASSES, *USER_CLASSES)
        for measure in ("jobs", "mean_wait", "mean_bounded_slowdown")
    ]


def class_metrics(
    schedule: Schedule, *, warm_up: float = 0, cool_down: float = 0, tau: int = TAU, window: Window | None = None
) -> dict[str, float]:
    """Return number, mean wait and mean bounded slowdown of the jobs of each size class and class of users.

    It takes a tenth of a millisecond, for campaigns of many small simulations.

    Parameters
    ----------
    schedule, warm_up, cool_down, tau, window
        As in `schedlab.schedule.metrics.schedule_metrics`.

    Returns
    -------
    dict
        `jobs_wide`, `mean_wait_wide`, `mean_bounded_slowdown_wide` and so on; NaN for a class without jobs.
    """
    rows = (window or measured_window(schedule, warm_up=warm_up, cool_down=cool_down)).rows
    workload = schedule.workload
    processors = workload.job_processors[rows]
    work = schedule.work[rows]
    wait = schedule.wait_time[rows]
    slowdown = bounded_slowdown(wait + schedule.suspended_time[rows], schedule.run_time[rows], tau)
    metrics = {}
    for names, classes in (
        (SIZE_CLASSES, size_classes(processors, schedule.processors)),
        (USER_CLASSES, user_classes(workload.user_id[rows], work)),
    ):
        # Jobs without a class, of unknown users, are counted in a place of their own.
        place = np.where(classes < 0, len(names), classes)
        jobs = np.bincount(place, minlength=len(names) + 1)
        with np.errstate(invalid="ignore"):
            waits = np.bincount(place, weights=wait, minlength=len(jobs)) / jobs
            slowdowns = np.bincount(place, weights=slowdown, minlength=len(jobs)) / jobs
        for number, name in enumerate(names):
            metrics[f"jobs_{name}"] = float(jobs[number])
            metrics[f"mean_wait_{name}"] = float(waits[number])
            metrics[f"mean_bounded_slowdown_{name}"] = float(slowdowns[number])
    return metrics


def metrics_by_size_class(
    schedule: Schedule, *, warm_up: float = 0, cool_down: float = 0, tau: int = TAU
) -> pd.DataFrame:
    """Return the job metrics of each size class that has jobs, narrowest class first.

    Parameters
    ----------
    schedule, warm_up, cool_down, tau
        As in `schedlab.schedule.metrics.schedule_metrics`.

    Returns
    -------
    pandas.DataFrame
        Indexed by `size_class`; columns as in `metrics_by_user`.
    """
    import pandas as pd

    codes = size_classes(schedule.workload.job_processors, schedule.processors)
    classes = pd.Categorical.from_codes(codes, categories=pd.Index(SIZE_CLASSES), ordered=True)
    key = pd.Series(classes, name="size_class")
    return metrics_by(schedule, key, warm_up=warm_up, cool_down=cool_down, tau=tau)


def metrics_by_user(schedule: Schedule, *, warm_up: float = 0, cool_down: float = 0, tau: int = TAU) -> pd.DataFrame:
    """Return the job metrics of each user, -1 standing for the jobs whose user is unknown.

    Parameters
    ----------
    schedule, warm_up, cool_down, tau
        As in `schedlab.schedule.metrics.schedule_metrics`.

    Returns
    -------
    pandas.DataFrame
        Indexed by `user_id`, in ascending order; columns `jobs`, `share_of_work` (of the processor-seconds of
        all jobs that count), `backfilled_share`, `killed_jobs`, and of each job measure the `mean_`,
        `median_`, `p95_` and `max_`.
    """
    import pandas as pd

    key = pd.Series(schedule.workload.user_id, name="user_id")
    return metrics_by(schedule, key, warm_up=warm_up, cool_down=cool_down, tau=tau)


def metrics_by(
    schedule: Schedule, key: pd.Series, *, warm_up: float = 0, cool_down: float = 0, tau: int = TAU
) -> pd.DataFrame:
    """Return the job metrics of each group of jobs that share a key.

    Parameters
    ----------
    schedule, warm_up, cool_down, tau
        As in `schedlab.schedule.metrics.schedule_metrics`.
    key
        One value per job of the schedule, in its order.

    Returns
    -------
    pandas.DataFrame
        Indexed by the key; columns as in `metrics_by_user`.
    """
    import pandas as pd

    rows = measured_window(schedule, warm_up=warm_up, cool_down=cool_down).rows
    measures = pd.DataFrame(job_measures(schedule, tau)).iloc[rows]
    facts = pd.DataFrame(
        {
            "work": schedule.work,
            "backfilled": schedule.backfilled,
            "killed": schedule.killed,
        }
    ).iloc[rows]
    groups = measures.groupby(key, observed=True)
    sums = facts.groupby(key, observed=True).sum()
    jobs = groups.size()
    work = max(facts["work"].sum(), 1)
    table = {
        "jobs": jobs,
        "share_of_work": sums["work"] / work,
        "backfilled_share": sums["backfilled"] / jobs,
        "killed_jobs": sums["killed"],
    }
    statistics = {
        "mean": groups.mean(),
        "median": groups.median(),
        "p95": groups.quantile(0.95),
        "max": groups.max(),
    }
    for measure in measures.columns:
        table |= {f"{statistic}_{measure}": values[measure] for statistic, values in statistics.items()}
    return pd.DataFrame(table)
