"""What `sacct --json` of Slurm 21.08 and later says of jobs, as the columns of its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload._sacct_resources import ARRAY_LIMIT
from schedlab.workload.slurm_json import first_state, jobs_of, kind_of_jobs, number_of

if TYPE_CHECKING:
    import pyarrow as pa

PER_CPU = 1 << 63
"""Up to Slurm 22.05, memory is one number: with this bit it is for each CPU, without it for each node."""

NOT_SAID = ("", "None assigned", "None", "(null)")


class JsonTable(NamedTuple):
    """The cells as text by sacct's names, null where unknown; the number of each row's job; the steps in all jobs."""

    table: pa.Table
    numbers: list[str]
    steps: int


def table_of_json(content: bytes, name: str) -> JsonTable:
    """Return the columns of a document.

    Raises
    ------
    InputError
        If it is not the output of `sacct --json`, has no job, or a value is not valid; the message names the job.
    """
    import pyarrow as pa

    jobs = jobs_of(content, name)
    if not jobs:
        raise InputError(f"{name}: the list of jobs is empty")
    if kind_of_jobs(jobs) != "sacct":
        raise InputError(f"{name}: these are the jobs of a queue (squeue, scontrol), not the output of sacct --json")
    rows, steps = [], 0
    for place, job in enumerate(jobs, 1):
        try:
            rows.append(_cells(job))
            steps += len(job.get("steps") or ())
        except (InputError, TypeError, ValueError, AttributeError) as error:
            number = job.get("job_id", place) if isinstance(job, dict) else place
            raise InputError(f"{name}, job {shown(number)}: {error}") from None
    schema = pa.schema([(label, pa.string()) for label in rows[0]])
    table = pa.Table.from_pylist(rows, schema)
    known = [label for label in table.column_names if label in ALWAYS or table[label].null_count < len(table)]
    return JsonTable(table.select(known), [str(row["JobIDRaw"]) for row in rows], steps)


ALWAYS = ("JobID", "JobIDRaw", "State", "Submit", "Start", "End")


def _cells(job: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the cells of one job."""
    time, required = _part(job, "time"), _part(job, "required")
    tres, array = _part(job, "tres"), _part(job, "array")
    cells: dict[str, Any] = {
        "JobID": _identifier(job),
        "JobIDRaw": number_of("job_id", job.get("job_id")),
        "Cluster": job.get("cluster"),
        "User": job.get("user") or _part(job, "association").get("user"),
        "Account": job.get("account"),
        "Group": job.get("group"),
        "Partition": job.get("partition"),
        "QOS": job.get("qos"),
        "JobName": job.get("name"),
        "State": first_state(_part(job, "state").get("current")),
        **{label: number_of(f"time.{key}", time.get(key)) or None for label, key in TIMES.items()},
        "ElapsedRaw": number_of("time.elapsed", time.get("elapsed")),
        "TimelimitRaw": number_of("time.limit", time.get("limit")),
        "ReqCPUS": number_of("required.CPUs", required.get("CPUs", required.get("cpus"))),
        "NNodes": number_of("allocation_nodes", job.get("allocation_nodes")),
        "ReqMem": _memory(required),
        "ReqTRES": _tres(tres.get("requested")),
        "AllocTRES": _tres(tres.get("allocated")),
        "NodeList": job.get("nodes"),
        "Constraints": job.get("constraints"),
        "Reservation": _part(job, "reservation").get("name") or None,
        "SubmitLine": job.get("submit_line"),
        "TotalCPU": _seconds(_part(time, "total")),
        ARRAY_LIMIT: _most_tasks(array),
    }
    return {label: None if value is None or value in NOT_SAID else str(value) for label, value in cells.items()}


TIMES = {"Submit": "submission", "Eligible": "eligible", "Start": "start", "End": "end"}


def _part(job: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object within another, an empty one if it is missing."""
    value = job.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise InputError(f"{name} is {shown(value)}, not an object")
    return value or {}


def _identifier(job: Mapping[str, Any]) -> str:
    """Return the number of a job as sacct's text has it: 7, 7_3 and 7_[4-9] of an array, 7+1 of a heterogeneous job."""
    number = number_of("job_id", job.get("job_id"))
    if number is None:
        raise InputError("job_id is missing, but every job has a number")
    array, het = _part(job, "array"), _part(job, "het")
    whole, task, waiting = number_of("array.job_id", array.get("job_id")), array.get("task_id"), array.get("task")
    if whole and (place := number_of("array.task_id", task)) is not None:
        return f"{whole}_{place}"
    if whole and isinstance(waiting, str) and waiting not in NOT_SAID:
        return f"{whole}_[{waiting}]"
    first, offset = number_of("het.job_id", het.get("job_id")), number_of("het.job_offset", het.get("job_offset"))
    return f"{first}+{offset}" if first and offset is not None else str(number)


def _most_tasks(array: Mapping[str, Any]) -> int | None:
    """Return how many tasks of an array may run at a time; None for any number."""
    most = _part(_part(_part(array, "limits"), "max"), "running").get("tasks")
    return number_of("array.limits", most) or None


def _memory(required: Mapping[str, Any]) -> str | None:
    """Return the requested memory, in MiB per node or per CPU."""
    if (each := number_of("required.memory", required.get("memory"))) is not None:
        return f"{each - PER_CPU}Mc" if each >= PER_CPU else f"{each}Mn"
    per_cpu, per_node = (
        number_of(f"required.{name}", required.get(name)) for name in ("memory_per_cpu", "memory_per_node")
    )
    return f"{per_cpu}Mc" if per_cpu else None if per_node is None else f"{per_node}Mn"


def _tres(resources: Any) -> str | None:
    """Return trackable resources as text, such as cpu=8,mem=512M,gres/gpu:a100=2; memory is in MiB."""
    parts = []
    for one in resources or ():
        kind, name, count = one.get("type"), one.get("name"), number_of("tres.count", one.get("count"))
        if count is not None:
            parts.append(f"{kind}{f'/{name}' if name else ''}={count}{'M' if kind == 'mem' else ''}")
    return ",".join(parts) or None


def _seconds(time: Mapping[str, Any]) -> str | None:
    """Return processor time as minutes and seconds."""
    seconds = number_of("time.total.seconds", time.get("seconds"))
    if seconds is None:
        return None
    return f"{seconds // 60}:{seconds % 60:02d}.{number_of('microseconds', time.get('microseconds')) or 0:06d}"
