from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.workflow.files import read_workflow
from schedlab.workflow.grouping import group_by_name, merge_chains, parse_groups, rename_by_levels
from schedlab.workflow.workflow import Task, Workflow


def fan(run_times: list[float], *, processors: int = 1) -> Workflow:
    """One task named split, one named work for each run time, one named join after them all."""
    works = [Task(f"w{i}", processors, time, time + 60, (0,), "work") for i, time in enumerate(run_times)]
    above = tuple(range(1, len(works) + 1))
    return Workflow("fan", (Task("s", 1, 5.0, 65.0, name="split"), *works, Task("j", 1, 7.0, 67.0, above, name="join")))


def test_a_group_has_all_processors_and_lasts_as_long_as_the_longest():
    grouped = group_by_name(fan([10.0, 30.0, 20.0], processors=4), {"work": None})
    assert [task.id for task in grouped.tasks] == ["s", "work", "j"]
    assert grouped.tasks[1] == Task("work", 12, 30.0, 90.0, (0,), "work")
    assert grouped.tasks[2].parents == (1,)


@pytest.mark.parametrize(
    ("rounds", "cap", "processors", "run_time"),
    [
        ("average", 9, 8, 75.0),  # 5 tasks of 25 s on average, 2 at a time, make 3 rounds
        ("packed", 9, 8, 75.0),  # one slot has 10 and 20 s and, from 30 s on, 45; the other 30 and, from then on, 20
        ("average", 100, 100, 25.0),  # brought to the cap
        ("packed", 100, 20, 45.0),
    ],
)
def test_a_capped_group_runs_in_rounds(rounds, cap: int, processors: int, run_time: float):
    grouped = group_by_name(fan([10.0, 30.0, 20.0, 45.0, 20.0], processors=4), {"work": cap}, rounds=rounds)
    assert (grouped.tasks[1].processors, grouped.tasks[1].run_time) == (processors, run_time)


def test_packing_is_shorter_than_rounds_where_short_tasks_share_a_slot():
    many = fan([60.0, 10.0, 10.0, 10.0, 10.0, 10.0])
    assert group_by_name(many, {"work": 2}, rounds="average").tasks[1].run_time == pytest.approx(110 / 6 * 3)
    assert group_by_name(many, {"work": 2}, rounds="packed").tasks[1].run_time == 60.0


def test_tasks_of_a_group_that_wait_for_each_other_last_as_long_as_their_chain():
    tasks = (Task("a", 1, 10.0, 70.0, name="x"), Task("b", 1, 20.0, 80.0, (0,), "x"), Task("c", 1, 5.0, 65.0, (1,)))
    for cap in (None, 1, 2):
        grouped = group_by_name(Workflow("chain", tasks), {"x": cap})
        assert [(task.id, task.run_time, task.parents) for task in grouped.tasks] == [("x", 30.0, ()), ("c", 5.0, (0,))]


def test_groups_that_wait_for_each_other_are_refused():
    tasks = (Task("a", 1, 1.0, 9.0, name="x"), Task("b", 1, 1.0, 9.0, (0,), "y"), Task("c", 1, 1.0, 9.0, (1,), "x"))
    with pytest.raises(InputError, match="cannot be grouped: the workflow loop has a cycle, "):
        group_by_name(Workflow("loop", tasks), {"x": None})


def test_a_task_wider_than_the_cap_is_refused():
    with pytest.raises(InputError, match="tasks work need 4 processors, above"):
        group_by_name(fan([1.0], processors=4), {"work": 3})


def test_a_group_is_never_called_like_a_single_task():
    tasks = (Task("x", 1, 1.0, 9.0, name="other"), Task("b", 1, 1.0, 9.0, name="x"))
    assert [task.id for task in group_by_name(Workflow("w", tasks), {"x": None}).tasks] == ["x", "group:x"]


