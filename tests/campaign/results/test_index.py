"""The index over campaigns: the same in a file of SQLite and at a PostgreSQL server."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading

import numpy as np
import pytest
from campaign_samples import campaign, finished_run
from hypothesis import given
from hypothesis import strategies as st

from schedlab.campaign.results import database, index
from schedlab.campaign.results.index import campaigns, default_place, parse_condition, record, reindex, search
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.lock import Lock
from schedlab.errors import InputError, OutputError

RECORD_OFTEN = """
import sys
from schedlab.campaign.results.index import record
from schedlab.campaign.run.lock import Lock
from schedlab.campaign.run.directory import RunDirectory
for _ in range(5):
    record(RunDirectory.open(sys.argv[1]), sys.argv[2])
"""

# The tests of both databases


def test_a_campaign_is_found_with_its_facts(tmp_path, place):
    run = finished_run(tmp_path, failed=[3], left_out=[0, 1])
    assert record(run, place) == []
    [found] = campaigns(place)
    assert (found["name"], found["directory"]) == ("small", str(tmp_path / "small"))
    assert (found["planned"], found["done"], found["failed"]) == (8, 5, 1)
    assert (found["schedlab"], found["commit"], found["schema"]) == ("9.8.7", "abc1234", 1)
    assert found["definition"]["workloads"][0]["load"] == [0.5, 0.9]


def test_recording_again_replaces_what_was_known(tmp_path, place):
    record(finished_run(tmp_path, failed=[3]), place)
    record(finished_run(tmp_path), place)
    [found] = campaigns(place)
    assert (found["done"], found["failed"]) == (8, 0)
    assert {row["state"] for row in search(place)} == {"done"}
    assert len(search(place)) == 8


def test_tasks_come_in_the_order_of_the_plan_with_coordinates_and_metrics(tmp_path, place):
    run = finished_run(tmp_path)
    record(run, place)
    rows = search(place)
    assert [row["task"].encode() for row in rows] == run.plan.names.tolist()
    assert (rows[-1]["workload"], rows[-1]["load"], rows[-1]["repetition"]) == ("lublin", 0.9, 1)
    assert (rows[-1]["window"], rows[-1]["scheduler"], rows[-1]["mean_wait"]) == (-1, "fcfs+easy", 450.0)
    assert rows[-1]["mean_wait_wide"] is None


def test_conditions_choose_by_metrics_of_several_campaigns(tmp_path, place):
    record(finished_run(tmp_path), place)
    other = campaign("other", schedulers=["fcfs"])
    # Here the wait is not the first of the metrics.
    record(finished_run(tmp_path, other, metrics=lambda task: {"jobs": 5.0, "mean_wait": 475.0}), place)
    chosen = search(place, where=[("mean_wait", ">", 450), ("mean_wait", "<=", 500)])
    assert [(row["campaign"], row["load"], row["mean_wait"]) for row in chosen] == [
        *[("small", 0.5, 500.0)] * 2, *[("other", 0.5, 475.0), ("other", 0.9, 475.0)] * 2
    ]  # fmt: skip
    assert {row["campaign"] for row in search(place, where=[("jobs", "=", 5)])} == {"other"}
    assert len(search(place, where=[("load", ">", 0.6), ("mean_wait", "!=", 450)])) == 2 + 2


def test_a_metric_that_is_missing_fulfils_no_condition(tmp_path, place):
    record(finished_run(tmp_path, failed=[0]), place)
    assert search(place, where=[("mean_wait_wide", "<", 1e9)]) == []
    assert len(search(place, where=[("mean_wait", ">=", 0)])) == 7


def test_workload_scheduler_state_and_limit_choose(tmp_path, place):
    record(finished_run(tmp_path, failed=[1, 2]), place)
    assert {row["scheduler"] for row in search(place, scheduler="easy")} == {"fcfs+easy"}
    assert [row["reason"] for row in search(place, state="failed")] == ["ValueError: the disc is round"] * 2
    assert search(place, workload="kth") == []
    assert len(search(place, workload="lublin", limit=3)) == 3


def test_text_is_looked_for_without_regard_to_case(tmp_path, place):
    record(finished_run(tmp_path, failed=[0]), place)
    record(finished_run(tmp_path, campaign("other", description="100% größer_als")), place)
    assert [row["name"] for row in campaigns(place, "is easy")] == ["small"]
    assert [row["name"] for row in campaigns(place, "0% größer_")] == ["other"]
    assert campaigns(place, "größer%als") == []
    assert len(campaigns(place, "LUBLIN")) == 2
    assert [row["state"] for row in search(place, text="the DISC")] == ["failed"]
    assert len(search(place, text="other")) == 8


def test_reindex_makes_the_same_index_from_the_files(tmp_path, place):
    for name in ("a", "b"):
        record(finished_run(tmp_path / "deep" / name, campaign(name), failed=[1]), place)
    before = search(place)
    assert reindex(tmp_path, place) == []
    assert search(place) == before
    assert len(before) == 16


def test_reindex_forgets_what_is_gone_and_names_what_is_broken(tmp_path, place):
    gone, broken, half = (finished_run(tmp_path, campaign(name)) for name in ("gone", "broken", "half"))
    finished_run(tmp_path, campaign("whole"))
    record(gone, place)
    gone.path.rename(tmp_path / ".hidden")
    (broken.path / "campaign.json").write_text("{")
    facts = json.loads((half.path / "campaign.json").read_text())
    (half.path / "campaign.json").write_text(json.dumps({**facts, "inputs": None}))
    notes = reindex(tmp_path, place)
    assert [row["name"] for row in campaigns(place)] == ["whole"]
    assert [str(path.path) in note for path, note in zip((broken, half), notes, strict=True)] == [True, True]


def test_results_that_are_not_numbers_are_not_recorded(tmp_path, place):
    finished_run(tmp_path, campaign("good"))
    odd = finished_run(tmp_path, campaign("odd"), metrics=lambda task: {"mean_wait": "long"})
    assert reindex(tmp_path, place) == []
    assert {row["name"]: row["done"] for row in campaigns(place)} == {"good": 8, "odd": 0}
    assert {row["campaign"] for row in search(place)} == {"good"}
    assert odd.status().corrupt == 1


def test_a_campaign_without_results_can_be_recorded(tmp_path, place):
    record(finished_run(tmp_path, left_out=range(8)), place)
    assert [row["done"] for row in campaigns(place)] == [0]
    assert search(place) == []


def test_unknown_metrics_and_operators_are_named(tmp_path, place):
    record(finished_run(tmp_path), place)
    with pytest.raises(InputError, match=r"no campaign .* metric 'wait'; known are mean_wait, mean_wait_wide"):
        search(place, where=[("wait", "<", 1)])
    with pytest.raises(InputError, match="unknown operator '~'"):
        search(place, where=[("mean_wait", "~", 1)])


def test_two_processes_record_different_campaigns_at_the_same_time_and_nothing_is_lost(tmp_path, place):
    names = ["a", "b"]
    for name in names:
        finished_run(tmp_path, campaign(name))
    processes = [subprocess.Popen([sys.executable, "-c", RECORD_OFTEN, tmp_path / name, place]) for name in names]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert sorted(row["name"] for row in campaigns(place)) == names
    assert len(search(place)) == 16


# Those of SQLite alone


def test_the_index_is_beside_the_run_directories(tmp_path):
    record(finished_run(tmp_path))
    assert default_place(tmp_path) == tmp_path / "index.sqlite"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.sqlite", "small"]


def test_reading_needs_no_right_to_write(tmp_path):
    record(finished_run(tmp_path))
    place = default_place(tmp_path)
    before = place.read_bytes()
    place.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        assert len(search(place)) == 8
        assert sorted(path.name for path in tmp_path.iterdir()) == ["index.sqlite", "small"]
    finally:
        tmp_path.chmod(0o700)
    assert place.read_bytes() == before


def test_writers_replace_the_file_and_leave_readers_theirs(tmp_path):
    run = finished_run(tmp_path)
    record(run)
    place = default_place(tmp_path)
    with open(place, "rb") as reader:
        record(finished_run(tmp_path, campaign("other")))
        before = reader.read()
    assert b"other" in place.read_bytes()
    assert b"other" not in before
    assert before.startswith(b"SQLite format 3")


def test_a_writer_waits_for_another_one(tmp_path, monkeypatch):
    run = finished_run(tmp_path)
    lock = Lock(tmp_path / "index.sqlite.lock").__enter__()
    monkeypatch.setattr(database, "PATIENCE", 0)
    with pytest.raises(InputError, match=rf"index\.sqlite is in use by process {os.getpid()} on"):
        record(run)
    monkeypatch.undo()
    release = threading.Timer(0.2, lock.__exit__, (None, None, None))
    release.start()
    assert record(run) == []
    release.join()
    assert len(search(default_place(tmp_path))) == 8


def test_a_writer_whose_lock_was_taken_over_replaces_nothing(tmp_path, monkeypatch):
    record(finished_run(tmp_path))
    before = default_place(tmp_path).read_bytes()
    monkeypatch.setattr(Lock, "held", lambda self: False)
    with pytest.raises(OutputError, match="taken over by another process"):
        record(finished_run(tmp_path, campaign("other")))
    assert default_place(tmp_path).read_bytes() == before


def test_a_full_disk_is_no_damage(tmp_path, monkeypatch):
    run = finished_run(tmp_path)
    record(run)
    before = default_place(tmp_path).read_bytes()
    connect = sqlite3.connect

    def connect_to_a_full_disk(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.execute("pragma max_page_count = 1")
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_to_a_full_disk)
    with pytest.raises(InputError, match="cannot be used: database or disk is full"):
        record(finished_run(tmp_path, campaign("other", description="long " * 20_000)))
    assert default_place(tmp_path).read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"no database",
        lambda content: content[:5000],
        lambda content: content[:4096] + b"\xff" * (len(content) - 4096),
        lambda content: content.replace(b"CREATE TABLE", b"CREATE T\xc3BLE"),
    ],
    ids=["text", "cut", "pages", "schema"],
)
def test_a_damaged_index_is_rebuilt_with_a_note(tmp_path, damage):
    a, b = (finished_run(tmp_path, campaign(name)) for name in ("a", "b"))
    record(a)
    record(b)
    place = default_place(tmp_path)
    place.write_bytes(damage(place.read_bytes()))
    with pytest.raises(InputError, match=r"index\.sqlite is damaged .* campaign reindex"):
        campaigns(place)
    [note] = record(b)
    assert "index.sqlite is damaged" in note
    assert "it has been rebuilt from the run directories in" in note
    assert sorted(row["name"] for row in campaigns(place)) == ["a", "b"]


def test_damage_that_writers_do_not_meet_is_said_to_readers(tmp_path):
    record(finished_run(tmp_path))
    place = default_place(tmp_path)
    place.write_bytes(place.read_bytes().replace(b'{"name":"small"', b'{"name":?small"'))
    with pytest.raises(InputError, match=r"index\.sqlite is damaged .* campaign reindex"):
        campaigns(place)
    reindex(tmp_path)
    assert len(campaigns(place)) == 1


def test_an_index_of_another_version_is_rebuilt_with_a_note(tmp_path):
    a, b = (finished_run(tmp_path, campaign(name)) for name in ("a", "b"))
    record(a)
    place = default_place(tmp_path)
    with sqlite3.connect(place) as connection:
        connection.execute("update schedlab_index set version = 99")
    connection.close()
    with pytest.raises(InputError, match="form of version 99"):
        search(place)
    [note] = record(b)
    assert "version 99" in note
    assert sorted(row["name"] for row in campaigns(place)) == ["a", "b"]


def test_no_index_and_no_directory_are_said_in_a_sentence(tmp_path):
    with pytest.raises(InputError, match=r"there is no index .*index\.sqlite; schedlab campaign reindex"):
        campaigns(tmp_path / "index.sqlite")
    with pytest.raises(InputError, match="does not exist"):
        reindex(tmp_path / "nowhere")
    run = finished_run(tmp_path)
    with pytest.raises(OutputError, match="cannot lock"):
        record(run, tmp_path / "nowhere" / "index.sqlite")


def test_a_run_directory_that_cannot_be_read_leaves_the_index_as_it_is(tmp_path):
    run = finished_run(tmp_path)
    record(run)
    before = default_place(tmp_path).read_bytes()
    (run.path / "campaign.json").write_text("{")
    with pytest.raises(InputError, match=r"campaign\.json"):
        record(RunDirectory(run.path))
    assert default_place(tmp_path).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.sqlite", "small"]


@pytest.mark.parametrize(
    "url", ["mysql://me:open-sesame@host/lab", "nonsense://me:open-sesame@host", "postgresql://me:open-sesame@host:x/y"]
)
def test_an_odd_url_is_refused_without_its_password(url):
    with pytest.raises(InputError, match="URL of the index names no") as caught:
        campaigns(url)
    assert "sesame" not in str(caught.value)


# Numbers


@given(st.lists(st.floats(1e-12, 1e20) | st.floats(-1e20, -1e-12) | st.integers(0, 10**7).map(float), min_size=1))
def test_metrics_are_rounded_to_six_digits(values):
    [rounded] = index._rounded(np.array([values])).tolist()
    for value, short in zip(values, rounded, strict=True):
        expected = float(f"{value:.6g}")
        # A tie may go the other way: then they differ by one unit of the sixth digit.
        assert short == expected or abs(short - expected) <= 1.0001e-5 * abs(value)
        assert short == float(f"{short:.6g}")


def test_what_is_not_finite_is_null():
    assert index._rounded(np.array([[np.nan, np.inf, -np.inf, 0.0, 0.1 + 0.2, 1234567.0]])).tolist() == [
        [None, None, None, 0.0, 0.3, 1234570.0]
    ]


@pytest.mark.parametrize("text", ["mean_wait", "< 3", "mean_wait < much", "mean_wait ~ 3", "a = b = 3"])
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(InputError, match="is not a condition"):
        parse_condition(text)


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "=", "!="])
def test_conditions_are_read_with_and_without_blanks(sign):
    assert parse_condition(f"load{sign}0.5") == parse_condition(f" load {sign} 0.5 ") == ("load", sign, 0.5)
