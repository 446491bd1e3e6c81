"""What jobs ask for: ranges, contradictions, and that nothing that a workload carries is lost on any way."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.schedule.provenance import input_sha256
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.cancelling import with_patience
from schedlab.workload.checkpoint_rules import with_checkpoints
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.extras import DISTRIBUTIONS, PARTS
from schedlab.workload.files import lost_in, read_workload, write_workload
from schedlab.workload.joining import joined
from schedlab.workload.origin import Origin
from schedlab.workload.own_columns import OwnColumns
from schedlab.workload.resources import LABELS, NUMBERS, Labels, Resources
from schedlab.workload.sampling import resample_users, time_window
from schedlab.workload.submissions import Submission, WorkflowJobs
from schedlab.workload.submitting import submit_workflows
from schedlab.workload.workload import FIELDS, Workload

CHAIN = Workflow("chain", (Task("a", 2, 10.0, 60.0), Task("b", 1, 5.0, 60.0, (0,))), stated_time=15.0)
TEXTS = ("uniform(1s,9s)", "constant(5)")
SIZES = ("8x100", "4x190/200", "2x300/400@2", "1x900@1")
NAMES = st.sampled_from([None, "a", "b", "ib&(a100|h100)", "long,short", "007", "NA", "null", "Ä ö"])


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """Draw a few jobs that carry everything that jobs can carry; each row differs from the others in each field."""
    jobs = draw(st.integers(1, 6))

    def column(least: int, most: int) -> np.ndarray:
        return np.array(draw(st.lists(st.integers(least, most), min_size=jobs, max_size=jobs)), dtype=np.int64)

    columns = {field: column(-1, 2**40) for field in FIELDS} | {"submit_time": column(0, 9), "run_time": column(0, 9)}
    columns["requested_processors"] = column(1, 8)
    columns["average_cpu_time"] = column(0, 9) / 4
    numbers = {name: column(1, 1000 if name == "gpu_share" else 1) for name in NUMBERS if "gpu" in name}
    numbers |= {"nodes": column(0, 1), "tasks": np.ones(jobs, np.int64), "exclusive": column(0, 1)}
    numbers["checkpoint_when_told"] = column(0, 1)
    numbers |= {name: column(1, 2**40) for name in NUMBERS if name not in numbers}
    labels = {name: draw(st.lists(NAMES, min_size=jobs, max_size=jobs)) for name in LABELS}
    numbers["array_limit"] = np.where(Labels.of(labels["array"]).codes >= 0, numbers["array_limit"], 0)
    children = np.arange(1, jobs)
    sizes = draw(st.lists(st.lists(st.sampled_from(SIZES), max_size=2), min_size=jobs, max_size=jobs))
    urgency = np.array(draw(st.lists(st.floats(allow_infinity=False, allow_nan=False), min_size=jobs, max_size=jobs)))
    team = draw(st.lists(NAMES, min_size=jobs, max_size=jobs))
    return Workload.from_columns(
        columns,
        name="full",
        processors=draw(st.integers(1, 99)),
        start_time=draw(st.integers(1, 2**31)),
        header=(" Note: a header",),
        requests_enforced=draw(st.booleans()),
        rounded=draw(st.integers(0, 9)),
        origin=Origin("log.swf", "ab12", "swf"),
        distribution=column(-1, len(TEXTS) - 1),
        distributions=TEXTS,
        sequences=("3s, 9s", ""),
        dependencies=Dependencies.from_pairs(children, children - 1, column(0, 5)[1:], jobs=jobs),
        workflows=WorkflowJobs(column(-1, 0), column(-1, 1), (Submission(CHAIN, "chained", 3),)),
        cores_per_node=draw(st.integers(1, 64)),
        resources=Resources.of(jobs, **numbers, **labels),
        own=OwnColumns.of({"deadline": column(-(2**50), 2**50), "urgency": urgency, "team": ["a", *team[1:]]}, ()),
        alternatives=Alternatives.from_texts([" ".join(some) for some in sizes]),
    )


ALL = [*(field.name for field in dataclasses.fields(Workload) if field.name != "extras")]
ALL += [*(name for name in PARTS if name != "distributions"), *DISTRIBUTIONS]


def content(workload: Workload, rows: slice = slice(None)) -> dict[str, object]:
    """Return all that is in a workload, field by field, in plain values; a new field must be told apart here."""
    told: dict[str, object] = {}
    for name in ALL:
        value = getattr(workload, name)
        if isinstance(value, Dependencies):
            pairs = zip(value.children.tolist(), value.parents.tolist(), value.delay.tolist(), strict=True)
            places = range(len(workload))[rows]
            value = {(a - places[0], b - places[0], delay) for a, b, delay in pairs if a in places and b in places}
        elif isinstance(value, WorkflowJobs):
            value = [
                (None if number < 0 else value.submissions[number], task)
                for number, task in zip(value.number[rows].tolist(), value.task[rows].tolist(), strict=True)
            ]
        elif isinstance(value, Resources):
            value = {one: getattr(value, one)[rows].tolist() for one in NUMBERS} | {
                one: getattr(value, one).texts()[rows] for one in LABELS
            }
        elif isinstance(value, Alternatives):
            value = value.texts()[rows]
        elif isinstance(value, OwnColumns):
            value = {one: value.array(one)[rows].tolist() for one in value.columns}
        elif name == "distribution":
            value = [
                None if distribution < 0 else (workload.distributions[distribution], workload.sequences[distribution])
                for distribution in value[rows].tolist()
            ]
        elif isinstance(value, np.ndarray):
            value = value[rows].tolist()
        told[name] = value
    return told


def jobs_alone(told: dict[str, object]) -> dict[str, object]:
    """Return what is told of jobs one by one: columns, distributions, workflows, requests and alternatives."""
    return {name: told[name] for name in (*FIELDS, "distribution", "workflows", "alternatives", "resources", "own")}


@settings(deadline=None, max_examples=40)
@given(workloads(), workloads())
def test_nothing_that_a_workload_carries_is_lost(workload: Workload, other: Workload) -> None:
    full = content(workload)
    assert all(value is not None for value in full.values())
    assert content(workload[:]) == full
    assert content(workload.replace()) == full
    back = workload[::-1]
    assert content(back[::-1]) == full
    assert _rows(back) == _rows(workload)[::-1]
    order = np.argsort(workload.submit_time, kind="stable")
    assert content(workload.sorted_by_submit()) == content(workload[order])
    assert content(time_window(workload, 0, 10)) == full
    both = joined(workload, other)
    for part, rows in ((workload, slice(0, len(workload))), (other, slice(len(workload), len(both)))):
        mine = content(both, rows)
        expected = content(part)
        assert jobs_alone(mine) == jobs_alone(expected)
        assert mine["dependencies"] == expected["dependencies"]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "full.parquet"
        write_workload(workload, path)
        again = read_workload(path)
        assert content(again) == full | {"rounded": 0, "origin": again.origin}  # reading rounded nothing
        assert again.origin.made_from == (workload.origin,)
        assert input_sha256(again) == input_sha256(workload)


@pytest.mark.parametrize(
    "gives",
    [
        lambda log: joined(log, log.replace(resources=Resources.of(2, partition=["gpu", None])))[:2],
        lambda log: joined(log.replace(resources=Resources.of(2, partition=["gpu", None])), log)[2:],
        lambda log: with_patience(log, np.array([False, True])),
        lambda log: with_checkpoints(log, "every(1h,cost=1m)"),
        lambda log: log,
    ],
    ids=["joined first", "joined second", "patience", "checkpoints", "as it is"],
)
def test_the_memory_that_swf_tells_stays_where_jobs_get_other_requests(
    gives: Callable[[Workload], Workload],
) -> None:
    log = Workload.from_columns(
        {
            "submit_time": [0, 0],
            "run_time": [9_000, 9_000],
            "requested_time": [20_000, 20_000],
            "requested_processors": [4, 1],
            "requested_memory": [3_000_000, -1],
        }
    )
    jobs = gives(log)
    assert jobs["memory_per_core"].tolist() == [2_930, 0]  # 3,000,000 kB are 2,929.7 MiB
    assert jobs["tasks"].tolist() == [4, 1]


def _rows(workload: Workload) -> list[tuple[object, ...]]:
    """Return what is told of each job by itself."""
    told = jobs_alone(content(workload))
    requests, own = told.pop("resources"), told.pop("own")
    assert isinstance(requests, dict)
    assert isinstance(own, dict)
    return list(zip(*told.values(), *requests.values(), *own.values(), strict=True))


@settings(deadline=None, max_examples=40)
@given(workloads())
def test_frames_and_csv_keep_the_jobs_and_what_they_ask_for(workload: Workload) -> None:
    kept = (*FIELDS, "resources", "own", "alternatives")
    full = content(workload)
    distributions = {name: getattr(workload, name) for name in ("distribution", "distributions", "sequences")}
    again = content(Workload.from_frame(workload.to_frame()).replace(**distributions))
    assert {name: again[name] for name in kept} == {name: full[name] for name in kept}
    alone = workload.replace(dependencies=None, workflows=None)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "full.csv.gz"
        write_workload(alone, path)
        again = content(read_workload(path).replace(**distributions))
    assert {name: again[name] for name in kept} == {name: full[name] for name in kept}


@settings(deadline=None, max_examples=20)
@given(workloads())
def test_jobs_of_workflows_join_those_of_a_full_workload(workload: Workload) -> None:
    wide = workload.replace(processors=None, job_id=np.arange(len(workload)))
    both = submit_workflows(wide, [Submission(CHAIN, "chained", 1)])
    new = (both.job_id >= len(workload)).nonzero()[0]
    assert content(both[both.job_id < len(workload)]) == content(wide.sorted_by_submit()) | {
        "workflows": content(both[both.job_id < len(workload)])["workflows"]
    }
    assert both["team"][new].tolist() == ["", ""]
    assert np.isnan(both["urgency"][new]).all()
    assert both.resources is not None
    assert both.resources.tasks[new].tolist() == [2, 1]
    assert [both.workflows.submissions[number].submit_time for number in both.workflows.number[new]] == [1, 1]
    assert (both.distribution[new].tolist(), both.sequences) == ([-1, -1], workload.sequences)


@settings(deadline=None, max_examples=20)
@given(workloads())
def test_resampled_jobs_ask_for_what_they_asked_for(workload: Workload) -> None:
    alone = workload.replace(dependencies=None, workflows=None, run_time=np.arange(len(workload)))
    drawn = resample_users(alone, weeks=3, rng=np.random.default_rng(1))
    rows = drawn.run_time
    assert content(drawn)["resources"] == content(alone[rows])["resources"]
    assert content(drawn)["own"] == content(alone[rows])["own"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"tasks": [1, 0]}, "column tasks, row 1: 0, but must be a whole number from 1 on"),
        ({"nodes": [-1, 0]}, "column nodes, row 0: -1, but must be a whole number from 0 on"),
        ({"gpu_share": [1, 1001]}, "column gpu_share, row 1: 1001, but must be a whole number from 1 to 1000"),
        ({"gpu_share": [0, 1]}, "column gpu_share, row 0"),
        ({"exclusive": [2, 1]}, "column exclusive, row 0: 2, but must be a whole number from 0 to 1"),
        ({"memory_per_node": [1, 2.5]}, "column memory_per_node, row 1: 2.5"),
        ({"memory_per_core": ["much", 1]}, "column memory_per_core is not numeric"),
        ({"gpus": [1, 1, 1]}, "column gpus has 3 rows, expected 2"),
        ({"qos": ["high"]}, "column qos has 1 rows, expected 2"),
        ({"colour": [1, 2]}, "no column 'colour'; they have nodes, tasks"),
        (
            {"gpus": [0, 4], "gpus_per_node": [2, 4], "nodes": [1, 2]},
            r"row 1: gpus is not nodes x gpus_per_node \(nodes 2, gpus 4, gpus_per_node 4\)",
        ),
        ({"gpus": [3, 3], "gpus_per_node": [0, 2]}, "row 1: gpus is no multiple of gpus_per_node"),
        ({"gpus": [3, 3], "gpus_per_task": [0, 2], "tasks": [3, 2]}, "row 1: gpus is not tasks x gpus_per_task"),
        ({"gpus": [2, 1], "gpu_share": [500, 500]}, "row 0: gpu_share is a share of one GPU"),
        ({"nodes": [2, 1], "gpu_share": [500, 500]}, "row 0: gpu_share is a share of one GPU"),
    ],
)
def test_impossible_requests_are_refused_in_one_sentence(columns: dict[str, list[object]], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        Resources.of(2, **columns)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [None, np.nan, ""])
def test_what_is_missing_is_no_name(name: object) -> None:
    assert Labels.of([name, "a"]).texts() == ["", "a"]
    frame = pd.DataFrame(
        {"submit_time": [0, 1], "run_time": [1, 1], "requested_processors": [1, 1], "qos": [name, "x"]}
    )
    resources = Workload.from_frame(frame).resources
    assert resources is not None
    assert resources.qos.texts() == ["", "x"]


def test_columns_that_store_one_value_take_no_memory() -> None:
    resources = Resources.of(3).select(np.array([True, False, True])).join(Resources.of(2, qos=["a", "b"]))
    assert all(getattr(resources, name).strides == (0,) for name in NUMBERS)
    assert resources.said == ("qos",)


def test_a_workload_refuses_resources_of_other_jobs() -> None:
    with pytest.raises(InputError, match="resources has 2 jobs, expected 1"):
        Workload.from_columns({"submit_time": [0]}, resources=Resources.of(2))


def test_swf_names_in_its_header_what_it_leaves_out(tmp_path: Path) -> None:
    columns = {"submit_time": [0], "run_time": [5], "requested_processors": [2]}
    workload = Workload.from_columns(columns, resources=Resources.of(1, tasks=[2], gpus=[1], partition=["a"]))
    write_workload(workload, tmp_path / "w.swf")
    again = read_workload(tmp_path / "w.swf")
    assert " Note: left out, as SWF has no fields for them: gpus, partition" in again.header
    assert lost_in(workload, tmp_path / "w.json") == ("gpus", "partition")
    assert lost_in(workload, tmp_path / "w.csv") == ()
    stochastic = workload.replace(distribution=[0], distributions=("uniform(1s,9s)",))
    assert lost_in(stochastic, tmp_path / "w.csv") == ("run-time distributions",)
    assert lost_in(stochastic, tmp_path / "w.swf") == ("run-time distributions", "gpus", "partition")
    assert lost_in(stochastic, tmp_path / "w.parquet") == ()


def test_damaged_columns_of_a_table_are_refused_with_file_and_row(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("submit_time,run_time,requested_processors,tasks,gpus\n0,1,1,1,0\n0,1,1,1,-3\n")
    with pytest.raises(InputError, match=f"{path}: resources: column gpus, row 1: -3"):
        read_workload(path)
    path.write_text("submit_time,run_time,requested_processors,tasks,gpus\n0,1,1,1,many\n")
    with pytest.raises(InputError, match=f"{path}: column gpus, row 0: 'many' is not a number"):
        read_workload(path)
