"""The logs of the study of predictions for the order: machines with users' requests, old and modern.

Logs without requests are left out: cleaning would take the run times for them, and there would be nothing to predict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab import Workload, clean, read_workload
from schedlab.formats import write_table
from schedlab_papers.reproduction import chosen

if TYPE_CHECKING:
    import pandas as pd

SHIFT = 60
"""Seconds: in a copy of a log, each job is submitted up to so much later."""

NOISE = "noise"
"""The copy of a log in which run times are up to a tenth longer or shorter."""

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class OrderLog:
    """A log of the study.

    Parameters
    ----------
    name
        Of the machine, as tables have it.
    file
        In the directory of traces.
    columns
        How a table that is not in the Standard Workload Format is read; None: as any log.
    processors
        Of the machine, where the file does not say.
    counted
        What a processor of this log is, if not a processor.
    conservative
        Whether conservative backfilling is simulated, if it is not a large log: with ten thousand waiting jobs it takes
        hours.
    """

    name: str
    file: str
    columns: Callable[[Path], Workload] | None = None
    processors: int | None = None
    counted: str = ""
    conservative: bool = True

    def read(self, traces: Path) -> Workload:
        """Return the jobs, cleaned by default."""
        path = traces / self.file
        return self.columns(path) if self.columns else clean(read_workload(path, self.processors))


def theta(path: Path) -> Workload:
    """Return the jobs of a table with columns user, node_num, interval, run_time and wall_time."""
    import pandas as pd

    return _of_intervals(pd.read_csv(path), 4_392, "Theta-15k")


def blue_waters(path: Path) -> Workload:
    """Return those jobs of such a table that use GPUs, after its first two, which are weeks before all others."""
    import pandas as pd

    late = pd.read_csv(path)[2:]
    used = late.assign(submit=late["interval"].cumsum())[late["gpu_num"] > 0]
    return _of_intervals(used.assign(interval=used["submit"].diff().fillna(0)), 4_228, "BlueWaters-GPU")


def _of_intervals(table: pd.DataFrame, nodes: int, name: str) -> Workload:
    """Return the jobs of a table that holds the seconds since the job before instead of submissions."""
    columns = {
        "submit_time": np.cumsum(table["interval"].to_numpy(np.int64)),
        "run_time": np.maximum(table["run_time"].to_numpy(), 1).astype(np.int64),
        "requested_time": table["wall_time"].to_numpy(np.int64),
        "requested_processors": table["node_num"].to_numpy(np.int64),
        "user_id": table["user"].to_numpy(np.int64),
    }
    return Workload.from_columns(columns, processors=nodes, name=name)


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
    OrderLog("KTH-SP2", "KTH-SP2-1996-2.1-cln.swf.gz"),
    OrderLog("CTC-SP2", "CTC-SP2-1996-3.1-cln.swf.gz"),
    OrderLog("SDSC-SP2", "SDSC-SP2-1998-4.2-cln.swf.gz"),
    OrderLog("SDSC-BLUE", "SDSC-BLUE-2000-4.2-cln.swf.gz"),
    OrderLog("Sandia-Ross", "Sandia-Ross-2001-1.1-cln.swf.gz"),
    OrderLog("HPC2N", "HPC2N-2002-2.2-cln.swf.gz"),
    OrderLog("LLNL-Atlas", "LLNL-Atlas-2006-2.1-cln.swf.gz"),
    OrderLog("LLNL-Thunder", "LLNL-Thunder-2007-1.1-cln.swf.gz"),
    OrderLog("RICC", "RICC-2010-2.swf.gz"),
    OrderLog("Curie", "CEA-Curie-2011-2.1-cln.swf.gz"),
    OrderLog("wagap", "modern/wagap-2013.swf.gz", processors=2_176),
    OrderLog("Mustang", "modern/mustang-2015-08-06/week_fraction.csv.gz", mustang, counted="nodes"),
    OrderLog(
        "UBCCR",
        "modern/workload_week.events.gz",
        processors=7_968,
        counted="cores of all nodes pooled",
        conservative=False,
    ),
    OrderLog(
        "BlueWaters-GPU",
        "modern/gen-parallel-workloads-15k/blue_waters_data_training.csv.gz",
        blue_waters,
        counted="nodes with one GPU each, pooled",
    ),
    OrderLog("Theta-15k", "modern/gen-parallel-workloads-15k/theta_data_training.csv.gz", theta, counted="nodes"),
    OrderLog("Theta-2023", "modern/theta_2023.swf.gz", counted="nodes"),
)
"""By age."""


def named(names: Iterable[str]) -> list[OrderLog]:
    """Return the logs with these names, or all if there are none.

    Raises
    ------
    InputError
        If the study has no such log.
    """
    return chosen(LOGS, names, "the study of orders")


def copies(log: OrderLog, traces: Path, directory: Path, kinds: Sequence[str]) -> list[Path]:
    """Write copies of a log as Parquet, if that is not done, and return the files.

    Parameters
    ----------
    log, traces
        Which, and where it is.
    directory
        Where copies are written.
    kinds
        "0": the log as it is. "1", "2" and so on: each job is submitted up to a minute later, at random; simulations of
        such copies differ by as much as chance makes them differ. `NOISE`: each run takes up to a tenth more or less.
    """
    files = [directory / f"{log.name}-{kind}.parquet" for kind in kinds]
    if not all(file.is_file() for file in files):
        directory.mkdir(parents=True, exist_ok=True)
        jobs = log.read(traces)
        for kind, file in zip(kinds, files, strict=True):
            write_table(_changed(jobs, kind), file)
    return files


def _changed(jobs: Workload, kind: str) -> Workload:
    """Return a copy of one of the kinds of `copies`."""
    if kind == NOISE:
        factor = np.random.default_rng(len(jobs)).uniform(0.9, 1.1, len(jobs))
        # No run comes to exceed its request by it.
        most = np.where(jobs.requested_time > 0, np.maximum(jobs.requested_time, jobs.run_time), NEVER)
        return jobs.replace(run_time=np.clip(np.rint(jobs.run_time * factor).astype(np.int64), 1, most))
    copy = int(kind)
    shift = np.random.default_rng([copy, len(jobs)]).integers(0, SHIFT, len(jobs)) if copy else 0
    return jobs.replace(submit_time=jobs.submit_time + shift)
