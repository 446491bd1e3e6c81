"""The fill phase: jobs that occupy the machine from the beginning, so that those after them wait."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError

SEPARATION = 10
"""Seconds between two fill jobs."""

GAP = 120
"""Seconds from the time for the last fill job to the beginning."""

Columns = dict[str, NDArray[np.int64]]


def lead_of(wait: int) -> int:
    """Return how many seconds before the beginning the fill phase starts."""
    return wait + GAP if wait else 0


def fill_jobs(wait: int, processors: int, cores_per_node: int, *, begin: int, usual: Columns) -> Columns:
    """Return small jobs that hold the whole machine and leave it as jobs would that came before them.

    None ends in the first `wait` seconds after the beginning. Then they end as the jobs would that run on a busy
    machine at any moment. So a job that is submitted at the beginning, or at any time later under a pressure of 1.0,
    finds the work of `wait` seconds before it, besides the jobs that run.

    Parameters
    ----------
    wait
        Seconds that jobs are to wait.
    processors, cores_per_node
        The machine; fill jobs have whole nodes.
    begin
        The second at which the machine is full.
    usual
        Jobs as they usually come: their `processors` and `run_time`.

    Returns
    -------
    dict of int64 arrays
        `submit_time`, `requested_processors`, `run_time`, `requested_time`.

    Raises
    ------
    InputError
        If the wait is shorter than the time between two fill jobs.

    Examples
    --------
    >>> usual = dict(processors=np.array([8, 4]), run_time=np.array([600, 1200]))
    >>> jobs = fill_jobs(14_400, 5_576 * 24, 24, begin=14_520, usual=usual)
    >>> len(jobs["submit_time"]), np.unique(jobs["requested_processors"]).tolist()
    (1440, [72, 96])
    >>> ends = jobs["submit_time"] + jobs["run_time"] - 14_520
    >>> ends.min().item(), ends.max().item(), round(ends.mean())  # 4 h, and half of 600 or 1200 s
    (14400, 15599, 14850)
    """
    nodes = processors // cores_per_node
    count = min(fill_count(wait), nodes)
    submit_time = begin - wait - GAP + np.arange(count) * (wait // count)
    end = begin + wait + remaining_times(usual["processors"], usual["run_time"], count)
    run_time = end.astype(np.int64) - submit_time
    return {
        "submit_time": submit_time,
        "requested_processors": np.diff(np.arange(count + 1) * nodes // count) * cores_per_node,
        "run_time": run_time,
        "requested_time": (run_time // 60 + 1) * 60,
    }


def remaining_times(processors: NDArray[np.int64], run_time: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """Return for how long the processors of a busy machine will still be held by the jobs that run.

    A job holds processors in proportion to its work, and any moment of its run is as likely as any other. So the share
    of the machine that is free again after r seconds is the sum of processors times min(run time, r), divided by the
    sum of processors times run time.

    Parameters
    ----------
    processors, run_time
        Jobs as they usually come.
    count
        How many equal parts of the machine are asked for.

    Returns
    -------
    float64 array
        Seconds in ascending order: the quantiles at the middle of each part.

    Examples
    --------
    >>> remaining_times(np.array([1]), np.array([100]), 4).tolist()
    [12.5, 37.5, 62.5, 87.5]
    """
    order = np.argsort(run_time, kind="stable")
    times = np.concatenate([[0.0], run_time[order].astype(np.float64)])
    still_running = processors[order][::-1].cumsum()[::-1].astype(np.float64)
    freed = np.concatenate([[0.0], np.cumsum(still_running * np.diff(times))])
    if not freed[-1]:
        return np.zeros(count)
    quantiles: NDArray[np.float64] = np.interp((np.arange(count) + 0.5) / count, freed / freed[-1], times)
    return quantiles


@explained
def scsf_fill_jobs(
    wait: int, processors: int, cores_per_node: int, *, begin: int, separation: int = SEPARATION, gap: int = GAP
) -> Columns:
    """Return the fill jobs of the program ScSF; parameters and columns are those of `fill_jobs`.

    All are of one size, rounded up to nodes, so that together they may need more than the machine, and of one length.
    They end evenly over `wait` seconds, of which the first is `wait` after the beginning. Jobs that come later wait for
    half as long again, less the time for which jobs usually still run at any moment.

    Examples
    --------
    >>> jobs = scsf_fill_jobs(14_400, 5_576 * 24, 24, begin=14_520)
    >>> [int(jobs[name][0]) for name in ("requested_processors", "run_time", "requested_time")]
    [96, 28920, 28980]
    """
    count = fill_count(wait, separation)
    run_time = 2 * wait + gap
    return {
        "submit_time": begin - wait - gap + np.arange(count) * separation,
        "requested_processors": np.full(count, -(-(processors // cores_per_node) // count) * cores_per_node),
        "run_time": np.full(count, run_time),
        "requested_time": np.full(count, (run_time // 60 + 1) * 60),
    }


def fill_count(wait: int, separation: int = SEPARATION) -> int:
    """Return how many fill jobs there is time for.

    Parameters
    ----------
    wait
        Seconds that jobs are to wait.
    separation
        Seconds between two fill jobs.

    Raises
    ------
    InputError
        If the wait is shorter than that.

    Examples
    --------
    >>> fill_count(14_400)
    1440
    """
    if wait < separation:
        raise InputError(f"a wait of {wait} s is too short to be induced: give {separation} s or more, or 0 for none")
    return wait // separation
