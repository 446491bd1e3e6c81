"""Two workloads as one: the jobs of the second follow those of the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.workload.columns import below
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.submissions import Submission, WorkflowJobs
from schedlab.workload.workload import FIELDS, Workload


def joined(first: Workload, second: Workload) -> Workload:
    """Return one workload with the jobs of both, row after row, and all that ties them together.

    Parameters
    ----------
    first
        Its name, machine, header and rule about requests stay.
    second
        Its dependencies, workflows, laws and requests for resources come with its jobs.

    Examples
    --------
    >>> one = Workload.from_columns(dict(submit_time=[0], run_time=[9], requested_processors=[1]), processors=4)
    >>> joined(one, one.replace(submit_time=[5])).submit_time.tolist()
    [0, 5]
    """
    columns: dict[str, Any] = {field: below(getattr(first, field), getattr(second, field)) for field in FIELDS}
    links: dict[str, Any] = {}
    if first.law is not None or second.law is not None:
        links = _joined_laws(first, second)
    if first.dependencies is not None or second.dependencies is not None:
        links["dependencies"] = _joined_dependencies(first, second)
    if first.workflows is not None or second.workflows is not None:
        links["workflows"] = _joined_workflows(first, second)
    if first.resources is not None or second.resources is not None:
        links["resources"] = _resources(first).join(_resources(second))
    return first.replace(**columns, rounded=first.rounded + second.rounded, **links)


def concatenated(workloads: Sequence[Workload], sort: bool) -> Workload:
    """Return the jobs of several workloads, see `Workload.concat`."""
    if not workloads:
        raise InputError("there are no workloads to concatenate")
    sizes = {one.processors for one in workloads if one.processors is not None}
    if len(sizes) > 1:
        told = ", ".join(f"{size:,}" for size in sorted(sizes))
        raise InputError(f"these workloads are of machines of {told} processors: replace(processors=...) says which")
    epochs = [one.start_time for one in workloads if one.start_time is not None]
    first = min(epochs) if len(epochs) == len(workloads) else None
    whole: Workload | None = None
    for one in workloads:
        shift = 0 if first is None or one.start_time is None else one.start_time - first
        moved = one.replace(submit_time=one.submit_time + shift) if shift else one
        whole = moved if whole is None else joined(whole, moved)
    assert whole is not None
    start = workloads[0].start_time if first is None else first
    whole = whole.replace(processors=next(iter(sizes), None), start_time=start)
    return whole.sorted_by_submit() if sort else whole


def _resources(workload: Workload) -> Resources:
    """Return what jobs ask for; as much as their processors if they say nothing else."""
    return Resources.of_processors(workload.job_processors) if workload.resources is None else workload.resources


def _joined_laws(first: Workload, second: Workload) -> dict[str, Any]:
    law = [np.full(len(one), -1, dtype=np.int64) if one.law is None else one.law for one in (first, second)]
    law[1] = np.where(law[1] < 0, -1, law[1] + len(first.laws))
    sequences: tuple[str, ...] = ()
    if first.sequences or second.sequences:
        sequences = tuple(text for one in (first, second) for text in one.sequences or ("",) * len(one.laws))
    return {"law": np.concatenate(law), "laws": first.laws + second.laws, "sequences": sequences}


def _joined_dependencies(first: Workload, second: Workload) -> Dependencies:
    both = [(0, first.dependencies), (len(first), second.dependencies)]
    there = [(shift, one) for shift, one in both if one is not None]

    def column(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        return np.concatenate(parts)

    return Dependencies.from_pairs(
        column([one.children + shift for shift, one in there]),
        column([one.parents + shift for shift, one in there]),
        column([one.delay for _, one in there]),
        jobs=len(first) + len(second),
    )


def _joined_workflows(first: Workload, second: Workload) -> WorkflowJobs:
    number: list[NDArray[np.int64]] = []
    task: list[NDArray[np.int64]] = []
    submissions: list[Submission] = []
    for one in (first, second):
        if one.workflows is None:
            number.append(np.full(len(one), -1, dtype=np.int64))
            task.append(np.full(len(one), -1, dtype=np.int64))
        else:
            own = one.workflows.number
            number.append(np.where(own < 0, -1, own + len(submissions)))
            task.append(one.workflows.task)
            submissions.extend(one.workflows.submissions)
    return WorkflowJobs(np.concatenate(number), np.concatenate(task), submissions)
