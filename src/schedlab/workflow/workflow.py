"""A workflow: tasks that wait for other tasks, whatever file they came from."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.wording import count_of

MINUTE = 60.0
"""Seconds: what batch systems measure requested times in."""

LARGEST = 1_000_000_000
"""Processors, and seconds (31 years): more is a mistake, and core-seconds would not fit into 64 bits."""

RESOLUTION = 1e-6
"""Seconds: instants of an execution closer than this are one, so that sums of decimals do not overlap by rounding."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a workflow.

    Parameters
    ----------
    id
        Unique within the workflow.
    processors
        Processors that the task occupies, at least 1.
    run_time
        How long it really runs, in seconds; recorded tasks shorter than the clock's tick have 0.
    requested_time
        How long its user asks for, in seconds, above 0. A task that runs longer is killed then.
    parents
        Positions, in the workflow, of the tasks that must have ended before this one starts; all are before it.
    name
        What the task does (many tasks may share a name), empty if unknown.
    """

    id: str
    processors: int
    run_time: float
    requested_time: float
    parents: tuple[int, ...] = ()
    name: str = ""


@explained
@dataclass(frozen=True)
class Workflow:
    """Tasks and their dependencies, a directed acyclic graph.

    Parameters
    ----------
    name
        The workflow's name, by default that of its file.
    tasks
        The tasks in an order in which every task comes after its parents.
    stated_time
        The total run time that a manifest states for the whole workflow, in seconds; None if none is stated.
    notes
        What its reader found odd in the file: sentences without the workflow's name.

    Raises
    ------
    InputError
        If there is no task, an id is used twice, a parent is not an earlier task, or a number is impossible.

    Examples
    --------
    >>> wide = Task("wide", processors=480, run_time=3540, requested_time=3600)
    >>> long = Task("long", processors=48, run_time=14340, requested_time=14400, parents=(0,))
    >>> workflow = Workflow("wide-long", (wide, long))
    >>> workflow.length, workflow.peak_processors, workflow.steps()
    (17880.0, 480, ((480, 3540.0), (48, 17880.0)))
    >>> round(1 - workflow.work / (workflow.peak_processors * workflow.length), 2)  # idle share of one pilot job
    0.72
    """

    name: str
    tasks: tuple[Task, ...]
    stated_time: float | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.tasks:
            raise InputError(f"the workflow {self.name} has no task")
        stated = self.stated_time
        if stated is not None and not 0 < stated <= LARGEST:
            raise InputError(
                f"the workflow {self.name} states a total run time of {stated} s: it must be above 0, up to {LARGEST:,}"
            )
        for position, task in enumerate(self.tasks):
            _check_task(self.name, task)
            if not all(0 <= parent < position for parent in task.parents):
                raise InputError(f"the workflow {self.name}: parents of task {task.id} must precede it")
            if len(set(task.parents)) < len(task.parents):
                raise InputError(f"the workflow {self.name}: task {task.id} names a parent twice")
        check_unique(self.name, [task.id for task in self.tasks])

    @classmethod
    @explained
    def arrange(
        cls,
        name: str,
        tasks: Sequence[Task],
        parents: Mapping[str, Iterable[str]],
        *,
        stated_time: float | None = None,
    ) -> Workflow:
        """Return the workflow of tasks whose parents are given by id, in any order.

        Parameters
        ----------
        name
            The workflow's name.
        tasks
            The tasks in the order of their file; what their `parents` say is replaced.
        parents
            For the id of a task, the ids of its parents; a parent named twice counts once.
        stated_time
            As in `Workflow`.

        Returns
        -------
        Workflow
            With the tasks in the order given, except that a task is moved behind its parents.

        Raises
        ------
        InputError
            If an id is used twice, an id in `parents` is unknown, or the tasks depend on each other in a circle.

        Examples
        --------
        >>> tasks = [Task("b", 1, 10, 60), Task("a", 1, 5, 60)]
        >>> [task.id for task in Workflow.arrange("chain", tasks, {"b": ["a"]}).tasks]
        ['a', 'b']
        """
        position = {task.id: place for place, task in enumerate(tasks)}
        if len(position) < len(tasks):
            check_unique(name, [task.id for task in tasks])
        before: list[tuple[int, ...]] = [()] * len(tasks)
        for child, its_parents in parents.items():
            before[_place(name, position, child)] = tuple(
                sorted({_place(name, position, parent) for parent in its_parents})
            )
        order = _topological_order(name, tasks, before)
        new_place = {old: new for new, old in enumerate(order)}
        arranged = (
            replace(tasks[old], parents=tuple(sorted(new_place[parent] for parent in before[old]))) for old in order
        )
        return cls(name, tuple(arranged), stated_time)

    def __repr__(self) -> str:
        return f"<Workflow {self.name}: {count_of(len(self), 'task')}, {count_of(self.edges, 'edge')}>"

    def _repr_html_(self) -> str:
        from schedlab.workflow.graph import as_table

        return as_table(self)

    def to_networkx(self) -> Any:
        """Return the workflow as a `networkx.DiGraph`, see `schedlab.workflow.graph.to_networkx`."""
        from schedlab.workflow.graph import to_networkx

        return to_networkx(self)

    def __len__(self) -> int:
        return len(self.tasks)

    @property
    def work(self) -> float:
        """Useful core-seconds: the sum over the tasks of processors times run time."""
        return math.fsum(task.processors * task.run_time for task in self.tasks)

    @cached_property
    def earliest_starts(self) -> tuple[float, ...]:
        """When each task starts if each starts as soon as its parents have ended, in seconds."""
        starts: list[float] = []
        for task in self.tasks:
            starts.append(max((starts[parent] + self.tasks[parent].run_time for parent in task.parents), default=0.0))
        return tuple(starts)

    @cached_property
    def length(self) -> float:
        """Seconds from first start to last end when each task starts as soon as it can: the critical path."""
        return max(start + float(task.run_time) for start, task in zip(self.earliest_starts, self.tasks, strict=True))

    @cached_property
    def peak_processors(self) -> int:
        """The most processors in use at once when each task starts as soon as it can."""
        return max((processors for processors, _ in self.steps()), default=0) or self.widest

    @property
    def widest(self) -> int:
        """Processors of the widest task."""
        return max(task.processors for task in self.tasks)

    @property
    def roots(self) -> tuple[int, ...]:
        """Positions of the tasks without parents."""
        return tuple(position for position, task in enumerate(self.tasks) if not task.parents)

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the tasks of each level: the roots, then those whose longest way from a root is one edge, ..."""
        level: list[int] = []
        for task in self.tasks:
            level.append(1 + max((level[parent] for parent in task.parents), default=-1))
        rows: list[list[int]] = [[] for _ in range(max(level) + 1)]
        for position, row in enumerate(level):
            rows[row].append(position)
        return tuple(tuple(row) for row in rows)

    @property
    def edges(self) -> int:
        """How many dependencies there are."""
        return sum(len(task.parents) for task in self.tasks)

    def steps(self) -> tuple[tuple[int, float], ...]:
        """Return the staircase of processors in use when each task starts as soon as it can.

        Returns
        -------
        tuple
            Pairs of processors and the second until which they are in use; no two neighbours have the same
            number of processors. Tasks that take no time do not show.
        """
        changes: Counter[float] = Counter()
        for start, task in zip(self.earliest_starts, self.tasks, strict=True):
            if task.run_time > RESOLUTION:
                changes[_instant(start)] += task.processors
                changes[_instant(start + task.run_time)] -= task.processors
        steps: list[tuple[int, float]] = []
        in_use = 0
        for instant in sorted(instant for instant, change in changes.items() if change):
            if in_use:
                steps.append((in_use, instant))
            in_use += changes[instant]
        return tuple(steps)

    @property
    def pilot_request(self) -> float:
        """Seconds to ask for when the workflow is submitted as one pilot job, a whole number of minutes.

        The time that the manifest states, or the length where that is longer or nothing is stated, rounded up:
        the pilot job is never killed before its last task has ended.
        """
        return MINUTE * max(1, math.ceil(max(self.stated_time or 0.0, self.length) / MINUTE))

    @property
    def scsf_pilot_request(self) -> float:
        """Seconds that ScSF asks for: the stated time (or the length) rounded *down* to minutes, which may kill."""
        return MINUTE * max(1, math.floor((self.stated_time or self.length) / MINUTE))

    def with_notes(self, *notes: str) -> Workflow:
        """Return the workflow with further notes."""
        return replace(self, notes=self.notes + notes)

    def remarks(self) -> list[str]:
        """Return what its user should know: the notes, and what the numbers say of kills.

        Examples
        --------
        >>> Workflow("late", (Task("a", 1, run_time=90.0, requested_time=60.0),)).remarks()
        ['1 task runs longer than its limit and is killed there: a']
        """
        late = [task.id for task in self.tasks if task.run_time > task.requested_time]
        remarks = list(self.notes)
        if late:
            names = ", ".join(late[:3]) + (" ..." if len(late) > 3 else "")
            many = (
                "1 task runs longer than its limit and is"
                if len(late) == 1
                else (f"{len(late):,} tasks run longer than their limits and are")
            )
            remarks.append(f"{many} killed there: {names}")
        if self.stated_time is not None and self.stated_time < self.length - RESOLUTION:
            remarks.append(f"states a total run time of {self.stated_time:,g} s, but takes {self.length:,.0f} s")
        return remarks

    def to_dict(self) -> dict[str, Any]:
        """Return the workflow as plain JSON values; `from_dict` reads them.

        Examples
        --------
        >>> Workflow("one", (Task("a", 2, 10.0, 60.0),)).to_dict()["tasks"]
        [{'id': 'a', 'name': '', 'processors': 2, 'run_time': 10.0, 'requested_time': 60.0, 'parents': []}]
        """
        tasks = [
            {
                "id": task.id,
                "name": task.name,
                "processors": task.processors,
                "run_time": task.run_time,
                "requested_time": task.requested_time,
                "parents": [self.tasks[parent].id for parent in task.parents],
            }
            for task in self.tasks
        ]
        return {"workflow": self.name, "stated_time": self.stated_time, "tasks": tasks}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Workflow:
        """Return the workflow of what `to_dict` gave.

        Raises
        ------
        InputError
            If a key is missing or a value impossible.
        """
        try:
            tasks = [
                Task(
                    task["id"], task["processors"], task["run_time"], task["requested_time"], name=task.get("name", "")
                )
                for task in values["tasks"]
            ]
            parents = {task["id"]: list(task.get("parents", ())) for task in values["tasks"]}
            return cls.arrange(values["workflow"], tasks, parents, stated_time=values.get("stated_time"))
        except KeyError as missing:
            raise InputError(f"the workflow {values.get('workflow', '')} lacks the key {missing}") from missing
        except (TypeError, AttributeError) as error:
            raise InputError(f"the workflow is not in the format of Workflow.to_dict: {error}") from error


