"""The study of predictions for the order: what is chosen where, and the tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from sequence_samples import full_width_jobs, write_log

from schedlab.errors import InputError
from schedlab.papers import order
from schedlab.papers.order_logs import LOGS, copies, mustang, theta
from schedlab.papers.order_tables import ACTUAL, CHOSEN, EASY, SAF, of_logs, ratios_of, repeats
from schedlab.schedule.groups import class_metric_names
from schedlab.schedule.metrics import metric_names
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.tables import read_table
from schedlab.workload.workload import Workload


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
def three(monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Return results of three logs; candidate a is best on the first, b on the others."""
    monkeypatch.setattr(order, "CANDIDATES", ("a", "b"))
    others = {SAF: 10.0, EASY: 20.0, ACTUAL: 2.0}
    return results(
        {
            "one": others | {"a": 2.0, "b": 9.0},
            "two": others | {"a": 9.0, "b": 8.0},
            "three": others | {"a": 9.0, "b": 6.0},
        }
    )


def test_what_is_chosen_for_a_log_is_best_on_the_others(three: pd.DataFrame):
    assert order.held_out(three) == {"one": "b", "two": "a", "three": "a"}
    assert order.held_out(three[three["log"] == "two"]) == {"two": "b"}


def test_ratios_are_geometric_means_over_the_copies(three: pd.DataFrame):
    choice = order.held_out(three)
    ratios = ratios_of(three, choice, {"EASY": EASY, "chosen": CHOSEN})
    assert ratios["EASY"].tolist() == pytest.approx([2, 2, 2])
    assert ratios["chosen"].tolist() == pytest.approx([0.9, 0.9, 0.9])
    means = of_logs(three, choice).set_index(["log", "scheduler"])["mean_bounded_slowdown"]
    assert means["one", SAF] == pytest.approx(10 * 2**0.5)


def test_the_share_of_jobs_that_repeat_an_earlier_one():
    columns = {"run_time": [9] * 4, "requested_time": [10] * 4, "requested_processors": [1, 2, 2, 2]}
    jobs = Workload.from_columns({"submit_time": range(4), "user_id": [1, 1, 1, 2]} | columns, processors=4)
    assert repeats(jobs) == (0.5, 0.25)


def test_the_first_copy_is_the_log_and_others_move_each_job_by_less_than_a_minute(tmp_path: Path):
    log = LOGS[0]
    write_log(full_width_jobs([10] * 200, sequences=1), tmp_path / log.file)
    files = copies(log, tmp_path, tmp_path / "made", 3)
    first, second, third = (read_table(file) for file in files)
    assert first.submit_time.tolist() == log.read(tmp_path).submit_time.tolist()
    moved = second.submit_time - first.submit_time
    assert 0 <= moved.min() < moved.max() < 60
    assert (third.submit_time != second.submit_time).any()
    before = [file.stat().st_mtime_ns for file in files]
    copies(log, tmp_path, tmp_path / "made", 3)
    assert [file.stat().st_mtime_ns for file in files] == before


def test_tables_that_are_not_swf_are_read(tmp_path: Path):
    (tmp_path / "theta.csv").write_text(
        "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n"
        "0,1,0,32768,512,0,18431.92,21600,Pass\n1,4,0,64,1,30,0.2,60,Failed\n"
    )
    jobs = theta(tmp_path / "theta.csv")
    assert jobs.submit_time.tolist() == [0, 30]
    assert jobs.run_time.tolist() == [18_431, 1]
    assert jobs.job_processors.tolist() == [512, 1]
    (tmp_path / "mustang.csv").write_text(
        "user_ID,group_ID,submit_time,start_time,end_time,wallclock_limit,job_status,node_count,tasks_requested\n"
        "72,72,2015-08-06 00:00:17+00:00,2015-08-06 00:04:29+00:00,2015-08-06 00:11:52+00:00,"
        "0 days 01:00:00.000000000,COMPLETED,1,24\n"
        "9,9,2015-08-06 00:00:20+00:00,,2015-08-06 00:00:52+00:00,0 days 01:00:00.000000000,CANCELLED,1,24\n"
    )
    jobs = mustang(tmp_path / "mustang.csv")
    assert (jobs.run_time.tolist(), jobs.requested_time.tolist(), jobs.user_id.tolist()) == ([443], [3600], [72])


def test_the_study_makes_all_tables_and_its_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Two small logs and a few schedulers."""
    monkeypatch.setattr(order, "BASELINES", {"EASY": EASY, "SAF": SAF, "actual": ACTUAL})
    monkeypatch.setattr(order, "CANDIDATES", ("saf@groups(user)+easy@requested", "spf@groups(user)+easy@requested"))
    for log, short in zip(LOGS, (10, 20), strict=False):
        write_log(full_width_jobs([short, 100, 30] * 10, sequences=2), tmp_path / log.file)
    study = order.reproduce(tmp_path, runs=2, directory=tmp_path / "runs", plots=tmp_path)
    text = str(study)
    for name in ("KTH-SP2", "CTC-SP2", "chosen on the other logs", "wide", "trace not found: RICC"):
        assert name in text
    assert (tmp_path / "order.png").is_file()
    assert len(study.to_dict()["tables"]) == 8


def test_no_log_at_all_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="holds none of the traces"):
        order.reproduce(tmp_path)
    with pytest.raises(InputError, match="has no log mira"):
        order.reproduce(tmp_path, logs=["mira"])


def test_candidates_are_different_schedulers_of_the_grammar():
    assert all(Scheduler.parse(text).text == text for text in (*order.BASELINES.values(), *order.CANDIDATES))
    assert len(set(order.CANDIDATES)) == len(order.CANDIDATES)
    assert not set(order.CANDIDATES) & set(order.BASELINES.values())
    assert all(text.endswith("+easy@requested") for text in order.CANDIDATES)
