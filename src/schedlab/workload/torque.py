"""Read the accounting log of Torque and PBS: one record per line, key=value words."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.workload._accounting import (
    by_distinct,
    durations,
    kilobytes,
    per_processor,
    read_text,
    split_lines,
    whole_numbers,
    workload_of_records,
)
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.origin import names_its_file
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

RECORD = r"^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];[^;]*;"
ENDED = r"^.{19};E;"
COMPLETED, FAILED, CANCELLED = 1, 0, 5
_SLOTS = r"\d+(-\d+)?(\*\d+)?"
_HOST = rf"[^/+]+/{_SLOTS}(,{_SLOTS})*"
HOSTS = rf"^{_HOST}(\+{_HOST})*$"
KILLED = 271
"""Exit status of a job that a signal of `qdel` ended: 256 and SIGTERM."""
NAMES = {"user_id": ("user", "owner"), "group_id": ("account", "group"), "executable_id": ("jobname",)}
NAMES["queue_id"] = ("queue",)
REQUESTED = ("Resource_List.ncpus", "Resource_List.procs", "Resource_List.mppwidth", "Resource_List.size")
OTHER_GPUS = "Resource_List.naccelerators"
GPUS = ("exec_vnode", "exec_gpus", "Resource_List.ngpus", "Resource_List.select", "Resource_List.nodes")
"""What says how many GPUs a job had or, further down, asked for."""

KEYS = (
    *("ctime", "start", "end", "Exit_status", "exec_host", "total_execution_slots", *GPUS[:4], OTHER_GPUS),
    *("Resource_List.walltime", "Resource_List.mem", "Resource_List.nodes", *REQUESTED),
    *("resources_used.cput", "resources_used.mem"),
    *(key for keys in NAMES.values() for key in keys),
)
BLOCK = 1 << 12


@names_its_file("torque")
@explained
def read_torque(path: str | os.PathLike[str]) -> Workload:
    """Read an accounting log of Torque or PBS (server_priv/accounting/YYYYMMDD), plain or gzip-compressed.

    Only records of type E are used, one for each run of a job, and duplicates are ignored; a job that was deleted
    before it started has none, so it is missing. The submit time is the creation of the job (ctime). Processors are
    those of exec_host or, without it, those requested in Resource_List. GPUs (ngpus of PBS, gpus of Torque) are
    `Workload.resources`, if any job has some.

    Parameters
    ----------
    path
        The file; the files of several days may be concatenated.

    Raises
    ------
    InputError
        If the file cannot be read, is empty, has no record of type E, or a line is truncated or lacks a time. The
        message names the line.

    References
    ----------
    Adaptive Computing, "TORQUE administrator guide", accounting records.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "20260401"
    >>> written = path.write_text("04/01/2026 11:05:00;E;7.head;user=ann queue=batch ctime=1775037600 "
    ...     "start=1775037900 exec_host=n1/0+n1/1 Resource_List.walltime=02:00:00 end=1775041500 Exit_status=0")
    >>> jobs = read_torque(path)
    >>> jobs.wait_time.tolist(), jobs.run_time.tolist(), jobs.requested_time.tolist(), jobs.job_processors.tolist()
    ([300], [3600], [7200], [2])
    """
    import pandas as pd

    records = _Records(path)
    submit, start, end = (records.times(key) for key in ("ctime", "start", "end"))
    records.refuse(submit <= 0, "ctime is missing; the line is truncated")
    records.refuse(end <= 0, "end is missing; the line is truncated")
    started = start > 0
    records.refuse(started & (end < start), "the job ends before it starts")
    allocated, requested = _allocated(records), _requested(records)
    processors = np.where(allocated > 0, allocated, requested)
    known: dict[str, Any] = {
        "job_id": _numbers_of_jobs(records),
        "submit": submit,
        "start": np.where(started, start, UNKNOWN),
        "run_time": np.where(started, end - start, UNKNOWN),
        "requested_time": _seconds(records, "Resource_List.walltime"),
        "allocated_processors": allocated,
        "requested_processors": requested,
        "average_cpu_time": per_processor(durations(records.texts("resources_used.cput")), processors),
        "used_memory": per_processor(kilobytes(records.texts("resources_used.mem"))[0], processors),
        "requested_memory": per_processor(kilobytes(records.texts("Resource_List.mem"))[0], processors),
        "status": _status(records.numbers("Exit_status")),
    }
    known |= {field: records.names(*keys) for field, keys in NAMES.items()}
    gpus = _gpus(records)
    if gpus.any():
        known |= {"tasks": np.maximum(processors, 1), "gpus": gpus}
    limits = records.texts("Resource_List.walltime").is_valid().to_numpy()
    counts = {
        "records of other types than E left out": records.others,
        "in the file more than once, counted once": records.again,
        "ask for accelerators (naccelerators), which are not read": np.count_nonzero(records.numbers(OTHER_GPUS) > 0),
        "limits that are no durations, taken as unknown": np.count_nonzero(limits & (known["requested_time"] < 0)),
    }
    told = [f"{what}: {count:,}" for what, count in counts.items() if count]
    return workload_of_records(pd.DataFrame(known), path, told)


class _Records:
    """The records of jobs that ended, as text, and the line of each."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        import pyarrow.compute as pc

        self.path = os.fspath(path)
        lines = split_lines(read_text(path))
        empty = pc.match_substring_regex(lines, r"^\s*$")
        strange = pc.invert(pc.or_(empty, pc.match_substring_regex(lines, RECORD))).to_numpy()
        if strange.any():
            line = int(np.argmax(strange)) + 1
            raise InputError(
                f"{self.path}, line {line}: not a record such as 04/01/2026 11:05:00;E;7.head;..., or it is truncated",
                line=line,
            )
        ended = pc.match_substring_regex(lines, ENDED).to_numpy()
        if not ended.any():
            raise InputError(f"{self.path}: no record of type E, so no job has ended")
        records = lines.filter(ended)
        again = records.to_pandas().duplicated().to_numpy()
        self.lines = np.flatnonzero(ended)[~again] + 1
        self.again = int(np.count_nonzero(again))
        self.others = len(lines) - int(pc.sum(empty).as_py()) - len(records)
        self.identifiers, self.words = _words(records.filter(~again))

    def __len__(self) -> int:
        return len(self.lines)

    def texts(self, key: str) -> pa.ChunkedArray:
        """Return the values of a key, null where it is absent."""
        return self.words[key]

    def numbers(self, key: str) -> NDArray[np.int64]:
        """Return the whole numbers of a key, -1 where it has none."""
        import pyarrow.compute as pc

        column = self.texts(key)
        return whole_numbers(pc.if_else(pc.match_substring_regex(column, r"^-?\d{1,18}$"), column, None))

    def times(self, key: str) -> NDArray[np.int64]:
        """Return the Unix times of a key, -1 where it is absent."""
        found = self.numbers(key)
        self.refuse((found < 0) & self.texts(key).is_valid().to_numpy(), f"{key} is not a Unix time")
        return found

    def names(self, *keys: str) -> pd.Series[Any]:
        """Return the values of the first key that a record has, without the host of a user."""
        import pyarrow.compute as pc

        found = pc.coalesce(*(self.texts(key) for key in keys))
        names: pd.Series[Any] = pc.replace_substring_regex(found, r"@.*$", "").to_pandas()
        return names

    def refuse(self, bad: NDArray[np.bool_], what: str) -> None:
        """Raise InputError at the first bad record, if there is one."""
        if bad.any():
            line = int(self.lines[np.argmax(bad)])
            raise InputError(f"{self.path}, line {line}: {what}", line=line)


