"""Fewer and larger tasks: tasks grouped by name, capped, chains merged, as ScSF turns a DAX into a manifest."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.workflow.workflow import Task, Workflow

Rounds = Literal["average", "packed"]

EVERY_NAME = "*"


def parse_groups(texts: Sequence[str], workflow: Workflow, cap: int | None = None) -> dict[str, int | None]:
    """Return which names to group, each with its cap, of texts as `NAME` and `NAME:CAP`.

    Parameters
    ----------
    texts
        Names of tasks; ``*`` is every name of the workflow. One given after it says another cap. Tasks without a name
        stay as they are.
    workflow
        Where the names come from: one of them may have a colon in it.
    cap
        For names without a cap of their own.

    Raises
    ------
    InputError
        If a name is of no task, or a cap not a whole number of at least 1.

    Examples
    --------
    >>> pair = Workflow("pair", (Task("1", 1, 5.0, 9.0, name="cut"), Task("2", 1, 5.0, 9.0, name="sort")))
    >>> parse_groups(["*", "sort:16"], pair, cap=96)
    {'cut': 96, 'sort': 16}
    """
    names = list(dict.fromkeys(task.name for task in workflow.tasks if task.name))
    groups: dict[str, int | None] = {}
    for text in texts:
        name, own_cap = text, cap
        if text not in names and (parts := text.rpartition(":"))[1] and parts[2].isdigit():
            name, own_cap = parts[0], int(parts[2])
        groups |= dict.fromkeys(names if name == EVERY_NAME else [name], own_cap)
    strangers = [name for name in groups if name not in names]
    if strangers:
        raise InputError(
            f"the workflow {workflow.name} has no task with the name {strangers[0]!r}; its names are "
            f"{', '.join(names) or 'unknown'}"
        )
    if any(each is not None and each < 1 for each in groups.values()):
        raise InputError("a cap on processors must be at least 1")
    return groups


@explained
def group_by_name(workflow: Workflow, groups: Mapping[str, int | None], *, rounds: Rounds = "average") -> Workflow:
    """Make one task of all tasks that share a name.

    Without a cap, the group has the processors of all its tasks and runs as long as the longest of them; if tasks of
    the group depend on each other, as the longest chain of them. With a cap, it has the largest multiple of the
    processors of a task (the widest one) within the cap, and its tasks run in rounds.

    Parameters
    ----------
    workflow
        What to group.
    groups
        Names of tasks, each with the largest number of processors of the group, or None.
    rounds
        How long capped groups run. "average": as ScSF, the mean run time of the tasks times the number of rounds; also
        a group of fewer processors than the cap is brought to the cap. "packed": as long as the tasks take when each,
        in the order of the workflow, starts on the first processors that are free; small groups stay as they are.

    Returns
    -------
    Workflow
        A group is at the place of its first task, or behind its parents. It asks for as much beyond its run time as the
        task of it that asks for most beyond its own.

    Raises
    ------
    InputError
        If a task is wider than its cap, or if the groups depend on each other in a circle.

    Examples
    --------
    >>> many = Workflow("many", tuple(Task(str(i), 5, 20.0, 80.0, name="work") for i in range(20)))
    >>> group_by_name(many, {"work": 10}).tasks
    (Task(id='work', processors=10, run_time=200.0, requested_time=260.0, parents=(), name='work'),)
    """
    taken = {task.id for task in workflow.tasks}
    members: dict[str, list[int]] = {}
    group_of: list[str] = []
    for position, task in enumerate(workflow.tasks):
        identifier = _group_id(task.name, taken) if task.name in groups else task.id
        group_of.append(identifier)
        members.setdefault(identifier, []).append(position)
    tasks: list[Task] = []
    parents: dict[str, set[str]] = {}
    for identifier, positions in members.items():
        first = workflow.tasks[positions[0]]
        if first.name in groups:
            tasks.append(_grouped(workflow, identifier, positions, groups[first.name], rounds))
        else:
            tasks.append(first)
        above = {group_of[parent] for position in positions for parent in workflow.tasks[position].parents}
        parents[identifier] = above - {identifier}
    try:
        return Workflow.arrange(workflow.name, tasks, parents).with_notes(*workflow.notes)
    except InputError as error:
        raise InputError(f"the tasks cannot be grouped: {error}") from None


@explained
def merge_chains(workflow: Workflow) -> Workflow:
    """Merge each task into its parent if that is its only one, has no other child and as many processors.

    The run times are added; the merged task asks for as much beyond its run time as the part of it that asks for most
    beyond its own.

    Examples
    --------
    >>> chain = Workflow("chain", (Task("a", 2, 5.0, 65.0), Task("b", 2, 7.0, 67.0, (0,))))
    >>> merge_chains(chain).tasks
    (Task(id='a', processors=2, run_time=12.0, requested_time=72.0, parents=(), name=''),)
    """
    children = [0] * len(workflow)
    for task in workflow.tasks:
        for parent in task.parents:
            children[parent] += 1
    head: list[int] = []  # of the chain that each task is part of
    links: dict[int, list[int]] = {}
    for position, task in enumerate(workflow.tasks):
        only = task.parents[0] if len(task.parents) == 1 else None
        if only is not None and children[only] == 1 and workflow.tasks[only].processors == task.processors:
            head.append(head[only])
        else:
            head.append(position)
        links.setdefault(head[position], []).append(position)
    merged, parents = [], {}
    for positions in links.values():
        parts = [workflow.tasks[position] for position in positions]
        run_time = math.fsum(part.run_time for part in parts)
        merged.append(replace(parts[0], run_time=run_time, requested_time=run_time + _margin(parts)))
        parents[parts[0].id] = [workflow.tasks[head[parent]].id for parent in parts[0].parents]
    return Workflow.arrange(workflow.name, merged, parents, stated_time=workflow.stated_time).with_notes(
        *workflow.notes
    )


@explained
def rename_by_levels(workflow: Workflow) -> Workflow:
    """Call the tasks S0, S1, ... level by level from the roots, and put them into that order.

    Examples
    --------
    >>> pair = Workflow("pair", (Task("cut", 1, 5.0, 9.0), Task("sort", 1, 5.0, 9.0, (0,))))
    >>> [task.id for task in rename_by_levels(pair).tasks]
    ['S0', 'S1']
    """
    order = [position for level in workflow.levels for position in level]
    place = {position: number for number, position in enumerate(order)}
    tasks = (
        replace(
            workflow.tasks[position],
            id=f"S{number}",
            parents=tuple(sorted(place[parent] for parent in workflow.tasks[position].parents)),
        )
        for number, position in enumerate(order)
    )
    return replace(workflow, tasks=tuple(tasks))


def _group_id(name: str, taken: set[str]) -> str:
    """Return an id for a group that no single task has."""
    return name if name and name not in taken else f"group:{name}"


def _grouped(workflow: Workflow, identifier: str, positions: list[int], cap: int | None, rounds: Rounds) -> Task:
    """Return the task that stands for the tasks at some positions."""
    parts = [workflow.tasks[position] for position in positions]
    processors = sum(part.processors for part in parts)
    run_time = _packed(workflow, positions, slots=len(parts))  # the longest task or chain
    if cap is not None and (rounds == "average" or processors > cap):
        wide = max(part.processors for part in parts)
        if wide > cap:
            raise InputError(
                f"the workflow {workflow.name}: tasks {identifier} need {wide} processors, above the cap of {cap}"
            )
        slots = cap // wide
        processors = slots * wide
        if rounds == "packed":
            run_time = _packed(workflow, positions, slots)
        else:
            mean = math.fsum(part.run_time for part in parts) / len(parts)
            run_time = max(mean * math.ceil(len(parts) / slots), run_time if _chained(workflow, positions) else 0.0)
    return Task(identifier, processors, run_time, run_time + _margin(parts), name=parts[0].name)


def _margin(parts: Sequence[Task]) -> float:
    """Return the most seconds that one of the tasks asks for beyond its run time."""
    return max(part.requested_time - part.run_time for part in parts)


def _chained(workflow: Workflow, positions: list[int]) -> bool:
    """Return whether tasks at these positions depend on each other."""
    inside = set(positions)
    return any(parent in inside for position in positions for parent in workflow.tasks[position].parents)


def _packed(workflow: Workflow, positions: list[int], slots: int) -> float:
    """Return when all is done if each task, in order, starts on the first free slot once its parents here are done."""
    free = [0.0] * slots
    ends: dict[int, float] = {}
    for position in positions:
        task = workflow.tasks[position]
        ready = max((ends[parent] for parent in task.parents if parent in ends), default=0.0)
        ends[position] = max(ready, heapq.heappop(free)) + task.run_time
        heapq.heappush(free, ends[position])
    return max(ends.values())
