"""What tests of experiments share: a small model and two workflows in files, and a campaign that takes a moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.plan import Plan
from schedlab.model.empirical import EmpiricalDistribution
from schedlab.model.jobs import IndependentJobs
from schedlab.model.model import WorkloadModel
from schedlab.workflow.files import write_workflow
from schedlab.workflow.workflow import Task, Workflow

MACHINE = 16

CHAIN = Workflow("chain", (Task("wide", 8, 300, 360), Task("long", 2, 600, 660, (0,))))
"""2,400 core-seconds, then 1,200; as a pilot job, 8 processors for 900 s."""

SINGLE = Workflow("single", (Task("only", 4, 120, 180),))


def model(minutes: int = 10) -> WorkloadModel:
    """Jobs of 1 to 8 processors that ask for a time and use half of it; one arrives each five minutes or so."""
    return WorkloadModel(
        name="small",
        processors=MACHINE,
        gaps=EmpiricalDistribution.of_shares({(200, 400): 1}, "uniform"),
        jobs=IndependentJobs(
            EmpiricalDistribution.of_shares({(1, 2): 1, (2, 3): 1, (8, 9): 1}, "low"),
            EmpiricalDistribution.of_shares({(60 * minutes, 120 * minutes): 1}, "uniform"),
            EmpiricalDistribution.of_shares({(0.5, 0.51): 1}, "low"),
            rules="corrected",
        ),
    )


def write_files(directory: Path) -> None:
    """Write `small.json`, `chain.json` and `single.json`."""
    model().save(directory / "small.json")
    for workflow in (CHAIN, SINGLE):
        write_workflow(workflow, directory / f"{workflow.name}.json", format="manifest")


def entry(**fields: Any) -> dict[str, Any]:
    """Return the fields of an experiment of three hours, with chains for a quarter of the work."""
    short = {"fill_wait": 0, "preload": "1h", "duration": "3h", "drain": "1h"}
    workflows = {"workflows": "chain.json", "workflow_policy": "share", "share": 0.25}
    return {"generate": "experiment", "model": "small.json", "submission_mode": ["pilot", "chained", "aware"]} | (
        workflows | short | fields
    )


def campaign(*entries: dict[str, Any], **fields: Any) -> Campaign:
    """Return a campaign of experiments, by default one of `entry`."""
    defaults: dict[str, Any] = {"name": "small", "schedulers": ["multifactor(age=1000,size=100)+slurm"]}
    return Campaign.model_validate(defaults | {"workloads": list(entries) or [entry()]} | fields)


def plan(directory: Path, *entries: dict[str, Any], **fields: Any) -> Plan:
    """Return the plan of a campaign whose files are in a directory."""
    defined = campaign(*entries, **fields)
    return Plan(defined, find_inputs(defined, directory))
