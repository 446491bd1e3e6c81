"""The jobs of a queue as JSON: what `squeue --json`, `scontrol show job --json` and slurmrestd print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload._queue_text import NOT_SAID, whole
from schedlab.workload._sacct_wishes import wish_of
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.sbatch import request_of
from schedlab.workload.slurm_json import SHORT, first_state, kind_of_jobs, number_of

TOO_MUCH = 2**53
"""No job has as much of anything, and the numbers of all jobs can be added up."""

MARKS = {"cpus_per_task": SHORT, "tasks_per_node": SHORT}
"""Fields of 16 bits, whose largest numbers mean "no value"."""


def rows_of_json(jobs: Sequence[Any], name: str) -> list[dict[str, Any]]:
    """Return one record per job.

    Raises
    ------
    InputError
        If the jobs are those of sacct, or a value is not valid; the message names the job.
    """
    if kind_of_jobs(jobs) == "sacct":
        raise InputError(f"{name}: this is the output of sacct --json: accounting, not the queue of a moment")
    rows = []
    for place, job in enumerate(jobs, 1):
        try:
            rows.append(_row_of(job))
        except (InputError, TypeError, ValueError, AttributeError) as error:
            number = job.get("job_id", place) if isinstance(job, dict) else place
            raise InputError(f"{name}, job {shown(number)}: {error}") from None
    return rows


def _row_of(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of one job."""

    def number(name: str) -> int:
        found = number_of(name, job.get(name), MARKS.get(name, ())) or 0
        if found >= TOO_MUCH:
            raise InputError(f"{name} is {shown(found)}, more than there can be")
        return found

    per_task, tasks, cpus = max(number("cpus_per_task"), 1), number("tasks"), number("cpus")
    if tasks < 1 or tasks * per_task != cpus:
        tasks, per_task = max(cpus, 1), 1
    words = [part for name in ("per_node", "per_job", "per_task") for part in _gpu_words(job, name)]
    gpus = request_of(words)
    return _named(job) | {
        "state": first_state(job.get("job_state", "PENDING")),
        "submit": number("submit_time"),
        "start": number("start_time") or UNKNOWN,
        "eligible": number("eligible_time") or UNKNOWN,
        "requested_time": 60 * number("time_limit") or UNKNOWN,
        "requested_processors": cpus,
        "nodes": number("node_count"),
        "tasks": tasks,
        "cores_per_task": per_task,
        "tasks_per_node": number("tasks_per_node"),
        "memory_per_node": number("memory_per_node"),
        "memory_per_core": number("memory_per_cpu"),
        "request": gpus,
        "gpus": gpus.gpus,
        "gpus_per_node": gpus.gpus_per_node,
        "gpus_per_task": gpus.gpus_per_task,
        "gpu_type": gpus.gpu_type,
        "exclusive": int(_is_exclusive(job)),
        "reason": _name(job, "state_reason") or "",
        "dependency": _name(job, "dependency") or "",
        "tells_why": "state_reason" in job or "dependency" in job,
        "priority": _priority(job),
        "on": _held_on(job),
    }


def _held_on(job: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    """Return the nodes on which a job runs, as host lists, and the cores that it holds on each, 0 if untold."""
    told, names = job.get("job_resources"), job.get("nodes")
    if not isinstance(names, str) or names in NOT_SAID:
        return ()
    if not isinstance(told, Mapping):
        return ((names, 0),)
    of_nodes = told.get("allocated_nodes", [])  # Slurm 22.05
    if isinstance(nodes := told.get("nodes"), Mapping):
        of_nodes = nodes.get("allocation", [])
    found = tuple((str(one.get("nodename", one.get("name"))), _cores_held(one)) for one in of_nodes)
    return found or ((names, 0),)


def _cores_held(node: Mapping[str, Any]) -> int:
    """Return the cores of a node that a job holds: a number, or the allocated ones of each socket."""
    if isinstance(cpus := node.get("cpus"), Mapping):
        return int(cpus.get("count", 0))
    sockets = node.get("sockets", {})
    return sum(state == "allocated" for socket in sockets.values() for state in socket.get("cores", {}).values())


def _named(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the number of a job, the array or heterogeneous job of which it is a part, and its names."""
    number = whole("job_id", str(job.get("job_id")))
    task = number_of("array_task_id", job.get("array_task_id"))
    tasks = str(task) if task is not None else _name(job, "array_task_string") or ""
    array = number_of("array_job_id", job.get("array_job_id")) or number
    het = number_of("het_job_id", job.get("het_job_id"))
    offset = number_of("het_job_offset", job.get("het_job_offset")) or 0
    return {
        "job_id": number,
        "array": str(array) if tasks else "",
        "task_text": tasks,
        "array_limit": (number_of("array_max_tasks", job.get("array_max_tasks")) or 0) if tasks else 0,
        "identifier": f"{het}+{offset}" if het else str(number),
        "user_id": _name(job, "user_name", "user_id"),
        "group_id": _name(job, "account"),
        "partition_id": _name(job, "partition"),
        "queue_id": _name(job, "qos"),
        "executable_id": _name(job, "name"),
        "constraint": _name(job, "features"),
        "partition": _name(job, "partition"),
        "account": _name(job, "account"),
        "qos": _name(job, "qos"),
        "reservation": _name(job, "resv_name"),
    }


def _priority(job: Mapping[str, Any]) -> int:
    """Return the priority: 0 for a held job, -1 if it is unknown."""
    if job.get("hold") is True:
        return 0
    found = number_of("priority", job.get("priority"))
    return UNKNOWN if found is None else found


def _is_exclusive(job: Mapping[str, Any]) -> bool:
    """Return whether a job wants its nodes for itself.

    `shared` is "none" then in Slurm 22.05, and has it in a list up to data_parser/v0.0.44; `exclusive` was beside it up
    to v0.0.41. In v0.0.45 only the command line tells.
    """
    exclusive, shared, line = job.get("exclusive"), job.get("shared"), job.get("submit_line")
    if exclusive is True or shared == "none":
        return True
    if any(isinstance(told, list) and word in told for told, word in ((exclusive, "true"), (shared, "none"))):
        return True
    offset = number_of("het_job_offset", job.get("het_job_offset")) or 0
    wish = wish_of(line, offset) if isinstance(line, str) else None
    return wish is not None and wish.exclusive == 1


def _gpu_words(job: Mapping[str, Any], what: str) -> Sequence[str]:
    option = {"per_node": "--gres", "per_job": "--gpus", "per_task": "--gpus-per-task"}[what]
    text = job.get(f"tres_{what}")
    wanted = isinstance(text, str) and (what == "per_node" or "gpu" in text)
    return [option, str(text)] if wanted and text not in NOT_SAID else []


def _name(job: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        value = job.get(name)
        if isinstance(value, str | int) and str(value) not in NOT_SAID:
            return str(value)
    return None
