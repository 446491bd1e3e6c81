"""How good a schedule is: each metric with its formula and its source.

Symbols of the literature: r submit time, w wait time, p run time (what really ran: a killed job ends at its
request), q processors of the job, m processors of the machine, tau the bound of the bounded slowdown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.durations import DAY
from schedlab.errors import InputError
from schedlab.schedule.checkpoints import by_job, checkpoint_metrics, share_of_machine, spent, writes_checkpoints
from schedlab.schedule.measures import measure_small
from schedlab.schedule.reasons import OF_REASONS, mean_waits_by_reason
from schedlab.schedule.resizing import OF_RESIZING, resizing
from schedlab.schedule.runs import NODE_FAILED, PREEMPTED
from schedlab.schedule.service import AVAILABILITY, availability
from schedlab.schedule.spread import MEAN_SWITCHES, mean_switches
from schedlab.schedule.stretches import suspensions
from schedlab.schedule.window import Window, measured_window

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule

TAU = 10
"""Seconds: the bound of the bounded slowdown that the literature uses."""


def slowdown(wait_time: NDArray[np.int64], run_time: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much longer each job stayed in the system than it ran: (w + p) / p.

    A job of 0 seconds counts as one of 1 second, the resolution of the clock, so that each has one.

    Parameters
    ----------
    wait_time, run_time
        int64 seconds, one per job.

    Examples
    --------
    >>> slowdown(np.array([0, 30]), np.array([60, 10])).tolist()
    [1.0, 4.0]
    """
    present = np.maximum(run_time, 1)
    return (wait_time + present) / present


@explained
def bounded_slowdown(wait_time: NDArray[np.int64], run_time: NDArray[np.int64], tau: int = TAU) -> NDArray[np.float64]:
    """Return max(1, (w + p) / max(tau, p)): the slowdown, without the weight of very short jobs.

    Parameters
    ----------
    wait_time, run_time
        int64 seconds, one per job.
    tau
        Seconds: shorter jobs count as if they had run this long.

    References
    ----------
    Feitelson, Rudolph, Schwiegelshohn, Sevcik and Wong, "Theory and practice in
    parallel job scheduling", JSSPP 1997.

    Examples
    --------
    >>> bounded_slowdown(np.array([3, 30, 30]), np.array([1, 0, 60])).tolist()
    [1.0, 3.0, 1.5]
    """
    return np.maximum((wait_time + run_time) / np.maximum(run_time, tau), 1.0)


def per_processor_bounded_slowdown(
    wait_time: NDArray[np.int64], run_time: NDArray[np.int64], processors: NDArray[np.int64], tau: int = TAU
) -> NDArray[np.float64]:
    """Return max(1, (w + p) / (q max(tau, p))): jobs of the same work are alike, whatever their shape.

    Parameters
    ----------
    wait_time, run_time
        int64 seconds, one per job.
    processors
        Processors of each job.
    tau
        Seconds: shorter jobs count as if they had run this long.

    References
    ----------
    Zotkin and Keleher, "Job-length estimation and performance in backfilling
    schedulers", HPDC 1999; Carastan-Santos, de Camargo, Trystram and Zrigui, "One can only gain by replacing
    EASY backfilling", CCGrid 2019.

    Examples
    --------
    >>> per_processor_bounded_slowdown(np.array([300, 300]), np.array([100, 100]), np.array([1, 8])).tolist()
    [4.0, 1.0]
    """
    # Processor-seconds may be too many for 64 bits.
    work: NDArray[np.float64] = np.maximum(run_time, tau) * processors.astype(np.float64)
    return np.maximum((wait_time + run_time) / work, 1.0)


def jain_index(values: NDArray[np.float64]) -> float:
    """Return Jain's fairness index (sum x)^2 / (n sum x^2): 1 if all are equal, 1/n if one has everything.

    Parameters
    ----------
    values
        What each party got, none negative, not all 0.

    References
    ----------
    Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for
    resource allocation in shared computer systems", DEC-TR-301, 1984.

    Examples
    --------
    >>> jain_index(np.array([2.0, 2.0, 2.0])), jain_index(np.array([1.0, 0.0, 0.0, 0.0]))
    (1.0, 0.25)
    """
    return float(values.sum() ** 2 / (len(values) * (values**2).sum()))