def check_unique(name: str, ids: Sequence[str]) -> None:
    """Raise an InputError if an id of a task is used twice in the workflow `name`."""
    seen: set[str] = set()
    for identifier in ids:
        if identifier in seen:
            raise InputError(f"the workflow {name} has two tasks with the id {identifier}: ids must be unique")
        seen.add(identifier)


def _check_task(workflow: str, task: Task) -> None:
    """Raise an InputError if a number of the task is impossible."""
    if not task.id:
        raise InputError(f"the workflow {workflow} has a task with an empty id: give it a unique one")
    where = f"the workflow {workflow}, task {task.id}"
    if not 1 <= task.processors <= LARGEST or task.processors != int(task.processors):
        raise InputError(f"{where}: {task.processors} processors; must be a whole number from 1 to {LARGEST:,}")
    if not 0 <= task.run_time <= LARGEST:
        raise InputError(f"{where}: a run time of {task.run_time} s; must be from 0 to {LARGEST:,}")
    if not 0 < task.requested_time <= LARGEST:
        raise InputError(f"{where}: a requested time of {task.requested_time} s; must be above 0, up to {LARGEST:,}")


def _place(workflow: str, position: Mapping[str, int], identifier: str) -> int:
    """Return the position of a task's id."""
    try:
        return position[identifier]
    except KeyError:
        raise InputError(
            f"the workflow {workflow} has a dependency on {identifier}, but no task with this id: correct the "
            "dependency or add the task"
        ) from None


