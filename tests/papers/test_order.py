"""The study of predictions for the order: what is chosen where, and the tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sequence_samples import full_width_jobs, write_log

from schedlab.errors import InputError
from schedlab.schedule.groups import class_metric_names
from schedlab.schedule.metrics import metric_names
from schedlab.scheduler.policy import FormulaPolicy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.tables import read_table
from schedlab.workload.workload import Workload
from schedlab_papers import order, order_claims, order_patience, order_runs, order_stress, order_uses
from schedlab_papers.order_logs import LOGS, NOISE, blue_waters, copies, mustang, theta
from schedlab_papers.order_patience import patient_choice, patient_table
from schedlab_papers.order_runs import ACTUAL, AGED, EAF, EASY, PURE, SAF, Runs, finalists, held_out
from schedlab_papers.order_stress import with_decoys, with_fresh_requests
from schedlab_papers.order_tables import CHOSEN, goal_table, of_logs, ratios_of, repeats
from schedlab_papers.order_windows import drift_table


def results(slowdowns: dict[str, dict[str, float]]) -> pd.DataFrame:
    """Return a frame of results with these mean bounded slowdowns by log and scheduler, in two copies."""
    rows = [
        {"log": log, "copy": str(copy), "scheduler": scheduler, "workload": f"{log}-{copy}", "load": 1.0}
        | {"repetition": 0, "window": 0}
        | dict.fromkeys((*metric_names(), *class_metric_names()), 100.0)
        | {"mean_bounded_slowdown": value * (1 + copy)}
        for log, of_log in slowdowns.items()
        for scheduler, value in of_log.items()
        for copy in (0, 1)
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def three() -> pd.DataFrame:
    """Return results of three logs; candidate a is best on the first, b on the others."""
    others = {SAF: 10.0, EASY: 20.0, ACTUAL: 2.0, EAF: 5.0, AGED: 6.0}
    return results(
        {
            "one": others | {"a": 2.0, "b": 9.0},
            "two": others | {"a": 9.0, "b": 8.0},
            "three": others | {"a": 9.0, "b": 6.0},
        }
    )


def test_what_is_chosen_for_a_log_is_best_on_the_others(three: pd.DataFrame):
    candidates = ["a", "b"]
    assert held_out(three, candidates) == {"one": "b", "two": "a", "three": "a"}
    assert held_out(three[three["log"] == "two"], candidates) == {"two": "b"}


def test_only_the_best_of_smaller_logs_are_simulated_on_large_ones(
    three: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(order_runs, "FINALISTS", 1)
    small = three[three["log"] != "three"]
    # On both logs b is better in the mean, and without the second one a is.
    assert set(finalists(small, ["a", "b"])) == {"a", "b"}
    # The large log has no result of b: for it, what is best on the two others is chosen among all.
    large = three[(three["log"] != "three") | (three["scheduler"] != "b")]
    assert held_out(large, ["a", "b"])["three"] == "a"


def test_ratios_are_geometric_means_over_the_copies(three: pd.DataFrame):
    choice = held_out(three, ["a", "b"])
    ratios = ratios_of(three, choice, {"EASY": EASY, "chosen": CHOSEN})
    assert ratios["EASY"].tolist() == pytest.approx([2, 2, 2])
    assert ratios["chosen"].tolist() == pytest.approx([0.9, 0.9, 0.9])
    means = of_logs(three, choice).set_index(["log", "scheduler"])["mean_bounded_slowdown"]
    assert means["one", SAF] == pytest.approx(10 * 2**0.5)


def test_the_goal_says_which_log_is_worse_than_its_noise_floor(three: pd.DataFrame):
    first, second = (three[three["copy"] == copy].copy() for copy in ("0", "1"))
    # SAF moves by a factor of 1.5 on all logs; on the second, the policy is twice as bad as SAF on both copies.
    for frame, saf in ((first, 10.0), (second, 15.0)):
        frame.loc[frame["scheduler"] == SAF, "mean_bounded_slowdown"] = saf
        frame.loc[frame["scheduler"] == EAF, "mean_bounded_slowdown"] = saf / 2
        worse = (frame["scheduler"] == EAF) & (frame["log"] == "two")
        frame.loc[worse, "mean_bounded_slowdown"] = saf * 2
        frame.loc[frame["scheduler"] == AGED, "mean_bounded_slowdown"] = saf
    found = {str(row[0]): row[1:] for row in goal_table(first, second, held_out(first, ["a", "b"])).rows}
    assert found["mean bounded slowdown to SAF, geometric mean: 0.85"][0] == pytest.approx(0.5 ** (1 / 3))
    assert found["logs worse by more than their noise floor: 0"] == (1, "no: two", 0, "yes")


def test_drift_follows_the_best_of_the_week_before():
    """Two policies are best by turns: who follows the last week's best always comes too late."""
    values = [
        {**dict.fromkeys((*PURE, EAF, ACTUAL), 10.0), ("spf+easy", "sqf+easy")[week % 2]: 5.0} for week in range(5)
    ]
    rows = [
        {"log": "one", "window": week, "scheduler": text, "mean_bounded_slowdown": value}
        for week, of_week in enumerate(values)
        for text, value in of_week.items()
    ]
    table = drift_table(pd.DataFrame(rows))
    shown = {str(row[0]): row[1] for row in table.rows}
    assert shown["the best of the week before"] == pytest.approx(1)
    assert shown["the best of each week, known afterwards"] == pytest.approx(0.5)
    assert "in 0% of the weeks" in table.notes[1]


