"""The text of `scontrol show job`, in blocks or with `--oneliner`: the same cells as squeue's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from schedlab.errors import InputError
from schedlab.workload._queue_text import row_of

LABELS = {
    "JobId": "JOBID",
    "ArrayJobId": "ARRAY_JOB_ID",
    "ArrayTaskId": "ARRAY_TASK_ID",
    "ArrayTaskThrottle": "ARRAY_LIMIT",
    "HetJobId": "HET_JOB_ID",
    "HetJobOffset": "HET_JOB_OFFSET",
    "UserId": "USER",
    "Account": "ACCOUNT",
    "Partition": "PARTITION",
    "QOS": "QOS",
    "JobState": "STATE",
    "Reason": "REASON",
    "Dependency": "DEPENDENCY",
    "Priority": "PRIORITY",
    "SubmitTime": "SUBMIT_TIME",
    "EligibleTime": "ELIGIBLE_TIME",
    "StartTime": "START_TIME",
    "TimeLimit": "TIME_LIMIT",
    "NumNodes": "NODES",
    "NumCPUs": "CPUS",
    "NumTasks": "TASKS",
    "CPUs/Task": "CORES_PER_TASK",
    "Features": "FEATURES",
    "OverSubscribe": "OVER_SUBSCRIBE",
    "Exclusive": "EXCLUSIVE",
    "Reservation": "RESERVATION",
    "TresPerNode": "TRES_PER_NODE",
    "TresPerJob": "TRES_PER_JOB",
    "TresPerTask": "TRES_PER_TASK",
    "NodeList": "NODELIST",
}
"""squeue's labels of what a job's record has."""

NEEDED = ("JOBID", "SUBMIT_TIME", "CPUS", "STATE")

_BEGIN = re.compile(r"^JobId=\d", re.MULTILINE)
_NAME = re.compile(r"\bJobName=(?P<name>.*?)(?=\s+UserId=|\n|$)")
_HELD = re.compile(r"(?<!\S)Nodes=\S+ CPU_IDs=\S+")
_CELL = re.compile(r"(?<!\S)([A-Za-z][\w/:]*)=(\S*)")


def is_scontrol(line: str) -> bool:
    """Return whether a line begins what `scontrol show job` prints.

    Examples
    --------
    >>> is_scontrol("JobId=7 JobName=run"), is_scontrol("JobID|JobName")
    (True, False)
    """
    return _BEGIN.match(line) is not None


def rows_of_scontrol(content: bytes, name: str, timezone: str) -> list[dict[str, Any]]:
    """Return one record per job.

    Raises
    ------
    InputError
        If a job lacks a needed value, or one is not valid; the message names the line at which the job begins.
    """
    text = content.decode("utf-8-sig", errors="replace")
    rows = []
    for line, block in _blocks(text):
        cells = _cells(block)
        try:
            for needed in NEEDED:
                if needed not in cells:
                    key = next(key for key, label in LABELS.items() if label == needed)
                    raise InputError(f"the job has no {key}; the file is cut short, or not of 'scontrol show job'")
            rows.append(row_of(cells, timezone))
        except InputError as error:
            raise InputError(f"{name}, line {line}: {error}") from None
    return rows


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the text of each job, with the number of its first line."""
    begins = [found.start() for found in _BEGIN.finditer(text)]
    line, before = 1, 0
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        line += text.count("\n", before, begin)
        before = begin
        yield line, text[begin:end]


def _cells(block: str) -> dict[str, str]:
    """Return the texts of a job by squeue's labels.

    A name may have blanks and equals signs in it, so it is taken out first; the command and the paths come behind all
    that is needed, and of several values the first counts.
    """
    name = _NAME.search(block)
    rest = block if name is None else block[: name.start()] + block[name.end() :]
    cells: dict[str, str] = {} if name is None else {"NAME": name["name"].strip()}
    for key, value in _CELL.findall(rest):
        if key in LABELS:
            cells.setdefault(LABELS[key], value)
        elif key in ("MinMemoryNode", "MinMemoryCPU"):
            cells.setdefault("MIN_MEMORY", value + ("c" if key == "MinMemoryCPU" else ""))
    if held := _HELD.findall(rest):  # of --detail
        cells["HELD"] = " ".join(held)
    if "USER" in cells:
        cells["USER"] = cells["USER"].partition("(")[0]
    return cells
