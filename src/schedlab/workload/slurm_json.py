"""What Slurm's tools print as JSON, told apart by its structure: accounting (sacct) or a queue (squeue, scontrol).

Slurm 21.08 and 22.05 write plain numbers, with null or the largest numbers of 16, 32 and 64 bits for "no value" and
"infinite". Later versions write `{"set": true, "infinite": false, "number": 5}`, and lists where there was one state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from schedlab.documents import parse_json
from schedlab.errors import InputError
from schedlab.wording import shown

Kind = Literal["sacct", "squeue"]

INFINITE = (0xFFFFFFFF, 2**64 - 1)
NO_VALUE = (0xFFFFFFFE, 2**64 - 2)
SHORT = (0xFFFF, 0xFFFE)
"""The marks of fields with 16 bits, where larger fields have ordinary numbers."""

OTHERS = {
    **dict.fromkeys(("sinfo", "nodes", "partitions", "reservations", "licenses", "shares"), "the state of a cluster"),
    **dict.fromkeys(("associations", "accounts", "users", "qos", "clusters", "wckeys", "tres"), "a list of sacctmgr"),
    **dict.fromkeys(("statistics", "pings", "ping"), "the state of a daemon"),
}
"""Lists in the JSON of other tools of Slurm, by key."""

_ACCOUNTING = re.compile(r'"(?:association|time|het|required)"\s*:\s*\{|"allocation_nodes"\s*:')
_QUEUE = re.compile(r'"(?:job_state|submit_time|accrue_time|array_job_id|admin_comment|batch_flag)"\s*:')
_FIRST_KEY = re.compile(r'\{\s*"(\w+)"\s*:')


def kind_of_head(head: str) -> Kind | None:
    """Return what the beginning of a file looks like; None if it is not JSON of Slurm's tools.

    Other JSON of Slurm counts as "squeue", whose reader says what it is.

    Examples
    --------
    >>> kind_of_head('{"jobs": [{"account": "oc", "allocation_nodes": 2'), kind_of_head('{"nodes": [{"name": "n1"')
    ('sacct', 'squeue')
    """
    start = head.lstrip()
    if start[:1] != "{" or '"nb_res"' in head:
        return None
    first = _FIRST_KEY.match(start)
    if _ACCOUNTING.search(head) and not _QUEUE.search(head):
        return "sacct"
    ours = _QUEUE.search(head) or '"job_id"' in head or ('"meta"' in head and "lurm" in head)
    return "squeue" if ours or (first and first[1] in OTHERS) else None


def jobs_of(content: bytes, name: str) -> list[Any]:
    """Return the jobs of a document.

    Raises
    ------
    InputError
        If it is not JSON, or has no list of jobs; the message says what it is instead.
    """
    try:
        document = parse_json(content)
    except ValueError as error:
        raise InputError(f"{name}: this is not JSON ({error})") from None
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if isinstance(jobs, list):
        return jobs
    keys = document if isinstance(document, dict) else {}
    other = next((f"; this is {OTHERS[key]} ({key})" for key in keys if key in OTHERS), "")
    raise InputError(f"{name}: not the output of squeue --json or sacct --json, which has a list of jobs{other}")


def kind_of_jobs(jobs: Sequence[Any]) -> Kind:
    """Return whether jobs are of accounting, which nests their times and state, or of a queue.

    Examples
    --------
    >>> kind_of_jobs([{"job_id": 1, "time": {"submission": 5}}]), kind_of_jobs([{"job_id": 1, "submit_time": 5}])
    ('sacct', 'squeue')
    """
    job = jobs[0] if jobs else None
    if not isinstance(job, Mapping) or "submit_time" in job or "job_state" in job:
        return "squeue"
    return "sacct" if isinstance(job.get("time"), Mapping) or isinstance(job.get("state"), Mapping) else "squeue"


def is_infinite(value: Any) -> bool:
    """Return whether a number is infinite, in any of the notations.

    Examples
    --------
    >>> [is_infinite(value) for value in (4294967295, {"set": False, "infinite": True, "number": 0}, 60, None)]
    [True, True, False, False]
    """
    return bool(value.get("infinite", False)) if isinstance(value, Mapping) else value in INFINITE


def number_of(name: str, value: Any, marks: Sequence[int] = ()) -> int | None:
    """Return a number, None if it is not set or infinite.

    Parameters
    ----------
    name
        The field, for the message.
    value
        A number, null, or an object with `set`, `infinite` and `number`.
    marks
        Further numbers that mean "no value" in this field.

    Raises
    ------
    InputError
        If it is no whole number.

    Examples
    --------
    >>> [number_of("cpus", value) for value in (4, {"set": True, "number": 8}, {"set": False, "number": 0}, None)]
    [4, 8, None, None]
    """
    if isinstance(value, Mapping):
        if not value.get("set", True) or value.get("infinite", False):
            return None
        value = value.get("number")
    if value is None or value in (*INFINITE, *NO_VALUE, *marks):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{name} is {shown(value)}, not a whole number")
    return value


def first_state(value: Any) -> str:
    """Return the state of a job, the first of a list: later ones are flags such as COMPLETING.

    Examples
    --------
    >>> first_state("RUNNING"), first_state(["CANCELLED", "COMPLETING"]), first_state(None)
    ('RUNNING', 'CANCELLED', '')
    """
    if isinstance(value, list):
        value = value[0] if value else ""
    return "" if value is None else str(value)