def test_a_limit_is_chosen_on_the_other_logs_among_those_with_short_longest_waits(monkeypatch: pytest.MonkeyPatch):
    """Ageing gains less, and has a tenth of the longest waits, but not on the first log; without it they are SAF's."""
    monkeypatch.setattr(order_patience, "PATIENT", (EAF, AGED))
    frame = results({name: {SAF: 8.0, EAF: 4.0, AGED: 6.0} for name in ("one", "two", "three")})
    aged, first = frame["scheduler"] == AGED, frame["log"] == "one"
    frame.loc[aged & ~first, "max_wait"] = 10.0
    frame.loc[aged & first, "max_wait"] = 1_000.0
    # For log one, the others say ageing. For log two, one and three together do not halve the longest wait.
    assert patient_choice(frame) == {"one": AGED, "two": EAF, "three": EAF}
    table = patient_table(frame)
    assert table.rows[0][:4] == ("one", pytest.approx(0.5), pytest.approx(0.75), pytest.approx(0.75))
    assert table.notes[1] == "longest wait longer than SAF's: one"


def test_ageing_orders_a_queue_as_areas_do_that_shrink_while_jobs_wait():
    rng = np.random.default_rng(1)
    p, q, r = rng.integers(1, 100_000, 200), rng.integers(1, 500, 200), rng.integers(0, 1_000_000, 200)
    policy = Scheduler.parse("aged-eaf").policy
    assert isinstance(policy, FormulaPolicy)
    scores = policy.program.scores(p, q, r)
    shrunk = p * q * np.exp(-(1_000_000 - r) / 43_200)
    assert np.argsort(scores).tolist() == np.argsort(shrunk).tolist()


def test_what_a_prediction_is_worth_is_told_by_its_use():
    slowdowns = {SAF: 10.0} | dict.fromkeys(order_uses.TEXTS.values(), 10.0)
    slowdowns |= {order_uses.TEXTS["order", "groups"]: 5.0, order_uses.TEXTS["both", "groups"]: 20.0}
    table = order_uses.uses_table(results({"one": slowdowns, "two": slowdowns}))
    assert table.rows[0][:4] == ("groups", pytest.approx(0.5), pytest.approx(1), pytest.approx(2))


def test_what_is_kept_is_not_made_again(tmp_path: Path):
    made = []

    def make() -> pd.DataFrame:
        made.append(1)
        return pd.DataFrame({"a": [1.5]})

    study = Runs([], tmp_path, tmp_path / "runs")
    frames = [study.kept("name", facts, make) for facts in (["x"], ["x"], ["y"])]
    assert len(made) == 2
    assert all(frame["a"].tolist() == [1.5] for frame in frames)


def test_the_share_of_jobs_that_repeat_an_earlier_one():
    columns = {"run_time": [9] * 4, "requested_time": [10] * 4, "requested_processors": [1, 2, 2, 2]}
    jobs = Workload.from_columns({"submit_time": range(4), "user_id": [1, 1, 1, 2]} | columns, processors=4)
    assert repeats(jobs) == (0.5, 0.25)


def test_the_first_copy_is_the_log_and_others_move_each_job_by_less_than_a_minute(tmp_path: Path):
    log = LOGS[0]
    write_log(full_width_jobs([10] * 200, sequences=1), tmp_path / log.file)
    kinds = ("0", "1", "2")
    files = copies(log, tmp_path, tmp_path / "made", kinds)
    first, second, third = (read_table(file) for file in files)
    assert first.submit_time.tolist() == log.read(tmp_path).submit_time.tolist()
    moved = second.submit_time - first.submit_time
    assert 0 <= moved.min() < moved.max() < 60
    assert (third.submit_time != second.submit_time).any()
    before = [file.stat().st_mtime_ns for file in files]
    copies(log, tmp_path, tmp_path / "made", kinds)
    assert [file.stat().st_mtime_ns for file in files] == before


def test_noise_moves_run_times_by_a_tenth_and_never_beyond_the_request(tmp_path: Path):
    log = LOGS[0]
    write_log(full_width_jobs([100] * 200, sequences=1), tmp_path / log.file)
    before, after = map(read_table, copies(log, tmp_path, tmp_path / "made", ("0", NOISE)))
    ratio = after.run_time / before.run_time
    assert 0.9 <= ratio.min() < 0.95
    assert 1 <= ratio.max() <= 1.1
    assert (after.run_time <= np.maximum(before.requested_time, before.run_time)).all()


