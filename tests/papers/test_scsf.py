"""ScSF's experiments: the workflows' published numbers, the sizes of its sets, and a small run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.plan import Plan
from schedlab.errors import InputError
from schedlab.model.edison import EDISON_TOY
from schedlab.workflow.files import read_workflow, write_workflow
from schedlab_papers import scsf, scsf_setup
from schedlab_papers.reproduction import TextTable
from schedlab_papers.scsf_setup import (
    EXPERIMENTS,
    MANIFESTS,
    REPETITIONS,
    Setting,
    campaign_of,
    period_of_set_0,
    prepare,
    stand_in,
    synthetic_workflows,
    workflows_of,
)

WORKFLOWS = synthetic_workflows()


@pytest.mark.parametrize(
    ("name", "tasks", "length", "peak", "core_hours"),
    [
        ("synthWideLong", 2, 17_880, 480, 663.2),
        ("synthLongWide", 2, 17_880, 480, 663.2),
        ("runtime1job", 1, 3_500, 240, 233.3),
        ("runtime64job", 64, 224_000, 240, 14_933.3),
        ("waittimeratio4", 2, 7_000, 480, 700),
        ("waittimeratioSquare8", 2, 14_200, 960, 3_086.7),
    ],
)
def test_synthetic_workflows_have_the_published_sizes(
    name: str, tasks: int, length: int, peak: int, core_hours: float
) -> None:
    workflow = WORKFLOWS[name]
    assert (len(workflow), workflow.length, workflow.peak_processors) == (tasks, length, peak)
    assert workflow.work / 3_600 == pytest.approx(core_hours, abs=0.05)


def test_they_are_those_of_the_published_files_but_for_three_with_slips(workflow_files: Path) -> None:
    slips = {"waittimeratio128", "waittimeratioSquare128", "runtime64job"}
    for name, ours in WORKFLOWS.items():
        theirs = read_workflow(workflow_files / "scsf-manifests" / f"{name}.json")
        same = [(task.processors, task.run_time, task.requested_time, task.parents) for task in ours.tasks] == [
            (task.processors, task.run_time, task.requested_time, task.parents) for task in theirs.tasks
        ]
        assert same == (name not in slips), name


def test_a_workflow_of_set_0_does_a_tenth_of_the_work_but_comes_twice_a_day_at_least() -> None:
    for name in workflows_of(0):
        share = WORKFLOWS[name].work / (period_of_set_0(WORKFLOWS[name]) * 133_824)
        assert share == pytest.approx(0.1, rel=0.12) or period_of_set_0(WORKFLOWS[name]) == 43_200, name


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    """All files that the campaigns name, four of them with a workflow in place of the published one."""
    EDISON_TOY.save(tmp_path / "model.json")
    files = {}
    for name in (*WORKFLOWS, *MANIFESTS):
        files[name] = tmp_path / f"{name}.json"
        write_workflow(WORKFLOWS.get(name, WORKFLOWS["synthWideLong"]), files[name], format="manifest")
    return Setting(tmp_path, tmp_path / "model.json", files, REPETITIONS, 7.0)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_sets_are_as_large_as_the_papers(setting: Setting, number: int) -> None:
    campaign = campaign_of(number, setting)
    plan = Plan(campaign, find_inputs(campaign, Path()))
    # In set 1, a sixth of all experiments has no workflows: 108 in the paper, of which 6 differ.
    repeated = 102 if number == 1 else 0
    assert len(plan) == EXPERIMENTS[number] - repeated
    assert sum(EXPERIMENTS.values()) == 1_728


def test_workflows_whose_files_are_missing_are_left_out(setting: Setting) -> None:
    files = {name: file for name, file in setting.workflows.items() if name not in MANIFESTS}
    few = Setting(setting.directory, setting.model, files, 6, 7.0)
    assert len(campaign_of(2, few).workloads) == 2


def test_workflows_that_are_left_out_are_named_below_the_matrix(setting: Setting) -> None:
    matrix = TextTable("matrix", ("what",), (("set 2",),), notes=("One core.",))
    assert scsf._with_left_out(matrix, setting) is matrix
    files = {name: file for name, file in setting.workflows.items() if name not in ("sipht", "floodplain")}
    told = scsf._with_left_out(matrix, replace(setting, workflows=files)).notes
    assert told[0] == "One core."
    assert told[1].endswith("not there (--workflows): sipht, floodplain.")


def test_a_directory_of_workflows_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere does not exist: name the directory with ScSF's manifests"):
        prepare(tmp_path, tmp_path / "nowhere", tmp_path / "runs", 1, 1.0)
    assert not (tmp_path / "runs").exists()


def test_inputs_of_an_earlier_run_follow_the_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scsf_setup, "stand_in", lambda traces: replace(EDISON_TOY, name=traces.name))
    for name, workflow in (("a", "synthWideLong"), ("b", "synthLongWide")):
        (tmp_path / name).mkdir()
        write_workflow(WORKFLOWS[workflow], tmp_path / name / "montage.json", format="manifest")

    def inputs(name: str) -> dict[str, bytes]:
        made = prepare(tmp_path / name, tmp_path / name, tmp_path / "runs", 1, 1.0)
        return {file.name: file.read_bytes() for file in (made.model, *made.workflows.values())}

    first, other, again = inputs("a"), inputs("b"), inputs("a")
    assert again == first
    assert {name for name in first if first[name] != other[name]} == {"edison-stand-in.json", "montage.json"}


@pytest.mark.slow
def test_the_stand_in_has_the_same_bytes_each_time(traces: Path, tmp_path: Path) -> None:
    first = prepare(traces, None, tmp_path, 1, 1.0).model.read_bytes()
    assert prepare(traces, None, tmp_path, 1, 1.0).model.read_bytes() == first


def test_without_the_log_there_is_no_stand_in(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Edison's own model is not public"):
        stand_in(tmp_path)


@pytest.mark.slow
def test_a_quick_look_prints_the_claims_beside_ours(traces: Path, tmp_path: Path) -> None:
    found = scsf.reproduce(traces, sets=[0], runs=1, days=0.5, directory=tmp_path, plots=tmp_path)
    text = str(found)
    assert "chained workflows run much longer than pilots" in text
    assert "pressure 1, small fill jobs" in text
    assert (tmp_path / "figure-7.png").is_file()
    stand = next(table for table in found.to_dict()["tables"] if "Figures 8 to 12" in table["title"])
    use = [row["mean use, %"] for row in stand["rows"]]
    assert use == sorted(use)
