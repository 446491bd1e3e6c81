"""Small workloads for the tests of SC'17 and the thesis."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from schedlab.durations import DAY
from schedlab.workload.swf import write_swf
from schedlab.workload.workload import Workload

STATE = 16


def full_width_jobs(run_time: list[int], sequences: int = 1, processors: int = 256) -> Workload:
    """Return jobs that each fill the machine, all submitted at once; the same again 16 days later, and so on."""
    n = len(run_time)
    columns = {
        "submit_time": np.repeat(np.arange(sequences) * 16 * DAY, n),
        "run_time": run_time * sequences,
        "requested_time": run_time * sequences,
        "allocated_processors": [processors] * n * sequences,
    }
    return Workload.from_columns(columns, processors=processors)


def write_log(jobs: Workload, path: Path) -> None:
    """Write the file of a log, and the directory that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_swf(jobs, path)
