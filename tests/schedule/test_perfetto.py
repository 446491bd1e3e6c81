"""Traces for Perfetto, read back with Perfetto's own message definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.perfetto import write_perfetto
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload


@pytest.fixture
def schedule() -> Schedule:
    jobs = Workload.from_columns(
        {
            "submit_time": [100, 110, 120],
            "run_time": [60, 30, 10],
            "requested_time": [60, 30, 10],
            "requested_processors": [2, 3, 1],
            "user_id": [7, 7, 300],
        },
        name="three",
        processors=3,
    )
    return simulate(jobs, "fcfs+easy")


def read(path: Path) -> Any:
    messages = pytest.importorskip(
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="perfetto is not installed (extra test)"
    )
    trace = messages.Trace()
    trace.ParseFromString(path.read_bytes())
    return trace


def test_slices_begin_and_end_as_the_jobs_do(schedule: Schedule, tmp_path: Path) -> None:
    path = tmp_path / "three.pftrace"
    write_perfetto(schedule, path)
    trace = read(path)
    names = {
        packet.track_descriptor.uuid: packet.track_descriptor
        for packet in trace.packet
        if packet.HasField("track_descriptor")
    }
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    slices = {}
    for begin in (packet for packet in events if packet.track_event.type == 1):
        track = begin.track_event.track_uuid
        end = min(
            packet.timestamp
            for packet in events
            if packet.track_event.type == 2
            and packet.track_event.track_uuid == track
            and packet.timestamp > begin.timestamp
        )
        process = names[names[track].parent_uuid].process.process_name
        slices[process, begin.track_event.name] = (begin.timestamp / 1e9, end / 1e9)
    # Job 3 is backfilled beside job 1; job 2 waits for it.
    assert slices == {
        ("three: machine, fcfs+easy", "job 1"): (0, 60),
        ("three: machine, fcfs+easy", "job 2"): (60, 90),
        ("three: machine, fcfs+easy", "job 3"): (20, 30),
        ("three: waiting jobs", "job 2"): (10, 60),
    }


def test_a_click_shows_what_a_job_is(schedule: Schedule, tmp_path: Path) -> None:
    path = tmp_path / "three.pftrace"
    write_perfetto(schedule, path)
    third = next(packet.track_event for packet in read(path).packet if packet.track_event.name == "job 3")
    facts = {note.name: note.string_value or note.uint_value for note in third.debug_annotations}
    assert facts == {
        "processors": 1,
        "wait (s)": 0,
        "run time (s)": 10,
        "requested (s)": 10,
        "user": 300,
        "started": "backfilled",
        "ended": "done",
    }


def test_curves_are_those_of_the_schedule(schedule: Schedule, tmp_path: Path) -> None:
    path = tmp_path / "three.pftrace"
    write_perfetto(schedule, path)
    counted = [
        (packet.timestamp / 1e9, packet.track_event.counter_value)
        for packet in read(path).packet
        if packet.track_event.type == 4 and packet.track_event.track_uuid == 3
    ]
    assert counted == [(0, 2), (20, 3), (30, 2), (60, 3), (90, 0)]


def test_another_suffix_is_refused(schedule: Schedule, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown suffix"):
        write_perfetto(schedule, tmp_path / "three.json")
