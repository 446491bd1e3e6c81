"""How fast experiments with workflows are generated, simulated and analysed, on a machine of Edison's size."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.schedule.analysis import Analysis
from schedlab.workload.submissions import SUBMISSION_MODES
from schedlab_papers.scsf_setup import LOG, SCHEDULER, stand_in, synthetic_workflows

DAY = 86_400
GOAL = 20
"""Seconds."""

TWIN = 400
"""Nodes of the machine on which the reference checks."""


def experiments(traces: Path) -> Iterator[Result]:
    """Seven days after one of preload, four hours of induced wait, a quarter of WideLong workflows, in each mode."""
    if not (traces / LOG).is_file():
        return
    model = stand_in(traces)
    workflows = ((synthetic_workflows()["synthWideLong"], 1.0),)
    quarter = {"workflows": workflows, "workflow_policy": "share", "share": 0.25, "counted": "useful"}
    small = replace(model.scaled_to(TWIN * 24, 24), limits=None)
    for submission_mode in SUBMISSION_MODES:
        fields = quarter | {"submission_mode": submission_mode}
        short = sl.generate.Experiment(small, fill_wait=3_600, preload=0, duration=DAY // 4, **fields)
        jobs = sl.generate.generate_experiment(short, rng=np.random.default_rng(1)).workload
        equal = np.array_equal(sl.simulate(jobs, SCHEDULER).start_time, simulate_plain(jobs, SCHEDULER).start_time)
        whole = sl.generate.Experiment(model, fill_wait=14_400, preload=DAY, duration=7 * DAY, **fields)
        begin = time.perf_counter()
        analysis = Analysis(sl.simulate(sl.generate.generate_experiment(whole, rng=1).workload, SCHEDULER))
        found = len(analysis.distributions())
        seconds = time.perf_counter() - begin
        name, fast = f"experiment, 25 % {submission_mode}", seconds < GOAL
        check = f"{len(analysis.schedule):,} jobs, {found} distributions; {len(jobs):,} jobs equal the reference"
        yield Result(name, f"{seconds:.1f} s", f"{GOAL} s", fast, check, bool(equal))
