"""A schedule as a trace that ui.perfetto.dev opens: jobs as slices, the machine and the queue as curves.

The format is Perfetto's protocol buffers, of which four messages are enough; they are written here field by field.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.atomic import atomic_path
from schedlab.errors import InputError
from schedlab.schedule.stretches import by_stretch
from schedlab.schedule.timeline import Steps, busy_processors, queue_length

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule

NANOSECONDS = 1_000_000_000

# Field numbers of perfetto/trace/trace_packet.proto and track_event/*.proto
_PACKET = 1
_TIMESTAMP, _SEQUENCE, _EVENT, _DESCRIPTOR = 8, 10, 11, 60
_UUID, _NAME, _PROCESS, _PARENT, _COUNTER = 1, 2, 3, 5, 8
_PID, _PROCESS_NAME = 1, 6
_ANNOTATION, _TYPE, _TRACK, _EVENT_NAME, _COUNTER_VALUE = 4, 9, 11, 23, 30
_UNSIGNED, _TEXT, _ANNOTATION_NAME = 3, 6, 10
_BEGIN, _END, _COUNT = 1, 2, 4

_MACHINE, _QUEUE = 1, 2
"""Track numbers of the two processes; those of their rows follow."""


def write_perfetto(schedule: Schedule, path: str | PathLike[str]) -> None:
    """Write a schedule as a trace for ui.perfetto.dev.

    Time counts from the first submission. Jobs that run at the same time stand in different rows, the lowest free one;
    a row is not a processor. Where jobs may fail and come back, each run is a slice.

    Parameters
    ----------
    schedule
        What to show.
    path
        The file, `.pftrace`.

    Raises
    ------
    InputError
        If the suffix is another one.
    OutputError
        If the file cannot be written; nothing half-written is left.
    """
    check_perfetto_suffix(path)
    with atomic_path(path) as temporary, open(temporary, "wb") as stream:
        for packet in packets(schedule):
            stream.write(_field(_PACKET, packet))


def check_perfetto_suffix(path: str | PathLike[str]) -> None:
    """Raise InputError unless a file is called like a trace."""
    if Path(path).suffix != ".pftrace":
        raise InputError(f"{path}: unknown suffix; a trace for Perfetto is written as .pftrace")


def packets(schedule: Schedule) -> Iterator[bytes]:
    """Yield the packets of a trace, encoded."""
    jobs = schedule.workload
    yield _process(_MACHINE, f"{jobs.name}: machine, {schedule.scheduler}")
    yield _process(_QUEUE, f"{jobs.name}: waiting jobs")
    if not len(schedule):
        return
    origin = float(jobs.submit_time.min())
    yield from _curve(_MACHINE, 3, "processors in use", busy_processors(schedule), origin)
    yield from _curve(_QUEUE, 4, "waiting jobs", queue_length(schedule), origin)
    held, runs = schedule.held, by_stretch(schedule).runs
    row = np.arange(len(schedule)) if runs is None else runs["job"]
    labels = [_labels(schedule, job) for job in range(len(schedule))]
    used = yield from _slices(
        _MACHINE, 5, held.start - origin, held.end - origin, [labels[job] for job in row.tolist()]
    )
    since = np.asarray(schedule.queued_since)
    yield from _slices(_QUEUE, 5 + used, since - origin, schedule.start_time - origin, labels)


def _labels(schedule: Schedule, job: int) -> bytes:
    """Return the name of a job's slices and what else a click on them shows, encoded."""
    jobs = schedule.workload
    facts = {
        "processors": int(jobs.job_processors[job]),
        "wait (s)": int(schedule.wait_time[job]),
        "run time (s)": int(schedule.run_time[job]),
        "requested (s)": int(jobs.requested_time[job]),
        "user": int(jobs.user_id[job]),
    }
    annotations = b"".join(
        _field(_ANNOTATION, _field(_ANNOTATION_NAME, name.encode()) + _number(_UNSIGNED, value))
        for name, value in facts.items()
        if value >= 0
    )
    start = b"backfilled" if schedule.backfilled[job] else b"in order"
    end = b"at its request" if schedule.killed[job] else b"done"
    if schedule.cancelled is not None and schedule.cancelled[job]:
        start, end = b"never", b"cancelled while it waited"
    for name, text in ((b"started", start), (b"ended", end)):
        annotations += _field(_ANNOTATION, _field(_ANNOTATION_NAME, name) + _field(_TEXT, text))
    return _field(_EVENT_NAME, f"job {jobs.job_id[job]}".encode()) + annotations


def _slices(
    process: int, track: int, begins: NDArray[Any], ends: NDArray[Any], labels: list[bytes]
) -> Generator[bytes, None, int]:
    """Yield a slice per interval, each in the lowest row that is free; return how many rows there are."""
    free: list[int] = []
    leaving: list[tuple[float, int]] = []
    rows = 0
    for item in np.argsort(begins, kind="stable").tolist():
        begin, end = float(begins[item]), float(ends[item])
        if end <= begin:
            continue
        while leaving and leaving[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(leaving)[1])
        if free:
            row = heapq.heappop(free)
        else:
            row = rows
            rows += 1
            descriptor = (
                _number(_UUID, track + row) + _number(_PARENT, process) + _field(_NAME, f"row {row + 1}".encode())
            )
            yield _field(_DESCRIPTOR, descriptor)
        heapq.heappush(leaving, (end, row))
        place = _number(_TRACK, track + row)
        yield _event(begin, _number(_TYPE, _BEGIN) + place + labels[item])
        yield _event(end, _number(_TYPE, _END) + place)
    return rows


def _curve(process: int, track: int, name: str, steps: Steps, origin: float) -> Iterator[bytes]:
    descriptor = (
        _number(_UUID, track) + _number(_PARENT, process) + _field(_NAME, name.encode()) + _field(_COUNTER, b"")
    )
    yield _field(_DESCRIPTOR, descriptor)
    for time, value in zip(steps.times.tolist(), steps.values.tolist(), strict=True):
        counted = _number(_TYPE, _COUNT) + _number(_TRACK, track) + _number(_COUNTER_VALUE, round(value))
        yield _event(time - origin, counted)


def _process(track: int, name: str) -> bytes:
    process = _number(_PID, track) + _field(_PROCESS_NAME, name.encode())
    return _field(_DESCRIPTOR, _number(_UUID, track) + _field(_PROCESS, process))


def _event(seconds: float, event: bytes) -> bytes:
    return _number(_TIMESTAMP, round(seconds * NANOSECONDS)) + _number(_SEQUENCE, 1) + _field(_EVENT, event)


def _field(number: int, content: bytes) -> bytes:
    """Encode a field of bytes, text or a message."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    """Encode a field of a whole number that is not negative."""
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
