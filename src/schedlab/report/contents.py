"""What an interactive page is told of schedules: the jobs once, and of each schedule what it decided."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.permutations import inverse
from schedlab.report.container import FORMAT, Container
from schedlab.report.gantt import by_run
from schedlab.report.groups import Grouping, groupings
from schedlab.schedule.allocation import Allocation, allocate_recorded
from schedlab.schedule.groups import size_class_labels, size_classes
from schedlab.schedule.placement import FOREVER, shared_gpus
from schedlab.schedule.runs import BY_ITSELF
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.stretches import by_stretch
from schedlab.workload.resources import WHOLE
from schedlab.workload.workload import Workload

BACKFILLED, KILLED, FAILED, INTERRUPTED = 1, 2, 4, 8
"""What the flags of a job or run say, as bits."""

LOG_FAILED, LOG_CANCELLED = 0, 5
"""What a log says of the end of a job, as SWF numbers it."""


def contents(
    schedules: Mapping[str, Schedule],
    container: Container,
    *,
    baseline: str | None = None,
    both: bool = False,
    unit: str = "processor",
) -> dict[str, Any]:
    """Put schedules of the same jobs into a container, and return the index that describes them.

    Parameters
    ----------
    schedules
        By the name that the page gives them; at least one.
    container
        Where the columns go.
    baseline
        The schedule that is shown first; by default, the first.
    both
        Whether two schedules are shown beside each other from the beginning.
    unit
        What the machine is counted in, singular: "processor", "node", "GPU".
    """
    first = next(iter(schedules.values()))
    jobs = first.workload
    submit = jobs.submit_time
    # Jobs in the order of submission compress better, and the script need not sort them.
    order = np.argsort(submit, kind="stable")
    origin = int(submit.min()) if len(jobs) else 0
    end = max((float(schedule.end_time.max()) for schedule in schedules.values() if len(schedule)), default=origin)
    nodes = _common_nodes(list(schedules.values()))
    # All schedules share the groups of jobs; why jobs waited is known of one that stands alone.
    groups = groupings(jobs, first.waited_for if len(schedules) == 1 else None)
    decisions = []
    for name, schedule in schedules.items():
        decided = _decisions(name, schedule, jobs, order, container, placed=nodes is not None)
        decisions.append(decided | _reasons(schedule.waited_for, order, container))
    return {
        "format": FORMAT,
        "name": jobs.name,
        "jobs": len(jobs),
        "epoch": None if jobs.start_time is None else jobs.start_time + origin,
        "length": max(end - origin, 1),
        "machine": {
            "size": max(schedule.processors for schedule in schedules.values()),
            # Logs may book more than there is.
            "lanes": max(decided["lanes"] for decided in decisions),
            "unit": unit,
            "perNode": jobs.cores_per_node,
            "nodes": nodes,
            "gpuParts": WHOLE if shares_gpus(jobs) else 1,
        },
        "columns": _columns(jobs, order, origin, first.processors, container)
        | {group.key: container.add(group.codes[order]) for group in groups.values()},
        "groups": {group.key: group.title for group in groups.values()},
        "labels": {group.key: names for group in groups.values() if (names := _labels(group))},
        "sizeClasses": size_class_labels(first.processors),
        "schedules": decisions,
        "first": _position(schedules, baseline),
        "second": 1 - _position(schedules, baseline) if both and len(schedules) == 2 else -1,
    }


def _position(schedules: Mapping[str, Schedule], name: str | None) -> int:
    """Return the number of a schedule, 0 if there is none of this name."""
    return next((number for number, key in enumerate(schedules) if key == name), 0)


def _common_nodes(schedules: Sequence[Schedule]) -> dict[str, list[Any]] | None:
    """Return the nodes of the machine, if all schedules know on which of the same nodes their jobs were."""
    placements = [schedule.placement for schedule in schedules]
    first = placements[0]
    if first is None:
        return None
    for other in placements:
        if other is None or other.nodes != first.nodes or not np.array_equal(other.cores, first.cores):
            return None
    nodes = {"names": list(first.nodes), "cores": first.cores.tolist(), "gpus": first.gpus.tolist()}
    memory = [other.memory for other in placements if other is not None and other.memory is not None]
    if len(memory) < len(placements) or not all(np.array_equal(one, memory[0]) for one in memory):
        return nodes
    return nodes | {"memory": int(memory[0].sum())}


def _reasons(
    waited_for: Mapping[str, NDArray[np.int64]] | None, order: NDArray[np.intp], container: Container
) -> dict[str, Any]:
    """Return why the jobs waited, if the schedule says so: names, and of each job the seconds by name, most first."""
    if not waited_for:
        return {}
    names = sorted(waited_for)
    seconds = np.stack([waited_for[name][order] for name in names], axis=1)
    row, name = np.nonzero(seconds)
    spent = seconds[row, name]
    most_first = np.lexsort((-spent, row))
    return {
        "reasonNames": names,
        "reasons": {
            "count": container.add(np.bincount(row, minlength=len(order)).astype(np.int64)),
            "name": container.add(name[most_first].astype(np.int64)),
            "seconds": container.add(spent[most_first].astype(np.float64)),
        },
    }


def _labels(group: Grouping) -> dict[str, str]:
    """Return the names of the groups that jobs are in, as JSON has them."""
    present = set(np.unique(group.codes).tolist())
    return {str(code): name for code, name in group.names.items() if code in present}


def index_json(index: Any) -> str:
    """Return an index as JSON that stays data inside HTML, whatever names it holds."""
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # "</script>" would end the element, "<!--" hide the next one; U+2028 and 2029 end lines of JavaScript.
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _columns(
    jobs: Workload, order: NDArray[np.intp], origin: int, machine: int, container: Container
) -> dict[str, dict[str, Any]]:
    """Return what all schedules share: one row per job, in order of submission."""
    columns = {
        "id": container.add(jobs.job_id[order], differences=True),
        "submit": container.add(jobs.submit_time[order] - origin, differences=True),
        "processors": container.add(jobs.job_processors[order]),
        "requested": container.add(jobs.requested_time[order]),
        "sizeClass": container.add(size_classes(jobs.job_processors, machine)[order]),
    }
    if bool(np.isin(jobs.status, (LOG_FAILED, LOG_CANCELLED)).any()):
        columns["status"] = container.add(jobs.status[order])
    if (after := jobs.dependencies) is not None:
        counts = np.diff(after.offsets)[order]
        begins = after.offsets[:-1][order]
        parents = after.parents[np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())]
        columns |= {"parentCount": container.add(counts), "parent": container.add(inverse(order)[parents])}
    return columns


def _decisions(
    name: str,
    schedule: Schedule,
    jobs: Workload,
    order: NDArray[np.intp],
    container: Container,
    *,
    placed: bool,
) -> dict[str, Any]:
    """Return what one scheduler decided: start, run time and flags of each job, its runs, and where they were.

    `jobs` are those of the page, in which the ones of the scheduler may have other sizes.
    """
    origin = int(jobs.submit_time.min()) if len(jobs) else 0
    submit, run_time, schedule = schedule.workload.submit_time, schedule.run_time, by_stretch(schedule)
    wait = (schedule.start_time - submit)[order]
    decisions: dict[str, Any] = {
        "name": name,
        "scheduler": schedule.scheduler,
        "wait": container.add(wait),
        "run": container.add(run_time[order]),
        "flags": container.add(
            (BACKFILLED * schedule.backfilled + KILLED * schedule.killed + INTERRUPTED * _interrupted(schedule))[order]
        ),
    }
    if schedule.eligible_time is not None:
        decisions["held"] = container.add((schedule.eligible_time - submit)[order])
    spans = by_run(schedule)
    if (runs := schedule.runs) is None:
        rows, size = order, jobs.job_processors
    else:
        rows = np.arange(len(runs))
        size = jobs.job_processors[runs["job"]] if schedule.sizes is None else schedule.sizes["processors"]
        decisions["runs"] = {
            "job": container.add(inverse(order)[runs["job"]]),
            "start": container.add(runs["start"] - origin, differences=True),
            "length": container.add(runs["end"] - runs["start"]),
            "flags": container.add(
                BACKFILLED * runs["speculative"] + FAILED * ~runs["done"] + INTERRUPTED * _broken_off(runs)
            ),
        }
    where = schedule.placement if placed else None
    if where is None:
        _, allocation = allocate_recorded(spans)
        # A job of 0 seconds is not seen, and a wide one at a busy moment would make the chart twice as high.
        seen = np.repeat(spans.run_time > 0, np.diff(allocation.offsets))
        lanes = max(schedule.processors, int(allocation.last[seen].max(initial=0)) + 1)
        pieces = _pieces(allocation, rows, container, size=size)
        return decisions | {"pieces": pieces, "lanes": lanes}
    if where.closures is not None and len(where.closures):
        closed = where.closures
        decisions["closures"] = {
            "node": container.add(closed["node"]),
            "kind": container.add(closed["kind"].astype(np.int64)),
            "begin": container.add(np.maximum(closed["begin"] - origin, 0)),
            "end": container.add(np.minimum(closed["end"] - origin, FOREVER - 1)),
        }
    allocation = where.rows(spans.start_time, spans.end_time, "cores")
    decisions |= {"pieces": _pieces(allocation, rows, container), "lanes": int(where.cores.sum())}
    if where.held_memory is not None:
        run = np.repeat(np.arange(len(where)), np.diff(where.offsets))
        memory = np.bincount(run, weights=where.held_memory, minlength=len(where))
        decisions["memory"] = container.add(memory.astype(np.int64)[rows])
    if not where.gpus.any():
        return decisions
    asked = spans.workload.resources
    if asked is None or not shares_gpus(spans.workload):
        gpus = where.rows(spans.start_time, spans.end_time, "gpus")
    else:
        gpus = shared_gpus(where, spans.start_time, spans.end_time, asked.gpu_share)
    return decisions | {"gpus": _pieces(gpus, rows, container)}


def _broken_off(runs: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which runs a node, a job that preempted them or the end of their reservation interrupted."""
    found: NDArray[np.bool_] = ~runs["done"] & (runs["cause"] != BY_ITSELF)
    return found


