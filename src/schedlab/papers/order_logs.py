"""The logs of the study of predictions for the order: machines with users' requests, old and modern.

Logs without requests are left out: cleaning would take the run times for them, and there would be nothing to predict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from schedlab.campaign.inputs import read_trace
from schedlab.papers.reproduction import chosen
from schedlab.workload.tables import write_table
from schedlab.workload.workload import Workload

SHIFT = 60
"""Seconds: in a copy of a log, each job is submitted up to so much later."""


@dataclass(frozen=True, slots=True)
class Log:
    """A log of the study.

    Parameters
    ----------
    name
        Of the machine, as tables have it.
    file
        In the directory of traces.
    columns
        How a table that is not in the Standard Workload Format is read; None: as any log.
    """

    name: str
    file: str
    columns: Callable[[Path], Workload] | None = None

    def read(self, traces: Path) -> Workload:
        """Return the jobs, cleaned by default."""
        path = traces / self.file
        return read_trace(str(path), "default", None, None) if self.columns is None else self.columns(path)


def theta(path: Path) -> Workload:
    """Return the jobs of a table with columns user, node_num, interval, run_time and wall_time."""
    import pandas as pd

    table = pd.read_csv(path)
    columns = {
        "submit_time": np.cumsum(table["interval"].to_numpy(np.int64)),
        "run_time": np.maximum(table["run_time"].to_numpy(), 1).astype(np.int64),
        "requested_time": table["wall_time"].to_numpy(np.int64),
        "requested_processors": table["node_num"].to_numpy(np.int64),
        "user_id": table["user"].to_numpy(np.int64),
    }
    return Workload.from_columns(columns, processors=4_392, name="Theta-15k")


def mustang(path: Path) -> Workload:
    """Return the jobs of a table with the columns of the LANL traces: times as dates, whole nodes."""
    import pandas as pd

    table = pd.read_csv(path)
    submit, start, end = (pd.to_datetime(table[f"{name}_time"], utc=True) for name in ("submit", "start", "end"))
    ran = start.notna() & end.notna() & (end > start)
    seconds = (submit - submit.min()).dt.total_seconds()
    columns = {
        "submit_time": seconds[ran].to_numpy(np.int64),
        "run_time": (end - start).dt.total_seconds()[ran].to_numpy(np.int64),
        "requested_time": pd.to_timedelta(table["wallclock_limit"]).dt.total_seconds()[ran].to_numpy(np.int64),
        "requested_processors": table["node_count"][ran].to_numpy(np.int64),
        "user_id": table["user_ID"][ran].to_numpy(np.int64),
    }
    return Workload.from_columns(columns, processors=1_600, name="Mustang")


LOGS = (
    Log("KTH-SP2", "KTH-SP2-1996-2.1-cln.swf.gz"),
    Log("CTC-SP2", "CTC-SP2-1996-3.1-cln.swf.gz"),
    Log("SDSC-SP2", "SDSC-SP2-1998-4.2-cln.swf.gz"),
    Log("SDSC-BLUE", "SDSC-BLUE-2000-4.2-cln.swf.gz"),
    Log("Sandia-Ross", "Sandia-Ross-2001-1.1-cln.swf.gz"),
    Log("HPC2N", "HPC2N-2002-2.2-cln.swf.gz"),
    Log("LLNL-Atlas", "LLNL-Atlas-2006-2.1-cln.swf.gz"),
    Log("LLNL-Thunder", "LLNL-Thunder-2007-1.1-cln.swf.gz"),
    Log("RICC", "RICC-2010-2.swf.gz"),
    Log("Curie", "CEA-Curie-2011-2.1-cln.swf.gz"),
    Log("Mustang", "modern/mustang-2015-08-06/week_fraction.csv.gz", mustang),
    Log("Theta-15k", "modern/gen-parallel-workloads-15k/theta_data_training.csv.gz", theta),
    Log("Theta-2023", "modern/theta_2023.swf.gz"),
)
"""By age."""


def named(names: Iterable[str]) -> list[Log]:
    """Return the logs with these names, or all if there are none.

    Raises
    ------
    InputError
        If the study has no such log.
    """
    return chosen(LOGS, names, "the study of orders")


def copies(log: Log, traces: Path, directory: Path, number: int) -> list[Path]:
    """Write a log so many times as Parquet, if that is not done, and return the files.

    The first copy is the log as it is. In the others each job is submitted up to a minute later, at random: simulations
    of them differ by as much as chance makes them differ.
    """
    files = [directory / f"{log.name}-{copy}.parquet" for copy in range(number)]
    if not all(file.is_file() for file in files):
        directory.mkdir(parents=True, exist_ok=True)
        jobs = log.read(traces)
        for copy, file in enumerate(files):
            shift = np.random.default_rng([copy, len(jobs)]).integers(0, SHIFT, len(jobs)) if copy else 0
            write_table(jobs.replace(submit_time=jobs.submit_time + shift), file)
    return files