def _words(records: pa.ChunkedArray) -> tuple[pa.ChunkedArray, dict[str, pa.ChunkedArray]]:
    """Return the identifiers of jobs, and the values of the keys that are used."""
    import pyarrow as pa

    identifiers: list[pa.Array] = []
    blocks: dict[str, list[pa.Array]] = {key: [] for key in KEYS}
    for start in range(0, len(records), BLOCK):  # so that the words of all lines are never in memory together
        parts = [line.split(";", 3) for line in records.slice(start, BLOCK).to_pylist()]
        identifiers.append(pa.array([part[2] for part in parts], pa.string()))
        words = [dict(word.split("=", 1) for word in part[3].split() if "=" in word) for part in parts]
        for key, arrays in blocks.items():
            arrays.append(pa.array([one.get(key) for one in words], pa.string()))
    return pa.chunked_array(identifiers), {key: pa.chunked_array(arrays) for key, arrays in blocks.items()}


def _numbers_of_jobs(records: _Records) -> NDArray[np.int64]:
    """Return the numbers before the name of the server; numbers from 1 if there are arrays, as 7[3].head."""
    import pyarrow.compute as pc

    found = pc.extract_regex(records.identifiers, r"^(?P<number>\d{1,18})(?:\..*)?$")
    number = whole_numbers(pc.struct_field(found, "number"))
    return number if bool((number >= 0).all()) else np.arange(1, len(records) + 1)


