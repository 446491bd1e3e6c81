"""Tables 1 and 6 of SC'15: what exact run times are worth to EASY and to EASY-SJBF, on five logs.

The paper's numbers are mean bounded slowdowns over all jobs of a log. Here the four schedulers that need no predictor
are simulated by the rules of the authors' simulator: cleaning "sc15" and event order "pyss".

References
----------
Gaussier, Glesser, Reis and Trystram, "Improving backfilling by using machine learning to predict running times",
SC 2015. The exact values are those that the authors published with their simulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from schedlab.engine.simulation import simulate
from schedlab.papers.reproduction import Number, Reproduction, Row, missing, require_some
from schedlab.workload.cleaning import clean
from schedlab.workload.swf import read_swf

TITLE = "SC'15 (Gaussier et al.), Tables 1 and 6: mean bounded slowdown of all jobs"

SCHEDULERS = ("fcfs+easy", "fcfs+easy:sjf", "fcfs+easy@actual", "fcfs+easy:sjf@actual")

ANOTHER_LOG = (
    "The authors' copy of this log differs from the archive's cleaned version, which is simulated here, by the few "
    "jobs that the first row shows; where the copies are equal (KTH-SP2, CTC-SP2) all digits are."
)
NOT_PUBLIC = (
    "The machine is taken as 80,640 processors, as in the authors' runs (the log says 93,312). Their copy of this "
    "log is the archive's; their exact results for it are not public."
)


@dataclass(frozen=True, slots=True)
class Log:
    """A log of the paper and what the authors got with it.

    Parameters
    ----------
    name
        As in the paper.
    file
        In the directory of traces.
    jobs
        How many jobs the authors simulated.
    published, exact
        Mean bounded slowdowns, in the order of `SCHEDULERS`: as printed, and with all digits.
    processors
        Size of the machine, where the authors did not use the log's own.
    notes
        Why ours may differ.
    """

    name: str
    file: str
    jobs: int
    published: tuple[Number, ...]
    exact: tuple[Number, ...] = (None,) * len(SCHEDULERS)
    processors: int | None = None
    notes: tuple[str, ...] = ()


LOGS = (
    Log(
        "KTH-SP2",
        "variants/predictsim/KTH-SP2/swf_unfiltered/log.swf.gz",
        28_481,
        (92.6, None, 71.7, 49.8),
        (92.5765, 69.4054, 71.7224, 49.8477),
    ),
    Log(
        "CTC-SP2",
        "CTC-SP2-1996-3.1-cln.swf.gz",
        77_199,
        (49.6, None, 37.2, 17.6),
        (49.5713, 30.0411, 37.1654, 17.5717),
    ),
    Log(
        "SDSC-SP2",
        "SDSC-SP2-1998-4.2-cln.swf.gz",
        54_006,
        (87.9, None, 70.5, 56.8),
        (87.8703, 84.8889, 70.4779, 56.8362),
        notes=(ANOTHER_LOG,),
    ),
    Log(
        "SDSC-BLUE",
        "SDSC-BLUE-2000-4.2-cln.swf.gz",
        232_542,
        (36.5, None, 30.6, 13.2),
        (36.5234, 19.8260, 30.6215, 13.1776),
        notes=(ANOTHER_LOG,),
    ),
    Log(
        "Curie",
        "CEA-Curie-2011-2.1-cln.swf.gz",
        295_540,
        (202.1, None, 69.9, 12.1),
        processors=80_640,
        notes=(NOT_PUBLIC,),
    ),
)


def reproduce(traces: Path) -> Reproduction:
    """Repeat the experiment on those logs that are there.

    Parameters
    ----------
    traces
        Directory with the logs, under the file names of `LOGS`.

    Returns
    -------
    Reproduction
        For each log the number of jobs simulated and the four mean bounded slowdowns; as alternative, the same under
        the default event order, where all that happens in one second is known before anything is decided.

    Raises
    ------
    InputError
        If none of the logs is there, or one cannot be read.
    """
    require_some(traces, (log.file for log in LOGS))
    rows = [row for log in LOGS for row in rows_of(log, traces)]
    return Reproduction(TITLE, "batched order", tuple(rows))


def rows_of(log: Log, traces: Path) -> list[Row]:
    """Return the rows of one log, or the one that says that it is missing."""
    path = traces / log.file
    if not path.is_file():
        return [missing(log.name, log.file)]
    workload = read_swf(path)
    if log.processors is not None:
        workload = workload.replace(processors=log.processors)
    jobs = clean(workload, rules="sc15")
    rows = [Row(log.name, "jobs simulated", exact=log.jobs, ours=len(jobs), notes=log.notes)]
    for scheduler, published, exact in zip(SCHEDULERS, log.published, log.exact, strict=True):
        as_theirs, batched = (
            float(simulate(jobs, scheduler, events=events).bounded_slowdown.mean()) for events in ("pyss", "batched")
        )
        rows.append(Row(log.name, scheduler, published, exact, as_theirs, batched, log.notes))
    return rows
