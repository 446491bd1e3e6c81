"""Which experiments make sense."""

from __future__ import annotations

import pytest

from schedlab.errors import InputError
from schedlab.generate.experiment import Experiment
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.sections import Sections


def test_the_sections_follow_each_other(edison) -> None:
    experiment = Experiment(edison, fill_wait=3600, preload=86_400, duration=7 * 86_400, drain=7_200)
    assert experiment.sections == Sections(3_720, 90_120, 694_920, 702_120)
    assert Experiment(edison, preload=0, duration=10, drain=0).sections == Sections(0, 0, 10, 10)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"submission_mode": "single"},
            "unknown submission_mode 'single' of an experiment; known are pilot, chained, aware",
        ),
        ({"rules": "paper"}, "unknown rules 'paper'"),
        ({"counted": "all"}, "unknown counted 'all'"),
        ({"preload": -1}, "preload of an experiment must be 0 s or more"),
        ({"duration": 0}, "must be 1 s or more"),
        ({"pressure": -0.1}, "pressure must be from 0 to 100"),
        ({"pressure": float("nan")}, "pressure must be from 0 to 100"),
        ({"pressure": 1e9}, "pressure must be from 0 to 100, not 1e\\+09"),
        ({"workflow_policy": "sometimes"}, "unknown workflow policy 'sometimes'"),
        ({"workflow_policy": "period", "period": 60}, "policy period needs workflows"),
        ({"workflow_policy": "sp-sat-p1"}, "not a special pattern"),
    ],
)
def test_what_makes_no_sense_is_refused(edison, wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Experiment(edison, **wrong)


@pytest.mark.parametrize(
    ("shares", "policy", "message"),
    [
        ((1.0,), {"workflow_policy": "none"}, "policy none has no place for workflows"),
        ((1.0,), {"workflow_policy": "period"}, "period must be 1 s or more, not 0 s"),
        ((1.0,), {"workflow_policy": "share", "share": 1.1}, "the share must be above 0 and at most 1, not 1.1"),
        ((0.5, 0.4), {"workflow_policy": "share", "share": 0.1}, "add up to 0.9; they must add up to 1"),
        ((1.5, -0.5), {"workflow_policy": "share", "share": 0.1}, "the share of workflow longwide is -0.5"),
    ],
)
def test_workflows_and_their_policy_go_together(edison, long_wide, shares, policy, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Experiment(edison, workflows=tuple((long_wide, share) for share in shares), **policy)


def test_a_workflow_must_fit_on_the_machine_as_it_is_submitted(edison) -> None:
    halves = Workflow("halves", tuple(Task(name, 70_000, 60.0, 60.0) for name in "ab"))
    by_period = {"workflows": ((halves, 1.0),), "workflow_policy": "period", "period": 3600}
    Experiment(edison, submission_mode="chained", **by_period)
    with pytest.raises(InputError, match="halves needs 140,000 processors at once, but the machine has 133,824"):
        Experiment(edison, submission_mode="pilot", **by_period)


def test_a_workflow_without_work_cannot_have_a_share_of_it(edison) -> None:
    idle = Workflow("idle", (Task("a", 1, 0.0, 60.0),))
    with pytest.raises(InputError, match="idle contains no work"):
        Experiment(edison, workflows=((idle, 1.0),), workflow_policy="share", share=0.5)
