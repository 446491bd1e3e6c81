"""Both engines on nodes give the answers that were worked out by hand in `conformance/nodes/`, and these make sense."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from node_cases import Shape, node_inputs, on_nodes

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine import simulate
from schedlab.engine.machine.numbers import PLACEMENTS, UNLIMITED
from schedlab.engine.reference.simulate import replay_on_nodes
from schedlab.workload.resources import NUMBERS, WHOLE, Resources
from schedlab.workload.workload import Workload

TIMES = ("submit_time", "run_time", "requested_time")
DIRECTORY = Path(__file__).resolve().parents[3] / "conformance" / "nodes"


class Case(NamedTuple):
    """A case of the suite: its nodes, its jobs, and what is written about both."""

    name: str
    groups: list[dict[str, Any]]
    cluster: dict[str, Any]
    jobs: list[dict[str, Any]]
    expect: list[dict[str, Any]]
    wrong: list[dict[str, Any]]

    @property
    def workload(self) -> Workload:
        """The jobs, by what they ask for in all."""
        columns = {name: [job[name] for job in self.jobs] for name in TIMES}
        processors = [job.get("tasks", 1) * job.get("cores_per_task", 1) for job in self.jobs]
        return Workload.from_columns(
            {**columns, "requested_processors": processors}, processors=sum(self.cluster["cores"])
        )

    @property
    def machine(self) -> Cluster:
        """The nodes as a user gives them."""
        return Cluster.of_nodes(NodeGroup(**group) for group in self.groups)

    @property
    def requests(self) -> Resources:
        """What the jobs ask for as a user gives it."""
        given = {name for job in self.jobs for name in job} - set(TIMES)
        usual = {name: [job.get(name, NUMBERS.get(name)) for job in self.jobs] for name in given}
        return Resources.of(len(self.jobs), **usual)

    def shape(self, job: dict[str, Any], allowed: list[list[bool]]) -> Shape:
        """Return what a job asks for; its row of `allowed` is added there."""
        wanted = set(job.get("constraint", "").split("&")) - {""}
        allowed.append([wanted <= features for features in self.cluster["features"]])
        types = self.cluster["type names"]
        cores = job.get("cores_per_task", 1)
        return Shape(
            nodes=job.get("nodes", job.get("gpus", 0)),
            tasks=job.get("tasks", 1),
            tasks_per_node=job.get("tasks_per_node", 0),
            task_cores=cores,
            task_memory=job.get("memory_per_core", 0) * cores,
            task_gpus=job.get("gpus_per_task", 0),
            node_memory=job.get("memory_per_node", 0),
            node_gpus=job.get("gpus_per_node", 0),
            share=job.get("gpu_share", WHOLE),
            gpu_type=types.index(job["gpu_type"]) if "gpu_type" in job else -1,
            exclusive=bool(job.get("exclusive", 0)),
            eligible=len(allowed) - 1,
        )

    def replay(self, answer: dict[str, Any]) -> tuple[Any, Any]:
        """Return the schedule of the plain engine, and the parts of nodes that each job had."""
        allowed: list[list[bool]] = []
        shapes = [self.shape(job, allowed) for job in self.jobs]
        rule = PLACEMENTS.index(answer["placement"])
        inputs = node_inputs(self.cluster | {"allowed": allowed}, shapes, list(range(len(shapes))), rule)
        return replay_on_nodes(on_nodes(self.workload, inputs, answer["scheduler"]))


def _load(path: Path) -> Case:
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    nodes = [group | {"name": name} for group in case["nodes"] for name in group["names"]]
    gpus = [[kind for kind, count in node.get("gpus", {}).items() for _ in range(count)] for node in nodes]
    names = sorted({kind for of_node in gpus for kind in of_node})
    cluster = {
        "names": [node["name"] for node in nodes],
        "cores": [node["cores"] for node in nodes],
        "memory": [node.get("memory", UNLIMITED) for node in nodes],
        "weight": [node.get("weight", 1) for node in nodes],
        "gpus": [len(of_node) for of_node in gpus],
        "types": [names.index(kind) for of_node in gpus for kind in of_node],
        "type names": names,
        "features": [set(node.get("features", ())) for node in nodes],
    }
    groups = [
        group
        | {
            "names": tuple(group["names"]),
            "gpus": tuple(group.get("gpus", {}).items()),
            "features": frozenset(group.get("features", ())),
        }
        for group in case["nodes"]
    ]
    return Case(path.stem, groups, cluster, case["jobs"], case["expect"], case["wrong"])


CASES = [_load(path) for path in sorted(DIRECTORY.glob("*.toml"))]


def _variant(answer: dict[str, Any]) -> tuple[str, str]:
    return answer["scheduler"], answer["placement"]


EXPECTATIONS = [
    pytest.param(case, answer, id=f"{case.name}-{'-'.join(_variant(answer))}")
    for case in CASES
    for answer in case.expect
]


@pytest.mark.parametrize(("case", "answer"), EXPECTATIONS)
def test_the_plain_engine_gives_the_answer_of_the_pencil_on_nodes(case: Case, answer: dict[str, Any]) -> None:
    schedule, places = case.replay(answer)
    names = case.cluster["names"]
    assert schedule.start_time.tolist() == answer["start"]
    assert [[names[part.node] for part in parts] for parts in places] == answer["on"]
    if "tasks" in answer:
        assert [[part.tasks for part in parts] for parts in places] == answer["tasks"]
    if "gpus" in answer:
        assert [[number for part in parts for number, _ in part.gpus] for parts in places] == answer["gpus"]


@pytest.mark.parametrize(("case", "answer"), EXPECTATIONS)
def test_the_engine_gives_the_answer_of_the_pencil_on_nodes(case: Case, answer: dict[str, Any]) -> None:
    workload = case.workload.replace(resources=case.requests)
    text = f"{answer['scheduler']},placement={answer['placement']}"
    schedule = simulate(workload, text, cluster=case.machine)
    assert schedule.start_time.tolist() == answer["start"]
    placement = schedule.placement
    assert placement is not None
    for job, names in enumerate(answer["on"]):
        first, end = placement.offsets[job : job + 2]
        assert {placement.nodes[node] for node in placement.node[first:end]} == set(names)


def test_the_suite_is_complete() -> None:
    assert len(CASES) >= 20
    page = (DIRECTORY / "README.md").read_text(encoding="utf-8")
    for case in CASES:
        assert f"\n## {case.name.split('-')[0]} " in page, f"{case.name} is not explained"
        assert {"fcfs", "fcfs+easy"} <= {answer["scheduler"] for answer in case.expect}, case.name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_wrong_rule_gives_another_answer_on_nodes(case: Case) -> None:
    right = {_variant(answer): answer["start"] for answer in case.expect}
    assert case.wrong
    for answer in case.wrong:
        assert answer["start"] != right[_variant(answer)], answer["rule"]
