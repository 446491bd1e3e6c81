"""An index over campaigns, to search in: a cache that can be rebuilt from the run directories at any time.

By default it is `index.sqlite` in the directory that holds the run directories; a team may keep it in PostgreSQL.
"""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, String, and_, cast, delete, false, insert, or_, select

from schedlab.campaign.results.database import CAMPAIGNS, TASKS, Database, UnusableIndex
from schedlab.campaign.results.overview import COORDINATES, Overview, failure_row, metric_names
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.outcome import Failure
from schedlab.errors import InputError
from schedlab.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    import pyarrow as pa

DIGITS = 6
"""Significant digits of a metric in the index; the files have all."""

ROWS_AT_ONCE = 10_000

State = Literal["done", "failed"]
Condition = tuple[str, str, float]

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}

SHOWN = ("id", "metrics")
"""Columns of campaigns that are for the index itself."""


def default_place(directory: str | os.PathLike[str]) -> Path:
    """Return the index of the run directories in a directory, unless one asks for another."""
    return Path(directory) / "index.sqlite"


def record(run: RunDirectory, place: str | os.PathLike[str] | None = None) -> list[str]:
    """Replace what the index knows of a campaign by what its run directory says.

    Parameters
    ----------
    run
        The run directory.
    place
        The index: a file, or a URL of SQLAlchemy; by default, `index.sqlite` beside the run directory.

    Returns
    -------
    list of str
        What a person should know: that the index was damaged and has been rebuilt.

    Raises
    ------
    InputError
        If the run directory or the server cannot be read.
    OutputError
        If the file cannot be written.
    """
    home = run.path.absolute().parent
    place = default_place(home) if place is None else place
    database = Database(place)
    try:
        with database.writing() as connection:
            _put(connection, run)
    except UnusableIndex as error:
        if database.file is None:
            raise
        return [f"{error.what}: it has been rebuilt from the run directories in {home}", *reindex(home, place)]
    return []


def reindex(directory: str | os.PathLike[str], place: str | os.PathLike[str] | None = None) -> list[str]:
    """Make the index from the run directories alone.

    A file is recreated. Of a server, which a team shares, only what is known of run directories under this directory is
    replaced.

    Parameters
    ----------
    directory
        Where run directories are looked for, at any depth.
    place
        The index, as for `record`.

    Returns
    -------
    list of str
        Run directories that were left out, and why.

    Raises
    ------
    InputError
        If the directory does not exist, or as `record`.
    """
    home = Path(directory).resolve()
    if not home.is_dir():
        raise InputError(f"the directory {directory} does not exist: name the one that holds the run directories")
    database = Database(default_place(home) if place is None else place)
    notes = []
    with database.writing(recreate=True) as connection:
        below = CAMPAIGNS.c.directory.startswith(f"{home}{os.sep}", autoescape=True)
        _forget(connection, or_(below, CAMPAIGNS.c.directory == str(home)))
        for path in run_directories(home):
            try:
                with connection.begin_nested():
                    _put(connection, RunDirectory.open(path))
            except (InputError, ValueError, LookupError, TypeError, OSError) as error:
                notes.append(f"left out {path}: {' '.join(str(error).split())}")
    return notes