def _interrupted(schedule: Schedule) -> NDArray[np.bool_]:
    """Return which jobs have ended because their last run was interrupted."""
    found = np.zeros(len(schedule), dtype=np.bool_)
    if schedule.runs is not None:
        found[schedule.runs["job"]] = _broken_off(schedule.runs)  # runs are in the order of their starts
    return found & schedule.killed


def shares_gpus(jobs: Workload) -> bool:
    """Say whether jobs hold parts of GPUs, whose rows are then thousandths."""
    return jobs.resources is not None and bool((jobs.resources.gpu_share < WHOLE).any())


def _pieces(
    allocation: Allocation,
    rows: Sequence[int] | NDArray[np.intp],
    container: Container,
    *,
    size: NDArray[np.int64] | None = None,
) -> dict[str, Any]:
    """Return the intervals of processors of each row: how many, where each begins, and how wide it is.

    Of a row that holds processors for all of its `size`, the width of the last interval is 0: it is what is left.
    """
    counts = np.diff(allocation.offsets)[rows]
    begins = allocation.offsets[:-1][rows]
    ends = np.cumsum(counts)
    source = np.repeat(begins - ends + counts, counts) + np.arange(counts.sum())
    first, last = allocation.first[source], allocation.last[source]
    width = last - first + 1
    if size is not None:
        held = np.concatenate([[0], np.cumsum(width)])
        whole = (counts > 0) & (held[ends] - held[ends - counts] == size[rows])
        width[ends[whole] - 1] = 0
    return {"count": container.add(counts), "first": container.add(first), "width": container.add(width)}
