"""Experiments in a campaign: fields, variants, jobs that all submission modes share, and what is kept of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign_runs import run_here
from experiment_samples import campaign, entry, plan, write_files
from pydantic import ValidationError

from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.results.query import run_sql
from schedlab.campaign.run.details import COORDINATES, read_details
from schedlab.campaign.run.worker import simulate_task
from schedlab.campaign.sources.experiment import ExperimentEntry
from schedlab.campaign.sources.experiment_files import load_workflow
from schedlab.campaign.sources.input import Input
from schedlab.errors import InputError
from schedlab.schedule.analysis import Analysis
from schedlab.workload.sections import sections_of


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with a model and two workflows."""
    write_files(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"share": ()}, "workflow_policy share needs share"),
        ({"period": "1h"}, "does not use period"),
        ({"workflows": ()}, "needs workflows"),
        ({"workflow_policy": "none", "share": ()}, "has no use for workflows"),
        ({"workflow_policy": "often", "share": ()}, "unknown workflow_policy 'often'"),
        ({"share": 1.5}, "less than or equal to 1"),
        ({"submission_mode": []}, "list of submission modes is empty"),
        ({"submission_mode": "alone"}, "'pilot', 'chained' or 'aware'"),
        (
            {"workflows": [{"file": "a", "share": 0.5}, {"file": "b", "share": 0.4}]},
            "add up to 0.9; they must add up to 1",
        ),
        ({"workflows": [{"file": "a", "share": 0.5}, {"file": "b"}]}, "give a share to each workflow or to none"),
        ({"workflows": [{"file": "a", "share": 1}, "b"]}, "give a share to each workflow or to none"),
        ({"fill_wait": 1}, "a wait of 1 s is too short to be induced: give 10 s or more, or 0"),
        ({"preload": True}, "true is not a duration"),
        ({"load": 0.7}, "remove load and windows"),
        ({"pressure": -1}, "greater than or equal to 0"),
        ({"duration": "0s"}, "greater than 0"),
        ({"speed": 3}, "Extra inputs"),
    ],
)
def test_what_does_not_go_together_is_refused(fields: dict[str, Any], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        ExperimentEntry.model_validate(entry(**fields))


@pytest.mark.parametrize("schedulers", ["fcfs+conservative", "fcfs+easy:saf", "saf@ave2+easy"])
@pytest.mark.parametrize("events", ["batched", "pyss"])
def test_jobs_may_wait_for_others_under_every_scheduler(schedulers: str, events: str) -> None:
    assert campaign(entry(submission_mode=["pilot", "chained"]), schedulers=schedulers, events=events)


def test_jobs_may_wait_for_others_under_slurms_passes_which_see_all_of_a_second_at_once() -> None:
    modes = entry(submission_mode=["pilot", "chained"])
    assert campaign(modes, schedulers="wfp3+slurm", events="batched")
    with pytest.raises(ValidationError, match=r"\+slurm does not go with events=pyss"):
        campaign(modes, schedulers="wfp3+slurm", events="pyss")


def test_the_original_of_sc17_knows_no_jobs_that_wait_for_others() -> None:
    what = r"workloads\[0\]: fcfs\+easy: events=sc17 does not go with jobs that wait for others: "
    with pytest.raises(ValidationError, match=what):
        campaign(entry(submission_mode=["pilot", "chained"]), schedulers="fcfs+easy", events="sc17")
    assert campaign(entry(submission_mode="pilot"), schedulers="fcfs+easy", events="sc17")


def test_a_special_pattern_says_how_many_jobs_there_are(files: Path) -> None:
    pattern = {"workflow_policy": "sp-sat-p2-c4-r600-t4-b100", "workflows": (), "share": (), "submission_mode": "aware"}
    made = find_inputs(campaign(entry(**pattern, preload=0, duration=1_000, rules="corrected")), files)
    assert [one.jobs for one in made] == [40]  # 4 jobs at seconds 1, 101, ..., 901


def test_lists_multiply_and_submission_modes_run_fastest(files: Path) -> None:
    made = plan(files, entry(share=[0.1, 0.25]), entry(workflow_policy="none", workflows=(), share=(), name="alone"))
    assert [item.workload for item in made.inputs] == [
        *(f"chain/{share}/{mode}" for share in ("10%", "25%") for mode in ("pilot", "chained", "aware")),
        "alone",
    ]


def test_tables_without_shares_are_submitted_equally_often() -> None:
    made = ExperimentEntry.model_validate(entry(workflows=[{"file": "chain.json"}, "single.json"]))
    assert [table.share for table in made.workflows] == [0.5, 0.5]


def test_files_without_shares_are_submitted_equally_often(files: Path) -> None:
    [first, *_] = plan(files, entry(workflows=["chain.json", "single.json"])).inputs
    assert first.label == "chain+single/25%"
    read = ExperimentEntry.model_validate(entry(workflows=["chain.json", "single.json"]))
    assert [table.share for table in read.workflows] == [0.5, 0.5]


def test_all_submission_modes_and_presences_of_a_repetition_have_the_same_seed(files: Path) -> None:
    made = plan(files, entry(share=[0.1, 0.25]), entry(workflow_policy="none", workflows=(), share=()), repetitions=2)
    by_repetition = [{one.seed for one in made.instances if one.repetition == number} for number in (0, 1)]
    assert [len(seeds) for seeds in by_repetition] == [1, 1]
    assert by_repetition[0] != by_repetition[1]


def test_submission_modes_see_the_same_ordinary_jobs_and_workflows(files: Path) -> None:
    pilot, chained, aware = (instance.jobs() for instance in plan(files).instances)
    for other in (chained, aware):
        for column in ("submit_time", "run_time", "requested_time", "job_processors"):
            ordinary = [getattr(jobs, column)[jobs.workflows.number < 0] for jobs in (pilot, other)]
            np.testing.assert_array_equal(*ordinary)
        times = [[one.submit_time for one in jobs.workflows.submissions] for jobs in (pilot, other)]
        assert times[0] == times[1]
    assert len(pilot.workflows.submissions) > 2


def test_a_task_is_named_after_the_content_of_its_files_not_their_place(files: Path, tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    write_files(tmp_path / "moved")
    before = plan(files).names.tolist()
    assert plan(tmp_path / "moved").names.tolist() == before
    manifest = tmp_path / "moved" / "chain.json"
    manifest.write_text(manifest.read_text().replace("300", "301"))
    assert not set(plan(tmp_path / "moved").names.tolist()) & set(before)


def test_a_file_that_changes_after_the_plan_is_noticed(files: Path) -> None:
    [instance, *_] = plan(files).instances
    (files / "chain.json").write_text((files / "chain.json").read_text().replace("300", "301"))
    load_workflow.cache_clear()  # as in a process of its own
    with pytest.raises(InputError, match=r"chain\.json has changed since the campaign was planned"):
        instance.jobs()


@pytest.mark.parametrize(("missing", "hint"), [("small.json", "; built in are edison-toy"), ("chain.json", "")])
def test_a_missing_file_is_named(files: Path, missing: str, hint: str) -> None:
    (files / missing).unlink()
    with pytest.raises(InputError, match=rf"{missing} does not exist \(relative paths start from .*{hint}\)"):
        plan(files)


def test_a_model_that_is_built_in_needs_no_file(files: Path) -> None:
    [first, *_] = plan(files, entry(model="edison-toy")).inputs
    assert (first.processors, first.path, len(first.sha256)) == (5_576 * 24, "edison-toy", 64)


def test_a_workflow_that_does_not_fit_is_refused_before_anything_runs(files: Path) -> None:
    manifest = files / "chain.json"
    manifest.write_text(manifest.read_text().replace('"number_of_cores": 8', '"number_of_cores": 80'))
    with pytest.raises(InputError, match="chain needs 80 processors at once, but the machine has 16"):
        plan(files)


def test_an_input_survives_json(files: Path) -> None:
    for item in plan(files).inputs:
        assert Input.from_dict(json.loads(json.dumps(item.to_dict()))) == item


def test_results_measure_the_section_that_counts_and_count_what_is_unfinished(files: Path, tmp_path: Path) -> None:
    run = run_here(campaign(repetitions=2), tmp_path / "run", base=files)
    frame = run.results()
    assert len(frame) == 6
    for position, row in enumerate(frame.to_dict("records")):
        analysis = Analysis(simulate_task(run.plan.task(position)[1]))
        sections = sections_of(analysis.schedule.workload)
        assert (sections.start, sections.end, sections.cutoff) == (3_600, 14_400, 18_000)
        ends = analysis.schedule.end_time[analysis.window.rows]
        assert row["jobs"] == row["submitted_jobs"] == len(ends)
        assert row["unfinished_jobs"] == np.count_nonzero(ends > 18_000)
        assert row["submitted_workflows"] == len(analysis.workflows)
        assert row["useful_pressure"] == pytest.approx(frame["useful_pressure"][position % 2])


def test_workflows_and_distributions_are_tables_of_the_sql(files: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    run = run_here(campaign(), tmp_path / "run", base=files)
    counted = run_sql(
        [run], "select submission_mode, count(*) as n, sum(finished::int) as f from workflows group by all"
    )
    frame = run.results().set_index("submission_mode")
    for row in counted.to_dict("records"):
        assert row["n"] == frame["submitted_workflows"][row["submission_mode"]]
        assert row["n"] - row["f"] == frame["unfinished_workflows"][row["submission_mode"]]
    bins = "list_sum(bin_count) + outside = count"
    kept = run_sql([run], f"select variable, subset, {bins} as whole from distributions where of = 'jobs'")
    assert len(kept) == 3 * 4 * 7
    assert kept["whole"].all()
    columns = run_sql([run], "select * from workflows limit 1").columns
    assert {"campaign", *COORDINATES, "number", "submit_time", "wait", "stretch", "finished"} <= set(columns)


def test_details_left_twice_by_an_interrupted_batch_count_once(files: Path, tmp_path: Path) -> None:
    run = run_here(campaign(), tmp_path / "run", base=files)
    before = read_details(run, "workflows").num_rows
    [path, *_] = run.files("workflows", ".parquet")
    run.store("workflows", "a9" * 16, ".parquet", path.read_bytes())
    assert read_details(run, "workflows").num_rows == before


def test_a_campaign_without_experiments_has_no_details(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    run = run_here(
        campaign({"generate": "lublin", "jobs": 20, "processors": 16}, schedulers=["easy"]), tmp_path / "run"
    )
    assert read_details(run, "workflows") is None
    assert not (tmp_path / "run" / "workflows").exists()
    assert run_sql([run], "select count(*) as n from workflows")["n"].tolist() == [0]


def test_where_all_jobs_are_of_workflows_job_metrics_are_of_these(files: Path, tmp_path: Path) -> None:
    run = run_here(campaign(entry(share=1.0, submission_mode="chained")), tmp_path / "run", base=files)
    [row] = run.results().to_dict("records")
    assert row["submitted_jobs"] == 0
    assert row["jobs"] == 2 * row["submitted_workflows"] > 0
