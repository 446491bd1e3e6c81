"""Two workloads as one: the jobs of the second follow those of the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedlab.errors import InputError, check_type
from schedlab.workload.columns import below
from schedlab.workload.job_requests import job_requests
from schedlab.workload.origin import joined_origin
from schedlab.workload.workload import FIELDS, Workload


def joined(first: Workload, second: Workload) -> Workload:
    """Return one workload with the jobs of both, row after row, and all their attributes.

    Parameters
    ----------
    first
        Its name, machine, header and `requests_enforced` are kept.
    second
        Its jobs are added with all their attributes.

    Examples
    --------
    >>> one = Workload.from_columns(dict(submit_time=[0], run_time=[9], requested_processors=[1]), processors=4)
    >>> joined(one, one.replace(submit_time=[5])).submit_time.tolist()
    [0, 5]
    """
    if (first.resources is None) is not (second.resources is None):
        first, second = (one.replace(resources=job_requests(one)) for one in (first, second))
    columns: dict[str, Any] = {field: below(getattr(first, field), getattr(second, field)) for field in FIELDS}
    extras = first.extras.join(second.extras, len(first), len(second))
    origin = joined_origin(first.origin, second.origin)
    return first.replace(**columns, rounded=first.rounded + second.rounded, extras=extras, origin=origin)


def concatenated(workloads: Sequence[Workload], sort: bool) -> Workload:
    """Return the jobs of several workloads, see `Workload.concat`."""
    if not workloads:
        raise InputError("no workloads to concatenate")
    for one in workloads:
        check_type(one, Workload, "give a list of workloads, Workload.concat([one, other])")
    sizes = {one.processors for one in workloads if one.processors is not None}
    if len(sizes) > 1:
        told = ", ".join(f"{size:,}" for size in sorted(sizes))
        raise InputError(
            f"the workloads have machines of {told} processors: give all the same with replace(processors=...)"
        )
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
