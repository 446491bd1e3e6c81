"""Estimates of Slurm are judged by the starts that followed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from schedlab.cli.app import app
from schedlab.errors import InputError
from schedlab.slurm.jobs import BatchJob, JobList
from schedlab.slurm.start_audit import StartEstimates, audit_starts, audit_text, score_estimates, scores_by_lead
from schedlab.workload.workload import Workload

ONE_NODE = (
    "ClusterName=lab\nSlurmctldHost=localhost\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
    "SchedulerParameters=bf_interval=30\nNodeName=n1 CPUs=4 RealMemory=1000\nPartitionName=batch Nodes=n1 Default=YES\n"
)


def estimates(*rows):
    """Return estimates from rows of run, job, asked, said, started."""
    return StartEstimates(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))


FOUND = estimates(
    (0, 1, 0, 300, 400),  # 100 s too early, 300 s ahead
    (0, 1, 100, 500, 400),  # 100 s too late, asked later
    (0, 2, 0, 7_200, 3_600),  # an hour too late: a factor of 2
    (0, 3, 0, -1, 9_000),  # nothing was said
    (0, 4, 0, 500, -1),  # it never started
    (1, 1, 0, 100_000, 10_000),  # ten times too late
)


def test_only_what_was_said_of_jobs_that_started_is_judged():
    found = score_estimates(FOUND)
    assert found.estimates == 4
    assert found.median_error == (100 + 3_600) / 2
    assert (found.within_10_min, found.within_factor_2) == (0.5, 0.75)


def test_estimates_are_told_apart_by_how_far_ahead_they_lie():
    scores = scores_by_lead(FOUND)
    assert {name: one.estimates for name, one in scores.items()} == {
        "below 10 min": 2,
        "1 h to 4 h": 1,
        "above 1 d": 1,
    }
    assert scores["below 10 min"].bias == 0
    assert scores["1 h to 4 h"].bias == 3_600


def test_the_first_estimate_of_a_job_in_a_run_counts_once():
    assert np.flatnonzero(FOUND.first).tolist() == [0, 2, 5]


def test_the_sentence_tells_how_many_were_right_and_for_how_many_nothing_was_said():
    text = audit_text(FOUND)
    assert text.startswith("Of 4 starts that squeue --start named in 2 runs, 50% were right within 10 min")
    assert "It named none for 17%." in text


def test_where_nothing_was_said_nothing_is_judged():
    with pytest.raises(InputError, match="nothing can be judged"):
        score_estimates(estimates((0, 1, 0, -1, 5)))


@pytest.mark.slow
@pytest.mark.usefixtures("real_slurm")
def test_of_jobs_that_use_their_whole_requests_slurm_foretells_the_starts(tmp_path):
    (tmp_path / "slurm.conf").write_text(ONE_NODE)
    jobs = tuple(BatchJob(60.0 + place, 1_200, ("-n", "4", "-t", "20")) for place in range(3))
    columns = {"submit_time": [60, 61, 62], "run_time": [1_200] * 3, "requested_time": [1_200] * 3}
    workload = Workload.from_columns({**columns, "requested_processors": [4] * 3}, processors=4)
    found = audit_starts(JobList(jobs, workload), tmp_path, phases=1, every=120)
    assert sorted(set(found.row[found.judged].tolist())) == [1, 2]
    score = score_estimates(found)
    assert score.estimates >= 20  # two jobs that wait for 20 and 40 minutes, asked every two
    assert score.within_10_min == 1
    assert score.median_error <= 120


@pytest.mark.slow
@pytest.mark.usefixtures("real_slurm")
def test_the_command_asks_both_on_the_real_slurm(tmp_path):
    (tmp_path / "slurm.conf").write_text(ONE_NODE)
    lines = [
        f"-dt {place} -e submit_batch_job | -sim-walltime 600 -n 4 -t 20 -J j{place} --uid=ann a.job"
        for place in range(9)
    ]
    (tmp_path / "jobs.events").write_text("\n".join([*lines, ""]))
    asked = ["slurm", "audit-starts", str(tmp_path / "jobs.events"), "--conf", str(tmp_path), "--phases", "1"]
    done = CliRunner().invoke(app, [*asked, "--every", "10m", "--when", "2", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["when"]
    assert found["moments"] >= 3
    assert found["forecasts"]["median_error"] < found["squeue"]["median_error"]


@pytest.mark.slow
@pytest.mark.usefixtures("real_slurm")
def test_without_a_forecast_what_slurm_said_is_told_all_the_same(tmp_path, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise InputError("job 5 has no requested time")

    monkeypatch.setattr("schedlab.when.against_slurm.beside_slurm", refuse)
    (tmp_path / "slurm.conf").write_text(ONE_NODE)
    lines = [f"-dt {place} -e submit_batch_job | -sim-walltime 600 -n 4 -t 20 --uid=ann a.job" for place in range(3)]
    (tmp_path / "jobs.events").write_text("\n".join([*lines, ""]))
    asked = ["slurm", "audit-starts", str(tmp_path / "jobs.events"), "--conf", str(tmp_path), "--phases", "1"]
    done = CliRunner().invoke(app, [*asked, "--every", "5m", "--when", "1"])
    assert done.exit_code == 0, done.output
    assert "starts that squeue --start named in 1 runs" in done.stdout
    assert "1 run without forecasts: job 5 has no requested time" in done.stdout