def utilisation(schedule: Schedule, window: Window) -> float:
    """Return the busy processor-seconds in the window over m times its length; where runs may fail, of the others.

    Where jobs write checkpoints, work of runs that failed counts as far as it was saved, and checkpoints do not.
    """
    if writes_checkpoints(schedule):
        return share_of_machine(schedule, window, spent(schedule).useful)
    held = schedule.held
    # Processor-seconds may be too many for 64 bits.
    busy = window.overlap(held.start, held.end) * held.processors.astype(np.float64)
    return float(busy[held.done].sum()) / (schedule.processors * window.length)


def mean_queue_length(schedule: Schedule, window: Window) -> float:
    """Return the mean over time of the number of waiting jobs: sum w over the window's length."""
    waiting = window.overlap(schedule.queued_since, schedule.start_time)
    return float(waiting.sum()) / window.length


def max_queue_length(schedule: Schedule, window: Window) -> int:
    """Return the largest number of jobs that waited at once in the window, after the starts of each second.

    The queue grows only when a job is submitted, so that it is enough to count at the begin and at the
    submissions.
    """
    submit = np.sort(schedule.queued_since, kind="stable")
    start = np.sort(schedule.start_time)
    before = int(np.searchsorted(submit, window.begin, side="right"))
    inside = slice(before, int(np.searchsorted(submit, window.end, side="right")))
    instants = np.append(submit[inside], window.begin)
    # Of the jobs of one second only the last one counts all the others: it is the one that makes the maximum.
    submitted = np.append(np.arange(inside.start, inside.stop) + 1, before)
    return int((submitted - np.searchsorted(start, instants, side="right")).max())


def throughput(schedule: Schedule, window: Window) -> float:
    """Return the number of jobs that ended in the window, per day; those that were cancelled in the queue are none."""
    inside = (schedule.end_time >= window.begin) & (schedule.end_time <= window.end)
    ended = np.count_nonzero(inside & schedule.ran)
    return float(ended * DAY / window.length)


def lost_work(schedule: Schedule, window: Window) -> dict[str, float]:
    """Return the number of failed runs, the share of the machine that they took, and the number of abandoned jobs.

    The share and the utilisation, and that of checkpoints, add up to all that is busy. Only jobs with a distribution
    are abandoned.
    """
    assert schedule.runs is not None
    held, failed = schedule.held, schedule.runs[~schedule.runs["done"]]
    lost = window.overlap(held.start, held.end) * held.processors.astype(np.float64)
    overlap = window.overlap(failed["start"], failed["end"])
    distribution = schedule.workload.distribution
    given_up = (
        np.zeros(len(schedule), dtype=np.bool_) if distribution is None else schedule.killed & (distribution >= 0)
    )
    share = float(lost[~held.done].sum()) / (schedule.processors * window.length)
    if writes_checkpoints(schedule):
        share = share_of_machine(schedule, window, spent(schedule).lost)
    return {
        "failed_runs": float(np.count_nonzero(overlap > 0)),
        "lost_share": share,
        "given_up_jobs": float(np.count_nonzero(given_up[window.rows])),
    }


LOST_TO = {"preempted_runs": (PREEMPTED, "preemption"), "node_failed_runs": (NODE_FAILED, "node_failures")}
"""By metric of runs that were interrupted: what ended them, and the name of that in the metric of the time lost."""


def interruptions(schedule: Schedule, window: Window) -> dict[str, float]:
    """Return how many runs in the window were preempted, or failed with a node, and the mean time lost by each cause.

    The means are over all jobs that count: seconds of all their runs that ended so, without suspensions.
    """
    assert schedule.runs is not None
    metrics, lost = {}, spent(schedule).lost
    for name, (cause, words) in LOST_TO.items():
        of_jobs = by_job(schedule, np.where(schedule.runs["cause"] == cause, lost, 0))
        whole = schedule.runs[schedule.runs["cause"] == cause]
        metrics[name] = float(np.count_nonzero(window.overlap(whole["start"], whole["end"]) > 0))
        metrics[f"mean_time_lost_to_{words}"] = float(of_jobs[window.rows].mean())
    return metrics


def reserved_turnaround(schedule: Schedule) -> NDArray[np.int64]:
    """Return the seconds from each job's submission to the end of what its last run had asked for."""
    assert schedule.runs is not None
    ends = np.zeros(len(schedule), dtype=np.int64)
    ends[schedule.runs["job"]] = schedule.runs["start"] + schedule.runs["request"]  # the last run of a job stands last
    return ends + schedule.suspended_time - schedule.workload.submit_time


