from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.sources.trace import read_trace
from schedlab.durations import DAY, WEEK
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.workload.swf import write_swf
from schedlab.workload.workload import Workload
from schedlab_papers.reproduction import Part
from schedlab_papers.thesis4 import chapter4
from schedlab_papers.thesis4_logs import FCFS, LOGS, POLICIES
from schedlab_papers.thesis4_samples import (
    MEASURES,
    Sample,
    kept,
    kept_mean,
    measure,
    premature,
    premature_in_spans,
)
from schedlab_papers.thesis4_tables import (
    Experiment,
    claims_table,
    details_table,
    objectives_table,
    premature_table,
    ratios_table,
)

KTH = LOGS[-1]


def four_jobs() -> Workload:
    """On four processors: the first job fills the machine, two wait for it, the last comes a week later."""
    columns = {
        "submit_time": [0, 0, 10, WEEK + 5],
        "run_time": [100, 1, 40, 20],
        "requested_time": [100, 100, 50, 30],
        "requested_processors": [4, 1, 2, 1],
    }
    return Workload.from_columns(columns, processors=4, requests_enforced=True)


def test_a_sample_has_the_values_computed_by_hand():
    sample = measure(simulate(four_jobs(), "fcfs+easy"), threshold=95)
    waits, slowdowns = [0, 100, 90, 0], [1, 101 / 10, 130 / 40, 1]
    assert sample.jobs == 4
    assert sample.load == pytest.approx((400 + 1 + 80 + 20) / (4 * (WEEK + 5)))
    assert sample.weeks.tolist() == [1, 2]
    assert sample.means["wait"].tolist() == pytest.approx([sum(waits[:3]) / 3, sum(waits) / 4])
    assert sample.means["bounded_slowdown"].tolist() == pytest.approx([sum(slowdowns[:3]) / 3, sum(slowdowns) / 4])
    assert sample.mean("per_processor_bounded_slowdown") == pytest.approx((1 + 101 / 10 + 130 / 80 + 1) / 4)
    assert sample.worst.tolist() == [1, 2, 4, 1]
    assert sample.shares.tolist() == [0.5, 0.25, 0.25, 0]
    assert (sample.at_once, sample.starved, sample.backfilled) == (0.5, 0.25, 0)
    assert sample.premature == 0.25
    assert sample.ratio == pytest.approx(10.1 / ((1 + 3.25 + 1) / 3))


def test_the_jobs_that_overtake_a_blocked_head_are_the_backfilled_ones():
    columns = {
        "submit_time": [0, 1, 2],
        "run_time": [10, 10, 5],
        "requested_time": [10, 10, 5],
        "requested_processors": [3, 4, 1],
    }
    sample = measure(simulate(Workload.from_columns(columns, processors=4), "fcfs+easy"), threshold=100)
    assert sample.backfilled == 1
    assert np.isnan(sample.ratio)  # no job is premature


def test_a_job_is_premature_from_a_hundredfold_request_on_if_it_made_one():
    columns = {"run_time": [1, 1, 2, 0, 3], "requested_time": [100, 99, 200, 1, -1]}
    jobs = Workload.from_columns(columns | {"submit_time": [0] * 5, "requested_processors": [1] * 5})
    assert premature(jobs).tolist() == [True, False, True, True, False]


def test_in_spans_of_users_each_week_has_the_weekly_mean_of_every_user():
    columns = {
        "submit_time": [0, 3 * WEEK, WEEK, WEEK + 9],  # one user in weeks 0 to 3, the other in week 1 only
        "user_id": [1, 1, 2, 2],
        "run_time": [1, 50, 50, 50],
        "requested_time": [100] * 4,
    }
    jobs = Workload.from_columns(columns | {"requested_processors": [1] * 4})
    assert premature_in_spans(jobs) == pytest.approx((1 / 4) / (2 / 4 + 2))


def sample_of(mean: float, **facts: object) -> Sample:
    """Return a sample all of whose objectives have the same mean."""
    values = {
        "jobs": 100,
        "load": 0.7,
        "weeks": np.array([1, 2]),
        "means": {name: np.array([1.0, mean]) for name in MEASURES},
        "worst": np.array([1, 8]),
        "shares": np.array([0.5, 0.25, 0.15, 0.1]),
        "at_once": 0.5,
        "starved": 0.0,
        "backfilled": 40,
        "premature": 0.2,
        "ratio": 2.0,
    }
    return Sample(**(values | facts))  # type: ignore[arg-type]


def test_of_ten_samples_the_best_and_the_worst_are_dropped_and_of_nine_none():
    samples = [sample_of(mean) for mean in (3, 1, 100, 2, 2, 2, 2, 2, 2, 3)]
    assert sorted(sample.mean("wait") for sample in kept(samples, "wait")) == [2] * 6 + [3] * 2
    assert kept_mean(samples, "wait") == pytest.approx(18 / 8)
    assert len(kept(samples[:9], "wait")) == 9


