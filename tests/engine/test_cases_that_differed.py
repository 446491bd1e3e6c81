"""Random cases in which engine and reference, or the engine and itself interrupted, once differed, as small as can be.

Each line of `cases_that_differed.json` has a document of the cluster, the scheduler, the columns of the jobs, and `why`
they differed. The seeds of drawn cases cannot be kept instead: what they draw changes with what is drawn.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_cases import DISTRIBUTIONS, Case, differences
from drawn_jobs import USERS

from schedlab.cluster.cluster import Cluster
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.submissions import Submission, WorkflowJobs
from schedlab.workload.workload import Workload

CASES = json.loads(Path(__file__).with_name("cases_that_differed.json").read_text(encoding="utf-8"))


def case_of(kept: dict[str, Any]) -> Case:
    """Return a case that was kept."""
    cluster, jobs = Cluster.from_dict(kept["cluster"]), len(kept["columns"]["submit_time"])
    workload = Workload.from_columns(
        kept["columns"],
        processors=cluster.processors,
        resources=Resources.of(jobs, **kept["resources"]) if "resources" in kept else None,
        requests_enforced=kept.get("requests_enforced", True),
        header=USERS,
    )
    if "after" in kept:
        child, parent, delay = zip(*kept["after"], strict=True)
        workload = workload.replace(dependencies=Dependencies.from_pairs(child, parent, delay, jobs=jobs))
    if "in_workflow" in kept:
        flow = Workflow("flow", (Task("a", 1, 1.0, 1.0, ()),))
        first = [Submission(flow, "aware", 0)]
        workload = workload.replace(
            workflows=WorkflowJobs(np.array(kept["in_workflow"]), np.zeros(jobs, dtype=np.int64), first)
        )
    if "distribution" in kept:
        workload = workload.replace(distribution=np.array(kept["distribution"]), **DISTRIBUTIONS)
    return Case(workload, kept["scheduler"], {"cluster": cluster, **kept.get("options", {})}, kept["cluster"])


@pytest.mark.parametrize("kept", CASES, ids=lambda kept: kept["why"])
def test_cases_that_once_differed_agree(kept: dict[str, Any]) -> None:
    assert differences(case_of(kept), 0) == []
