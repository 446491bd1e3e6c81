"""Submission modes compared, on results worked by hand."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from campaign_samples import BATCH, finished_run
from campaign_samples import campaign as plain_campaign
from experiment_samples import campaign, entry, write_files

from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.plan import Plan, Task
from schedlab.campaign.results.compare_submissions import compare_submissions
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.sources.experiment import ExperimentEntry
from schedlab.errors import InputError

RUN_TIMES = {"pilot": [100, 100, 100, 100], "chained": [400, 200, 100, 900], "aware": [100, 110, 120, 130]}
FINISHED = {"pilot": [True, True, False, True], "chained": [True, True, True, False], "aware": [True, True, True, True]}


def made_up(directory: Path, repetitions: int) -> RunDirectory:
    """Write results of four workflows for each submission mode, without simulating any."""
    write_files(directory)
    defined = campaign(entry(), repetitions=repetitions)
    made = Plan(defined, find_inputs(defined, directory))
    run = RunDirectory(directory / "run")
    run.create()
    run.write_facts(made, directory, {"schedlab": "0", "commit": ""})
    rows, workflows = [], []
    for position in range(len(made)):
        name, task = made.task(position)
        rows.append(_result(name, task))
        workflows.append(_workflows(name, task))
    run.ensure("workflows")
    for part, frames in (("results", [pd.DataFrame(rows)]), ("workflows", workflows)):
        stream = io.BytesIO()
        pd.concat(frames).to_parquet(stream, index=False)
        run.store(part, BATCH, ".parquet", stream.getvalue())
    return run


def _coordinates(name: str, task: Task) -> dict[str, Any]:
    entry, item = task.instance.entry, task.instance.item
    assert isinstance(entry, ExperimentEntry)
    where = {
        "experiment": item.label,
        "submission_mode": entry.variant(item)[1],
        "repetition": task.instance.repetition,
    }
    return {"task": name, "scheduler": task.scheduler, **where}


def _result(name: str, task: Task) -> dict[str, Any]:
    numbers = {"load": np.nan, "window": -1, "utilisation": 0.9, "useful_utilisation": 0.6, "seconds": 2.0}
    return _coordinates(name, task) | {"workload": task.instance.workload, "specification": "{}"} | numbers


def _workflows(name: str, task: Task) -> pd.DataFrame:
    facts = _coordinates(name, task)
    run_time = np.array(RUN_TIMES[facts["submission_mode"]], dtype=np.float64)
    columns = {
        "workflow": "chain",
        "number": np.arange(4),
        "wait": 50.0,
        "run_time": run_time,
        "turnaround": 50 + run_time,
        "stretch": 50 / (50 + run_time),
        "finished": FINISHED[facts["submission_mode"]],
    }
    return pd.DataFrame(facts | columns)


def test_medians_are_of_what_has_finished_and_the_rest_is_counted(tmp_path: Path) -> None:
    pilot, chained, aware = compare_submissions(made_up(tmp_path, 1)).summaries
    assert [row.submission_mode for row in (pilot, chained, aware)] == ["pilot", "chained", "aware"]
    assert (pilot.submitted, pilot.unfinished, pilot.run_time) == (4, 1, 100)
    assert (chained.unfinished, chained.run_time) == (1, 200)  # of 400, 200, 100
    assert (aware.unfinished, aware.run_time) == (0, 115)
    assert (pilot.reserved, pilot.useful, pilot.seconds) == (0.9, 0.6, 2.0)


def test_two_submission_modes_are_compared_on_what_both_have_finished(tmp_path: Path) -> None:
    found = compare_submissions(made_up(tmp_path, 1))
    [row] = found.of("chain/25%", "run_time", "chained", "pilot")
    assert (row.workflows, row.left_out) == (2, 2)  # numbers 0 and 1
    assert row.pair.ratio == pytest.approx(3.0)  # median of 400 and 200 over 100
    [row] = found.of("chain/25%", "run_time", "aware", "chained")
    assert (row.workflows, row.left_out) == (3, 1)  # numbers 0, 1 and 2
    assert row.pair.ratio == pytest.approx(110 / 200)


def test_the_rule_of_scsf_takes_the_first_n_before_it_looks_at_what_has_finished(tmp_path: Path) -> None:
    found = compare_submissions(made_up(tmp_path, 1), common="first")
    [row] = found.of("chain/25%", "run_time", "chained", "pilot")
    # The fewest that any submission mode has finished are 3: numbers 0, 1 and 2, of which the pilot has not finished 2.
    assert (row.workflows, row.left_out) == (2, 1)


def test_an_interval_needs_six_repetitions(tmp_path: Path) -> None:
    (tmp_path / "few").mkdir()
    (tmp_path / "many").mkdir()
    few, many = compare_submissions(made_up(tmp_path / "few", 5)), compare_submissions(made_up(tmp_path / "many", 6))
    assert {row.verdict for row in few.differences} == {"not enough data"}
    assert "Intervals need 6 repetitions with workflows that both have finished." in str(few)
    [row] = many.of("chain/25%", "run_time", "chained", "pilot")
    assert (row.verdict, row.pair.pairs, row.workflows) == ("worse", 6, 12)
    assert row.pair.ratio_interval == pytest.approx((3.0, 3.0))


def test_without_a_ratio_the_difference_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RUN_TIMES, "pilot", [0, 0, 0, 0])
    found = compare_submissions(made_up(tmp_path, 6))
    [line] = [line for line in str(found).splitlines() if "run_time" in line and "chained / pilot" in line]
    assert "+5 min  [+5 min, +5 min]    worse" in line  # median of 400 and 200
    assert "Where a median is 0 there is no ratio; the mean difference stands in its place." in str(found)


def test_where_nothing_is_common_nothing_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FINISHED, "pilot", [False] * 4)
    found = compare_submissions(made_up(tmp_path, 1))
    [row] = found.of("chain/25%", "wait", "chained", "pilot")
    assert (row.workflows, row.left_out, row.pair, row.verdict) == (0, 4, None, "not enough data")
    assert np.isnan(found.summaries[0].run_time)
    assert "not enough data" in str(found)
    assert found.to_dict()["differences"][0]["pair"] is None


def test_a_campaign_without_workflows_has_no_submission_modes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has simulated no workflow"):
        compare_submissions(finished_run(tmp_path, plain_campaign()))
