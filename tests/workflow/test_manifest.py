from __future__ import annotations

from typing import Any

import pytest

from schedlab.errors import InputError
from schedlab.workflow.manifest import dot_edges, from_manifest, to_manifest


def entry(identifier: str, cores: Any = 2, run_time: Any = 100.0, limit: Any = 160.0) -> dict[str, Any]:
    return {"id": identifier, "name": "n", "number_of_cores": cores, "runtime_sim": run_time, "runtime_limit": limit}


def manifest(*tasks: dict[str, Any], dag: str = "", **fields: Any) -> dict[str, Any]:
    return {"tasks": list(tasks), "dot_dag": f"strict digraph {{ {dag} }}"} | fields


def test_the_form_of_the_program():
    told = manifest(entry("S1"), entry("S0", cores=4.0), dag="S0 -> S1;", max_cores=4, total_runtime=200.5)
    workflow = from_manifest(told, "m.json", "m")
    assert [(task.id, task.processors, task.parents) for task in workflow.tasks] == [("S0", 4, ()), ("S1", 2, (0,))]
    assert (workflow.stated_time, workflow.length, workflow.remarks()) == (200.5, 200.0, [])


def test_the_form_of_the_paper_has_dependencies_in_the_tasks_and_asks_for_a_minute_more():
    tasks = [
        {"id": "wide", "cmd": "./w", "cores": 480, "rtime": 360.0},
        {"id": "long", "cmd": "./l", "cores": 48, "rtime": 1440.0, "deps": ["wide"]},
    ]
    workflow = from_manifest({"tasks": tasks}, "m.json", "m")
    assert (workflow.length, workflow.tasks[1].requested_time, workflow.tasks[1].parents) == (1800.0, 1500.0, (0,))


def test_a_peak_that_is_not_that_of_the_tasks_is_noted():
    workflow = from_manifest(manifest(entry("S0"), max_cores=7), "m.json", "m")
    assert workflow.remarks() == ["states a peak of 7 cores, but its tasks have one of 2"]


@pytest.mark.parametrize(
    "text",
    [
        "digraph { a -> b; b -> c }",
        "strict digraph{a->b\n\tb->c\n}",
        'digraph "the -> name" { rankdir=LR node[label="x -> y"] a -> b [c="d"] /* d -> e */ "b"->"c" // f -> g\n}',
        'digraph g { subgraph cluster_0 { label="a -> z" a [shape=box]\n } a -> b -> c }',
    ],
)
def test_edges_are_found_in_all_manners_of_writing(text: str):
    assert dot_edges(text, "m.json") == [("a", "b"), ("b", "c")]


def test_comment_signs_in_names_begin_no_comment():
    assert dot_edges('digraph { "http://a/b" -> "/*c" /* x -> y */ }', "m.json") == [("http://a/b", "/*c")]


def test_names_with_dashes_and_blanks_are_names():
    assert dot_edges('digraph { pre-cut->"end it" }', "m.json") == [("pre-cut", "end it")]


@pytest.mark.parametrize("text", ["digraph { a -> b", "digraph { subgraph c { a -> b }", "digraph { a -> b } }"])
def test_a_graph_that_is_cut_off_is_refused(text: str):
    with pytest.raises(InputError, match=r"m\.json, dot_dag: its braces do not match"):
        dot_edges(text, "m.json")


@pytest.mark.parametrize("text", ["graph { a -- b }", "digraph { a -> {b c} }", "digraph { -> b }", "digraph { a -> }"])
def test_edges_that_do_not_lead_from_one_task_to_one_are_refused(text: str):
    with pytest.raises(InputError, match=r"m\.json, dot_dag: around .* each edge must lead from one task to one task"):
        dot_edges(text, "m.json")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (manifest(entry("S0"), entry("S0")), r"m\.json: two tasks have the id S0"),
        (manifest(entry("S0"), {"name": "x"}), r"m\.json, task 2: id is missing"),
        (manifest({"id": "S0", "runtime_sim": 5}), r"m\.json, task S0: number_of_cores is missing"),
        (manifest({"id": "S0", "number_of_cores": 5}), r"m\.json, task S0: runtime_sim is missing"),
        (manifest(entry("S0", cores=2.5)), r"m\.json, task S0: 2.5 processors"),
        (manifest(entry("S0", cores="4")), r"m\.json, task S0: number_of_cores must be a number, not '4'"),
        (manifest(entry("S0", run_time=-1)), r"m\.json, task S0: run times must be 0 or more"),
        (manifest(entry("S0", limit=0)), r"m\.json, task S0: run times must be 0 or more, and limits above 0"),
        (manifest(entry("S0"), dag="S0 -> S9"), r"m\.json, dot_dag: S9 is not a task"),
        (manifest(entry("S0"), dag="S9 -> S0"), "dependency on S9"),
        (manifest(entry("S0"), entry("S1"), dag="S0->S1 S1->S0"), "has a cycle, S0 -> S1 -> S0|S1 -> S0 -> S1"),
        ({"tasks": "S0"}, r"m\.json: tasks must be a list"),
        ({"tasks": [1]}, r"m\.json, tasks 1: must be an object"),
        (manifest(), "has no task"),
        ({"tasks": [entry("S0") | {"deps": [1]}]}, "deps must hold texts"),
    ],
)
def test_bad_manifests_are_refused_in_one_sentence(told: dict[str, Any], words: str):
    with pytest.raises(InputError, match=words) as caught:
        from_manifest(told, "m.json", "m")
    assert "\n" not in str(caught.value)


def test_what_is_written_is_read_again():
    told = manifest(entry("S 0"), entry('S"1', cores=8, limit=90.0), entry("S2"), dag=r'"S 0" -> "S2"; "S\"1" -> S2')
    workflow = from_manifest(told, "m.json", "m")
    again = from_manifest(to_manifest(workflow), "n.json", "m")
    assert again.tasks == workflow.tasks


def test_a_number_with_400_digits_is_refused():
    with pytest.raises(InputError, match=r"m.json, task S0: number_of_cores must be a number"):
        from_manifest(manifest(entry("S0", cores=10**400)), "m.json", "m")


def test_an_empty_id_is_refused():
    with pytest.raises(InputError, match="a task with an empty id"):
        from_manifest(manifest(entry(""), entry("S1")), "m.json", "m")
