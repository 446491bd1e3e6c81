"""Stochastic jobs in a campaign: the fields of the entry, the jobs of each repetition, the hash of their source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from campaign_runs import MODEL, run_here, small
from pydantic import ValidationError

from schedlab.campaign.entries import StochasticEntry
from schedlab.campaign.inputs import find_inputs
from schedlab.campaign.instances import make_workload
from schedlab.campaign.plan import Plan, Trace, task_names
from schedlab.schedule.provenance import input_sha256

LARGE = {"law": "uniform(1h,3h)", "jobs": 6, "processors": "half"}
SMALL = {"law": "uniform(1m,3m)", "jobs": 4, "processors": 2, "over": "1h", "requests": "exact"}
ENTRY: dict[str, Any] = {"generate": "stochastic", "processors": 10, "applications": [LARGE, SMALL]}


def plan_of(**entry: Any) -> Plan:
    campaign = small(workloads=[ENTRY | entry], schedulers=["laf+conservative,reservations=fixed,requests=classic"])
    return Plan(campaign, find_inputs(campaign, Path()))


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"applications": []}, "at least 1 item"),
        ({"applications": [LARGE | {"law": "uniform(3h,1h)"}]}, "uniform"),
        ({"applications": [LARGE | {"jobs": 0}]}, "greater than or equal to 1"),
        ({"applications": [LARGE | {"processors": "most"}]}, "full"),
        ({"applications": [LARGE | {"processors": 11}]}, "jobs of 11 processors do not fit on a machine of 10"),
        ({"applications": [LARGE | {"over": -1}]}, "greater than or equal to 0"),
        ({"load": 0.7}, "leave load out"),
        ({"estimates": "exact"}, "Extra inputs"),
    ],
)
def test_what_cannot_be_drawn_is_refused(fields: dict[str, Any], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        StochasticEntry.model_validate(ENTRY | fields)


def test_each_repetition_draws_other_jobs_and_the_same_ones_again() -> None:
    instances = plan_of(repetitions=3).instances
    prints = [input_sha256(make_workload(instance)) for instance in instances]
    assert len(set(prints)) == 3
    assert [input_sha256(make_workload(instance)) for instance in plan_of(repetitions=3).instances] == prints


def test_jobs_have_the_laws_and_requests_of_the_entry() -> None:
    jobs = make_workload(plan_of(name="mix").instances[0])
    assert (jobs.name, jobs.processors, len(jobs)) == ("mix", 10, 10)
    assert jobs.law is not None
    large = jobs.law == 0
    assert set(jobs.job_processors[large]) == {5}
    assert set(jobs.requested_time[large]) == {10_800}
    assert (jobs.requested_time[~large] == jobs.run_time[~large]).all()
    assert jobs.submit_time[~large].max() <= 3_600


def test_the_name_of_a_task_depends_on_every_field_of_the_entry() -> None:
    changes: list[dict[str, Any]] = [{}, {"processors": 20}, {"applications": [LARGE]}]
    changes += [
        {"applications": [LARGE | one, SMALL]} for one in ({"jobs": 7}, {"law": "uniform(1h,4h)"}, {"over": 60})
    ]
    assert len({plan_of(**change).names[0] for change in changes}) == len(changes)


def test_names_of_tasks_of_older_campaigns_have_not_changed() -> None:
    campaign = small(workloads=[MODEL], schedulers=["fcfs"])
    (model,) = Plan(campaign, find_inputs(campaign, Path())).instances[:1]
    specification = model.specification()
    assert specification["source"] == {"model": "lublin", "jobs": 20, "processors": 16, "estimates": "tsafrir"}
    assert list(specification) == ["workload", "source", "repetition", "seed", "users", "load", "window"]
    assert len(task_names(Plan(campaign, find_inputs(campaign, Path())).settings, model, ["fcfs"])[0]) == 32
    assert Trace("x", "ab", "none", 8, None).specification() == {
        "sha256": "ab",
        "clean": "none",
        "processors": 8,
        "requests": None,
    }


def test_the_campaign_runs_and_knows_what_was_reserved(tmp_path: Path) -> None:
    schedulers = [f"laf+conservative,reservations=fixed,requests={method}" for method in ("classic", "toptimal")]
    run = run_here(small(workloads=[ENTRY], schedulers=schedulers), tmp_path)
    frame = run.results()
    assert len(frame) == 2
    assert (frame["mean_reserved_turnaround"] >= frame["mean_turnaround"]).all()
