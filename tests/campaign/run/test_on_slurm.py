"""Campaigns on the real Slurm: each simulation on the version that the text of its scheduler names."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign_runs import small

import schedlab as sl
from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.plan import Plan
from schedlab.campaign.run.worker import simulate_task
from schedlab.errors import InputError
from schedlab.slurm import replay
from schedlab.slurm.installation import Installation, find_slurm
from schedlab.workload.files import write_workload

TEXTS = ["fcfs+slurm", "fcfs+slurm(version=24.11)", "fcfs+slurm(version=26.05)"]


def test_each_scheduler_runs_on_the_slurm_that_its_text_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        here = find_slurm()
        for version in ("24.11", "26.05"):
            find_slurm(version)
    except InputError as error:
        pytest.skip(str(error))
    ran: list[str] = []

    def found(which: str | None = None) -> Installation:
        ran.append(find_slurm(which).version)
        return find_slurm(which)

    monkeypatch.setattr(replay, "find_slurm", found)
    columns = {"submit_time": [10, 20], "run_time": [900, 300], "requested_time": [1800, 300]}
    jobs = sl.Workload.from_columns(columns | {"requested_processors": [3, 2]}, processors=4)
    write_workload(jobs, tmp_path / "two.swf")
    campaign = small(workloads=[{"trace": "two.swf"}], schedulers=TEXTS, baseline=None, repetitions=1, engine="slurm")
    planned = Plan(campaign, find_inputs(campaign, tmp_path))
    for task in (planned.task(position)[1] for position in range(len(planned))):
        schedule = simulate_task(task)
        # The second one does not fit beside the first: it begins as that ends, within two ticks and a main pass.
        assert 900 <= schedule.start_time[1] - schedule.start_time[0] <= 905
    assert [version[:5] for version in ran] == [here.version[:5], "24.11", "26.05"]


def test_a_text_that_turns_a_rule_round_is_for_the_model_alone() -> None:
    with pytest.raises(ValueError, match="a real Slurm has all rules of its version"):
        small(workloads=[{"trace": "two.swf"}], schedulers=["fcfs+slurm(otherwise=passes_rest)"], baseline=None,
              engine="slurm")  # fmt: skip
