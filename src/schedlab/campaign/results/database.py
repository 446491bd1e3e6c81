"""The tables of an index, and where it is: a file of SQLite that is replaced as a whole, or a PostgreSQL server.

A file of SQLite may lie on a network file system, where locks do not always hold: no process writes into it. A writer,
one at a time, copies it to a disk of this host, changes the copy, and puts it in its place.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    URL,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    NullPool,
    String,
    Table,
    create_engine,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError

from schedlab.atomic import atomic_path
from schedlab.campaign.run.lock import Lock
from schedlab.errors import InputError, OutputError
from schedlab.wording import install

VERSION = 1
"""Of the form of the index."""

PATIENCE = 120.0
"""Seconds that a writer waits for another one."""

CONNECT_TIMEOUT = 10
"""Seconds after which a server counts as not reachable."""

ADVISORY_LOCK = 0x5C4ED1AB
"""The number under which writers queue at a server."""

NO_DAMAGE = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
"""What SQLite complains about when the file itself is in order."""

SECRETS = ("password", "passfile", "sslpassword")
"""Parameters of a URL that are not printed."""


# A database may hold other things too: names of tables begin with ours.
TABLES = MetaData()

FORM = Table("schedlab_index", TABLES, Column("version", Integer, primary_key=True))

CAMPAIGNS = Table(
    "schedlab_campaigns",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("directory", String, unique=True, nullable=False),
    Column("name", String, nullable=False),
    Column("description", String, nullable=False),
    Column("schedlab", String, nullable=False),
    Column("commit", String, nullable=False),
    Column("planned", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("command", String, nullable=False),
    Column("schema", Integer, nullable=False),
    Column("definition", JSON, nullable=False),
    Column("metrics", JSON, nullable=False),  # names; tasks have the values, in the same order
    Column("updated", String, nullable=False),
)

TASKS = Table(
    "schedlab_tasks",
    TABLES,
    Column("campaign", ForeignKey(CAMPAIGNS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("task", String(32), nullable=False),
    Column("workload", String, nullable=False),
    Column("load", Float),
    Column("repetition", Integer, nullable=False),
    Column("window", Integer, nullable=False),
    Column("scheduler", String, nullable=False),
    Column("state", String(6), nullable=False),
    Column("reason", String),
    Column("metrics", JSON(none_as_null=True)),
    sqlite_with_rowid=False,
)


class UnusableIndex(InputError):
    """There is no index, or it is damaged or of another version; it can be made from the run directories.

    Parameters
    ----------
    what
        Is wrong with it.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; schedlab campaign reindex makes it from the run directories")
        self.what = what


