"""Read the output of `squeue`, the jobs pending and running at a moment, as text with a header or as JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schedlab.documents import parse_json
from schedlab.durations import parse_time_limit
from schedlab.errors import InputError
from schedlab.streams import read_whole
from schedlab.wording import shown
from schedlab.workload._accounting import workload_of_records
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.sbatch import mebibytes, request_of
from schedlab.workload.workload import Workload

COMMAND = 'TZ=UTC squeue --all --array --format="%A|%u|%a|%P|%q|%T|%V|%S|%l|%C|%D|%m|%b|%f|%j"'
"""The command to run on a site; `squeue --all --json` has the same data and more."""

NEEDED = ("JOBID", "SUBMIT_TIME", "CPUS")
NOT_SAID = ("", "N/A", "(null)", "Unknown", "NONE", "None")
RUNNING = ("RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STOPPED", "R", "S", "CG", "CF")
WAITING = ("PENDING", "PD", "REQUEUED", "REQUEUE_HOLD", "RQ", "RH", "SPECIAL_EXIT", "SE")
NO_LIMIT = ("UNLIMITED", "INVALID", "NOT_SET", "Partition_Limit")


def read_squeue(path: str | os.PathLike[str], *, timezone: str = "UTC") -> Workload:
    """Read the jobs that `squeue` shows, plain or gzip-compressed.

    All jobs are pending or running, so their run times are unknown (-1). To simulate from this moment, assume run
    times, as in `jobs.replace(run_time=jobs.requested_time)`.

    Parameters
    ----------
    path
        The text of `squeue --format="%A|%u|...` with its header and "|" between the columns, or the output of
        `squeue --json`. Jobs that have ended are ignored.
    timezone
        Zone of the times in text.

    Raises
    ------
    InputError
        If the file cannot be read, columns are truncated to a width, a needed one is missing, or a value is not valid.
        The message names the line, or the job.

    References
    ----------
    SchedMD, "squeue", manual page of Slurm.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "now.txt"
    >>> lines = ["JOBID|USER|PARTITION|STATE|SUBMIT_TIME|START_TIME|TIME_LIMIT|CPUS|NODES|MIN_MEMORY",
    ...          "7|ann|gpu|RUNNING|2026-04-01T10:00:00|2026-04-01T10:05:00|2:00:00|4|1|8G",
    ...          "8|bob|gpu|PENDING|2026-04-01T10:01:00|N/A|1-00:00:00|64|2|0"]
    >>> written = path.write_text("\\n".join(lines))
    >>> jobs = read_squeue(path)
    >>> jobs.wait_time.tolist(), jobs.requested_time.tolist(), jobs.resources.memory_per_node.tolist()
    ([300, -1], [7200, 86400], [8192, 0])
    """
    import pandas as pd

    name = os.fspath(path)
    content = read_whole(path)
    rows = _rows_of_json(content, name) if content.lstrip()[:1] == b"{" else _rows_of_text(content, name, timezone)
    living = [row for row in rows if row["state"] in (*RUNNING, *WAITING)]
    if not living:
        raise InputError(f"{name}: no job is waiting or running")
    table = pd.DataFrame(living)
    running = table["state"].isin(RUNNING)
    table["start"] = table["start"].where(running, UNKNOWN)
    table["run_time"] = UNKNOWN
    table["status"] = UNKNOWN
    table["allocated_processors"] = table["requested_processors"].where(running, UNKNOWN)
    notes = [f"running: {int(running.sum()):,}", f"waiting: {int((~running).sum()):,}", "run times are unknown"]
    if ended := len(rows) - len(living):
        notes.append(f"ended, left out: {ended:,}")
    return workload_of_records(table.drop(columns="state"), path, notes)


def _rows_of_text(content: bytes, name: str, timezone: str) -> list[dict[str, Any]]:
    """Return one record per line after the header."""
    lines = content.decode("utf-8-sig", errors="replace").splitlines()
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise InputError(f"{name}: the file is empty")
    header = [label.strip().upper() for label in numbered[0][1].split("|")]
    if len(header) == 1:
        raise InputError(f"{name}, line 1: the columns are truncated to a width; create the file with {COMMAND}")
    for needed in NEEDED:
        if needed not in header:
            raise InputError(f"{name}: the column {needed} is missing; create the file with {COMMAND}")
    rows = []
    for number, line in numbered[1:]:
        cells = line.split("|", len(header) - 1)
        if len(cells) < len(header):
            raise InputError(f"{name}, line {number}: {len(cells)} columns instead of {len(header)}", line=number)
        try:
            rows.append(_of_text(dict(zip(header, (cell.strip() for cell in cells), strict=True)), timezone))
        except InputError as error:
            raise InputError(f"{name}, line {number}: {error}", line=number) from None
    return rows


def _of_text(cells: Mapping[str, str], timezone: str) -> dict[str, Any]:
    """Return the record of one line."""

    def text(*labels: str) -> str | None:
        return next((cells[label] for label in labels if cells.get(label, "") not in NOT_SAID), None)

    cpus, nodes = _whole("CPUS", text("CPUS") or "0"), _whole("NODES", (text("NODES") or "0").split("-")[0])
    limit = text("TIME_LIMIT")
    memory = text("MIN_MEMORY") or "0"
    gpus = request_of(["--gres", text("TRES_PER_NODE", "GRES") or "gpu:0"])
    number = (text("JOBID") or "").split("_")[0]
    return {
        "job_id": _whole("JOBID", number),
        "state": text("STATE", "ST") or "PENDING",
        "submit": _moment("SUBMIT_TIME", text("SUBMIT_TIME") or "", timezone),
        "start": _moment("START_TIME", start, timezone) if (start := text("START_TIME")) else UNKNOWN,
        "requested_time": UNKNOWN if limit is None or limit in NO_LIMIT else parse_time_limit(limit),
        "requested_processors": cpus,
        "user_id": text("USER"),
        "group_id": text("ACCOUNT"),
        "partition_id": text("PARTITION"),
        "queue_id": text("QOS"),
        "executable_id": text("NAME"),
        "nodes": nodes,
        "tasks": max(cpus, 1),
        "memory_per_core" if memory.endswith("c") else "memory_per_node": mebibytes(memory.rstrip("cn")),
        "gpus_per_node": gpus.gpus_per_node,
        "gpu_type": gpus.gpu_type,
        "constraint": text("FEATURES"),
        "partition": text("PARTITION"),
        "account": text("ACCOUNT"),
        "qos": text("QOS"),
    }


def _whole(label: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 15:
        raise InputError(f"{label} is {shown(text)}, not a whole number")
    return int(text)


def _moment(label: str, text: str, timezone: str) -> int:
    from datetime import datetime
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if text.isdecimal():
        return int(text)
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(timezone)).timestamp())
    except ZoneInfoNotFoundError:
        raise InputError(f"unknown time zone {timezone!r}: name one such as Europe/Stockholm or UTC") from None
    except ValueError:
        raise InputError(f"{label} is {shown(text)}, not a time such as 2026-04-01T10:00:00") from None


def is_squeue_json(head: str) -> bool:
    """Return whether the beginning of a file looks like the JSON of squeue: Slurm's version, or jobs with its names."""
    start = head.lstrip()
    return start[:1] == "{" and '"nb_res"' not in head and ('"job_id"' in head or ('"meta"' in head and "lurm" in head))