def _seconds(records: _Records, key: str) -> NDArray[np.int64]:
    """Return a duration, as 02:00:00 or as seconds; -1 where it is unknown."""
    clock = durations(records.texts(key))
    seconds = np.where(np.isnan(clock), records.numbers(key), np.nan_to_num(clock))
    return np.where(seconds > 0, seconds, UNKNOWN).astype(np.int64)


def _status(exit_status: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.select([exit_status == 0, exit_status == KILLED], [COMPLETED, CANCELLED], FAILED)


def _allocated(records: _Records) -> NDArray[np.int64]:
    """Return the processors that each job was allocated, -1 where that is unknown."""
    import pyarrow.compute as pc

    total, hosts = records.numbers("total_execution_slots"), records.texts("exec_host")
    strange = pc.fill_null(pc.invert(pc.match_substring_regex(hosts, HOSTS)), False).to_numpy()
    records.refuse(strange & (total <= 0), "exec_host is not written as n1/0+n1/1, n1/0-7 or n1/0*8")

    def slots(texts: pa.Array) -> NDArray[np.int64]:
        return np.array([UNKNOWN if text is None else _slots(text) for text in texts.to_pylist()], dtype=np.int64)

    return np.where(total > 0, total, by_distinct(hosts, slots))


INDEX = re.compile(r"\d{1,9}")
MOST_SLOTS = 1 << 31
"""Of a job; more is a mistake."""


def _slots(hosts: str) -> int:
    """Count slots, written as n1/0+n1/1, as n1/0-7+n2/0,2-3 or, by PBS, as n1/0*8+n2/0*8."""
    if not re.search(r"/[^+]*[-*,]", hosts):
        return hosts.count("+") + 1
    total = 0
    for host in hosts.split("+"):
        indices, _, times = host.rpartition("/")[2].partition("*")
        for part in indices.split(","):
            first, _, last = part.partition("-")
            span = int(last) - int(first) + 1 if INDEX.fullmatch(first) and INDEX.fullmatch(last) else 1
            total += span * (int(times) if INDEX.fullmatch(times) else 1)
    return total if total < MOST_SLOTS else UNKNOWN


def _requested(records: _Records) -> NDArray[np.int64]:
    """Return the processors that each job requested, -1 where that is unknown."""

    def processors(texts: pa.Array) -> NDArray[np.int64]:
        return np.array([UNKNOWN if text is None else _of_nodes(text) for text in texts.to_pylist()], dtype=np.int64)

    found = by_distinct(records.texts("Resource_List.nodes"), processors)
    for key in REQUESTED:
        number = records.numbers(key)
        found = np.where(number > 0, number, found)
    return np.asarray(found)


def _of_nodes(request: str) -> int:
    """Count the processors of a request for nodes, such as 2:ppn=16, n1:ppn=4+n2:ppn=4 or 3:bigmem."""
    total = 0
    for group in request.split("+"):
        count, *properties = group.split(":")
        each = next((int(one[4:]) for one in properties if re.fullmatch(r"ppn=\d{1,9}", one)), 1)
        total += (int(count) if re.fullmatch(r"\d{1,9}", count) else 1) * each
    return total


def _gpus(records: _Records) -> NDArray[np.int64]:
    """Return the GPUs that each job had or, where that is not said, asked for; 0 where it asked for none."""

    def count(texts: pa.Array) -> NDArray[np.int64]:
        return np.array([_gpus_in(text or "") for text in texts.to_pylist()], dtype=np.int64)

    gpus = np.zeros(len(records), dtype=np.int64)
    for key in GPUS:
        gpus = np.where(gpus > 0, gpus, by_distinct(records.texts(key), count))
    return gpus


def _gpus_in(text: str) -> int:
    """Count GPUs, written as 2, as (n1:ncpus=4:ngpus=2)+(n2:ngpus=2), as 2:ncpus=4:ngpus=1+1:ncpus=8, as 2:ppn=4:gpus=1
    or as n1-gpu/0+n1-gpu/1."""
    if text.isdecimal():
        return int(text[:9])
    if "-gpu/" in text:
        return text.count("-gpu/")
    total = 0
    for chunk in text.split("+"):
        each = re.search(r":n?gpus=(\d{1,9})", chunk)
        times = re.match(r"(\d{1,9}):", chunk)
        total += int(each[1]) * (int(times[1]) if times else 1) if each else 0
    return total