def test_chains_of_the_same_processors_are_merged_from_end_to_end():
    tasks = (
        Task("a", 2, 1.0, 61.0),
        Task("b", 2, 2.0, 92.0, (0,)),
        Task("c", 2, 4.0, 64.0, (1,)),
        Task("d", 3, 8.0, 68.0, (2,)),  # wider
        Task("e", 2, 16.0, 76.0, (2,)),  # not the only child
        Task("f", 2, 32.0, 92.0, (3, 4)),  # not the only parent
    )
    merged = merge_chains(Workflow("w", tasks))
    assert [(task.id, task.run_time, task.parents) for task in merged.tasks] == [
        ("a", 7.0, ()),
        ("d", 8.0, (0,)),
        ("e", 16.0, (0,)),
        ("f", 32.0, (1, 2)),
    ]
    assert merged.tasks[0].requested_time == 7.0 + 90.0


def test_names_are_given_level_by_level():
    tasks = (Task("a", 1, 1.0, 9.0), Task("b", 1, 1.0, 9.0, (0,)), Task("c", 2, 1.0, 9.0))
    renamed = rename_by_levels(Workflow("w", tasks))
    assert [(task.id, task.processors, task.parents) for task in renamed.tasks] == [
        ("S0", 1, ()),
        ("S1", 2, ()),
        ("S2", 1, (0,)),
    ]


def test_names_and_caps_are_told_apart_even_with_colons():
    tasks = tuple(Task(f"t{i}", 1, 1.0, 9.0, name=name) for i, name in enumerate(["a", "b:2", "c"]))
    workflow = Workflow("w", tasks)
    assert parse_groups(["a:8", "b:2"], workflow, cap=4) == {"a": 8, "b:2": 4}
    assert parse_groups(["*", "c:1"], workflow) == {"a": None, "b:2": None, "c": 1}
    with pytest.raises(InputError, match="no task with the name 'z'; its names are a, b:2, c"):
        parse_groups(["z:8"], workflow)
    with pytest.raises(InputError, match="at least 1"):
        parse_groups(["a:0"], workflow)


def labelled(workflow: Workflow) -> tuple[list[tuple[float, ...]], list[tuple[float, float]]]:
    """Return what is left of a workflow without the names of tasks: their numbers, and the edges between them."""
    tasks = sorted((task.processors, round(task.run_time, 6), round(task.requested_time, 6)) for task in workflow.tasks)
    edges = sorted(
        (round(workflow.tasks[parent].run_time, 6), round(task.run_time, 6))
        for task in workflow.tasks
        for parent in task.parents
    )
    return tasks, edges


@pytest.mark.parametrize(
    ("dax", "names", "cap", "manifest", "tasks", "cores", "seconds"),
    [
        ("sipht-d1344-n1920-clean.xml", ["*"], 96, "sipht.json", 12, 480, 4091.437834),
        ("floodplain.xml", [], None, "floodplain.json", 7, 512, 117_000.0),
        ("motif_large.xml", ["Interproscan"], None, "motif_large.json", 4, 500, 9_090.0),
        ("psmerge_large.xml.gz", ["*"], None, "psmerge_large.json", 4, 7_589, 14_760.0),
        ("mcstas.xml", [], None, "mcstas.json", 3, 128, 4_460_400.0),
    ],
)
def test_published_manifests_come_out_of_their_dax(
    workflow_files: Path, dax: str, names: list[str], cap, manifest: str, tasks: int, cores: int, seconds: float
):
    workflow = read_workflow(workflow_files / "dax-scsf" / dax)
    made = rename_by_levels(merge_chains(group_by_name(workflow, parse_groups(names, workflow, cap))))
    assert (len(made), made.peak_processors, round(made.length, 6)) == (tasks, cores, seconds)
    assert labelled(made) == labelled(read_workflow(workflow_files / "scsf-manifests" / manifest))


def test_every_name_is_none_of_tasks_without_a_name():
    mixed = Workflow("mixed", (Task("1", 1, 5.0, 9.0), Task("2", 1, 5.0, 9.0), Task("3", 1, 5.0, 9.0, name="cut")))
    assert parse_groups(["*"], mixed) == {"cut": None}
