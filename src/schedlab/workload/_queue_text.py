"""The jobs of a queue as text: what squeue prints with a header, and the same cells from `scontrol show job`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from schedlab.durations import parse_time_limit
from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.sbatch import mebibytes, request_of

COMMAND = 'TZ=UTC SLURM_BITSTR_LEN=0 squeue --all --format="%i|%u|%a|%P|%q|%T|%V|%S|%l|%C|%D|%m|%b|%f|%r|%E|%Q|%j|%N"'
"""The command to run on a site; `squeue --all --json` and `scontrol show job` have the same data and more.

Without the environment variable, Slurm cuts lists of tasks of arrays; with `--array`, 22.05 loses the last of 1-199:2.
"""

NEEDED = ("JOBID", "SUBMIT_TIME", "CPUS")
NOT_SAID = ("", "N/A", "(null)", "Unknown", "NONE", "None", "NULL")
NO_LIMIT = ("UNLIMITED", "INVALID", "NOT_SET", "Partition_Limit")
BEGIN_TIME = "BeginTime"
"""Slurm's reason of a job that waits for the moment of `--begin`."""

_JOB = re.compile(r"(\d{1,15})(?:_(?:\[([^\]]*)\]?|(\d{1,9})))?(?:\+(\d{1,9}))?")
"""7, 7_3, 7_[4-9%2] and 7+1; a long list of tasks may lack its end."""


def rows_of_squeue(content: bytes, name: str, timezone: str) -> list[dict[str, Any]]:
    """Return one record per line after the header.

    Raises
    ------
    InputError
        If columns are of a fixed width, or a needed one is missing, or a line or value is not valid.
    """
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
            rows.append(row_of(dict(zip(header, (cell.strip() for cell in cells), strict=True)), timezone))
        except InputError as error:
            raise InputError(f"{name}, line {number}: {error}", line=number) from None
    return rows


def row_of(cells: Mapping[str, str], timezone: str) -> dict[str, Any]:
    """Return the record of one job, from texts by squeue's labels."""

    def text(*labels: str) -> str | None:
        return next((cells[label] for label in labels if cells.get(label, "") not in NOT_SAID), None)

    cpus, nodes = whole("CPUS", text("CPUS") or "0"), whole("NODES", (text("NODES") or "0").split("-")[0])
    each = whole("CORES_PER_TASK", text("CORES_PER_TASK") or "1")
    tasks = whole("TASKS", text("TASKS") or "0")
    if tasks * each != cpus:
        tasks, each = max(cpus, 1), 1
    limit = text("TIME_LIMIT")
    memory = text("MIN_MEMORY") or "0"
    words = {"--gres": text("TRES_PER_NODE", "GRES")}
    words |= {"--gpus": text("TRES_PER_JOB"), "--gpus-per-task": text("TRES_PER_TASK")}
    named = {option: told for option, told in words.items() if told and (option == "--gres" or "gpu" in told)}
    gpus = request_of([word for option in named.items() for word in option])
    submit, start, eligible = (_moment(label, text(label), timezone) for label in TIMES)
    reason = (text("REASON") or text("NODELIST(REASON)") or "").strip("()")
    if reason == BEGIN_TIME and eligible == UNKNOWN:
        eligible = start  # what squeue gives as the start of such a job is not before it
    if submit == UNKNOWN:
        raise InputError(
            f"SUBMIT_TIME is {shown(cells.get('SUBMIT_TIME', ''))}, not a time such as 2026-04-01T10:00:00"
        )
    return _named(cells, text) | {
        "state": text("STATE", "ST") or "PENDING",
        "submit": submit,
        "start": start,
        "eligible": eligible,
        "requested_time": UNKNOWN if limit is None or limit in NO_LIMIT else parse_time_limit(limit),
        "requested_processors": cpus,
        "nodes": nodes,
        "tasks": tasks,
        "cores_per_task": each,
        "memory_per_core" if memory.endswith("c") else "memory_per_node": mebibytes(memory.rstrip("cn")),
        "request": gpus,
        "gpus": gpus.gpus,
        "gpus_per_node": gpus.gpus_per_node,
        "gpus_per_task": gpus.gpus_per_task,
        "gpu_type": gpus.gpu_type,
        "exclusive": int(_is_exclusive(cells)),
        "reason": reason,
        "dependency": text("DEPENDENCY") or "",
        "tells_why": not {"REASON", "NODELIST(REASON)", "DEPENDENCY"}.isdisjoint(cells),
        "priority": _priority(text("PRIORITY")),
        "on": _held_on(text("NODELIST"), cells.get("HELD", "")),
    }


