from __future__ import annotations

import pytest

from schedlab.errors import InputError
from schedlab.workflow.dax import from_dax

EDGE = '<child ref="b"><parent ref="a"/></child>'


def dax(*jobs: str, edges: str = "", root: str = "adag") -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root}>{"".join(jobs)}{edges}</{root.split(maxsplit=1)[0]}>'


A = '<job id="a" name="cut" runtime="1,25" cores="8"/>'
B = '<job id="b" name="sort" runtime="2.5"><uses file="x" link="input"/></job>'


@pytest.mark.parametrize("root", ["adag", 'adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1"'])
def test_jobs_and_edges_are_read_with_and_without_a_namespace(root: str):
    workflow = from_dax(dax(B, A, edges=EDGE, root=root), "w.xml", "w")
    assert [(task.id, task.name, task.processors, task.parents) for task in workflow.tasks] == [
        ("a", "cut", 8, ()),
        ("b", "sort", 1, (0,)),
    ]
    assert (workflow.length, workflow.tasks[0].requested_time) == (3.75, 61.25)
    assert workflow.remarks() == ["decimal commas in 1 run time were read as points"]


def test_a_parent_that_is_named_twice_counts_once():
    edges = '<child ref="b"><parent ref="a"/><parent ref="a"/></child>' + EDGE
    assert from_dax(dax(A, B, edges=edges), "w.xml", "w").edges == 1


def test_version_3_says_run_time_and_cores_in_profiles():
    job = (
        '<job id="a" name="cut" namespace="x" version="1.0"><argument>-n</argument>'
        '<profile namespace="pegasus" key="runtime">90</profile><profile namespace="globus" key="count">4</profile>'
        '<uses name="f" link="output"/></job>'
    )
    task = from_dax(dax(job, root='adag xmlns="http://pegasus.isi.edu/schema/DAX" version="3.6"'), "w", "w").tasks[0]
    assert (task.run_time, task.processors) == (90.0, 4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<adag><job", r"w\.xml: this is not XML \(.*line 1"),
        ("<html></html>", r"w\.xml: the root element is html, but a DAX has adag"),
        (dax('<job name="cut" runtime="1"/>'), r"w\.xml, job 1: the element job has no id"),
        (dax('<job id="a"/>'), r"w\.xml, job a: the attribute runtime is missing"),
        (dax('<job id="a" runtime="-1,64"/>'), r"w\.xml, job a: its runtime is negative, -1,64 s"),
        (dax('<job id="a" runtime="soon"/>'), r"w\.xml, job a: runtime must be a number, not 'soon'"),
        (dax('<job id="a" runtime="1.000,5"/>'), r"w\.xml, job a: runtime must be a number"),
        (dax('<job id="a" runtime="1" cores="0"/>'), r"w\.xml, job a: 0 processors"),
        (dax(A, '<dax id="c" file="inner.dax"/>'), r"w\.xml: c is a nested workflow"),
        (dax(A, edges="<child><parent ref='a'/></child>"), r"w\.xml, child: the element child has no ref"),
        (dax(A, edges="<child ref='a'><parent/></child>"), r"w\.xml, child a: the element parent has no ref"),
        (dax(A, edges=EDGE), "a dependency on b, but no task with this id"),
        (dax(A, A), "two tasks with the id a"),
        (dax(), "has no task"),
    ],
)
def test_bad_documents_are_refused_in_one_sentence(text: str, words: str):
    with pytest.raises(InputError, match=words) as caught:
        from_dax(text, "w.xml", "w")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "said", ['runtime="inf"', 'runtime="nan"', 'runtime="1" cores="inf"', 'runtime="1" cores="nan"']
)
def test_numbers_without_end_are_refused(said: str):
    with pytest.raises(InputError, match=r"w.xml, job a: (runtime|cores) must be a number"):
        from_dax(dax(f'<job id="a" {said}/>'), "w.xml", "w")
