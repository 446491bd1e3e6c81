"""Read published logs of GPU clusters: tables with specific columns, one reader per kind of table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.streams import open_input, workload_name
from schedlab.wording import shown
from schedlab.workload._accounting import numbered_names
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.no_value import say_nothing
from schedlab.workload.origin import names_its_file
from schedlab.workload.resources import WHOLE, Labels, Resources
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

OPENB = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
OPENB_MORE = ("gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time")
PHILLY = ("timestamp", "duration", "num_gpus", "gpu_time", "cluster")
GEN_PARALLEL = (
    *("u_id", "user", "gpu_num", "cpu_num", "node_num"),
    *("interval", "run_time", "wall_time", "new_status"),
)
PHASES = {"Succeeded": 1, "Failed": 0, "Running": 1}
STATUS = {"Pass": 1, "Failed": 0, "Killed": 5}
MILLI = 1000


@names_its_file("openb")
@explained
def read_openb(path: str | os.PathLike[str], *, cores: Literal["whole", "milli"] = "whole") -> Workload:
    """Read a list of pods of Alibaba's GPU cluster (`openb_pod_list_*.csv`, 2023), plain or gzip-compressed.

    Parameters
    ----------
    path
        The file, with the columns name, cpu_milli, memory_mib, num_gpu, gpu_milli and, where there are any, gpu_spec,
        qos, pod_phase, creation_time, deletion_time and scheduled_time. Without times, one pod is submitted per second
        and run times are unknown.
    cores
        What counts as a processor: "whole" cores, those of a pod rounded up, or thousandths of a core ("milli"). The
        nodes must be counted in the same unit.

    Returns
    -------
    Workload
        Run times are from scheduled_time to deletion_time, -1 for pods that were never scheduled. A part of a GPU
        (gpu_milli) is `gpu_share`; a gpu_spec of one type is `gpu_type`, one of several (`V100M16|V100M32`) is a
        `constraint`. Status is 1 for Succeeded and Running, 0 for Failed.

    Raises
    ------
    InputError
        If the file cannot be read, a column is missing or unknown, or a value is not a number or out of range. The
        message names the line.

    References
    ----------
    Weng et al., "Beware of fragmentation: scheduling GPU-sharing workloads with fragmentation gradient descent",
    USENIX ATC 2023.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pods.csv"
    >>> lines = ["name,cpu_milli,memory_mib,num_gpu,gpu_milli", "a,3152,3600,1,230", "b,8000,16384,2,1000"]
    >>> written = path.write_text("\\n".join(lines))
    >>> jobs = read_openb(path)
    >>> jobs.requested_processors.tolist(), jobs.resources.gpus.tolist(), jobs.resources.gpu_share.tolist()
    ([4, 8], [1, 2], [230, 1000])
    """
    if cores not in ("whole", "milli"):
        raise InputError(f"unknown unit {cores!r} of processors; the units are whole and milli")
    table = _table(path, OPENB, OPENB_MORE)
    milli = table.numbers("cpu_milli")
    gpus, share = table.numbers("num_gpu"), table.numbers("gpu_milli")
    table.refuse("gpu_milli", (gpus > 0) & ((share < 1) | (share > WHOLE)), "but a GPU has 1 to 1000 thousandths")
    table.refuse("gpu_milli", (gpus > 1) & (share < WHOLE), "but only single GPUs are shared")
    processors = np.maximum(milli if cores == "milli" else -(-milli // MILLI), 1)
    spec = Labels.of(table.texts("gpu_spec"))
    several = np.array([*("|" in name for name in spec.names), False])
    resources = Resources.of(
        len(table),
        nodes=np.ones(len(table), dtype=np.int64),
        cores_per_task=processors,
        memory_per_node=table.numbers("memory_mib"),
        gpus=gpus,
        gpu_share=np.where(gpus > 0, share, WHOLE),
        gpu_type=[None if several[code] else name for code, name in zip(spec.codes, spec.texts(), strict=True)],
        constraint=[name if several[code] else None for code, name in zip(spec.codes, spec.texts(), strict=True)],
        qos=table.texts("qos"),
    )
    columns: dict[str, Any] = {"submit_time": np.arange(len(table)), "run_time": np.full(len(table), UNKNOWN)}
    notes = ["no times: one pod a second, run times unknown"]
    if "creation_time" in table:
        submit, start, end = (table.numbers(f"{what}_time") for what in ("creation", "scheduled", "deletion"))
        ran = (start >= 0) & (end >= start)
        columns = {
            "submit_time": submit,
            "wait_time": np.where(start >= submit, start - submit, UNKNOWN),
            "run_time": np.where(ran, end - start, UNKNOWN),
            "status": np.array([PHASES.get(phase, UNKNOWN) for phase in table.texts("pod_phase")]),
        }
        notes = [f"never scheduled, run time unknown: {int(np.count_nonzero(~ran)):,}"] if not ran.all() else []
    if cores == "milli":
        notes.append("processors are thousandths of cores")
    return table.workload(columns | {"requested_processors": processors}, resources, notes)


@names_its_file("philly")
@explained
def read_philly(path: str | os.PathLike[str]) -> Workload:
    """Read the jobs of Microsoft's Philly clusters as one table (82,247 jobs of 15 virtual clusters, 2017).

    Parameters
    ----------
    path
        A CSV file with the columns timestamp, duration, num_gpus, gpu_time and cluster.

    Returns
    -------
    Workload
        In order of submission; second 0 is the first one, taken as UTC. A processor is a GPU, as no processors are
        known: each job has as many tasks as GPUs, with one GPU each. The virtual cluster is the partition. Users, waits
        and requested times are unknown.

    Raises
    ------
    InputError
        If the file cannot be read, a column is missing or unknown, a value is out of range, or gpu_time is not duration
        times GPUs. The message names the line.

    References
    ----------
    Jeon et al., "Analysis of large-scale multi-tenant GPU clusters for DNN training workloads", USENIX ATC 2019.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "philly.csv"
    >>> lines = [",".join(PHILLY), "2017-10-09 07:01:55,66.0,1,66.0,11cb48", "2017-10-09 06:13:03,50.0,4,200.0,6214e9"]
    >>> written = path.write_text("\\n".join(lines))
    >>> jobs = read_philly(path)
    >>> jobs.submit_time.tolist(), jobs.resources.gpus.tolist(), jobs.resources.partition.texts()
    ([0, 2932], [4, 1], ['6214e9', '11cb48'])
    """
    table = _table(path, PHILLY, ())
    submit = table.moments("timestamp")
    gpus, duration, work = table.numbers("num_gpus"), table.decimals("duration"), table.decimals("gpu_time")
    table.refuse("num_gpus", gpus < 1, "but each job has a GPU")
    table.refuse("duration", duration < 0, "but must not be negative")
    table.refuse("gpu_time", np.abs(work - duration * gpus) > 1e-6 * work + 1e-3, "not duration times num_gpus")
    columns = {
        "submit_time": submit - submit.min(),
        "run_time": duration,
        "requested_processors": gpus,
    }
    resources = Resources.of(
        len(table), tasks=gpus, gpus=gpus, gpus_per_task=np.ones_like(gpus), partition=table.texts("cluster")
    )
    workload = table.workload(columns, resources, ["processors are GPUs"], start_time=int(submit.min()))
    return workload.sorted_by_submit()


@names_its_file("gen-parallel")
@explained
def read_gen_parallel(path: str | os.PathLike[str]) -> Workload:
    """Read a table of Gen-Parallel-Workloads: the last 15,000 jobs of Blue Waters, Theta, Helios or Philly.

    Parameters
    ----------
    path
        A CSV file with the columns u_id, user, gpu_num, cpu_num, node_num, interval, run_time, wall_time, new_status.

    Returns
    -------
    Workload
        Submit times are the cumulative sums of the intervals; wall_time is the requested time (the collection calls it
        the time in the system, but it is a limit, mostly in whole minutes, that a tenth to a fifth of the jobs exceed;
        in Helios and Philly it is 0, which means unknown). Processors are cpu_num, or the GPUs where it is 0. Nodes are
        the allocated ones. Pass is status 1, Failed 0, Killed 5.

    Raises
    ------
    InputError
        If the file cannot be read, a column is missing or unknown, or a value is out of range. The message names the
        line.

    References
    ----------
    Soundar Raj et al., "An empirical study of machine learning-based synthetic job trace generation methods", JSSPP
    2024.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "theta.csv"
    >>> lines = [",".join(GEN_PARALLEL), "0,1,0,128,2,0,59.6,60,Pass", "1,7,8,0,2,30,9,0,Killed"]
    >>> written = path.write_text("\\n".join(lines))
    >>> jobs = read_gen_parallel(path)
    >>> jobs.run_time.tolist(), jobs.requested_time.tolist(), jobs.requested_processors.tolist()
    ([60, 9], [60, -1], [128, 8])
    """
    table = _table(path, GEN_PARALLEL, ())
    nodes, cores, gpus = (table.numbers(f"{what}_num") for what in ("node", "cpu", "gpu"))
    intervals, limit = table.numbers("interval"), table.numbers("wall_time")
    table.refuse("node_num", nodes < 1, "but each job has a node")
    table.refuse("cpu_num", (cores < 1) & (gpus < 1), "and gpu_num is 0, too: the job has no processor")
    status = np.array([STATUS.get(text, UNKNOWN) for text in table.texts("new_status")])
    table.refuse("new_status", status == UNKNOWN, "not one of Pass, Failed and Killed")
    processors = np.where(cores > 0, cores, gpus)
    columns = {
        "job_id": table.numbers("u_id"),
        "submit_time": np.cumsum(intervals),
        "run_time": table.decimals("run_time"),
        "requested_processors": processors,
        "requested_time": np.where(limit > 0, limit, UNKNOWN),
        "status": status,
        "user_id": table.numbers("user"),
    }
    spread = gpus % nodes == 0
    resources = Resources.of(
        len(table),
        nodes=nodes,
        tasks=np.maximum(processors, nodes),
        gpus=gpus,
        gpus_per_node=np.where(spread, gpus // nodes, 0),
    )
    notes = []
    if counted := int(np.count_nonzero(cores < 1)):
        notes.append(f"without processors, counted in GPUs: {counted:,}")
    return table.workload(columns, resources, notes)


class _Table:
    """A CSV file as text, cell by cell; errors name the line."""

    def __init__(self, path: str, cells: pd.DataFrame) -> None:
        self._path, self._cells = path, cells

    def __contains__(self, name: str) -> bool:
        return name in self._cells

    def __len__(self) -> int:
        return len(self._cells)

    def refuse(self, name: str, bad: NDArray[np.bool_], what: str) -> None:
        """Raise InputError at the first bad cell, if there is one; lines are numbered as in the file."""
        if bad.any():
            row = int(np.argmax(bad))
            cell = self._cells[name].iloc[row]
            line = int(self._cells.index[row]) + 2
            raise InputError(f"{self._path}, line {line}: {name} is {shown(cell)}, {what}", row=row, line=line)

    def texts(self, name: str) -> list[str]:
        """Return a column of texts, "" where it is empty or the file has no such column."""
        return self._cells[name].tolist() if name in self._cells else [""] * len(self)

    def decimals(self, name: str) -> NDArray[np.float64]:
        """Return a column of numbers, -1 where it is empty or says that there is none."""
        import pandas as pd

        cells = self._cells[name]
        numbers = pd.to_numeric(cells.where(~say_nothing(cells), "-1"), errors="coerce").to_numpy(np.float64)
        self.refuse(name, ~(np.abs(numbers) < 2.0**53), "not a number")
        return np.asarray(numbers)

    def numbers(self, name: str) -> NDArray[np.int64]:
        """Return a column of whole numbers from 0 on, -1 where it is empty."""
        numbers = self.decimals(name)
        empty = say_nothing(self._cells[name])
        self.refuse(name, (numbers != np.floor(numbers)) | ((numbers < 0) & ~empty), "not a whole number from 0 on")
        return numbers.astype(np.int64)

    def moments(self, name: str) -> NDArray[np.int64]:
        """Return a column of dates and times in UTC as Unix times."""
        import pandas as pd

        parsed = pd.to_datetime(self._cells[name], format="ISO8601", errors="coerce", utc=True)
        self.refuse(name, parsed.isna().to_numpy(), "not a time as 2017-10-09 07:01:55")
        return parsed.dt.tz_localize(None).to_numpy().astype("datetime64[s]").astype(np.int64)

    def workload(self, columns: dict[str, Any], resources: Resources, notes: Sequence[str], **more: Any) -> Workload:
        """Return the workload of these columns, with notes in its header."""
        numbers, names = numbered_names(resources)
        header = (" Version: 2.2", f" MaxJobs: {len(self)}", *names, *(f" Note: {note}" for note in notes))
        return Workload.from_columns(
            columns | numbers, name=workload_name(self._path), header=header, resources=resources, **more
        )


def _table(path: str | os.PathLike[str], needed: Sequence[str], others: Sequence[str]) -> _Table:
    """Read a CSV file as text; its columns must be the known ones."""
    import pandas as pd

    name = os.fspath(path)
    with open_input(path) as stream:
        try:
            cells = pd.read_csv(stream, dtype=str, keep_default_na=False, skip_blank_lines=False)
        except ValueError as error:
            raise InputError(f"{name}: this is not a CSV file ({str(error).splitlines()[0]})") from None
    if not isinstance(cells.index, pd.RangeIndex):
        raise InputError(f"{name}: rows have more cells than the header")
    cells = cells[(cells != "").any(axis=1)]
    for column in needed:
        if column not in cells:
            raise InputError(f"{name}: the column {column} is missing; this log has {', '.join((*needed, *others))}")
    for column in map(str, cells.columns):
        if column not in (*needed, *others):
            raise InputError(f"{name}: unknown column {shown(column)}; this log has {', '.join((*needed, *others))}")
    if cells.empty:
        raise InputError(f"{name}: no jobs follow the header")
    return _Table(name, cells)
