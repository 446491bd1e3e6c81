"""Read and write workload files of any known format: site logs by their first line, others by the suffix."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from schedlab.arguments import explained
from schedlab.errors import InputError, check_type
from schedlab.streams import open_input
from schedlab.workload._queue_text import is_squeue_header
from schedlab.workload._sacct_columns import USED as SACCT_COLUMNS
from schedlab.workload._sacct_columns import is_xdmod_line
from schedlab.workload._scontrol import is_scontrol
from schedlab.workload.batsim import read_batsim, write_batsim
from schedlab.workload.event_lines import EVENT_LINE, read_event_lines
from schedlab.workload.gpu_logs import (
    GEN_PARALLEL,
    OPENB,
    PHILLY,
    read_gen_parallel,
    read_openb,
    read_philly,
)
from schedlab.workload.lenient import read_leniently
from schedlab.workload.links import left_out
from schedlab.workload.mapped import read_mapped
from schedlab.workload.moab import read_moab
from schedlab.workload.origin import origin_of
from schedlab.workload.sacct import read_sacct
from schedlab.workload.slurm_json import kind_of_head
from schedlab.workload.slurmctld_log import STAMP, read_slurmctld_log
from schedlab.workload.squeue import read_squeue
from schedlab.workload.swf import read_swf, write_swf
from schedlab.workload.tables import read_table, write_table
from schedlab.workload.torque import read_torque
from schedlab.workload.workload import Workload

Format = Literal[
    "swf",
    "batsim",
    "table",
    "sacct",
    "torque",
    "moab",
    "events",
    "slurmctld",
    "squeue",
    "openb",
    "philly",
    "gen-parallel",
]
SITE_LOGS = ("sacct", "torque", "moab", "events", "slurmctld", "squeue", "openb", "philly", "gen-parallel")
ZONELESS = ("sacct", "slurmctld", "squeue")
"""Formats whose times may lack a time zone."""
BATSIM_SUFFIXES = (".json", ".json.gz")
TABLE_SUFFIXES = (".csv", ".csv.gz", ".parquet")
SWF_SUFFIXES = (".swf", ".swf.gz")
READERS: dict[str, Callable[[str | os.PathLike[str]], Workload]] = {
    "swf": read_swf,
    "batsim": read_batsim,
    "table": read_table,
    "torque": read_torque,
    "moab": read_moab,
    "events": read_event_lines,
    "openb": read_openb,
    "philly": read_philly,
    "gen-parallel": read_gen_parallel,
}
HEAD_BYTES = 8192
"""Bytes that suffice to recognise a log by its first line."""
TORQUE_LINE = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;")
MOAB_LINE = re.compile(r"VERSION \d+\s*$|\d\d:\d\d:\d\d\s+\d+:\d+\s")


def format_of(path: str | os.PathLike[str]) -> Format:
    """Return the format that `read_workload` assumes for a file.

    Parameters
    ----------
    path
        The file. Its first line identifies what sacct prints ("sacct") and a queue of squeue or scontrol ("squeue"),
        both as text and as JSON, logs of
        slurmctld ("slurmctld"), accounting logs of Torque and PBS ("torque"), events of Moab ("moab") and of UB CCR's
        Slurm simulator ("events") and published logs of GPU clusters ("openb", "philly", "gen-parallel"), also if it is
        compressed; otherwise its suffix decides, and any other name is SWF.

    Raises
    ------
    InputError
        If it cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "april.csv"
    >>> written = path.write_text("JobID|State|Submit|Start|End|AllocCPUS\\n")
    >>> format_of(path)
    'sacct'
    """
    head = _head(path)
    line = next((line for line in head.splitlines() if line.strip() and not line.startswith("#")), "").lstrip()
    cells, kind = set(line.strip().split(",")), kind_of_head(head)
    first_lines: dict[Format, bool] = {
        "squeue": is_squeue_header(line) or is_scontrol(line) or kind == "squeue",
        "slurmctld": STAMP.match(line) is not None,
        "events": EVENT_LINE.match(line) is not None,
        "openb": cells.issuperset(OPENB),
        "philly": cells.issuperset(PHILLY),
        "gen-parallel": cells.issuperset(GEN_PARALLEL),
        "sacct": kind == "sacct" or _names_sacct_columns(line) or is_xdmod_line(line),
        "torque": TORQUE_LINE.match(line) is not None,
        "moab": MOAB_LINE.match(line) is not None,
    }
    name = os.fspath(path)
    by_suffix: Format = (
        "table" if name.endswith(TABLE_SUFFIXES) else "batsim" if name.endswith(BATSIM_SUFFIXES) else "swf"
    )
    return next((form for form, found in first_lines.items() if found), by_suffix)


def _head(path: str | os.PathLike[str]) -> str:
    """Return the beginning of a file; nothing for a pipe, because it can be read only once."""
    if not Path(path).is_file():
        return ""
    with open_input(path) as stream:
        return stream.read(HEAD_BYTES).decode("utf-8-sig", errors="replace")


def _names_sacct_columns(line: str) -> bool:
    """Return whether a line has names of sacct's columns, including that of the job number."""
    names = set(re.split(r"\W+", line.lower())) if line.lstrip('",\t')[:1].isalpha() else set()
    known = names & {column.lower() for column in SACCT_COLUMNS}
    return len(known) > 1 and not known.isdisjoint(("jobid", "jobidraw"))


