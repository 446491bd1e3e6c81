"""What is submitted at each arrival."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedlab.generate.experiment import Experiment
from schedlab.generate.generation import generate_experiment
from schedlab.model.edison import EDISON_TOY
from schedlab.model.jobs import JointJobs
from schedlab.workflow.workflow import Task, Workflow


def test_a_share_that_is_reached_to_the_letter_makes_the_next_workflow_due():
    """29 of 100 core-seconds are a share of 0.29, although 0.29 x 100 is below 29 in floating-point numbers."""
    jobs = JointJobs(np.array([[1, 71, 71, -1]]), np.array([1]))
    model = replace(EDISON_TOY, processors=10, cores_per_node=None, jobs=jobs, limits=None, rules="corrected")
    workflow = Workflow("short", (Task("only", processors=1, run_time=29, requested_time=29),))
    experiment = Experiment(
        model, ((workflow, 1.0),), "share", share=0.29, submission_mode="chained", preload=0, duration=3_600
    )
    generated = generate_experiment(experiment, rng=np.random.default_rng(1))
    assert generated.workflow_share == pytest.approx(0.29, abs=0.002)
    assert 1.0 <= generated.reserved_pressure < 1.01