def experiment_of(saf: Sample, unlimited_saf: Sample | None = None) -> Experiment:
    """Return an experiment in which all policies but SAF have one and the same sample."""
    arm = {policy: [sample_of(10.0)] for policy in POLICIES}
    return Experiment(
        KTH,
        threshold=2 * DAY,
        jobs=100,
        load=0.7,
        premature=0.1,
        premature_in_spans=0.3,
        limited=arm | {"SAF": [saf]},
        unlimited=arm | {"SAF": [unlimited_saf or saf]},
    )


TWO_LOGS = [
    experiment_of(sample_of(4.0, shares=np.array([0.55, 0.25, 0.15, 0.05]), backfilled=10), sample_of(5.0)),
    experiment_of(sample_of(8.0, shares=np.array([0.60, 0.25, 0.05, 0.10]), backfilled=30, ratio=6.0)),
]
"""On the first SAF is better by 60 %, without the threshold by 50 %; on the second by 20 %."""


def test_claims_are_the_largest_over_the_logs_and_of_backfilled_jobs_the_mean():
    rows = {(row.experiment, row.scheduler): row for row in claims_table(TWO_LOGS).rows}
    assert rows["wait below FCFS, %, at most", "SAF"].ours == pytest.approx(60)
    assert rows["wait below FCFS, %, at most", "SAF"].alternative == pytest.approx(50)
    assert rows["bounded slowdown below FCFS, %, at most", "SPF"].ours == pytest.approx(0)
    assert rows["more jobs start at once, % of FCFS's, at most", "SAF"].ours == pytest.approx(20)
    assert rows["more jobs start at once, % of all, at most", "SAF"].ours == pytest.approx(10)
    assert rows["times fewer jobs with slowdown >= 100, at most", "SAF"].ours == pytest.approx(2)
    assert rows["fewer backfilled jobs, %, mean over logs", "SAF"].ours == pytest.approx((75 + 25) / 2)
    most = rows["backfilled jobs in a sample, at most", "SQF"]
    assert (most.published, most.ours, most.difference) == (0, 40, None)


def test_the_numbers_behind_the_figures_stand_by_log_and_policy_with_and_without_threshold():
    rows = objectives_table(TWO_LOGS).to_dict()["rows"]
    assert [row["policy"] for row in rows[:7]] == [*POLICIES, *(f"{name}, no threshold" for name in POLICIES[1:])]
    assert (rows[3]["wait, s"], rows[6]["wait, s"], rows[10]["wait, s"]) == (4, 5, 8)
    saf = details_table(TWO_LOGS).to_dict()["rows"][3]
    assert [saf[name] for name in ("slowdown 1", "slowdown 1-10", "slowdown 10-100", "slowdown >=100")] == (
        pytest.approx([55, 25, 15, 5])
    )
    assert (saf["backfilled jobs"], saf["worst jobs' processors"]) == (10, 4.5)


def test_tables_4_3_and_4_4_are_means_over_the_samples_beside_the_printed_values():
    whole, spans = premature_table(TWO_LOGS[:1]).rows
    assert (whole.published, whole.ours, whole.alternative, spans.ours) == (12.4, 20, 10, 30)
    rows = ratios_table(TWO_LOGS[1:]).rows
    assert [(row.scheduler, row.published, row.ours) for row in rows] == [
        ("FCFS", 8.69, 2),
        ("SPF", 12.09, 2),
        ("SQF", 9.31, 2),
        ("SAF", 11.41, 6),
    ]