def cancellations(schedule: Schedule, window: Window) -> dict[str, float]:
    """Return how many jobs were cancelled while they waited, their share, and how long they had waited in the mean."""
    assert schedule.cancelled is not None
    rows = window.submitted
    left = rows[schedule.cancelled[rows]]
    metrics = {"cancelled_jobs": float(len(left)), "cancelled_share": len(left) / len(rows)}
    if len(left):
        waited = schedule.start_time[left] - schedule.workload.submit_time[left]
        metrics["mean_wait_until_cancelled"] = float(waited.mean())
    return metrics


def fairness(users: NDArray[np.int64], slowdowns: NDArray[np.float64]) -> float | None:
    """Return Jain's index of the users' mean bounded slowdowns: 1 if all users are served alike.

    It is None if the jobs name fewer than two users; a negative number is no user. Beside two or more, the jobs
    without a known user count as those of one more.

    Examples
    --------
    >>> fairness(np.array([7, 7, 9]), np.array([1.0, 3.0, 2.0]))
    1.0
    """
    parties = np.unique(users)
    if np.count_nonzero(parties >= 0) < 2:
        return None
    group = np.searchsorted(parties, users)
    return jain_index(np.bincount(group, weights=slowdowns) / np.bincount(group))


@explained
def job_measures(schedule: Schedule, tau: int = TAU) -> dict[str, NDArray[np.int64] | NDArray[np.float64]]:
    """Return the measures that every job has, by name: seconds and ratios, in the order of the workload."""
    if not tau >= 1:
        raise InputError(f"tau is {tau}; it must be at least 1 second")
    wait, run = schedule.wait_time, schedule.run_time
    idle = wait + schedule.suspended_time
    return {
        "wait": wait,
        "turnaround": schedule.turnaround_time,
        "slowdown": slowdown(idle, run),
        "bounded_slowdown": bounded_slowdown(idle, run, tau),
        "per_processor_bounded_slowdown": per_processor_bounded_slowdown(
            idle, run, schedule.workload.job_processors, tau
        ),
    }


WORKFLOW_MEASURES = ("wait", "run_time", "turnaround", "stretch")
MEASURES = ("wait", "turnaround", "slowdown", "bounded_slowdown", "per_processor_bounded_slowdown")
OF_WORKFLOWS = (
    "workflows",
    "useful_utilisation",
    *(f"{statistic}_workflow_{measure}" for measure in WORKFLOW_MEASURES for statistic in ("mean", "median")),
)
OF_SCHEDULES = (
    "utilisation",
    AVAILABILITY,
    "makespan",
    "mean_queue_length",
    "max_queue_length",
    "throughput",
    "backfilled_share",
    "killed_jobs",
    "fairness",
    "failed_runs",
    "lost_share",
    "given_up_jobs",
    *(metric for name, (_, words) in LOST_TO.items() for metric in (name, f"mean_time_lost_to_{words}")),
    "checkpoint_share",
    "saved_share",
    "mean_checkpoint_time",
    "mean_reserved_turnaround",
    "suspended_jobs",
    "mean_suspended_time",
    "cancelled_jobs",
    "cancelled_share",
    "mean_wait_until_cancelled",
    *OF_RESIZING,
    *OF_REASONS,
    MEAN_SWITCHES,
    *OF_WORKFLOWS,
)


def metric_names() -> list[str]:
    """Return the names of all metrics, see `schedule_metrics`."""
    statistics = ("mean", "median", "p95", "p99", "max")
    return ["jobs", *(f"{statistic}_{measure}" for measure in MEASURES for statistic in statistics), *OF_SCHEDULES]


