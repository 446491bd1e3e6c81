"""What became of workflows: waits, run times, turnarounds and stretches, and how much of what they reserved was used.

A workflow counts when all of its jobs are in the workload; of a pilot job, the tasks inside it are taken to run as soon
as they can.

References
----------
Rodrigo, Elmroth, Ostberg and Ramakrishnan, "ScSF: A scheduling simulation framework", JSSPP 2017, names these measures;
the reference of workflows says where the definitions here differ from those of its program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.schedule.metrics import WORKFLOW_MEASURES
from schedlab.schedule.window import Window
from schedlab.workflow.wfformat import Execution
from schedlab.workflow.workflow import Workflow
from schedlab.workload.graphs import components

if TYPE_CHECKING:
    import pandas as pd

    from schedlab.schedule.schedule import Schedule

Rules = Literal["corrected", "scsf"]


def workflow_columns(
    schedule: Schedule, *, until: float | None = None, rules: Rules = "corrected"
) -> dict[str, NDArray[Any]]:
    """Return what became of each workflow whose jobs are all there, in columns.

    Without workflows, jobs that wait for each other, directly or by way of others, are one, with the first submission
    as its own; ``number`` counts them by their first jobs.

    Parameters
    ----------
    schedule
        The jobs and when they ran.
    until
        Seconds: what has not ended then counts as unfinished; by default, all have ended.
    rules
        "corrected": the definitions below. "scsf": run time and stretch along one path, from the root that started
        first to the last end that can be reached from it; wrong for workflows with several roots.

    Returns
    -------
    dict
        Arrays by name: ``number`` (position among the submissions), ``submit_time``, ``start_time`` (of the first
        task), ``end_time`` (of the last one), ``wait`` (from submission to first start), ``run_time`` (from first start
        to last end), ``turnaround``, ``stretch`` (the share of the turnaround during which nothing of the critical
        chain ran: the chain leads back from the task that ended last, each time to the parent that ended last),
        ``reserved_work`` (core-seconds), ``killed_tasks`` and ``finished``.
    """
    rows, first = _rows_by_workflow(schedule)
    if not len(first):
        names = ("number", "submit_time", "start_time", "end_time", *WORKFLOW_MEASURES, "reserved_work", "killed_tasks")
        return {name: np.zeros(0) for name in names} | {"finished": np.zeros(0, dtype=np.bool_)}
    submit = np.minimum.reduceat(schedule.workload.submit_time[rows], first)
    start = np.minimum.reduceat(schedule.start_time[rows], first)
    end = np.maximum.reduceat(schedule.end_time[rows], first)
    work = schedule.work[rows]
    turnaround = end - submit
    columns: dict[str, NDArray[Any]] = {
        "number": _numbers(schedule)[rows[first]],
        "submit_time": submit,
        "start_time": start,
        "end_time": end,
        "wait": start - submit,
        "run_time": end - start,
        "turnaround": turnaround,
        "stretch": 1 - _critical_run_time(schedule, rows, first) / np.maximum(turnaround, 1),
        "reserved_work": np.add.reduceat(work, first),
        "killed_tasks": np.add.reduceat(schedule.killed[rows].astype(np.int64), first),
        "finished": np.ones(len(first), dtype=np.bool_) if until is None else end <= until,
    }
    by_scsf = rules == "scsf" and schedule.workload.workflows is not None
    return columns | _scsf_measures(schedule, rows, first) if by_scsf else columns


def workflow_table(schedule: Schedule, *, until: float | None = None, rules: Rules = "corrected") -> pd.DataFrame:
    """Return the `workflow_columns` as a data frame, with `name`, `group` and `submission_mode` of each."""
    import pandas as pd

    columns = workflow_columns(schedule, until=until, rules=rules)
    workflows = schedule.workload.workflows
    told = [] if workflows is None else [workflows.submissions[int(number)] for number in columns["number"]]
    if workflows is None:
        return pd.DataFrame({"number": columns["number"], "name": "", "group": "", "submission_mode": ""} | columns)
    texts = {
        "name": [submission.workflow.name for submission in told],
        "group": [submission.group for submission in told],
        "submission_mode": [submission.submission_mode for submission in told],
    }
    return pd.DataFrame({"number": columns["number"]} | texts | columns)


def work_in_window(schedule: Schedule, window: Window) -> dict[str, float]:
    """Return the core-seconds in a window: what jobs reserved, what of it was used, and what was idle in pilot jobs.

    Parameters
    ----------
    schedule
        The jobs and when they ran.
    window
        See `schedlab.schedule.window.measured_window`; only its begin and end matter.

    Returns
    -------
    dict
        ``reserved``, ``useful`` and ``idle``: the first is the sum of the others, and of what failed runs took.
    """
    held = schedule.held
    busy = window.overlap(held.start, held.end) * held.processors.astype(np.float64)
    reserved, useful = float(busy.sum()), float(busy[held.done].sum())
    workflows = schedule.workload.workflows
    if workflows is None:
        return {"reserved": reserved, "useful": useful, "idle": 0.0}
    pilots = np.flatnonzero((workflows.number >= 0) & (workflows.task < 0))
    of_pilots: dict[int, list[int]] = {}
    described: dict[int, Workflow] = {}
    for row in pilots.tolist():
        workflow = workflows.submissions[int(workflows.number[row])].workflow
        described[id(workflow)] = workflow
        of_pilots.setdefault(id(workflow), []).append(row)
    of_jobs = window.overlap(schedule.start_time[pilots], schedule.end_time[pilots])
    idle = float((of_jobs * schedule.workload.job_processors[pilots].astype(np.float64)).sum()) - sum(
        _useful_in_pilots(schedule, window, described[key], np.array(rows)) for key, rows in of_pilots.items()
    )
    return {"reserved": reserved, "useful": useful - idle, "idle": idle}


def workflow_metrics(schedule: Schedule, window: Window) -> dict[str, float]:
    """Return the metrics of workflows whose jobs all count in a window; none if the workload has no workflows.

    Returns
    -------
    dict
        ``workflows``, how many there are, ``useful_utilisation`` (of 1) and, unless there are none, ``mean_`` and
        ``median_`` of ``workflow_wait``, ``workflow_run_time``, ``workflow_turnaround`` (seconds) and
        ``workflow_stretch``.
    """
    workflows = schedule.workload.workflows
    if workflows is None:
        return {}
    columns = workflow_columns(schedule)
    counted = np.bincount(workflows.number[window.submitted] + 1, minlength=len(workflows.submissions) + 1)
    there = np.bincount(workflows.number + 1, minlength=len(workflows.submissions) + 1)
    inside = (counted == there)[columns["number"].astype(np.int64) + 1]
    useful = work_in_window(schedule, window)["useful"]
    metrics = {
        "workflows": float(np.count_nonzero(inside)),
        "useful_utilisation": useful / (schedule.processors * window.length),
    }
    for measure in WORKFLOW_MEASURES if inside.any() else ():
        values = columns[measure][inside]
        metrics |= {
            f"mean_workflow_{measure}": float(values.mean()),
            f"median_workflow_{measure}": float(np.median(values)),
        }
    return metrics


def execution_of(schedule: Schedule, number: int) -> Execution:
    """Return what became of one workflow, for `schedlab.workflow.files.write_workflow`.

    Parameters
    ----------
    schedule
        The jobs and when they ran; without a start time of the workload, its second 0 is taken for that of 1970.
    number
        Which of the submissions.

    Raises
    ------
    InputError
        If there is no such workflow, or not all of its jobs are in the workload.
    """
    workflows = schedule.workload.workflows
    rows, first = _rows_by_workflow(schedule)
    found = np.zeros(0) if workflows is None else np.flatnonzero(workflows.number[rows[first]] == number)
    if workflows is None or not len(found):
        raise InputError(f"{schedule.workload.name} has no complete workflow {number}")
    submission = workflows.submissions[number]
    mine = rows[workflows.number[rows] == number]
    begin = float(schedule.workload.start_time or 0)
    starts = schedule.start_time[mine] + begin
    run_times = schedule.run_time[mine].astype(np.float64)
    if submission.submission_mode == "pilot":
        starts = starts[0] + np.array(submission.workflow.earliest_starts)
        run_times = np.array([task.run_time for task in submission.workflow.tasks], dtype=np.float64)
    return Execution(
        tuple(starts.tolist()),
        tuple(run_times.tolist()),
        begin + float(schedule.workload.submit_time[mine[0]]),
        schedule.scheduler,
        schedule.workload.name,
        schedule.processors,
    )


def _rows_by_workflow(schedule: Schedule) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of all complete workflows, one workflow after the other, and where each begins among them."""
    workflows = schedule.workload.workflows
    if workflows is None:
        number = _numbers(schedule)
        rows = np.argsort(number, kind="stable")
        rows = rows[number[rows] >= 0]
        return rows, np.flatnonzero(np.append(-1, number[rows])[:-1] != number[rows])
    expected = np.array(
        [1 if one.submission_mode == "pilot" else len(one.workflow) for one in workflows.submissions], dtype=np.int64
    )
    there = np.bincount(workflows.number + 1, minlength=len(expected) + 1)[1:]
    rows = np.flatnonzero(workflows.number >= 0)
    rows = rows[(there == expected)[workflows.number[rows]]]
    rows = rows[np.lexsort((workflows.task[rows], workflows.number[rows]))]
    number = workflows.number[rows]
    return rows, np.flatnonzero(np.append(-1, number)[:-1] != number)


