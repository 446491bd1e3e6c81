"""What the tests of the generator share: ScSF's example model, and one of its workflows."""

from __future__ import annotations

import pytest

from schedlab.model.edison import EDISON_TOY
from schedlab.model.model import WorkloadModel
from schedlab.workflow.workflow import Task, Workflow


@pytest.fixture
def edison() -> WorkloadModel:
    """ScSF's example model of Edison: it brings 2.9 % of what the machine can do."""
    return EDISON_TOY


@pytest.fixture
def long_wide() -> Workflow:
    """ScSF's LongWide: 663.3 core-hours of work; as a pilot job 480 processors for 17,880 s, of which 72 % idle."""
    long = Task("long", processors=48, run_time=14_340, requested_time=14_400)
    return Workflow("longwide", (long, Task("wide", 480, 3_540, 3_600, parents=(0,))))
