"""WfFormat, the JSON of the WfCommons project: versions 1.3 to 1.6 in, 1.6 out.

References
----------
Coleman, Casanova, Pottier, Kaushik, Deelman and Ferreira da Silva, "WfCommons: A framework for enabling scientific
workflow research and development", Future Generation Computer Systems 128, 2022; https://wfcommons.org/format.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from schedlab.errors import InputError
from schedlab.workflow.json_values import REQUEST_MARGIN, member, number, objects, texts
from schedlab.workflow.workflow import Task, Workflow

FLAT_VERSIONS = ("1.3", "1.4")
"""One list of tasks, which refer to each other by name."""

SPLIT_VERSIONS = ("1.5", "1.6")
"""What is to be done (specification) apart from what was measured (execution); tasks refer to each other by id."""

WRITTEN_VERSION = "1.6"
OWN_KEY = "schedlab"
"""Where values are kept that the format has no key for: the requested time of a task."""

RUN_TIME_KEYS = ("runtimeInSeconds", "runtime")
PROCESSOR_KEYS = ("coreCount", "cores")

_STRANGE = re.compile(r"[^0-9a-zA-Z_.#:/-]+")


@dataclass(frozen=True, slots=True)
class Execution:
    """What a simulation made of a workflow.

    Parameters
    ----------
    starts, run_times
        Of each task, in the order of the workflow: seconds since the epoch, and seconds.
    submitted
        When the workflow was submitted, in seconds since the epoch.
    scheduler
        What placed the tasks.
    machine
        Name of the machine.
    processors
        Size of the machine.
    """

    starts: tuple[float, ...]
    run_times: tuple[float, ...]
    submitted: float
    scheduler: str
    machine: str
    processors: int


def from_wfformat(document: Mapping[str, Any], source: str, name: str) -> Workflow:
    """Return the workflow of a WfFormat document.

    Parameters
    ----------
    document
        Of version 1.3, 1.4, 1.5 or 1.6; dependencies are the union of what parents and children say. A task without a
        number of cores has one, and a fraction is rounded up. Without a requested time of ours, a task asks for 60 s
        more than it ran.
    source
        The file, for messages.
    name
        What the workflow is called.

    Raises
    ------
    InputError
        If the version is unknown, run times are missing, or something is impossible.
    """
    version = document.get("schemaVersion")
    if version not in FLAT_VERSIONS + SPLIT_VERSIONS:
        known = ", ".join(FLAT_VERSIONS + SPLIT_VERSIONS)
        raise InputError(f"{source}: schemaVersion is {version!r}, but known are {known}; convert it with WfCommons")
    body = member(document, "workflow", dict, source)
    if version in FLAT_VERSIONS:
        entries = objects(body, "tasks", f"{source}, workflow")
        measured = entries
    else:
        entries = objects(member(body, "specification", dict, source), "tasks", f"{source}, specification")
        if "execution" not in body:
            raise InputError(f"{source}: workflow.execution is missing, so the run times are unknown: add it")
        measured = objects(member(body, "execution", dict, source), "tasks", f"{source}, execution")
    ids = _ids(entries, source)
    measurements = dict(zip(_ids(measured, f"{source}, execution"), measured, strict=True))
    tasks = []
    for identifier, entry in zip(ids, entries, strict=True):
        if identifier not in measurements:
            raise InputError(f"{source}, task {identifier}: the execution does not list it: add its runtimeInSeconds")
        where = f"{source}, task {identifier}"
        name_of_task = str(entry.get("category") or entry.get("name") or identifier)
        tasks.append(_task(identifier, name_of_task, measurements[identifier], where))
    notes = _notes(list(measurements.values()))
    return Workflow.arrange(name, tasks, _parents(entries, ids, source)).with_notes(*notes)


def _ids(entries: list[dict[str, Any]], source: str) -> list[str]:
    """Return the id of each task or, where versions up to 1.4 have none, its name; they must be unique."""
    ids = []
    for place, entry in enumerate(entries, 1):
        ids.append(member(entry, "id" if "id" in entry else "name", str, f"{source}, task {place}"))
    if len(set(ids)) < len(ids):
        double = Counter(ids).most_common(1)[0][0]
        raise InputError(f"{source}: two tasks have the id {double}; ids must be unique")
    return ids


def _task(identifier: str, name: str, entry: Mapping[str, Any], where: str) -> Task:
    """Return the task that was measured."""
    run_time = number(entry, RUN_TIME_KEYS, where)
    if run_time is None:
        raise InputError(f"{where}: runtimeInSeconds is missing: add it")
    if run_time < 0:
        raise InputError(f"{where}: its runtimeInSeconds is negative, {run_time:g}; correct it")
    cores = number(entry, PROCESSOR_KEYS, where)
    if cores is not None and cores <= 0:
        raise InputError(f"{where}: {cores:g} cores; must be above 0")
    own = entry.get(OWN_KEY)
    requested = number(own, ("requestedTimeInSeconds",), where) if isinstance(own, dict) else None
    return Task(identifier, math.ceil(cores or 1), run_time, requested or run_time + REQUEST_MARGIN, name=name)


def _parents(entries: list[dict[str, Any]], ids: list[str], source: str) -> dict[str, list[str]]:
    """Return the ids of the parents of each task, wherever they are said and by id or by a name that is unique."""
    names = [str(entry.get("name")) for entry in entries]
    uses = Counter(names)
    known = {name: identifier for name, identifier in zip(names, ids, strict=True) if uses[name] == 1}
    known |= {identifier: identifier for identifier in ids}
    parents: dict[str, list[str]] = {identifier: [] for identifier in ids}
    for identifier, entry in zip(ids, entries, strict=True):
        for key in ("parents", "children"):
            for other in texts(entry, key, f"{source}, task {identifier}"):
                if other not in known:
                    raise InputError(f"{source}, task {identifier}: {key} names {other}, which is not a task")
                child, parent = (identifier, known[other]) if key == "parents" else (known[other], identifier)
                parents[child].append(parent)
    return parents


def _notes(measured: list[dict[str, Any]]) -> list[str]:
    """Return what had to be assumed."""
    without = sum(all(entry.get(key) is None for key in PROCESSOR_KEYS) for entry in measured)
    if without == len(measured):
        return ["says nothing of cores: each task is taken to use one"]
    return [f"says nothing of the cores of {without:,} tasks: they are taken to use one"] if without else []


def to_wfformat(workflow: Workflow, executed: Execution | None = None) -> dict[str, Any]:
    """Return the WfFormat 1.6 document of a workflow.

    Parameters
    ----------
    workflow
        What to describe. Characters that ids may not have become underscores.
    executed
        What a simulation made of it; without it, the execution is the one in which each task starts as soon as its
        parents have ended, from the beginning of 1970 on.

    Examples
    --------
    >>> document = to_wfformat(Workflow("two", (Task("a", 2, 10.0, 60.0), Task("b", 1, 5.0, 60.0, (0,)))))
    >>> document["workflow"]["specification"]["tasks"][1]["parents"]
    ['a']
    >>> document["workflow"]["execution"]["makespanInSeconds"]
    15.0
    """
    from schedlab import __version__

    ids = _allowed_ids([task.id for task in workflow.tasks])
    children: list[list[str]] = [[] for _ in ids]
    for identifier, task in zip(ids, workflow.tasks, strict=True):
        for parent in task.parents:
            children[parent].append(identifier)
    tasks = [
        {
            "name": task.name or task.id,
            "id": identifier,
            "parents": [ids[parent] for parent in task.parents],
            "children": below,
        }
        for identifier, task, below in zip(ids, workflow.tasks, children, strict=True)
    ]
    return {
        "name": workflow.name,
        "schemaVersion": WRITTEN_VERSION,
        "runtimeSystem": {"name": "schedlab", "version": __version__, "url": "https://wfcommons.org/format"},
        "workflow": {"specification": {"tasks": tasks}, "execution": _execution(workflow, ids, executed)},
    }


def _execution(workflow: Workflow, ids: list[str], executed: Execution | None) -> dict[str, Any]:
    """Return the part of the document that says what ran when."""
    starts = workflow.earliest_starts if executed is None else executed.starts
    run_times = tuple(task.run_time for task in workflow.tasks) if executed is None else executed.run_times
    ends = [start + run_time for start, run_time in zip(starts, run_times, strict=True)]
    tasks: list[dict[str, Any]] = [
        {
            "id": identifier,
            "runtimeInSeconds": float(run_time),
            "executedAt": _instant(start),
            "coreCount": task.processors,
            OWN_KEY: {"requestedTimeInSeconds": float(task.requested_time)},
        }
        for identifier, task, start, run_time in zip(ids, workflow.tasks, starts, run_times, strict=True)
    ]
    execution = {
        "makespanInSeconds": float(max(ends) - min(starts)),
        "executedAt": _instant(min(starts)),
        "tasks": tasks,
    }
    if executed is None:
        return execution
    for task_entry, start in zip(tasks, starts, strict=True):
        task_entry["machines"] = [executed.machine]
        task_entry[OWN_KEY]["waitInSeconds"] = float(start - executed.submitted)
    machine = {"nodeName": executed.machine, "cpu": {"coreCount": executed.processors}}
    own = {"scheduler": executed.scheduler, "submittedAt": _instant(executed.submitted)}
    return execution | {"machines": [machine], OWN_KEY: own}


def _allowed_ids(ids: list[str]) -> list[str]:
    """Return ids of the characters that the format allows, as unique as they were."""
    allowed: dict[str, None] = {}
    for identifier in ids:
        plain = _STRANGE.sub("_", identifier) or "_"
        candidate, count = plain, 2
        while candidate in allowed:
            candidate, count = f"{plain}_{count}", count + 1
        allowed[candidate] = None
    return list(allowed)


def _instant(second: float) -> str:
    """Return a second since the epoch as a date and time."""
    try:
        return (datetime.fromtimestamp(0, UTC) + timedelta(seconds=float(second))).isoformat()
    except OverflowError:
        raise InputError(f"a task starts {second:,.0f} s after 1970: WfFormat has no dates beyond year 9999") from None