def _numbers(schedule: Schedule) -> NDArray[np.int64]:
    """Return the number of the workflow of each job, or of the graph of jobs that wait for each other; -1 for none."""
    workload = schedule.workload
    if workload.workflows is not None:
        return workload.workflows.number
    none = np.full(len(workload), -1, dtype=np.int64)
    return none if workload.dependencies is None else components(workload.dependencies)


def _critical_run_time(schedule: Schedule, rows: NDArray[np.intp], first: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the run time of each workflow's critical chain, back from the task that ended last."""
    last_parent = _last_parents(schedule)
    end = schedule.end_time[rows]
    workflow = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(rows))))
    current = rows[np.lexsort((-np.arange(len(rows)), end, workflow))[np.append(first[1:], len(rows)) - 1]]
    total = np.zeros(len(first))
    run_time = schedule.run_time
    while (going := np.flatnonzero(current >= 0)).size:
        total[going] += run_time[current[going]]
        current[going] = last_parent[current[going]]
    return total


def _last_parents(schedule: Schedule) -> NDArray[np.intp]:
    """Return, for each job, the row of that parent within its workflow which ended last, or -1."""
    last = np.full(len(schedule), -1, dtype=np.intp)
    after, number = schedule.workload.dependencies, _numbers(schedule)
    if after is None:
        return last
    children, parents = after.children, after.parents
    within = (number[children] >= 0) & (number[children] == number[parents])
    children, parents = children[within], parents[within]
    order = np.argsort(schedule.end_time[parents], kind="stable")
    last[children[order]] = parents[order]  # of several values for one place, the last one stays
    return last


