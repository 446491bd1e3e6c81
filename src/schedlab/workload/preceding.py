"""Dependencies that a log records: preceding job and think time, the last two fields of SWF."""

from __future__ import annotations

import numpy as np

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.workload import Workload


@explained
def preceding_jobs(workload: Workload) -> tuple[Dependencies, int]:
    """Return the dependencies given by the fields `preceding_job_id` and `think_time`.

    Parameters
    ----------
    workload
        The jobs. If several jobs have the same number, the last of them is the preceding one. An unknown think time is
        0.

    Returns
    -------
    dependencies
        A job may start `think_time` seconds after its preceding job has ended.
    dangling
        How many jobs name a preceding job that the workload does not have; they have no dependencies.

    Raises
    ------
    InputError
        If the dependencies contain a cycle, or the workload has dependencies already.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 5, 9], run_time=[60, 30, 20],
    ...                                   preceding_job_id=[-1, 1, 77], think_time=[-1, 10, -1]))
    >>> waits, dangling = preceding_jobs(jobs)
    >>> waits.parents_of(1).tolist(), waits.delay.tolist(), dangling
    ([0], [10], 1)
    """
    if workload.dependencies is not None:
        raise InputError(
            f"{workload.name}: the jobs already have dependencies: use those, or the preceding jobs, not both"
        )
    order = np.argsort(workload.job_id, kind="stable")
    numbers = workload.job_id[order]
    children = np.flatnonzero(workload.preceding_job_id > 0)
    wanted = workload.preceding_job_id[children]
    parents = order[np.searchsorted(numbers, wanted, side="right") - 1]
    there = workload.job_id[parents] == wanted
    delay = np.maximum(workload.think_time[children], 0)
    dependencies = Dependencies.from_pairs(children[there], parents[there], delay[there], jobs=len(workload))
    return dependencies, int(np.count_nonzero(~there))