@explained
def read_workload(
    path: str | os.PathLike[str],
    processors: int | None = None,
    *,
    timezone: str | None = None,
    columns: Mapping[str, str] | None = None,
    lenient: bool = False,
    het_jobs: Literal["joined", "components"] = "joined",
) -> Workload:
    """Read a workload from a file.

    Parameters
    ----------
    path
        A log of a site (see `format_of`), with any name; Batsim JSON (.json, .json.gz), a table (.csv, .csv.gz,
        .parquet) or, with any other name, SWF.
    processors
        Size of the machine, if it is not the one that the file gives.
    timezone
        For the text of sacct and squeue, for slurmctld.log and with `columns`: the zone of times without one; by
        default UTC.
    columns
        For a CSV or Parquet file of another program: the mapping of its columns, see `read_mapped`.
    lenient
        Skip lines that cannot be read, if they are few (see `schedlab.workload.lenient`); the header of the workload
        lists them with the reasons. For formats with a line per job or event.
    het_jobs
        For sacct and squeue: what becomes of heterogeneous jobs, see `read_sacct`.

    Raises
    ------
    InputError
        If the file cannot be read, see the readers of the formats; or if a time zone is given for a format that needs
        none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.json"
    >>> jobs = Workload.from_columns({"submit_time": [5], "run_time": [60], "requested_processors": [2]})
    >>> write_workload(jobs, path)
    >>> read_workload(path, processors=8)
    <Workload one: 1 jobs, 8 processors>
    """
    form: Format | Literal["mapped"] = "mapped" if columns else format_of(path)
    if timezone is not None and form not in (*ZONELESS, "mapped"):
        raise InputError(
            f"{os.fspath(path)}: times of this format need no time zone: timezone is for sacct, squeue, slurmctld.log "
            "and CSV or Parquet with a mapping of columns"
        )

    def read(file: str | os.PathLike[str]) -> Workload:
        if columns:
            return read_mapped(file, columns, timezone=timezone or "UTC")
        if form == "sacct":
            return read_sacct(file, timezone=timezone or "UTC", het_jobs=het_jobs)
        if form == "squeue":
            return read_squeue(file, timezone=timezone or "UTC", het_jobs=het_jobs)
        return _read(file, form, timezone or "UTC")

    workload = read_leniently(path, read, header=_has_header(path, form)) if lenient else read(path)
    below = () if workload.origin is None else workload.origin.made_from
    origin = origin_of(path, form, below) if lenient or workload.origin is None else workload.origin
    origin = origin.read_with(timezone=timezone, column=dict(columns or {}), lenient=lenient)
    size = workload.processors if processors is None else processors
    return workload.replace(processors=size, origin=origin)


def _read(path: str | os.PathLike[str], form: str, timezone: str) -> Workload:
    """Read a file of a known format."""
    if form == "slurmctld":
        return read_slurmctld_log(path, timezone=timezone).workload.replace(origin=origin_of(path, form))
    return READERS[form](path)


def _has_header(path: str | os.PathLike[str], form: str) -> bool:
    """Return whether a file begins with a line of column names; raise InputError if the format has no lines to skip."""
    head = _head(path)
    line = next((line for line in head.splitlines() if line.strip()), "")
    if form == "batsim" or kind_of_head(head) or is_scontrol(line) or head.startswith("PAR1"):
        raise InputError(f"{os.fspath(path)}: lenient reading needs a format with one job per line")
    if form == "sacct":
        return not is_xdmod_line(line)
    return form in ("mapped", "table", "squeue", "openb", "philly", "gen-parallel")


def lost_in(workload: Workload, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return what jobs carry that `write_workload` omits, given the name of the file."""
    name = os.fspath(path)
    if name.endswith(".parquet"):
        return ()
    distributions = () if workload.distribution is None else ("run-time distributions",)
    return distributions if name.endswith(TABLE_SUFFIXES) else (*distributions, *left_out(workload))


@explained
def write_workload(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write a workload to a file, in the format of its suffix (see `read_workload`); SWF without one.

    Tables keep requests besides processors and time, and own columns; SWF and Batsim's JSON omit them (a note in the
    header of SWF names the columns).

    Raises
    ------
    InputError
        If the suffix is unknown, or if the format cannot hold the workload.
    OutputError
        If the file cannot be written; no partial file is left.
    """
    check_type(workload, Workload, "write_workload takes the workload first, then the path")
    name = os.fspath(path)
    if name.endswith(TABLE_SUFFIXES):
        write_table(workload, path)
    elif name.endswith(BATSIM_SUFFIXES):
        write_batsim(workload, path)
    elif name.endswith(SWF_SUFFIXES) or not Path(name).suffix:
        write_swf(workload, path)
    else:
        known = ", ".join(SWF_SUFFIXES + BATSIM_SUFFIXES + TABLE_SUFFIXES)
        raise InputError(f"{name}: unknown suffix; known are {known}")
