"""What is there but empty makes no difference: a partition of all nodes, accounts without limits, later events."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from drawn_cases import Case, drawn_case, found_by_engine, without_what_never_runs
from drawn_clusters import USERS
from drawn_jobs import with_resources
from random_seeds import seeds

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.errors import InputError
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Labels

CASES = 12
NEVER = 10**7
"""A second when all jobs have ended."""

BARE = ("partition", "qos", "account", "licenses", "reservation", "array", "het_job")
EMPTY: dict[str, dict[str, Any]] = {
    "a partition": {"partitions": [{"name": "all", "default": True}]},
    "a QOS": {
        "qos": [{"name": "normal"}],
        "accounts": [{"name": "root", "parent": "", "qos": ["normal"], "default_qos": "normal"}, {"name": "a"}],
        "users": [{"user": user, "account": "a", "default": True} for user in USERS],
    },
    "licences": {"licenses": {"L": 3}},
    "preemption": {
        "partitions": [{"name": "all", "default": True}],
        "preemption": {"by": "partition", "mode": "requeue"},
    },
}


@cache
def bare(seed: int) -> Case | None:
    """Return a drawn case on nodes and nothing else; None if that is refused."""
    case = drawn_case(seed)
    if case is None or "groups" not in case.document or case.workload.alternatives is not None:
        return None
    if not case.workload.requests_enforced:
        return None  # nodes that may fail need requests that end jobs
    if not isinstance(case.scheduler, str) or "multifactor" in case.scheduler or "fixed" in case.scheduler:
        return None  # factors of partitions and QOS are another thing; rounds and preemption do not go together
    columns = {name: Labels.none(len(case.workload)) for name in BARE}
    limits = case.workload.resources.array_limit * 0
    jobs = with_resources(case.workload, **columns, array_limit=limits)
    document = {name: case.document[name] for name in ("groups", "switches") if name in case.document}
    try:
        return without_what_never_runs(with_cluster(case._replace(workload=jobs, options={}), document))
    except InputError:
        return None


@cache
def found_for(seed: int) -> Any:
    """Return what the engine finds for a case with which several tests compare others."""
    case = bare(seed)
    assert case is not None
    return found_by_engine(case)


def with_cluster(case: Case, document: dict[str, Any]) -> Case:
    """Return a case on another cluster."""
    return case._replace(document=document, options={**case.options, "cluster": Cluster.from_dict(document)})


def check(make: Any, *, passes_rest: bool = True, partitioned: bool = False) -> None:
    """Compare cases with what is there but empty; `make` adds it.

    Slurm's passes rest while nothing changes, but not with preemption or events of nodes: then it may be the backfill
    pass that starts a job in the second in which it would have been the main pass. On a cluster that is `partitioned`,
    limits per partition are of its partitions, and not of those that the jobs had.
    """
    compared = 0
    for seed in seeds(10 * CASES):
        case = bare(seed)
        if case is None or (partitioned and "partition" in str(case.scheduler)):
            continue
        one, other = found_for(seed), found_by_engine(make(case))
        for name in ("start_time", "end_time", "nodes", *(("backfilled",) if passes_rest else ())):
            assert one[name] == other[name], f"{name}, seed {seed}: {case.described}"
        compared += 1
        if compared == CASES:
            return
    raise AssertionError("hardly anything was compared")


@pytest.mark.parametrize("what", EMPTY)
def test_what_is_empty_in_a_cluster_makes_no_difference(what: str) -> None:
    check(
        lambda case: with_cluster(case, case.document | EMPTY[what]),
        passes_rest=what != "preemption",
        partitioned="partitions" in EMPTY[what],
    )


def test_an_event_after_the_end_makes_no_difference() -> None:
    events = NodeEvents((NodeEvent(NEVER, "down", ("n0",)), NodeEvent(NEVER + 1, "up", ("n0",))))
    check(lambda case: case._replace(options={**case.options, "node_events": events}), passes_rest=False)


def test_dependencies_of_no_job_make_no_difference() -> None:
    def with_none(case: Case) -> Case:
        nothing = Dependencies.from_pairs([], [], jobs=len(case.workload))
        return case._replace(workload=case.workload.replace(dependencies=nothing))

    check(lambda case: with_none(case) if case.workload.dependencies is None else case)
