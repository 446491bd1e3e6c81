from __future__ import annotations

import re
from typing import Any

import pytest

from schedlab.errors import InputError
from schedlab.workflow.wfformat import Execution, from_wfformat, to_wfformat
from schedlab.workflow.workflow import Task, Workflow


def split(*tasks: dict[str, Any], version: str = "1.5", **measured: dict[str, Any]) -> dict[str, Any]:
    execution = {"makespanInSeconds": 9, "executedAt": "03-23-21T06:04:36Z"}
    execution["tasks"] = [{"id": identifier} | values for identifier, values in measured.items()]
    body = {"specification": {"tasks": list(tasks), "files": []}, "execution": execution}
    return {"name": "w", "schemaVersion": version, "workflow": body, "unknown": {"keys": "are fine"}}


def todo(identifier: str, parents: tuple[str, ...] = (), children: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"name": f"n-{identifier}", "id": identifier, "parents": list(parents), "children": list(children)}


@pytest.mark.parametrize("version", ["1.5", "1.6"])
def test_edges_are_the_union_of_parents_and_children(version: str):
    document = split(
        todo("c", ("a",)),
        todo("a", (), ("b",)),
        todo("b"),
        version=version,
        a={"runtimeInSeconds": 5.5, "coreCount": 4},
        b={"runtimeInSeconds": 0, "coreCount": 1.5},
        c={"runtimeInSeconds": 2, "coreCount": 1},
    )
    workflow = from_wfformat(document, "w.json", "w")
    assert [(task.id, task.processors, task.parents) for task in workflow.tasks] == [
        ("a", 4, ()),
        ("c", 1, (0,)),
        ("b", 2, (0,)),
    ]
    assert (workflow.length, workflow.tasks[0].requested_time, workflow.remarks()) == (7.5, 65.5, [])


@pytest.mark.parametrize(("version", "key"), [("1.3", "runtime"), ("1.4", "runtimeInSeconds")])
def test_older_versions_have_one_list_and_refer_to_names(version: str, key: str):
    tasks = [
        {"name": "cut_ID01", "id": "ID01", "category": "cut", "type": "compute", "parents": [], key: 3, "cores": 2},
        {"name": "sort_ID02", "type": "compute", "parents": ["cut_ID01"], key: 4},
    ]
    document = {"name": "w", "schemaVersion": version, "workflow": {"tasks": tasks}}
    workflow = from_wfformat(document, "w.json", "w")
    assert [(task.id, task.name, task.processors, task.parents) for task in workflow.tasks] == [
        ("ID01", "cut", 2, ()),
        ("sort_ID02", "sort_ID02", 1, (0,)),
    ]
    assert workflow.remarks() == ["says nothing of the cores of 1 tasks: they are taken to use one"]


def test_what_was_assumed_of_cores_is_noted():
    document = split(todo("a"), a={"runtimeInSeconds": 1})
    assert from_wfformat(document, "w", "w").remarks() == ["says nothing of cores: each task is taken to use one"]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (split(todo("a"), version="2.0", a={"runtimeInSeconds": 1}), "schemaVersion is '2.0', but known are 1.3, 1.4"),
        ({"workflow": {}}, "schemaVersion is None"),
        (split(todo("a")), "task a: the execution does not list it: add its runtimeInSeconds"),
        (split(todo("a"), a={}), "task a: runtimeInSeconds is missing"),
        (split(todo("a"), a={"runtimeInSeconds": -1}), "task a: its runtimeInSeconds is negative, -1"),
        (split(todo("a"), a={"runtimeInSeconds": "1"}), "task a: runtimeInSeconds must be a number, not '1'"),
        (split(todo("a"), a={"runtimeInSeconds": 1, "coreCount": 0}), "task a: 0 cores; must be above 0"),
        (split(todo("a", ("z",)), a={"runtimeInSeconds": 1}), "task a: parents names z, which is not a task"),
        (split(todo("a", (), ("z",)), a={"runtimeInSeconds": 1}), "task a: children names z, which is not a task"),
        (split(todo("a", ("a",)), a={"runtimeInSeconds": 1}), "has a cycle, a -> a"),
        (split(todo("a"), todo("a"), a={"runtimeInSeconds": 1}), "two tasks have the id a"),
        (split({"name": 5}, a={"runtimeInSeconds": 1}), "name must be a text, not '5'"),
        ({"schemaVersion": "1.5", "workflow": {"specification": {"tasks": []}}}, "run times are unknown: add it"),
        ({"schemaVersion": "1.5", "workflow": {}}, "specification is missing"),
        ({"schemaVersion": "1.4", "workflow": {"tasks": []}}, "has no task"),
    ],
)
def test_bad_documents_are_refused_in_one_sentence(document: dict[str, Any], words: str):
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        from_wfformat(document, "w.json", "w")
    assert "\n" not in str(caught.value)


def pair() -> Workflow:
    return Workflow("pair", (Task("cut it", 2, 10.0, 600.0, name="cut"), Task("cut_it", 1, 5.0, 60.0, (0,))))


def test_what_is_written_is_read_again_with_ids_that_the_format_allows():
    document = to_wfformat(pair())
    assert document["schemaVersion"] == "1.6"
    workflow = from_wfformat(document, "w.json", "pair")
    assert [task.id for task in workflow.tasks] == ["cut_it", "cut_it_2"]
    assert [(task.processors, task.run_time, task.requested_time, task.parents) for task in workflow.tasks] == [
        (2, 10.0, 600.0, ()),
        (1, 5.0, 60.0, (0,)),
    ]


def test_a_simulated_run_says_when_and_where_each_task_ran():
    executed = Execution((86_400.0, 86_500.0), (10.0, 4.0), 86_390.0, "fcfs+easy", "kth", 100)
    execution = to_wfformat(pair(), executed)["workflow"]["execution"]
    assert execution["makespanInSeconds"] == 104.0
    assert execution["executedAt"] == "1970-01-02T00:00:00+00:00"
    assert execution["machines"] == [{"nodeName": "kth", "cpu": {"coreCount": 100}}]
    second = execution["tasks"][1]
    assert (second["executedAt"], second["runtimeInSeconds"], second["coreCount"], second["machines"]) == (
        "1970-01-02T00:01:40+00:00",
        4.0,
        1,
        ["kth"],
    )
    assert second["schedlab"] == {"requestedTimeInSeconds": 60.0, "waitInSeconds": 110.0}
