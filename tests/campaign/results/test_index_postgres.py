"""What only a server can do wrong: it is not there, it goes away, it refuses a password."""

from __future__ import annotations

import subprocess
import sys

import pytest
from campaign_samples import campaign, finished_run
from postgres_server import PASSWORD, running_server

from schedlab.campaign.results.index import campaigns, record, reindex, search
from schedlab.errors import InputError


@pytest.fixture
def url(postgres, request) -> str:
    """Return the URL of an empty database."""
    return postgres.new_database(f"db_{abs(hash(request.node.name))}")


def test_a_server_without_an_index_says_how_to_make_one(url):
    with pytest.raises(InputError, match=r"there is no index in .*; schedlab campaign reindex"):
        search(url)


def test_reindex_leaves_the_campaigns_of_others_in_the_team(tmp_path, url):
    record(finished_run(tmp_path / "mine", campaign("a")), url)
    record(finished_run(tmp_path / "mine-too", campaign("b")), url)
    finished_run(tmp_path / "mine", campaign("c"))
    (tmp_path / "mine" / "a" / "campaign.json").unlink()
    assert reindex(tmp_path / "mine", url) == []
    assert sorted(row["name"] for row in campaigns(url)) == ["b", "c"]


def test_an_index_of_another_version_is_made_anew_by_reindex_only(tmp_path, url):
    run = finished_run(tmp_path)
    record(run, url)
    _execute(url, "update schedlab_index set version = 99")
    for call in (lambda: record(run, url), lambda: campaigns(url)):
        with pytest.raises(InputError, match="form of version 99"):
            call()
    assert reindex(tmp_path, url) == []
    assert len(search(url)) == 8


def test_tables_of_others_in_the_same_database_are_left_alone(tmp_path, url):
    _execute(url, "create table tasks (mine text)")
    reindex(tmp_path, url)
    _execute(url, "select mine from tasks")


def test_a_refused_password_is_not_printed(postgres):
    with pytest.raises(InputError, match=r"cannot be reached: .*password authentication failed") as caught:
        campaigns(postgres.url(password="close-sesame"))
    assert "sesame" not in str(caught.value)
    assert "lab:***@" in str(caught.value)


def test_a_password_among_the_parameters_is_not_printed(postgres, tmp_path):
    place = f"postgresql://lab@/nowhere?host={postgres.directory}&password={PASSWORD}"
    with pytest.raises(InputError, match='"nowhere" does not exist') as caught:
        record(finished_run(tmp_path), place)
    assert PASSWORD not in str(caught.value)


def test_a_server_that_is_gone_is_said_in_a_sentence(tmp_path, postgres):
    run = finished_run(tmp_path)
    with running_server() as server:
        url = server.url()
        record(run, url)
        server.stop()
        for call in (lambda: record(run, url), lambda: search(url), lambda: reindex(tmp_path, url)):
            with pytest.raises(InputError, match="cannot be reached") as caught:
                call()
            assert PASSWORD not in str(caught.value)
            assert "\n" not in str(caught.value)


def test_a_server_that_goes_away_within_a_transaction_keeps_what_was_there(tmp_path, url, monkeypatch):
    run = finished_run(tmp_path)
    record(run, url)
    table = run.table()

    def table_of_an_unlucky_run(columns=None):
        _execute(url, "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() "
                      "and datname = current_database()")  # fmt: skip
        return table

    monkeypatch.setattr(run, "table", table_of_an_unlucky_run)
    with pytest.raises(InputError, match="cannot be reached"):
        record(run, url)
    assert len(search(url)) == 8


def test_without_the_driver_the_extra_is_named(tmp_path):
    (tmp_path / "psycopg.py").write_text("raise ModuleNotFoundError(\"No module named 'psycopg'\", name='psycopg')")
    code = "from schedlab.campaign.results.index import campaigns; campaigns('postgresql://me:sesame@host/lab')"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    message = done.stderr.splitlines()[-1]
    assert message.endswith('needs psycopg: pip install ".[postgres]" in the checkout of schedlab')
    assert "sesame" not in message


def _execute(url: str, statement: str) -> None:
    import psycopg
    from sqlalchemy import make_url

    parts = make_url(url)
    with psycopg.connect(
        host=parts.query["host"], user=parts.username, password=parts.password, dbname=parts.database
    ) as connection:
        connection.execute(statement)
