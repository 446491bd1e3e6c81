"""Jobs as lines of text, CSV or JSON: what a submit plug-in asks about."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from schedlab.documents import parse_json
from schedlab.errors import InputError
from schedlab.scheduler.own_predictor import JobView
from schedlab.wording import shown

NAMES = tuple(field.name for field in fields(JobView))
NEEDED = ("requested_time", "processors")
ALIASES = {"requested_processors": "processors"}
"""The name that the Standard Workload Format has for it."""


def questions(lines: Iterable[str], *, now: int, machine: int) -> Iterator[JobView]:
    """Read jobs, one per line, as soon as each line is there.

    Parameters
    ----------
    lines
        JSON objects, if the first line begins with "{", else CSV with a line of names at its head. Names are those of
        `JobView`, with `requested_processors` for `processors` too; others are passed over. Every job needs
        `requested_time` and `processors`; jobs are numbered from 1 unless they have a `job_id`.
    now
        Second of submission of a job that does not have one.
    machine
        Processors of the machine.

    Raises
    ------
    InputError
        If a line is no job; the message begins with the number of the line.

    Examples
    --------
    >>> lines = ["user_id,processors,requested_time", "7,4,3600"]
    >>> [(job.user_id, job.processors) for job in questions(lines, now=0, machine=8)]
    [(7, 4)]
    """
    header: list[str] | None = None
    asked, is_json = 0, False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            if header is None and not is_json:
                is_json = line.lstrip().startswith("{")
                if not is_json:
                    header = _header(line)
                    continue
            asked += 1
            yield _job(_record(line, header), asked, now, machine)
        except InputError as error:
            raise InputError(f"line {number}: {error}") from None


def _header(line: str) -> list[str]:
    names = [_usual_name(name.strip().lower()) for name in _cells(line)]
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise InputError(f"the column {missing[0]} is missing; the columns are {', '.join(NAMES)}")
    return names


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line]))
    except csv.Error as error:
        raise InputError(f"it is not CSV: {error}") from None


def _usual_name(name: str) -> str:
    return ALIASES.get(name, name)


def _record(line: str, header: list[str] | None) -> dict[str, Any]:
    """Return what a line says of a job."""
    if header is not None:
        values = _cells(line)
        if len(values) != len(header):
            raise InputError(f"{len(values)} values for {len(header)} columns")
        return {name: value for name, value in zip(header, values, strict=True) if value.strip()}
    try:
        record = parse_json(line)
    except ValueError as error:
        raise InputError(str(error)) from None
    if not isinstance(record, dict):
        raise InputError("it is not a JSON object")
    return {_usual_name(name): value for name, value in record.items() if value is not None}


def _job(record: dict[str, Any], number: int, now: int, machine: int) -> JobView:
    usual = {"job_id": number, "submit_time": now}
    missing = [name for name in NEEDED if name not in record]
    if missing:
        raise InputError(f"the job has no {missing[0]}")
    job = JobView(**{name: _whole(name, value) for name, value in (usual | record).items() if name in NAMES})
    for name in NEEDED:
        if getattr(job, name) < 1:
            raise InputError(f"{name}={getattr(job, name)} is not a whole number of at least 1")
    if job.processors > machine:
        raise InputError(f"the job needs {job.processors} processors, but the machine has {machine}")
    return job


def _whole(name: str, value: Any) -> int:
    try:
        number = float(value)
        if isinstance(value, bool) or number != int(number) or abs(number) > 2**53:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}={shown(value)} is not a whole number") from None
    return int(number)