@pytest.fixture(scope="module")
def one_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory in which KTH is a small log, of three users in eight weeks, and the others are missing."""
    directory = tmp_path_factory.mktemp("traces")
    rng = np.random.default_rng(1)
    number = 300
    run = rng.integers(1, DAY, number)
    columns = {
        "submit_time": np.sort(rng.integers(0, 8 * WEEK, number)),
        "run_time": run,
        "requested_time": np.minimum(run * rng.integers(1, 200, number), 2 * DAY),
        "requested_processors": rng.integers(1, 9, number),
        "user_id": rng.integers(1, 4, number),
    }
    write_swf(Workload.from_columns(columns, processors=16), directory / KTH.file)
    return directory


@pytest.fixture(scope="module")
def reproduced(one_log: Path) -> tuple[Part, ...]:
    return chapter4(one_log, one_log / "runs", samples=3, plots=one_log)


def test_the_campaign_is_that_of_the_protocol(one_log: Path, reproduced: tuple[Part, ...]):
    run = RunDirectory.open(one_log / "runs" / "thesis4-KTH-SP2")
    frame = run.results()
    threshold = 3 * int(read_trace(str(one_log / KTH.file), "default", None, None).requested_time.max())
    limited = [f"{name}+easy,starvation={threshold}" for name in ("spf", "sqf", "saf")]
    assert set(frame["scheduler"]) == {"fcfs+easy", "spf+easy", "sqf+easy", "saf+easy", *limited}
    assert frame.groupby("scheduler")["repetition"].apply(list).tolist() == [[0, 1, 2]] * 7
    task = json.loads(frame["specification"][0])
    assert task["users"] == {"weeks": None, "profile": "trace"}
    assert task["source"]["requests"] == "enforced"


def test_the_ends_of_the_curves_are_the_means_of_the_campaign(one_log: Path, reproduced: tuple[Part, ...]):
    frame = RunDirectory.open(one_log / "runs" / "thesis4-KTH-SP2").results()
    expected = frame.groupby("scheduler")[[f"mean_{name}" for name in MEASURES]].mean()
    rows = {row["policy"]: row for row in reproduced[1].to_dict()["rows"]}
    for policy, text in ((FCFS, "fcfs+easy"), ("SAF, no threshold", "saf+easy")):
        shown = [rows[policy][name] for name in ("bounded slowdown", "pp-bounded slowdown", "wait, s")]
        assert shown == pytest.approx(expected.loc[text].tolist())


def test_every_table_and_figure_is_there_and_logs_that_are_not_are_named(one_log: Path, reproduced: tuple[Part, ...]):
    assert len(reproduced) == 7
    assert all(str(part) for part in reproduced)
    assert [row["experiment"] for row in reproduced[-1].to_dict()["rows"]] == [log.name for log in LOGS[:-1]]
    assert sorted(path.name for path in one_log.glob("*.png")) == [f"thesis-4.{number}.png" for number in range(1, 5)]


def test_a_second_time_nothing_is_simulated_again(one_log: Path, reproduced: tuple[Part, ...]):
    files = [path for path in (one_log / "runs").rglob("*.parquet") if path.is_file()]
    before = {path: path.stat().st_mtime_ns for path in files}
    again = chapter4(one_log, one_log / "runs", samples=3, logs=["KTH SP2"])
    assert [str(part) for part in again] == [str(part) for part in reproduced[:-1]]
    assert {path: path.stat().st_mtime_ns for path in files} == before


def test_a_failed_simulation_ends_the_reproduction_in_one_sentence(
    one_log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("schedlab_papers.thesis4.POLICIES", ("FCFS", '"sqrt(-p)"'))
    with pytest.raises(InputError, match=r"^\d simulations failed; see schedlab campaign status .*thesis4-KTH-SP2$"):
        chapter4(one_log, tmp_path, samples=2, logs=["KTH SP2"])


def test_without_any_log_all_are_named_as_missing(tmp_path: Path):
    (table,) = chapter4(tmp_path, tmp_path / "runs")
    assert [row["notes"] for row in table.to_dict()["rows"]] == [(f"trace not found: {log.file}",) for log in LOGS]


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS[-2:], ids=lambda log: log.name)
def test_proposition_1_holds_on_whole_logs(traces: Path, log):
    jobs = read_trace(str(traces / log.file), "default", None, "enforced")
    backfilling = simulate(jobs, "sqf+easy")
    assert not backfilling.backfilled.any()
    assert (backfilling.start_time == simulate(jobs, "sqf").start_time).all()


@pytest.mark.slow
def test_on_kth_the_samples_keep_the_load_and_saf_gains_as_the_thesis_says(traces: Path, tmp_path: Path):
    logs, objectives, details, *_, claims = chapter4(traces, tmp_path, logs=["KTH SP2"])
    load = logs.to_dict()["rows"][1]
    assert load["alternative"] == pytest.approx(70.1, abs=0.5)  # as printed in Table 4.2
    assert load["ours"] == pytest.approx(load["alternative"], rel=0.05)
    rows = {row["policy"]: row for row in objectives.to_dict()["rows"]}
    for name in ("bounded slowdown", "pp-bounded slowdown", "wait, s"):
        assert max(rows["SPF"][name], rows["SAF"][name]) < rows["FCFS"][name]
    assert rows["SAF"]["pp-bounded slowdown"] == min(rows[policy]["pp-bounded slowdown"] for policy in POLICIES)
    most = claims.to_dict()["rows"][-1]
    assert (most["published"], most["alternative"]) == (0, 0)
    assert most["ours"] > 0
    found = {row["policy"]: row for row in details.to_dict()["rows"]}
    assert found["SAF"]["slowdown 1"] > found["FCFS"]["slowdown 1"]
    assert found["SAF"]["slowdown >=100"] < found["FCFS"]["slowdown >=100"]