def run_directories(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the run directories at or under a directory, by name."""
    for path, children, files in os.walk(directory):
        if "campaign.json" in files:
            children.clear()
            yield Path(path)
        children[:] = sorted(child for child in children if not child.startswith("."))


def campaigns(place: str | os.PathLike[str], search: str = "") -> list[dict[str, Any]]:
    """Return what is known of campaigns, the last recorded first.

    Parameters
    ----------
    place
        The index, as for `record`.
    search
        Only those that have this text in their name, directory, description or definition.

    Raises
    ------
    InputError
        If there is no index, or if it cannot be read.
    """
    columns = [column for column in CAMPAIGNS.c if column.name not in SHOWN]
    query = select(*columns).order_by(CAMPAIGNS.c.updated.desc(), CAMPAIGNS.c.id)
    database = Database(place)
    with database.reading() as connection:
        return [dict(row) for row in connection.execute(query.where(_mentions(search))).mappings()]


def search(
    place: str | os.PathLike[str],
    *,
    text: str = "",
    workload: str | None = None,
    scheduler: str | None = None,
    state: State | None = None,
    where: Sequence[Condition] = (),
    limit: int | None = 1_000,
) -> list[dict[str, Any]]:
    """Return tasks of all campaigns, in the order of campaigns and of their plans.

    Parameters
    ----------
    place
        The index, as for `record`.
    text
        What campaigns mention (see `campaigns`), or a part of the reason of a failure or of the name of a task.
    workload, scheduler
        Only this one; a scheduler may be written in any way that `Scheduler.parse` knows.
    state
        "done" or "failed".
    where
        What metrics, or load, repetition and window, must be, for example `("mean_wait", "<", 3600)`.
    limit
        Maximum number; None for all.

    Returns
    -------
    list of dict
        `campaign`, `directory`, `task`, the coordinates, `state`, `reason`, and the metrics to 6 digits (None where
        there is none).

    Raises
    ------
    InputError
        If there is no such metric or operator, or as `campaigns`.
    """
    database = Database(place)
    with database.reading() as connection:
        columns = (CAMPAIGNS.c.id, CAMPAIGNS.c.name, CAMPAIGNS.c.directory, CAMPAIGNS.c.metrics)
        known = {row.id: row for row in connection.execute(select(*columns))}
        wanted = [_condition(condition, {key: row.metrics for key, row in known.items()}) for condition in where]
        if text:
            mentioned = select(CAMPAIGNS.c.id).where(_mentions(text))
            in_task = (column.icontains(text, autoescape=True) for column in (TASKS.c.reason, TASKS.c.task))
            wanted.append(or_(TASKS.c.campaign.in_(mentioned), *in_task))
        if workload is not None:
            wanted.append(TASKS.c.workload == workload)
        if scheduler is not None:
            wanted.append(TASKS.c.scheduler == Scheduler.parse(scheduler).text)
        if state is not None:
            wanted.append(TASKS.c.state == state)
        query = select(TASKS).where(*wanted).order_by(TASKS.c.campaign, TASKS.c.number).limit(limit)
        return [_found(dict(row), known) for row in connection.execute(query).mappings()]


def parse_condition(text: str) -> Condition:
    """Return the parts of a condition.

    Raises
    ------
    InputError
        If it is none.

    Examples
    --------
    >>> parse_condition("mean_wait < 3600")
    ('mean_wait', '<', 3600.0)
    """
    match = re.fullmatch(r"\s*(\w+)\s*(<=|>=|!=|<|>|=)\s*(\S+)\s*", text)
    try:
        if match:
            return match[1], match[2], float(match[3])
    except ValueError:
        pass
    raise InputError(f"{text!r} is not a condition; write for example 'mean_wait < 3600'")


def _found(row: dict[str, Any], known: dict[int, Any]) -> dict[str, Any]:
    campaign, values = known[row.pop("campaign")], row.pop("metrics")
    del row["number"]
    metrics = zip(campaign.metrics, values or [None] * len(campaign.metrics), strict=True)
    return {"campaign": campaign.name, "directory": campaign.directory, **row, **dict(metrics)}


def _mentions(text: str) -> ColumnElement[bool]:
    texts = (CAMPAIGNS.c.name, CAMPAIGNS.c.directory, CAMPAIGNS.c.description, cast(CAMPAIGNS.c.definition, String))
    return or_(*(column.icontains(text, autoescape=True) for column in texts))


def _condition(condition: Condition, metrics: dict[int, list[str]]) -> ColumnElement[bool]:
    """Return a condition in SQL; the place of a metric may differ from campaign to campaign."""
    name, sign, value = condition
    if sign not in OPERATORS:
        raise InputError(f"unknown operator {sign!r}; known are {' '.join(OPERATORS)}")
    if name in ("load", "repetition", "window"):
        return OPERATORS[sign](TASKS.c[name], value)  # type: ignore[no-any-return]
    places: dict[int, list[int]] = {}
    for campaign, names in metrics.items():
        if name in names:
            places.setdefault(names.index(name), []).append(campaign)
    if metrics and not places:
        known = sorted({known for names in metrics.values() for known in names})
        raise InputError(f"no campaign of the index has a metric {name!r}; known are {', '.join(known)}")
    return or_(
        false(),
        *(
            and_(TASKS.c.campaign.in_(keys), OPERATORS[sign](TASKS.c.metrics[place].as_float(), value))
            for place, keys in places.items()
        ),
    )


def _forget(connection: Connection, which: ColumnElement[bool]) -> None:
    connection.execute(delete(TASKS).where(TASKS.c.campaign.in_(select(CAMPAIGNS.c.id).where(which))))
    connection.execute(delete(CAMPAIGNS).where(which))


def _put(connection: Connection, run: RunDirectory) -> None:
    """Replace what is known of a campaign."""
    table = run.table()
    failures = run.failures().values()
    overview = Overview.of(run, done=0 if table is None else table.num_rows, failed=len(failures))
    metrics = [] if table is None else metric_names(table)
    _forget(connection, CAMPAIGNS.c.directory == overview.directory)
    facts = {"schema": run.facts["schema"], "definition": run.facts["definition"], "metrics": metrics}
    updated = datetime.now(UTC).isoformat(timespec="microseconds")
    added = connection.execute(insert(CAMPAIGNS).values(**overview.to_dict(), **facts, updated=updated))
    campaign = added.inserted_primary_key[0] if added.inserted_primary_key else None
    done = _done(table, metrics) if table is not None else ()
    rows = enumerate(chain(done, map(_failed, failures)))
    while chunk := list(islice(rows, ROWS_AT_ONCE)):
        connection.execute(insert(TASKS), [row | {"campaign": campaign, "number": number} for number, row in chunk])


def _done(table: pa.Table, metrics: Sequence[str]) -> Iterator[dict[str, Any]]:
    for part in table.to_batches(max_chunksize=ROWS_AT_ONCE):
        columns = [part.column(name).to_numpy(zero_copy_only=False) for name in metrics]
        values = _rounded(np.array(columns, dtype=np.float64).reshape(len(metrics), part.num_rows))
        for row, of_task in zip(part.select(["task", *COORDINATES]).to_pylist(), values.T.tolist(), strict=True):
            load = None if math.isnan(row["load"]) else row["load"]
            yield row | {"load": load, "state": "done", "reason": None, "metrics": of_task}


def _failed(failure: Failure) -> dict[str, Any]:
    row = failure_row(failure)
    load = None if math.isnan(row["load"]) else row["load"]
    facts = {"load": load, "state": "failed", "reason": failure.reason, "metrics": None}
    return {name: row[name] for name in ("task", *COORDINATES)} | facts


def _rounded(values: NDArray[np.float64]) -> NDArray[np.object_]:
    """Return values rounded to a number of significant digits, for short JSON; None for what is not finite."""
    with np.errstate(all="ignore"):
        # Powers of ten up to 22 are exact: a number of few digits over or times one of them has a short text.
        places = np.clip(DIGITS - 1 - np.floor(np.log10(np.abs(values))), -22, 22)
        scale = 10.0 ** np.abs(places)
        rounded = np.where(places >= 0, np.rint(values * scale) / scale, np.rint(values / scale) * scale)
    numbers: NDArray[np.object_] = rounded.astype(np.object_)
    numbers[~np.isfinite(rounded)] = None
    return numbers
