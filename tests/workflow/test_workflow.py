from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.workflow.workflow import Task, Workflow


def diamond() -> Workflow:
    """A (4 processors, 10 s), then B (2, 30 s) and C (3, 20 s), then D (1, 5 s) after both."""
    return Workflow(
        "diamond",
        (
            Task("A", 4, 10.0, 60.0),
            Task("B", 2, 30.0, 60.0, (0,)),
            Task("C", 3, 20.0, 60.0, (0,)),
            Task("D", 1, 5.0, 60.0, (1, 2)),
        ),
    )


@st.composite
def workflows(draw) -> Workflow:
    sizes = draw(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 50)), min_size=1, max_size=12))
    tasks = []
    for place, (processors, run_time) in enumerate(sizes):
        parents = draw(st.sets(st.integers(0, place - 1), max_size=3)) if place else set()
        tasks.append(Task(f"t{place}", processors, float(run_time), 60.0, tuple(sorted(parents))))
    return Workflow("drawn", tuple(tasks))


def test_a_diamond_worked_by_hand():
    workflow = diamond()
    assert workflow.earliest_starts == (0.0, 10.0, 10.0, 40.0)
    assert workflow.length == 45.0
    assert workflow.steps() == ((4, 10.0), (5, 30.0), (2, 40.0), (1, 45.0))
    assert workflow.peak_processors == 5
    assert workflow.widest == 4
    assert workflow.work == 4 * 10 + 2 * 30 + 3 * 20 + 1 * 5
    assert workflow.levels == ((0,), (1, 2), (3,))
    assert workflow.roots == (0,)
    assert workflow.edges == 4


def test_instants_that_differ_by_rounding_alone_do_not_overlap():
    # 0.1 + 0.2 is a little more than 0.3: the second chain begins its wide task before the first has ended its own.
    first = (Task("a", 1, 0.1, 60.0), Task("b", 5, 0.2, 60.0, (0,)))
    second = (Task("c", 1, 0.3, 60.0), Task("d", 5, 0.3, 60.0, (2,)))
    assert 0.1 + 0.2 > 0.3
    assert Workflow("rounding", first + second).peak_processors == 6


def test_tasks_of_no_time_have_the_peak_of_the_widest():
    workflow = Workflow("instant", (Task("a", 3, 0.0, 60.0), Task("b", 2, 0.0, 60.0)))
    assert (workflow.length, workflow.steps(), workflow.peak_processors) == (0.0, (), 3)


@given(workflows())
def test_the_staircase_holds_the_work_of_all_tasks(workflow: Workflow):
    begin, work = 0.0, 0.0
    for processors, end in workflow.steps():
        work += processors * (end - begin)
        begin = end
    assert work == pytest.approx(workflow.work)
    assert begin == pytest.approx(workflow.length)


@given(workflows(), st.randoms(use_true_random=False))
def test_the_order_of_a_file_changes_nothing_that_is_measured(workflow: Workflow, rng: random.Random):
    parents = {task.id: [workflow.tasks[parent].id for parent in task.parents] for task in workflow.tasks}
    shuffled = list(workflow.tasks)
    rng.shuffle(shuffled)
    again = Workflow.arrange("again", shuffled, parents)
    assert (again.length, again.steps()) == (workflow.length, workflow.steps())
    assert {task.id: {again.tasks[parent].id for parent in task.parents} for task in again.tasks} == {
        child: set(above) for child, above in parents.items()
    }


@given(workflows())
def test_a_workflow_survives_its_dictionary_as_json(workflow: Workflow):
    assert Workflow.from_dict(json.loads(json.dumps(workflow.to_dict()))) == workflow


def test_the_order_of_the_file_is_kept_where_it_can_be():
    tasks = [Task(name, 1, 1.0, 60.0) for name in "dcba"]
    assert [task.id for task in Workflow.arrange("x", tasks, {"d": ["b"]}).tasks] == ["c", "b", "d", "a"]


@pytest.mark.parametrize(
    ("stated", "length", "asked", "by_scsf"),
    [
        (None, 61.0, 120, 60),
        (120.0, 61.0, 120, 120),
        (61.0, 60.5, 120, 60),
        (60.0, 121.0, 180, 60),  # what is stated would kill
        (None, 0.0, 60, 60),
    ],
)
def test_pilots_ask_for_whole_minutes(stated: float | None, length: float, asked: int, by_scsf: int):
    workflow = Workflow("one", (Task("a", 1, length, 600.0),), stated)
    assert (workflow.pilot_request, workflow.scsf_pilot_request) == (asked, by_scsf)


@pytest.mark.parametrize(
    ("tasks", "parents", "words"),
    [
        (["a", "b", "c"], {"a": ["c"], "b": ["a"], "c": ["b"]}, "has a cycle, "),
        (["a"], {"a": ["a"]}, "has a cycle, a -> a"),
        (["a", "a"], {}, "two tasks with the id a"),
        (["a"], {"a": ["z"]}, "a dependency on z, but no task with this id"),
        (["a"], {"z": ["a"]}, "a dependency on z, but no task with this id"),
        ([], {}, "has no task"),
    ],
)
def test_what_is_no_workflow_is_refused(tasks: list[str], parents: dict[str, list[str]], words: str):
    with pytest.raises(InputError, match=words):
        Workflow.arrange("bad", [Task(name, 1, 1.0, 60.0) for name in tasks], parents)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (Task("a", 0, 1.0, 60.0), "0 processors"),
        (Task("a", 1, -1.0, 60.0), "a run time of -1.0 s"),
        (Task("a", 1, float("nan"), 60.0), "a run time of nan s"),
        (Task("a", 1, 1.0, 0.0), "a requested time of 0.0 s"),
        (Task("a", 2**40, 1.0, 60.0), "must be a whole number from 1 to 1,000,000,000"),
        (Task("a", 1, 1e12, 60.0), "must be from 0 to 1,000,000,000"),
        (Task("a", 1, 1.0, float("inf")), "must be above 0, up to 1,000,000,000"),
        (Task("a", 1, 1.0, 60.0, (0,)), "must precede it"),
    ],
)
def test_tasks_with_impossible_numbers_are_refused(task: Task, words: str):
    with pytest.raises(InputError, match=words):
        Workflow("bad", (task,))


def test_what_kills_and_what_is_stated_too_short_is_remarked():
    late = Workflow("late", (Task("a", 1, 90.0, 60.0), Task("b", 1, 90.0, 80.0)), stated_time=60.0)
    assert late.remarks() == [
        "2 tasks run longer than their limits and are killed there: a, b",
        "states a total run time of 60 s, but takes 90 s",
    ]
    assert diamond().remarks() == []