def _topological_order(workflow: str, tasks: Sequence[Task], before: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the positions such that parents come first, otherwise in the order given."""
    children: list[list[int]] = [[] for _ in tasks]
    open_parents = [len(parents) for parents in before]
    for child, parents in enumerate(before):
        for parent in parents:
            children[parent].append(child)
    ready = [place for place, count in enumerate(open_parents) if count == 0]
    order: list[int] = []
    while ready:
        place = heapq.heappop(ready)
        order.append(place)
        for child in children[place]:
            open_parents[child] -= 1
            if open_parents[child] == 0:
                heapq.heappush(ready, child)
    if len(order) < len(tasks):
        circle = _circle(before, open_parents)
        names = " -> ".join(tasks[place].id for place in circle)
        raise InputError(f"the workflow {workflow} has a cycle, {names}: remove one of these dependencies")
    return order


def _circle(before: Sequence[tuple[int, ...]], open_parents: Sequence[int]) -> list[int]:
    """Return the places of one cycle in the direction of execution, the first repeated at the end."""
    place = next(place for place, count in enumerate(open_parents) if count)
    way: list[int] = []
    while place not in way:
        way.append(place)
        place = next(parent for parent in before[place] if open_parents[parent])
    return [*way[way.index(place) :], place][::-1]


def _instant(second: float) -> float:
    """Return a time on the grid of `RESOLUTION`."""
    return round(second / RESOLUTION) * RESOLUTION
