"""Random workloads that ask for everything that a job can ask for, for the fuzzer of the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from drawing import Draw
from drawn_clusters import Document, nodes_of
from features import with_checkpoints
from numpy.typing import NDArray

from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.submissions import Submission, WorkflowJobs
from schedlab.workload.workload import Workload

Columns = dict[str, Any]
USERS = tuple(f" User: {number} {number}" for number in range(1, 4))
"""The header that names users as the clusters do."""


WITHOUT_CHECKPOINTS = {"order of events", "speculation"}
"""With what jobs that write checkpoints do not go."""


def drawn_jobs(
    draw: Draw, document: Document, processors: int, jobs: int, *, heterogeneous: bool, moldable: bool
) -> Workload:
    """Return so many jobs for a cluster; some may never fit it."""
    rng = np.random.default_rng(draw.getrandbits(40))
    columns = _times(draw, rng, jobs)
    asked = (
        _on_nodes(draw, rng, document, jobs) if "groups" in document else _on_processors(draw, rng, processors, jobs)
    )
    if "licenses" in document:
        asked["licenses"] = [draw.one("", "", "L", "L:2", "M", "L:1,M:1") for _ in range(jobs)]
    if heterogeneous:
        asked["het_job"] = _together(draw, columns, jobs)
    elif draw.has("arrays", 0.2):
        most = 0 if "array_reserve" in draw.wanted else 2
        limits = {"A1": draw.randint(0, most), "A2": draw.randint(0, most)}
        asked["array"] = [draw.one("", "", "A1", "A2") for _ in range(jobs)]
        asked["array_limit"] = [limits.get(array, 0) for array in asked["array"]]
        if "array_reserve" in draw.wanted:  # whose elements wait, beside others
            asked["tasks"] = np.where([bool(array) for array in asked["array"]], np.maximum(asked["tasks"], 3), 1)
    columns["requested_processors"] = asked["tasks"] * asked.get("cores_per_task", 1)
    workload = Workload.from_columns(
        columns,
        processors=processors,
        resources=Resources.of(jobs, **asked) if "groups" in document or len(asked) > 1 else None,
        requests_enforced=draw.has("overtime", 0.7),
        header=USERS,
    )
    if jobs > 3 and draw.has("dependencies", 0.25):
        workload = _with_dependencies(draw, rng, workload, workflows=not heterogeneous and draw.has("workflows", 0.4))
    if moldable:
        workload = workload.replace(alternatives=_alternatives(rng, document, processors, jobs))
    alone = moldable or not draw.wanted.isdisjoint(WITHOUT_CHECKPOINTS)
    if rng.random() < (0.05 if draw.wanted & {"queue", "order of events"} else 0.25):
        workload = _with_patience(workload, rng)
    return with_checkpoints(workload, rng) if rng.random() < 0.15 and not alone else workload


def _with_patience(workload: Workload, rng: np.random.Generator) -> Workload:
    """Return jobs of which some are cancelled if they wait for long; components of a job wait equally long."""
    jobs, most = len(workload), int(rng.choice([3, 30, 200]))
    patience = np.where(rng.random(jobs) < rng.choice([0.2, 0.6]), rng.integers(1, most + 1, jobs), 0)
    resources = workload.resources or Resources.of_processors(workload.job_processors)
    first: dict[str, int] = {}
    for row, name in enumerate(resources.het_job.texts()):
        if name:
            patience[row] = patience[first.setdefault(name, row)]
    return workload.replace(resources=replace(resources, patience=patience))


def _times(draw: Draw, rng: np.random.Generator, jobs: int) -> Columns:
    longest = 400 if "crowded" in draw.wanted else draw.one(20, 60, 200, 200)
    request = rng.integers(1, longest, jobs)
    if "queue" in draw.wanted:
        request = rng.integers(10, 250, jobs)
    if "reorder" in draw.wanted:  # of many small runs, those that come and go by take the place of some
        request = np.where(_give_way(draw, jobs), request + 100, request % 20 + 1)
    runs = "any" if draw.has("too long", 0.0) else draw.one("as asked", "shorter", "shorter", "shorter", "any")
    most = {"as asked": request, "shorter": request, "any": 2 * request + 1}[runs]
    within = (
        draw.one(1, 30, 60)
        if "queue" in draw.wanted
        else draw.one(1, 30, 60, 120)
        if draw.wanted
        else draw.one(1, 1, 30, 60, 120, 300)
    )
    within = 400 if draw.has("spread", 0.0) else within  # so that runs are there whom others may preempt
    submit = np.sort(rng.integers(0, within, jobs))
    if draw.has("ties", 0.15):
        rng.shuffle(submit)
    if draw.chance(0.1):
        submit = submit // 30 * 30
    if "order of events" in draw.wanted:  # of one second
        submit, request, most = submit // 10 * 10, request // 10 * 10 + 10, most // 10 * 10 + 10
    numbers = {"user_id": 4, "executable_id": 3, "queue_id": 4, "partition_id": 4, "group_id": 3}
    return {
        "submit_time": submit,
        "run_time": request.copy() if runs == "as asked" else rng.integers(0, most + 1),
        "requested_time": request,
        **{name: rng.integers(1, end, jobs) for name, end in numbers.items()},
    }


def _on_processors(draw: Draw, rng: np.random.Generator, processors: int, jobs: int) -> Columns:
    width = rng.integers(1, processors + 1, jobs)
    narrow = np.minimum(width, rng.integers(1, 3, jobs))
    if "queue" in draw.wanted:  # wide ones wait, and narrow ones may start before them
        return {"tasks": np.where(rng.random(jobs) < 0.6, narrow, width)}
    return {"tasks": np.minimum(width, rng.integers(1, processors + 1, jobs)) if draw.chance(0.5) else width}


def _on_nodes(draw: Draw, rng: np.random.Generator, document: Document, jobs: int) -> Columns:
    groups, names = document["groups"], nodes_of(document["groups"])
    narrow = "accounts" in document and draw.has(
        "narrow", 0.0 if draw.wanted else 0.6
    )  # so that limits hold jobs back, and not the nodes
    tasks = rng.integers(1, 3 if narrow else draw.one(2, 5, 10), jobs)
    if "queue" in draw.wanted:
        tasks = rng.choice([1, 1, 1, 2, 3, 4, 6], jobs)
    several = 0.5 if "switches" in document else 0.25  # on nodes that may be on several switches
    nodes = np.where(rng.random(jobs) < several, rng.integers(1, 4, jobs), 0)
    asked = _gpus(draw, rng, groups, jobs)
    shares = asked["gpu_share"] < 1000
    asked["nodes"] = np.where(shares, 0, np.where(asked["gpus_per_node"] > 0, np.maximum(nodes, 1), nodes))
    asked["tasks"] = np.where(shares, 1, np.maximum(tasks, asked["nodes"]))
    asked["cores_per_task"] = rng.choice([1, 1, 1, 2, 3], jobs)
    memory = rng.random(jobs)
    asked |= {
        "tasks_per_node": np.where(rng.random(jobs) < 0.1, rng.integers(1, 4, jobs), 0),
        "memory_per_node": np.where(memory < 0.2, rng.integers(1, 300, jobs), 0),
        "memory_per_core": np.where((memory > 0.2) & (memory < 0.4), rng.integers(1, 80, jobs), 0),
        "exclusive": (rng.random(jobs) < (0.4 if "whole nodes" in draw.wanted else 0.08)).astype(int),
        "constraint": [draw.one("", "", "", "", "x", "y", "x|y", "x&y") for _ in range(jobs)],
        "partition": [_partitions(draw, document) for _ in range(jobs)],
    }
    if draw.has("exclude", 0.25):
        asked["exclude"] = [draw.one("", "", "", draw.choice(names)) for _ in range(jobs)]
    if draw.chance(0.25):
        some = min(2, len(names))
        asked["nodelist"] = [
            draw.one("", "", "", draw.choice(names), ",".join(draw.sample(names, some))) for _ in range(jobs)
        ]
    if "switches" in document and draw.has("switches", 0.5):
        asked["switches"] = np.where(rng.random(jobs) < 0.6, 1, 0)
        asked["switch_wait"] = rng.choice([0, 20, 100, 300], jobs)
    if "accounts" in document:
        qualities = [one["name"] for one in document.get("qos", ())]
        asked["qos"] = [draw.one("", *qualities) for _ in range(jobs)]
        if draw.has("account", 0.5):
            asked["account"] = [draw.one("", "a", "b") for _ in range(jobs)]
    if "crowded" in draw.wanted:
        return _in_waves(draw, rng, asked, document, jobs)
    return asked | _anywhere(draw, jobs) if "queue" in draw.wanted else asked


def _anywhere(draw: Draw, jobs: int) -> Columns:
    """Return the columns of jobs that may run on any node, if their case is about neither memory nor certain nodes."""
    columns: Columns = {}
    if "memory" not in draw.wanted:
        columns["memory_per_node"] = np.zeros(jobs, dtype=int)
    if "places" not in draw.wanted:
        columns |= {name: [""] * jobs for name in ("constraint", "nodelist", "exclude")}
    return columns


def _in_waves(draw: Draw, rng: np.random.Generator, asked: Columns, document: Document, jobs: int) -> Columns:
    """Return jobs of which many give way, then some take the place of several, on one node or more, and so on."""
    low = _give_way(draw, jobs)
    partitions = [one["name"] for one in document.get("partitions", [{"name": ""}])]
    qualities = [one["name"] for one in document.get("qos", [])]
    one_node = ~low & (np.arange(jobs) % 2 == 0)
    changed: Columns = {
        **_anywhere(draw, jobs),
        "tasks": np.where(low | (asked["gpu_share"] < 1000), asked["tasks"], np.maximum(asked["nodes"], 3)),
        "cores_per_task": np.where(low, asked["cores_per_task"], 1),
        "nodes": np.where(one_node, 1, asked["nodes"]),
        "partition": [partitions[0 if one else -1] for one in low],
    }
    if "reorder" in draw.wanted:  # of many small ones of different sizes on a node, the order decides which give way
        sizes = np.where(low, rng.choice([1, 1, 1, 3, 7], jobs), rng.integers(8, 20, jobs))
        changed |= {"tasks": sizes, "nodes": np.where(low, 0, 1), "cores_per_task": np.ones(jobs, dtype=int)}
        changed["tasks_per_node"] = np.zeros(jobs, dtype=int)
        changed |= {name: np.zeros(jobs, dtype=int) for name in ("gpus", "gpus_per_node", "gpus_per_task", "exclusive")}
        changed["gpu_share"] = np.full(jobs, 1000)
    if qualities:
        changed["qos"] = [qualities[-1 if one else 0] for one in low]
    return asked | changed


def _give_way(draw: Draw, jobs: int) -> NDArray[np.bool_]:
    return np.arange(jobs) % (4 if "reorder" in draw.wanted else 12) < (3 if "reorder" in draw.wanted else 8)


def _partitions(draw: Draw, document: Document) -> str:
    names = [one["name"] for one in document.get("partitions", ())]
    several = len(names) if "partitions" in draw.wanted else 1
    return ",".join(draw.sample(names, draw.randint(several, len(names)))) if names and draw.chance(0.6) else ""


def _gpus(draw: Draw, rng: np.random.Generator, groups: list[Document], jobs: int) -> Columns:
    """Return GPUs per node, in all or per task for a third of the jobs, parts of one for some, and their types."""
    kinds = {kind for group in groups if isinstance(group.get("gpus"), dict) for kind in group["gpus"]}
    there = any("gpus" in group for group in groups)
    how = rng.random(jobs) * (0.35 if "gpus" in draw.wanted else 1) if there else np.ones(jobs)
    per_node = np.where(how < 0.15, rng.integers(1, 3, jobs), 0)
    in_all = np.where((how >= 0.15) & (how < 0.3), rng.integers(1, 4, jobs), 0)
    per_task = ((how >= 0.3) & (how < 0.35)).astype(int)
    part = (in_all == 1) & (rng.random(jobs) < 0.5)
    asked: Columns = {
        "gpus_per_node": per_node,
        "gpus": in_all,
        "gpus_per_task": per_task,
        "gpu_share": np.where(part, rng.choice([100, 250, 500], jobs), 1000),
    }
    if kinds and draw.chance(0.5):
        any_gpus = per_node + in_all + per_task > 0
        asked["gpu_type"] = [draw.choice(sorted(kinds)) if one and draw.chance(0.4) else "" for one in any_gpus]
    return asked


def _together(draw: Draw, columns: Columns, jobs: int) -> list[str]:
    """Let some jobs be components of one, of the same user and submission; return the names of their jobs."""
    names, row = [""] * jobs, 0
    while row < jobs:
        end = min(row + draw.one(1, 1, 2, 2, 3), jobs)
        if end - row > 1:
            names[row:end] = [f"h{row}"] * (end - row)
            for column in ("submit_time", "user_id"):
                columns[column][row:end] = columns[column][row]
        row = end
    return names


def _with_dependencies(draw: Draw, rng: np.random.Generator, workload: Workload, *, workflows: bool) -> Workload:
    """Return jobs of which some wait for others; those of a workflow may have one place in the queue."""
    jobs = len(workload)
    pairs = rng.integers(0, jobs, (jobs // 2, 2))
    child, parent = pairs.max(axis=1), pairs.min(axis=1)
    keep = child > parent
    if not keep.any():
        return workload
    delay = rng.choice([0, 0, 4, 30], len(pairs))
    after = Dependencies.from_pairs(child[keep], parent[keep], delay[keep], jobs=jobs)
    if not workflows:
        return workload.replace(dependencies=after)
    flow = Workflow("flow", (Task("a", 2, 15.0, 30.0, ()), Task("b", 1, 5.0, 9.0, ())))
    one_place = draw.has("one place", 0.0)
    count = (1 if "wf_count" in draw.wanted else draw.one(1, 2, 6)) if one_place else draw.randint(1, 3)
    submissions = [Submission(flow, "aware" if one_place else draw.one("aware", "chained"), 0) for _ in range(count)]
    flows = WorkflowJobs(rng.integers(-1, count, jobs), np.zeros(jobs, dtype=np.int64), submissions)
    return workload.replace(dependencies=after, workflows=flows)


def _alternatives(rng: np.random.Generator, document: Document, processors: int, jobs: int) -> Alternatives:
    count = int(rng.integers(1, 2 * jobs))
    widest = 6 if "groups" in document else max(2, processors)
    return Alternatives.of(
        rng.integers(0, jobs, count),
        jobs=jobs,
        processors=rng.integers(1, widest + 1, count),
        run_time=rng.integers(0, 60, count),
        requested_time=rng.integers(1, 80, count),
    )


def asking_for_reservations(draw: Draw, workload: Workload, names: list[str]) -> Workload:
    """Return the jobs, of which some ask for a reservation; components ask for the same."""
    asked: dict[str, str] = {}
    components = workload.resources.het_job.texts()
    asks = [asked.setdefault(one or f"row {row}", draw.one("", "", *names)) for row, one in enumerate(components)]
    return with_resources(workload, reservation=Labels.of(asks))


def with_resources(workload: Workload, **changed: Any) -> Workload:
    """Return jobs that ask for other resources."""
    columns = {name: getattr(workload.resources, name) for name in Resources.__dataclass_fields__}
    return workload.replace(resources=Resources(**columns | changed))


def without_rows(workload: Workload, rows: Any) -> Workload:
    """Return the jobs without some, and without the other components of these."""
    keep = np.ones(len(workload), dtype=bool)
    keep[rows] = False
    if workload.resources is not None:
        codes = workload.resources.het_job.codes
        keep &= ~(np.isin(codes, codes[rows]) & (codes >= 0))
    return workload[np.flatnonzero(keep)]
