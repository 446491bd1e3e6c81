"""Limits on what a job holds of each node, held against a real slurmctld: `conformance/slurm-per-node.json`.

Each of 25 requests was submitted alone under `MaxTRESPerNode` (`tests/slurm/per_node_on_slurm.py`): it ran, or waited
for ever.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Account, Accounting, AccountUser, Limits, QosLimits, tres_of
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.workload.event_lines import read_event_lines

REQUESTS = json.loads((Path(__file__).parents[4] / "conformance" / "slurm-per-node.json").read_text(encoding="utf-8"))
NODES = NodeGroup.of("n[1-3]", cores=8, memory=8000, gpus={"x": 4})


def cluster_of(one):
    """Return three nodes and a user under the limit of a request."""
    limits = Limits(max_tres_per_node=tres_of(one["limit"]))
    of_qos, of_account = (limits, Limits()) if one["holder"] == "qos" else (Limits(), limits)
    accounts = (Account("root", ""), Account("a", limits=of_account, qos=("q",), default_qos="q"))
    who = Accounting((QosLimits("q", limits=of_qos),), accounts, (AccountUser("ann", "a", default=True),))
    return Cluster.of_nodes([NODES], [Partition("p", default=True)], accounting=who)


@pytest.mark.parametrize("one", REQUESTS, ids=lambda one: f"{one['holder']} {one['limit']} {one['options']}")
def test_a_job_that_asks_for_more_of_a_node_than_allowed_never_runs_for_slurms_reason(one, tmp_path):
    line = f"-dt 0 -e submit_batch_job | -sim-walltime 60 {one['options']} -A a --uid=ann -t5 x.job"
    (tmp_path / "jobs.events").write_text(line + "\n")
    (found,) = never_runs(read_event_lines(tmp_path / "jobs.events"), cluster_of(one)).texts()
    assert (found or "runs") == one["seen"]


def test_25_requests_were_seen():
    assert len(REQUESTS) == 25
    assert {one["seen"] for one in REQUESTS} >= {"runs", "QOSMaxCpuPerNode", "AssocMaxMemPerNode", "QOSMaxGRESPerNode"}