def _held_on(names: str | None, details: str) -> tuple[tuple[str, int], ...]:
    """Return the nodes on which a job runs, as host lists, and the cores that it holds on each, 0 if untold."""
    found = tuple(
        (nodes, sum(int(last or first) - int(first) + 1 for first, last in _SPAN.findall(cpus)))
        for nodes, cpus in _HELD.findall(details)
    )
    return found or (((names, 0),) if names else ())


_HELD = re.compile(r"Nodes=(\S+) CPU_IDs=(\S+)")
_SPAN = re.compile(r"(\d+)(?:-(\d+))?")


TIMES = ("SUBMIT_TIME", "START_TIME", "ELIGIBLE_TIME")


def _named(cells: Mapping[str, str], text: Any) -> dict[str, Any]:
    """Return the number of a job, the array or heterogeneous job of which it is a part, and its names."""
    found = _JOB.fullmatch(cells.get("JOBID", ""))
    if found is None:
        raise InputError(f"JOBID is {shown(cells.get('JOBID', ''))}, not a whole number")
    number, several, one, offset = found.groups()
    if several and not found[0].endswith("]"):
        several += "..."  # cut by squeue without a sign
    tasks = text("ARRAY_TASK_ID") or several or one or ""
    het = text("HET_JOB_ID") or (number if offset else "")
    place = text("HET_JOB_OFFSET") or offset or "0"
    return {
        "job_id": int(number),
        "array": str(whole("ARRAY_JOB_ID", text("ARRAY_JOB_ID") or number)) if tasks else "",
        "task_text": tasks,
        "array_limit": whole("ARRAY_LIMIT", text("ARRAY_LIMIT") or "0"),
        "identifier": f"{whole('HET_JOB_ID', het)}+{whole('HET_JOB_OFFSET', place)}" if het else number,
        "user_id": text("USER"),
        "group_id": text("ACCOUNT"),
        "partition_id": text("PARTITION"),
        "queue_id": text("QOS"),
        "executable_id": text("NAME"),
        "constraint": text("FEATURES"),
        "partition": text("PARTITION"),
        "account": text("ACCOUNT"),
        "qos": text("QOS"),
        "reservation": text("RESERVATION"),
    }


def _is_exclusive(cells: Mapping[str, str]) -> bool:
    """Return whether a job wants its nodes for itself: since Slurm 26.05, scontrol says so apart from sharing."""
    if "EXCLUSIVE" in cells:
        return cells["EXCLUSIVE"] == "NODE"
    return cells.get("OVER_SUBSCRIBE") == "NO"


def _priority(text: str | None) -> float:
    """Return a priority, which squeue prints as a whole number or as a fraction of the largest; -1 if it is unknown."""
    if text is None:
        return UNKNOWN
    if re.fullmatch(r"\d{1,12}(\.\d{1,20})?", text) is None:
        raise InputError(f"PRIORITY is {shown(text)}, not a number")
    return float(text)


def whole(label: str, text: str) -> int:
    """Return the whole number in a text; raise InputError if it is none."""
    if not text.isdecimal() or len(text) > 15:
        raise InputError(f"{label} is {shown(text)}, not a whole number")
    return int(text)


def _moment(label: str, text: str | None, timezone: str) -> int:
    """Return the Unix time of a text, -1 without one."""
    from datetime import datetime
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if text is None:
        return UNKNOWN
    if text.isdecimal():
        return whole(label, text)
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(timezone)).timestamp())
    except ZoneInfoNotFoundError:
        raise InputError(f"unknown time zone {timezone!r}: name one such as Europe/Stockholm or UTC") from None
    except ValueError:
        raise InputError(f"{label} is {shown(text)}, not a time such as 2026-04-01T10:00:00") from None


def is_squeue_header(line: str) -> bool:
    """Return whether a line has names of squeue's columns."""
    labels = {label.strip().upper() for label in line.split("|")}
    return "JOBID" in labels and len(labels & {"SUBMIT_TIME", "TIME_LIMIT", "NODES", "CPUS", "MIN_MEMORY", "ST"}) > 1
