"""SQL over campaigns: right answers, and nothing but answers."""

from __future__ import annotations

import math
import sys

import pytest
from campaign_samples import campaign, finished_run

from schedlab.campaign.results.query import run_sql
from schedlab.errors import InputError


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run directory with one failed task of eight: at load 0.5, repetition 0, under EASY."""
    return finished_run(tmp_path_factory.mktemp("runs"), failed=[1])


def test_results_are_a_table(run):
    frame = run_sql([run], "select scheduler, count(*) as n, avg(mean_wait) as wait from results group by 1 order by 1")
    assert frame.columns.tolist() == ["scheduler", "n", "wait"]
    # FCFS waits 500, 900, 500, 900 s; EASY 450, 250, 450 s, where one of 250 s has failed.
    assert frame.values.tolist() == [["fcfs", 4, 700.0], ["fcfs+easy", 3, pytest.approx(1150 / 3)]]


def test_two_campaigns_are_told_apart_by_name(run, tmp_path):
    other = finished_run(tmp_path, campaign("other"), metrics=lambda task: {"mean_wait": 1.0, "speed": 2.0})
    frame = run_sql([run, other], "select campaign, count(*) n, count(speed) s from results group by 1 order by 1")
    assert frame.values.tolist() == [["other", 8, 8], ["small", 7, 0]]


def test_two_campaigns_of_one_name_are_told_apart_by_path(run, tmp_path):
    other = finished_run(tmp_path)
    frame = run_sql([run, other], "select campaign from campaigns")
    assert frame.campaign.tolist() == [str(run.path), str(other.path)]


def test_failures_and_campaigns_are_tables(run):
    [failed] = run_sql([run], "select * from failures").to_dict("records")
    assert (failed["campaign"], failed["load"], failed["repetition"]) == ("small", 0.5, 0)
    assert (failed["scheduler"], failed["kind"]) == ("fcfs+easy", "error")
    [facts] = run_sql([run], "select name, planned, done, failed, schedlab from campaigns").to_dict("records")
    assert facts == {"name": "small", "planned": 8, "done": 7, "failed": 1, "schedlab": "9.8.7"}


def test_nan_is_null(run, tmp_path):
    plain = campaign("plain", workloads=[{"generate": "lublin", "jobs": 20, "processors": 16}])
    other = finished_run(tmp_path, plain, failed=[1])
    frame = run_sql([run, other], "select avg(load) a, count(load) n, count(mean_wait_wide) w from results")
    assert frame.values.tolist() == [[pytest.approx((4 * 0.9 + 3 * 0.5) / 7), 7, 0]]
    assert math.isnan(run_sql([other], "select load from results").load[0])
    assert run_sql([other], "select count(load) n from failures").n[0] == 0


def test_the_usual_forms_of_reading_work(run):
    assert len(run_sql([run], "from results")) == 7
    assert len(run_sql([run], "with r as (select * from results) select * from r limit 2;")) == 2
    assert set(run_sql([run], "show tables").name) == {"results", "failures", "campaigns"}
    assert "mean_wait" in set(run_sql([run], "describe results").column_name)
    pivot = run_sql([run], "pivot results on scheduler using avg(mean_wait) group by load order by load")
    assert pivot.values.tolist() == [[0.5, 500.0, 250.0], [0.9, 900.0, 450.0]]


def test_campaigns_without_results_have_empty_tables(tmp_path):
    run = finished_run(tmp_path, left_out=range(8))
    assert run_sql([run], "select count(*) n, max(load) from results").n[0] == 0
    assert run_sql([run], "select traceback from failures").empty
    assert run_sql([run], "select planned - done as missing from campaigns").missing[0] == 8


@pytest.mark.parametrize(
    "statement",
    [
        "copy results to '{file}'",
        "copy (select 1) to '{file}' (format parquet)",
        "attach '{file}'",
        "export database '{file}'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "set lock_configuration = false",
        "create table t as select 1",
        "insert into results select * from results",
        "delete from results",
        "drop view results",
        "explain analyze copy results to '{file}'",
        "select * from read_csv('{secret}')",
        "select * from read_text('{secret}')",
        "select * from '{secret}'",
        "select * from glob('{secret}')",
        "select * from query('copy results to ''{file}''')",
        "select 1; copy results to '{file}'",
        "pivot results on scheduler using avg(load); copy results to '{file}'",
    ],
)
def test_nothing_is_written_and_no_other_file_is_read(run, tmp_path, monkeypatch, statement):
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / ".tmp" / "secret.csv"
    secret.parent.mkdir()
    secret.write_text("word\nsesame\n")
    with pytest.raises(InputError) as caught:
        run_sql([run], statement.format(file=tmp_path / "out.csv", secret=secret))
    assert "sesame" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.rglob("*")] == [".tmp", "secret.csv"]


def test_values_of_python_are_no_tables(run):
    numbers = run.results()
    assert len(numbers) == 7
    with pytest.raises(InputError, match="numbers does not exist"):
        run_sql([run], "select * from numbers")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("selec 1", r"the SQL is refused: .*syntax error at or near \"selec\""),
        ("select wait from results", 'the SQL is refused: .*"wait" not found'),
        ("", "give exactly one SQL statement, not 0"),
        ("select 1; select 2", "give exactly one SQL statement, not 2"),
        ("drop table results", "campaigns are read-only: give a SELECT, not DROP"),
    ],
)
def test_wrong_sql_is_said_in_a_sentence(run, sql, message):
    with pytest.raises(InputError, match=message) as caught:
        run_sql([run], sql)
    assert "\n" not in str(caught.value)


def test_without_duckdb_the_extra_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(InputError, match=r'pip install "\.\[query\]"'):
        run_sql([run], "select 1")
