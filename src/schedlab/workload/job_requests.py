"""What jobs ask for on nodes, also where a log has only the columns of SWF for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from schedlab.workload.resources import Resources

if TYPE_CHECKING:
    from schedlab.workload.workload import Workload


def job_requests(workload: Workload) -> Resources:
    """Return the requests of jobs; of those without, as many tasks as processors, and the memory of each.

    SWF has the memory in kilobytes per processor; requests have MiB, and what is not whole is rounded up.

    Examples
    --------
    >>> from schedlab.workload.workload import Workload
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0], run_time=[9, 9], requested_processors=[4, 1],
    ...                                   requested_memory=[2_097_152, -1]))
    >>> asked = job_requests(jobs)
    >>> asked.tasks.tolist(), asked.memory_per_core.tolist()
    ([4, 1], [2048, 0])
    """
    if workload.resources is not None:
        return workload.resources
    memory = -(-np.maximum(workload.requested_memory, 0) // 1024)
    return replace(Resources.of_processors(workload.job_processors), memory_per_core=memory)