def _rows_of_json(content: bytes, name: str) -> list[dict[str, Any]]:
    """Return one record per job of `squeue --json`."""
    try:
        document = parse_json(content)
    except ValueError as error:
        raise InputError(f"{name}: this is not JSON ({error})") from None
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list):
        raise InputError(f"{name}: this is not the output of squeue --json, which has a list of jobs")
    rows = []
    for place, job in enumerate(jobs, 1):
        try:
            rows.append(_of_json(job))
        except (InputError, TypeError, ValueError, AttributeError) as error:
            number = job.get("job_id", place) if isinstance(job, dict) else place
            raise InputError(f"{name}, job {shown(number)}: {error}") from None
    return rows


def _of_json(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of one job."""
    number = _number_of(job)
    per_task, tasks = max(number("cpus_per_task"), 1), number("tasks")
    cpus = number("cpus")
    if tasks < 1 or tasks * per_task != cpus:
        tasks, per_task = max(cpus, 1), 1
    words = [part for name in ("per_node", "per_job", "per_task") for part in _gpu_words(job, name)]
    gpus = request_of(words)
    state = job.get("job_state", "PENDING")
    exclusive = job.get("exclusive")
    return {
        "job_id": _whole("job_id", str(job.get("job_id"))),
        "state": str(state[0] if isinstance(state, list) and state else state),
        "submit": number("submit_time"),
        "start": number("start_time") or UNKNOWN,
        "requested_time": 60 * number("time_limit") or UNKNOWN,
        "requested_processors": cpus,
        "user_id": _name(job, "user_name", "user_id"),
        "group_id": _name(job, "account"),
        "partition_id": _name(job, "partition"),
        "queue_id": _name(job, "qos"),
        "executable_id": _name(job, "name"),
        "nodes": number("node_count"),
        "tasks": tasks,
        "cores_per_task": per_task,
        "tasks_per_node": number("tasks_per_node"),
        "memory_per_node": number("memory_per_node"),
        "memory_per_core": number("memory_per_cpu"),
        "gpus": gpus.gpus,
        "gpus_per_node": gpus.gpus_per_node,
        "gpus_per_task": gpus.gpus_per_task,
        "gpu_type": gpus.gpu_type,
        "exclusive": int(exclusive is True or (isinstance(exclusive, list) and "true" in exclusive)),
        "constraint": _name(job, "features"),
        "partition": _name(job, "partition"),
        "account": _name(job, "account"),
        "qos": _name(job, "qos"),
        "reservation": _name(job, "resv_name"),
    }


def _number_of(job: Mapping[str, Any]) -> Callable[[str], int]:
    """Return the reader of a job's numbers: plain numbers, or objects with a flag whether they are set; 0 for none."""

    def number(name: str) -> int:
        value = job.get(name)
        if isinstance(value, dict):
            if not value.get("set", True) or value.get("infinite", False):
                return 0
            value = value.get("number")
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"{name} is {shown(value)}, not a whole number")
        # Slurm 21 and 22 print their marks for "no value" and "infinite" as numbers.
        return 0 if value in (0xFFFF, 0xFFFE, 0xFFFFFFFF, 0xFFFFFFFE, 2**64 - 1, 2**64 - 2) else value

    return number


def _gpu_words(job: Mapping[str, Any], what: str) -> Sequence[str]:
    option = {"per_node": "--gres", "per_job": "--gpus", "per_task": "--gpus-per-task"}[what]
    text = job.get(f"tres_{what}")
    return [option, str(text)] if isinstance(text, str) and "gpu" in text else []


def _name(job: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        value = job.get(name)
        if isinstance(value, str | int) and str(value) not in NOT_SAID:
            return str(value)
    return None


def is_squeue_header(line: str) -> bool:
    """Return whether a line has names of squeue's columns."""
    labels = {label.strip().upper() for label in line.split("|")}
    return "JOBID" in labels and len(labels & {"SUBMIT_TIME", "TIME_LIMIT", "NODES", "CPUS", "MIN_MEMORY", "ST"}) > 1
