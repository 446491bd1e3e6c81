"""The logs of SC'20's RLScheduler, its rules for reading them, its windows, and what it prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schedlab import Workload, read_swf
from schedlab_papers.reproduction import chosen

POLICIES = ("FCFS", "WFP3", "UNI", "SJF", "F1")
AGENT = "RL"

STARTS = (1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085)
"""Where its ten windows begin, from 0: what its generator draws with the seed 1 that its program sets."""
WINDOW = 1_024
JOBS = 10_000
"""Jobs of a log that its program reads."""
REPAIRED = 10
"""Seconds: the run time of a job of which none is known."""

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Sc20Log:
    """A log of the paper.

    Parameters
    ----------
    name
        As in the paper.
    file
        In the directory of traces.
    slowdown, backfilled_slowdown
        Mean bounded slowdowns, by policy: Table V without, and with, backfilling.
    utilisation, backfilled_utilisation
        The same of Table VI.
    """

    name: str
    file: str
    slowdown: Values
    backfilled_slowdown: Values
    utilisation: Values
    backfilled_utilisation: Values

    def published(self, backfilling: bool) -> tuple[Values, Values]:
        """Return the slowdowns and utilisations, without or with backfilling."""
        if backfilling:
            return self.backfilled_slowdown, self.backfilled_utilisation
        return self.slowdown, self.utilisation

    def read(self, traces: Path) -> tuple[Workload, NDArray[np.int64]]:
        """Return the jobs that its program sees, and the requests in their scores.

        Processors are the larger of those allocated and requested, a missing request is the run time, a negative run
        time is 10 s, jobs of 0 s are left out, and no job is killed. A job of which neither is known (there is one, in
        SDSC-SP2) keeps -1 as its request in the scores, because its run time is put right later.
        """
        log = read_swf(traces / self.file)
        rows = np.flatnonzero(log.run_time != 0)
        log = log[rows[np.argsort(log.job_id[rows], kind="stable")]][:JOBS]
        asked = np.where(log.requested_time == -1, log.run_time, log.requested_time)
        run = np.where(log.run_time < 0, REPAIRED, log.run_time)
        width = np.maximum(log.allocated_processors, log.requested_processors)
        jobs = log.replace(
            run_time=run,
            requested_time=np.where(asked == -1, run, asked),
            requested_processors=width,
            allocated_processors=width,
            requests_enforced=False,
            name=self.name,
        )
        return jobs, asked


def scores(jobs: Workload, asked: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """Return the scores of its policies, as its program computes them: smallest first.

    F1 takes the submit time on the clock of the log. The waiting time in WFP3 and UNI is -1 less the submit time,
    because the start is -1 until a job has started.

    Parameters
    ----------
    jobs, asked
        As `Sc20Log.read` returns them. F1, which has no value for a request of -1, takes the one of the jobs.
    """
    submit, request, width = (column.astype(np.float64) for column in (jobs.submit_time, asked, jobs.job_processors))
    wait = -1 - submit
    return {
        "FCFS": submit,
        "WFP3": -((wait / request) ** 3) * width,
        "UNI": -(wait + 1e-15) / (np.log2(width + 1e-15) * request),
        "SJF": request,
        "F1": np.log10(jobs.requested_time) * width + 870 * np.log10(submit),
    }


def texts(first: int) -> dict[str, str]:
    """Return the same policies, with waiting times that are right, as schedulers of schedlab.

    Parameters
    ----------
    first
        The second of the first submission: F1 takes submit times on the clock of the log.
    """
    return {
        "FCFS": "fcfs",
        "WFP3": "wfp3",
        "UNI": '"-(w+1e-15)/(log2(q+1e-15)*p)"',
        "SJF": "sjf",
        "F1": f'"log10(p)*q + 870*log10(r + {first})"',
    }


def _values(*numbers: float) -> Values:
    return dict(zip((*POLICIES, AGENT), numbers, strict=True))


LOGS = (
    Sc20Log(
        "Lublin-1",
        "synthetic/deep-batch-scheduler/lublin_256.swf.gz",
        _values(7273.77, 19753.53, 22274.74, 277.35, 258.37, 254.67),
        _values(235.82, 133.87, 307.23, 73.31, 75.07, 58.64),
        _values(0.657, 0.747, 0.691, 0.762, 0.816, 0.714),
        _values(0.868, 0.864, 0.883, 0.778, 0.840, 0.850),
    ),
    Sc20Log(
        "SDSC-SP2",
        "SDSC-SP2-1998-4.2-cln.swf.gz",
        _values(1727.54, 3000.88, 1848.45, 2680.55, 1232.06, 466.44),
        _values(1595.12, 1083.12, 548.01, 2167.84, 1098.22, 397.82),
        _values(0.670, 0.658, 0.688, 0.645, 0.674, 0.671),
        _values(0.682, 0.681, 0.706, 0.661, 0.677, 0.707),
    ),
    Sc20Log(
        "HPC2N",
        "HPC2N-2002-2.2-cln.swf.gz",
        _values(297.18, 426.99, 609.77, 157.71, 118.01, 117.01),
        _values(127.38, 97.39, 175.12, 122.04, 71.95, 86.14),
        _values(0.638, 0.636, 0.636, 0.640, 0.637, 0.640),
        _values(0.639, 0.637, 0.638, 0.641, 0.638, 0.642),
    ),
    Sc20Log(
        "Lublin-2",
        "synthetic/deep-batch-scheduler/lublin_256_new2.gz",
        _values(7842.47, 9523.18, 11265.31, 787.89, 698.34, 724.51),
        _values(247.61, 318.35, 379.59, 91.99, 148.25, 118.79),
        _values(0.404, 0.543, 0.510, 0.562, 0.478, 0.562),
        _values(0.587, 0.583, 0.587, 0.593, 0.552, 0.593),
    ),
)


def named(names: Iterable[str]) -> list[Sc20Log]:
    """Return the logs with these names, or all if there are none.

    Raises
    ------
    InputError
        If the paper has no such log.
    """
    return chosen(LOGS, names, "SC'20")
