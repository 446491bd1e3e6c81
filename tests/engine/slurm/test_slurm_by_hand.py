"""Small cases that were run on a real Slurm, to the second: `conformance/slurm-by-hand.json`.

The expectations are Slurm's own starts (see `conformance/README.md`). Slurm notices an end with its next tick, a second
later, and so does the model with `tick=1`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.engine.simulation import simulate
from schedlab.scheduler import Scheduler
from schedlab.scheduler.backfilling import TICK
from schedlab.scheduler.slurm_rules import naming_version
from schedlab.workload.workload import Workload

CASES = json.loads((Path(__file__).parents[3] / "conformance" / "slurm-by-hand.json").read_text(encoding="utf-8"))


def modelled(engine, case, **options):
    """Return the starts of the model, which notices ends a tick later."""
    submit, processors, run, limit, *partition = np.array(case["jobs"]).T
    columns = {"submit_time": submit, "run_time": run, "requested_time": limit}
    columns["requested_processors"] = processors
    if partition:
        (columns["partition_id"],) = partition
    workload = Workload.from_columns(columns, processors=case["nodes"])
    scheduler = Scheduler.parse(naming_version(case["scheduler"], "22.05"))
    scheduler = replace(scheduler, backfill=replace(scheduler.backfill, tick=TICK))
    return engine(workload, scheduler, **options).start_time.tolist()


@pytest.mark.parametrize("engine", [simulate, simulate_plain], ids=["compiled", "plain"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_model_starts_each_job_in_the_second_in_which_real_slurm_did(engine, case):
    assert (modelled(engine, case) in case["starts"]) is ("differs" not in case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_model_on_nodes_starts_each_job_in_the_second_in_which_real_slurm_did(case):
    nodes = Cluster.of_nodes([NodeGroup(tuple(f"n{number}" for number in range(case["nodes"])), cores=1)])
    assert (modelled(simulate, case, cluster=nodes) in case["starts"]) is ("differs" not in case or "on_nodes" in case)


def test_there_are_enough_cases_and_few_differ():
    assert len(CASES) >= 52
    assert sum("differs" in case for case in CASES) <= 6
