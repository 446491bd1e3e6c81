"""Indexes to test: a file of SQLite, and a database of a PostgreSQL server that the tests start themselves."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import NoServer, Server, running_server

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Return a running server, or skip: PostgreSQL is not part of the project."""
    pytest.importorskip("psycopg", reason='no psycopg: pip install ".[postgres]"')
    try:
        with running_server() as server:
            yield server
    except NoServer as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where an index may be made that does not exist yet."""
    if request.param == "sqlite":
        return str(tmp_path / "index.sqlite")
    return request.getfixturevalue("postgres").new_database(f"index_{next(_numbers)}")
