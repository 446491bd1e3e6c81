"""How fast experiments are generated, and whether they have the pressure and the share that were asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl
from schedlab.model.edison import EDISON_TOY
from schedlab.workflow.workflow import Task, Workflow

GOAL = 5
"""Seconds."""

LONG = Task("long", processors=48, run_time=14_340, requested_time=14_400)
LONG_WIDE = Workflow("longwide", (LONG, Task("wide", 480, 3_540, 3_600, parents=(0,))))


def experiments(traces: Path) -> Iterator[Result]:
    """8.3 days on Edison's size with a fill phase, alone and with a quarter of workflows, and by ScSF's rules."""
    quarter = {"workflows": ((LONG_WIDE, 1.0),), "workflow_policy": "share", "share": 0.25}
    cases = {
        "generate, no workflows": ({}, 1.000),
        "generate, 25 % pilot jobs": (quarter | {"submission_mode": "pilot"}, 1.000),
        "generate, ScSF's rules": ({"rules": "scsf"}, 0.995),
    }
    for name, (fields, pressure) in cases.items():
        experiment = sl.generate.Experiment(EDISON_TOY, fill_wait=14_400, preload=93_600, duration=622_800, **fields)
        begin = time.perf_counter()
        generated = sl.generate.generate_experiment(experiment, rng=np.random.default_rng(1))
        seconds = time.perf_counter() - begin
        reserved, share = generated.reserved_pressure, generated.workflow_share
        right = abs(reserved - pressure) < 0.002 and abs(share - fields.get("share", 0.0)) < 0.001
        check = f"{len(generated.workload):,} jobs, pressure {reserved:.3f}, workflows {share:.1%}"
        yield Result(name, f"{seconds:.1f} s", f"{GOAL} s", seconds < GOAL, check, right)