def _useful_in_pilots(schedule: Schedule, window: Window, workflow: Workflow, rows: NDArray[np.intp]) -> float:
    """Return the core-seconds that the tasks inside some pilot jobs of one workflow use in the window."""
    start, end = schedule.start_time[rows], schedule.end_time[rows]
    useful, since = 0.0, 0.0
    for processors, until in workflow.steps():
        begins, ends = np.minimum(start + since, end), np.minimum(start + until, end)
        useful += processors * float(window.overlap(begins, ends).sum())
        since = until
    return useful


def _scsf_measures(schedule: Schedule, rows: NDArray[np.intp], first: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """Return wait, run time, turnaround and stretch of each workflow by the rules of ScSF's program."""
    workflows = schedule.workload.workflows
    assert workflows is not None
    measures = np.zeros((len(WORKFLOW_MEASURES), len(first)))
    start, end = schedule.start_time.tolist(), schedule.end_time.tolist()
    for place, block in enumerate(np.split(rows, first[1:])):
        submission = workflows.submissions[int(workflows.number[block[0]])]
        mine = block.tolist()
        submitted = int(schedule.workload.submit_time[mine[0]])
        if submission.submission_mode == "pilot":
            path, last = [mine[0]], end[mine[0]]
        else:
            path, last = _scsf_path(submission.workflow, mine, start, end)
        wait, run_time = start[path[0]] - submitted, last - start[path[0]]
        gaps = run_time - sum(end[row] - start[row] for row in path)
        measures[:, place] = wait, run_time, wait + run_time, (wait + gaps) / max(wait + run_time, 1)
    return dict(zip(WORKFLOW_MEASURES, measures, strict=True))


def _scsf_path(workflow: Workflow, rows: list[int], start: list[float], end: list[float]) -> tuple[list[int], float]:
    """Return the first path, in the order of the tasks, from the root that started first to the last end it reaches."""
    children: list[list[int]] = [[] for _ in rows]
    reached = [end[row] for row in rows]  # the last end that can be reached from each task
    for child in range(len(rows) - 1, -1, -1):
        for parent in workflow.tasks[child].parents:
            children[parent].insert(0, child)
            reached[parent] = max(reached[parent], reached[child])
    task = min(workflow.roots, key=lambda root: start[rows[root]])
    last, path = reached[task], [rows[task]]
    while children[task] and end[rows[task]] < last:
        task = next(child for child in children[task] if reached[child] == last)
        path.append(rows[task])
    return path, last