class Database:
    """An index's database.

    Parameters
    ----------
    place
        A file, or a URL of SQLAlchemy such as `postgresql+psycopg://user@host/database`.

    Raises
    ------
    InputError
        If it is not a URL of SQLite or PostgreSQL, or if the driver is not installed.

    Examples
    --------
    >>> Database("postgresql://me:secret@host/lab").name
    'postgresql+psycopg://me:***@host/lab'
    >>> Database("runs/index.sqlite").file
    PosixPath('runs/index.sqlite')
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.url = _url(os.fspath(place))
        database = self.url.database
        self.file = Path(database) if self.url.get_backend_name() == "sqlite" and database else None
        """The file of SQLite; None for a server."""
        shown = self.url.difference_update_query(SECRETS).render_as_string(hide_password=True)
        self.name = str(self.file or shown)
        """For messages: without the password."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection to read.

        Raises
        ------
        UnusableIndex
            If there is no index, or if it is damaged or of another version.
        InputError
            If the server cannot be reached.
        """
        if self.file is not None and not self.file.is_file():
            raise UnusableIndex(f"there is no index {self.name}")
        engine = self._server() if self.file is None else _read_only(self.file)
        with self._one_sentence(), engine.connect() as connection:
            self._check(connection)
            yield connection

    @contextmanager
    def writing(self, *, recreate: bool = False) -> Iterator[Connection]:
        """Give a connection to write: everything or, if anything is raised, nothing of it takes effect.

        Parameters
        ----------
        recreate
            Whether a file begins empty, and tables of another version at a server are recreated.

        Raises
        ------
        UnusableIndex
            If the file is damaged, or of another version.
        InputError
            If the server cannot be reached, or if another process does not stop writing.
        OutputError
            If the file cannot be written.
        """
        if self.file is None:
            with self._one_sentence(), self._server().begin() as connection:
                connection.execute(text(f"select pg_advisory_xact_lock({ADVISORY_LOCK})"))
                self._prepare(connection, recreate=recreate)
                yield connection
            return
        with _patient(self.file) as lock, tempfile.TemporaryDirectory(prefix="schedlab-") as local:
            copy = Path(local) / "index.sqlite"
            if self.file.exists() and not recreate:
                _copy(self.file, copy)
            with self._one_sentence(), _scratch(copy).begin() as connection:
                self._prepare(connection)
                yield connection
            _replace(self.file, copy, lock)

    def _server(self) -> Engine:
        return create_engine(
            self.url, poolclass=NullPool, json_serializer=_json, connect_args={"connect_timeout": CONNECT_TIMEOUT}
        )

    def _check(self, connection: Connection) -> None:
        """See to it that there is an index, of this version."""
        if not inspect(connection).has_table(FORM.name):
            raise UnusableIndex(f"there is no index in {self.name}")
        version = connection.scalar(select(FORM.c.version))
        if version != VERSION:
            raise UnusableIndex(f"the index {self.name} has the form of version {version}, and this is {VERSION}")

    def _prepare(self, connection: Connection, *, recreate: bool = False) -> None:
        """Make the tables unless they are there."""
        if inspect(connection).has_table(FORM.name):
            try:
                self._check(connection)
                return
            except UnusableIndex:
                if not recreate:
                    raise
                TABLES.drop_all(connection)
        TABLES.create_all(connection)
        connection.execute(insert(FORM).values(version=VERSION))

    @contextmanager
    def _one_sentence(self) -> Iterator[None]:
        """Say in a sentence what a database complains about."""
        try:
            yield
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise UnusableIndex(f"the index {self.name} is damaged ({error})") from error
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            if self.file is not None and getattr(error.orig, "sqlite_errorcode", 0) & 0xFF not in NO_DAMAGE:
                raise UnusableIndex(f"the index {self.name} is damaged ({reason})") from error
            trouble = "reached" if self.file is None and isinstance(error, OperationalError) else "used"
            raise InputError(f"the index {self.name} cannot be {trouble}: {reason}") from error


def _url(place: str) -> URL:
    if "://" not in place:
        return URL.create("sqlite", database=place)
    kind = place.partition("://")[0]
    try:
        url = make_url(place)
        known = url.get_backend_name() in ("sqlite", "postgresql")
        if known:
            url = url if url.get_backend_name() == "sqlite" else url.set(drivername="postgresql+psycopg")
            url.get_dialect().import_dbapi()
    except (ArgumentError, NoSuchModuleError, ValueError):
        known = False
    except ModuleNotFoundError as error:
        raise InputError(f"an index at {kind}:// needs {error.name}: {install('postgres')}") from None
    if not known or not url.database:
        # The text itself is not printed: there may be a password in it.
        raise InputError(
            f"the {kind}:// URL of the index names no supported database: give a file, "
            "or for example postgresql+psycopg://user@host/database"
        )
    return url


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _read_only(file: Path) -> Engine:
    """Return an engine that takes no locks and makes no files: writers replace the file, they do not change it."""
    uri = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    return create_engine("sqlite://", creator=lambda: sqlite3.connect(uri, uri=True), poolclass=NullPool)


def _scratch(file: Path) -> Engine:
    """Return an engine for a copy that is thrown away if anything goes wrong."""

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(file)
        connection.execute("pragma journal_mode = memory")
        connection.execute("pragma synchronous = off")
        return connection

    return create_engine("sqlite://", creator=connect, poolclass=NullPool, json_serializer=_json)


@contextmanager
def _patient(file: Path) -> Iterator[Lock]:
    """Hold the lock of an index; others need it for a moment only, so that it is worth to wait."""
    deadline = time.monotonic() + PATIENCE
    with ExitStack() as stack:
        while True:
            lock = Lock(file.with_name(f"{file.name}.lock"), f"the index {file}")
            try:
                stack.enter_context(lock)
                break
            except InputError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        yield lock


def _copy(file: Path, copy: Path) -> None:
    try:
        shutil.copyfile(file, copy)
    except OSError as error:
        raise OutputError(f"cannot copy the index {file} to {copy.parent}: {error.strerror or error}") from error


def _replace(file: Path, copy: Path, lock: Lock) -> None:
    with atomic_path(file) as temporary:
        with open(copy, "rb") as source, open(temporary, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
        if not lock.held():
            raise OutputError(
                f"the index {file} was taken over by another process while this one was suspended: try again"
            )