def test_tricks_leave_the_jobs_in_their_places():
    columns = {"run_time": [9, 8], "requested_time": [60, 60], "requested_processors": [4, 2], "user_id": [1, 2]}
    jobs = Workload.from_columns({"submit_time": [5, 6]} | columns, processors=4)
    playing = np.array([False, True])
    decoys = with_decoys(jobs, playing)
    assert (decoys.submit_time.tolist(), decoys.run_time.tolist()) == ([5, 6, 6], [9, 8, 1])
    assert (decoys.job_processors.tolist(), decoys.requested_time.tolist()) == ([4, 2, 1], [60, 60, 60])
    fresh = with_fresh_requests(jobs, playing)
    assert fresh.requested_time[0] == 60 < fresh.requested_time[1]


def test_tables_that_are_not_swf_are_read(tmp_path: Path):
    (tmp_path / "theta.csv").write_text(
        "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n"
        "0,1,0,32768,512,0,18431.92,21600,Pass\n1,4,0,64,1,30,0.2,60,Failed\n"
    )
    jobs = theta(tmp_path / "theta.csv")
    assert jobs.submit_time.tolist() == [0, 30]
    assert jobs.run_time.tolist() == [18_431, 1]
    assert jobs.job_processors.tolist() == [512, 1]
    (tmp_path / "blue.csv").write_text(
        "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n"
        "0,1,0,64,2,0,9,60,Pass\n1,1,1,32,1,9000000,9,60,Pass\n2,1,4,0,4,7,9,60,Pass\n3,1,0,32,1,7,9,60,Pass\n"
        "4,2,1,0,1,7,9,60,Pass\n"
    )
    jobs = blue_waters(tmp_path / "blue.csv")
    assert (jobs.submit_time.tolist(), jobs.job_processors.tolist()) == ([0, 14], [4, 1])
    (tmp_path / "mustang.csv").write_text(
        "user_ID,group_ID,submit_time,start_time,end_time,wallclock_limit,job_status,node_count,tasks_requested\n"
        "72,72,2015-08-06 00:00:17+00:00,2015-08-06 00:04:29+00:00,2015-08-06 00:11:52+00:00,"
        "0 days 01:00:00.000000000,COMPLETED,1,24\n"
        "9,9,2015-08-06 00:00:20+00:00,,2015-08-06 00:00:52+00:00,0 days 01:00:00.000000000,CANCELLED,1,24\n"
    )
    jobs = mustang(tmp_path / "mustang.csv")
    assert (jobs.run_time.tolist(), jobs.requested_time.tolist(), jobs.user_id.tolist()) == ([443], [3600], [72])


@pytest.mark.slow
def test_the_study_makes_all_tables_and_its_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Two small logs and a few schedulers."""
    candidates = (EAF, "spf@groups(user)+easy@requested")
    monkeypatch.setattr(order_patience, "PATIENT", (EAF, AGED))
    monkeypatch.setattr(order_patience, "CONTROLS", (SAF,))
    monkeypatch.setattr(order_uses, "PREDICTED", ("groups",))
    monkeypatch.setattr(
        order_uses, "TEXTS", {key: order_uses.TEXTS[key] for key in order_uses.TEXTS if key[1] == "groups"}
    )
    monkeypatch.setattr(
        order, "BASELINES", {"EASY": EASY, "SAF": SAF, "SPF": "spf+easy", "SQF": "sqf+easy", "actual": ACTUAL}
    )
    monkeypatch.setattr(order, "CANDIDATES", candidates)
    monkeypatch.setattr(order_runs, "SHORTEST", 0)
    monkeypatch.setattr(order_runs, "MONTH", 3_600)
    monkeypatch.setattr(order_runs, "WEEK", 1_800)
    monkeypatch.setattr(order_stress, "GAMED", {"eaf": EAF})
    monkeypatch.setattr(order_claims, "WINDOWED", ())
    for log, short in zip(LOGS, (10, 20), strict=False):
        jobs = full_width_jobs([short, 100, 30] * 40, sequences=2)
        write_log(jobs.replace(user_id=np.arange(len(jobs)) % 5), tmp_path / log.file)
    study = order.reproduce(tmp_path, runs=2, directory=tmp_path / "runs", plots=tmp_path)
    text = str(study)
    for name in ("KTH-SP2", "CTC-SP2", "chosen on the other logs", "wide", "trace not found: RICC", "decoys", "Drift"):
        assert name in text
    assert (tmp_path / "order.png").is_file()
    assert len(study.to_dict()["tables"]) == 19


def test_no_log_at_all_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="has none of the traces"):
        order.reproduce(tmp_path)
    with pytest.raises(InputError, match="has no log mira"):
        order.reproduce(tmp_path, logs=["mira"])


def test_candidates_are_different_schedulers_of_the_grammar():
    assert all(Scheduler.parse(text).text == text for text in (*order_runs.BASELINES.values(), *order_runs.CANDIDATES))
    assert len(set(order_runs.CANDIDATES)) == len(order_runs.CANDIDATES)
    assert not set(order_runs.CANDIDATES) & set(order_runs.BASELINES.values())
    assert EAF in order_runs.CANDIDATES
    assert all(text.endswith("+easy@requested") for text in order_runs.CANDIDATES)