def schedule_metrics(
    schedule: Schedule, *, warm_up: float = 0, cool_down: float = 0, tau: int = TAU, window: Window | None = None
) -> dict[str, float]:
    """Return all metrics of a schedule, flat, by name.

    Parameters
    ----------
    schedule
        What to measure.
    warm_up, cool_down
        What to leave out at the beginning and at the end: shares of the jobs (below 1) or seconds (from 1
        on), see `measured_window`.
    tau
        Seconds: the bound of the bounded slowdown.
    window
        The part that counts, instead of what warm-up and cool-down leave.

    Returns
    -------
    dict
        ``jobs``; of each job measure, ``wait`` and ``turnaround`` (seconds), ``slowdown``,
        ``bounded_slowdown`` and ``per_processor_bounded_slowdown``, the ``mean_``, ``median_``, ``p95_``,
        ``p99_`` (percentiles, linear between the two nearest jobs) and ``max_``; ``utilisation`` (of 1), where nodes
        had events ``availability`` (the share of the machine that was in service),
        ``makespan`` (seconds, from the first submission to the last end, or the length of the trimmed
        period), ``mean_queue_length`` and ``max_queue_length`` (jobs), ``throughput`` (jobs ended per day),
        ``backfilled_share`` (of the jobs), ``killed_jobs``, where runs may fail and come back ``failed_runs``,
        ``lost_share`` (of the machine), ``given_up_jobs`` and ``mean_reserved_turnaround`` (seconds, as if a job ended
        with its request), where runs may be interrupted ``preempted_runs``, ``node_failed_runs``,
        ``mean_time_lost_to_preemption`` and ``mean_time_lost_to_node_failures`` (seconds, over all jobs that count),
        where jobs write checkpoints ``checkpoint_share`` and ``saved_share`` (of the machine) and
        ``mean_checkpoint_time`` (seconds, over all jobs that count),
        where runs may be suspended ``suspended_jobs`` and ``mean_suspended_time`` (seconds, over all jobs that count),
        where jobs may be cancelled while they wait ``cancelled_jobs``, ``cancelled_share`` (of all that were submitted)
        and ``mean_wait_until_cancelled`` (seconds; these jobs are in none of the job measures, but in the lengths of
        the queue), where jobs are malleable ``resized_jobs`` and ``mean_resizes`` (how often each of these changed),
        where it is known why jobs waited the means by kind of reason (seconds, see `schedlab.schedule.reasons`), where
        the switches of nodes are known ``mean_switches`` (leaf switches per job on
        several nodes), and ``fairness`` between users (see `fairness`), which is left out if the jobs
        that count name fewer than two users. If there are workflows, also the metrics of
        `schedlab.schedule.workflows.workflow_metrics`; then the job measures, ``jobs``, ``backfilled_share``,
        ``killed_jobs`` and ``fairness`` are of the ordinary jobs, unless there are none. None of them is ever NaN.

    Raises
    ------
    InputError
        If no jobs remain, or if tau is below 1.
    """
    if window is None and not warm_up and not cool_down and (small := measure_small(schedule, tau)) is not None:
        return small | availability(schedule, measured_window(schedule)) | mean_switches(schedule)
    window = window or measured_window(schedule, warm_up=warm_up, cool_down=cool_down)
    rows = window.rows
    metrics = {"jobs": float(len(rows))}
    measures = {name: values[rows] for name, values in job_measures(schedule, tau).items()}
    # One call for all measures: for a small schedule, the calls are what takes time.
    percentiles = np.percentile(np.stack(list(measures.values())), (50, 95, 99), axis=1)
    for (name, values), (median, p95, p99) in zip(measures.items(), percentiles.T, strict=True):
        metrics |= {
            f"mean_{name}": float(values.mean()),
            f"median_{name}": float(median),
            f"p95_{name}": float(p95),
            f"p99_{name}": float(p99),
            f"max_{name}": float(values.max()),
        }
    metrics |= {
        "utilisation": utilisation(schedule, window),
        "makespan": float(window.length),
        "mean_queue_length": mean_queue_length(schedule, window),
        "max_queue_length": float(max_queue_length(schedule, window)),
        "throughput": throughput(schedule, window),
        "backfilled_share": float(schedule.backfilled[rows].mean()),
        "killed_jobs": float(np.count_nonzero(schedule.killed[rows])),
    }
    if schedule.runs is not None:
        metrics |= lost_work(schedule, window)
        if writes_checkpoints(schedule):
            metrics |= checkpoint_metrics(schedule, window)
        if schedule.specification.get("interrupts"):
            metrics |= interruptions(schedule, window)
        metrics["mean_reserved_turnaround"] = float(reserved_turnaround(schedule)[rows].mean())
    if schedule.pauses is not None:
        metrics |= suspensions(schedule, rows)
    if schedule.cancelled is not None:
        metrics |= cancellations(schedule, window)
    metrics |= (
        resizing(schedule, rows)
        | availability(schedule, window)
        | mean_waits_by_reason(schedule.waited_for or {}, rows)
    )
    metrics |= mean_switches(schedule, rows)
    if schedule.workload.workflows is not None:
        from schedlab.schedule.workflows import workflow_metrics

        metrics |= workflow_metrics(schedule, window)
    evenness = fairness(schedule.workload.user_id[rows], np.asarray(measures["bounded_slowdown"]))
    return metrics if evenness is None else metrics | {"fairness": evenness}
